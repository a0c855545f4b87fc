"""Parts of a module's weights by name: layers, attention heads, patterns and masks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from torch import nn

from llc_core.fields import is_list, short
from llc_core.networks.heads import head_counts, head_masks
from llc_core.potentials.module.parameters import plain_name, uncompiled

LAYERS, HEADS = "layers", "heads"
HEAD = re.compile(r"head:(\d+)\.(\d+)")


@dataclass(frozen=True)
class NamedPart:
    """A part of a network as its name says it: all of it where nothing is given, or one of the following.

    layer: "layer:NAME".  head: attention and number, from 0, of "head:0.1".  pattern: of parameters' names, any other text.
    """

    layer: str | None = None
    head: tuple[int, int] | None = None
    pattern: str | None = None

    @classmethod
    def read(cls, text: str) -> NamedPart:
        if text == "all":
            return cls()
        if numbers := HEAD.fullmatch(text):
            return cls(head=(int(numbers[1]), int(numbers[2])))
        layer = text.removeprefix("layer:")
        return cls(pattern=text) if layer == text else cls(layer)

    def __str__(self) -> str:
        if self.head is not None:
            return f"head:{self.head[0]}.{self.head[1]}"
        return f"layer:{self.layer}" if self.layer is not None else self.pattern or "all"


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
        yield from ((str(NamedPart(name)), masks) for name, masks in _layers(model).items())
    elif text == HEADS:
        for layer, count in enumerate(head_counts(model, heads)):
            for at in ((layer, head) for head in range(count)):
                yield str(NamedPart(head=at)), head_masks(model, *at, heads)
    else:
        yield text, _part(model, text, heads)


def _part(model: nn.Module, part: Any, heads: int | None) -> Any:
    if not isinstance(part, str):
        return part
    named = NamedPart.read(part)
    if named.head is not None:
        return head_masks(model, *named.head, heads)
    if named.layer is None:
        return named.pattern
    known = _layers(model)
    if named.layer not in known:
        raise ValueError(
            f"parts names {part!r}, which is no layer with weights; there are {', '.join(list(known)[:8])}."
        )
    return known[named.layer]


def _layers(model: nn.Module) -> dict[str, dict[str, bool]]:
    """Name of each module with trained weights of its own → these; those of the model itself stand under its class's name."""
    found: dict[str, dict[str, bool]] = {}
    for name, module in model.named_modules():
        prefix = f"{name}." if name else ""
        own = {plain_name(prefix + at): True for at, w in module.named_parameters(recurse=False) if w.requires_grad}
        if own:
            found[plain_name(name) if name else type(model).__name__] = own
    return found
