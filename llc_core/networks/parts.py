"""Parts of a module's weights by name: layers, attention heads, patterns and masks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from torch import nn

from llc_core.fields import is_list, short
from llc_core.networks.heads import head_counts, head_masks
from llc_core.potentials.module.parameters import plain_name, uncompiled

ALL, LAYERS, HEADS = "all", "layers", "heads"
HEAD = re.compile(r"head:(\d+)\.(\d+)")
LAYER = "layer:"


def named_parts(model: nn.Module, parts: Any = LAYERS, heads: int | None = None) -> dict[str, Any]:
    """Name → what `NetworkPotential(..., parameters=…)` takes; None: all that is trained.

    parts: "layers": every module with weights of its own that are trained, as "layer:NAME".  "heads": every attention head, as
        "head:ATTENTION.NUMBER", both counted from 0 as `head_masks` counts them.  "all".  One of these names alone.  A pattern of
        parameters' names.  A list of such.  Or a mapping from names of your own to any of these but "layers" and "heads", to
        masks, or to None.
    heads: of each attention, where the model does not say.
    Raises ValueError with one sentence for what names no part.
    """
    model = uncompiled(model)
    if isinstance(parts, Mapping):
        found = {str(name): _part(model, part, heads) for name, part in parts.items()}
    else:
        texts = [parts] if isinstance(parts, str) else parts
        if not is_list(texts) or not all(isinstance(text, str) for text in texts):
            raise ValueError(f"parts is {short(parts)}; give 'layers', 'heads', a list of names, or names with masks.")
        found = {name: part for text in texts for name, part in _named(model, text, heads)}
    if not found:
        raise ValueError(f"parts is {short(parts)}, which names no part of this {type(model).__name__}; try 'layers'.")
    return found


def _named(model: nn.Module, text: str, heads: int | None) -> Iterator[tuple[str, Any]]:
    if text == LAYERS:
        yield from ((f"{LAYER}{name}", masks) for name, masks in _layers(model).items())
    elif text == HEADS:
        for layer, count in enumerate(head_counts(model, heads)):
            yield from ((f"head:{layer}.{head}", head_masks(model, layer, head, heads)) for head in range(count))
    else:
        yield text, _part(model, text, heads)


def _part(model: nn.Module, part: Any, heads: int | None) -> Any:
    if not isinstance(part, str):
        return part
    if part == ALL:
        return None
    if numbers := HEAD.fullmatch(part):
        return head_masks(model, int(numbers[1]), int(numbers[2]), heads)
    if part.startswith(LAYER):
        known = _layers(model)
        name = part.removeprefix(LAYER)
        if name not in known:
            raise ValueError(
                f"parts names {part!r}, which is no layer with weights; there are {', '.join(list(known)[:8])}."
            )
        return known[name]
    return part


def _layers(model: nn.Module) -> dict[str, dict[str, bool]]:
    """Name of each module with trained weights of its own → these; those of the model itself stand under its class's name."""
    found: dict[str, dict[str, bool]] = {}
    for name, module in model.named_modules():
        prefix = f"{name}." if name else ""
        own = {plain_name(prefix + at): True for at, w in module.named_parameters(recurse=False) if w.requires_grad}
        if own:
            found[plain_name(name) if name else type(model).__name__] = own
    return found
