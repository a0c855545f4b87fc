"""Which parameters make up one attention head, in the layouts in which networks keep them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from llc_core.fields import short, whole
from llc_core.potentials.module.parameters import plain_name

Entry = tuple[str, int, Iterable[int]]
"""A parameter, one of its dimensions, and the places there that belong to a head."""
COUNTS = ("num_heads", "num_attention_heads", "n_heads", "n_head", "heads")
"""Names under which attention, or its configuration, says how many heads it has."""
SIZES = ("head_dim", "head_size", "d_head", "d_kv")
SPLIT = (
    ("query", "key", "value", "out"),
    ("q_proj", "k_proj", "v_proj", "o_proj"),
    ("q_proj", "k_proj", "v_proj", "out_proj"),
    ("q_proj", "k_proj", "v_proj", "dense"),
    ("q", "k", "v", "o"),
)
"""Four linear layers: here; Llama, Mistral, Gemma, Qwen; OPT, GPT-Neo, GPT-J; Phi; T5."""
FUSED = (("in_proj_weight", "in_proj_bias", "out_proj"), ("qkv_proj.weight", "qkv_proj.bias", "o_proj"),
         ("c_attn.weight", "c_attn.bias", "c_proj"))  # fmt: skip
"""One matrix of all queries, then all keys, then all values: torch's own, Phi-3, GPT-2."""
WRAPPED = re.compile(r"\b(base_layer|_original_component)\.")
"""Where an adapter of peft, or a bridge of TransformerLens, keeps what it wraps; the layout is that of what it wraps."""


def head_masks(model: nn.Module, layer: int, head: int | Iterable[int], heads: int | None = None) -> dict[str, Tensor]:
    """Name → boolean mask of the parameters of one head, or of several, for `NetworkPotential(..., parameters=…)`.

    They are the head's parts of the query, key and value matrices and of their biases, and its part of the output matrix. The bias of the
    output and norms of queries belong to no single head and stay still. Where a group of heads has one key and value (grouped
    queries), these belong to each head of the group.

    layer: which attention, counted from 0 as the model lists them; those that look at an encoder count too.
    head: counted from 0.  heads: how many there are, where the model does not say.
    Layouts: `SPLIT`, `FUSED`, that of GPT-NeoX (query_key_value, head after head), and that of TransformerLens (W_Q, W_K, W_V
    [heads, d_model, d_head] and W_O [heads, d_head, d_model]; of grouped queries _W_K and _W_V), whose bridges have the layout of
    what they wrap.
    Raises ValueError with one sentence for a layer or head that is not there, and for another layout.
    """
    found = _attentions(model)
    if not found:
        raise ValueError(
            f"model is a {type(model).__name__} without attention whose layout is known; build a 'transformer', or give masks by "
            "the names of its parameters."
        )
    here, entries = found[whole("layer", layer, 0, len(found) - 1)]
    count = here.count(heads)
    masks: dict[str, Tensor] = {}
    for each in [head] if not isinstance(head, Iterable) or isinstance(head, str) else head:
        for name, at, places in entries(here, whole("head", each, 0, count - 1), count):
            tensor = here.tensors[name]
            full = plain_name(here.names[name])
            mask = masks.setdefault(full, torch.zeros(tensor.shape, dtype=torch.bool, device="cpu"))
            mask.index_fill_(at, torch.tensor(list(places), device="cpu"), True)
    if not masks:
        raise ValueError(f"head is {short(head)}; name at least one.")
    return masks


def head_counts(model: nn.Module, heads: int | None = None) -> list[int]:
    """How many heads each attention of a known layout has, in the order of `head_masks`; heads: as there. Empty where there is none."""
    return [part.count(heads) for part, _ in _attentions(model)]


def _attentions(model: nn.Module) -> list[tuple[_Part, Entries]]:
    """An attention inside another one is what a wrapper wraps, whose parameters may be views of the wrapper's: it counts once."""
    names = {id(x): name for name, x in model.named_parameters()}
    found: list[tuple[_Part, Entries]] = []
    outer: tuple[str, ...] = ()
    for name, part in model.named_modules():
        if not name.startswith(outer) and (known := _known(part, names)) is not None:
            found.append(known)
            outer = (*outer, f"{name}." if name else "")
    return found


@dataclass(frozen=True)
class _Part:
    """An attention. tensors: by names within it.  names: those within the model, by the same."""

    module: nn.Module
    tensors: Mapping[str, Tensor]
    names: Mapping[str, str]

    def count(self, heads: int | None) -> int:
        """How many heads it has; ValueError where that is not known, or does not divide its outputs."""
        width = _inputs_of_output(self)
        if heads is None and "W_O" in self.tensors:
            heads = len(self.tensors["W_O"])
        heads = self._said(COUNTS) if heads is None else whole("heads", heads, 1)
        if heads is None and (size := self._said(SIZES)):
            heads = width // size
        if heads is None:
            raise ValueError("model does not say how many heads its attention has; pass heads=….")
        if width % heads:
            raise ValueError(f"heads is {heads}, which does not divide the {width} outputs of the heads; give another.")
        return heads

    def _said(self, names: tuple[str, ...]) -> int | None:
        places: list[Any] = [self.module, getattr(self.module, "config", None), getattr(self.module, "cfg", None)]
        values = (getattr(place, name, None) for place in places for name in names)
        return next((value for value in values if isinstance(value, int) and value > 0), None)


Entries = Callable[[_Part, int, int], Iterable[Entry]]


def _known(module: nn.Module, names: Mapping[int, str]) -> tuple[_Part, Entries] | None:
    """names: of the model's parameters, by their identity."""
    own = {WRAPPED.sub("", at): x for at, x in module.named_parameters(remove_duplicate=False)}
    part = _Part(module, own, {at: names[id(x)] for at, x in own.items()})
    has = part.tensors.keys()
    if {"W_Q", "W_O"} <= has:
        return part, _stacked
    if {"query_key_value.weight", "dense.weight"} <= has:
        alike = len(part.tensors["query_key_value.weight"]) == 3 * part.tensors["dense.weight"].shape[1]
        return (part, _head_after_head) if alike else None
    if any({f"{each}.weight" for each in names} <= has for names in SPLIT):
        return part, _split
    if any({weight, f"{out}.weight"} <= has for weight, _, out in FUSED):
        return part, _fused
    return None


def _inputs_of_output(part: _Part) -> int:
    """How many numbers all heads together hand to the output matrix."""
    x = part.tensors
    if "W_O" in x:
        return x["W_O"].shape[0] * x["W_O"].shape[1]
    outs = [names[-1] for names in (*SPLIT, *FUSED) if f"{names[-1]}.weight" in x and _has_inputs(x, names)]
    out = x[f"{outs[0] if outs else 'dense'}.weight"]
    return out.shape[0] if _is_turned(x) else out.shape[1]


def _has_inputs(tensors: Mapping[str, Tensor], names: tuple[str, ...]) -> bool:
    return names[0] in tensors or f"{names[0]}.weight" in tensors


def _is_turned(tensors: Mapping[str, Tensor]) -> bool:
    """Whether matrices are [inputs, outputs], as in GPT-2: then three times as many columns as rows."""
    x = tensors.get("c_attn.weight")
    return x is not None and x.shape[1] == 3 * x.shape[0]


def _run(index: int, size: int, start: int = 0) -> range:
    return range(start + index * size, start + (index + 1) * size)


def _split(part: _Part, head: int, heads: int) -> Iterable[Entry]:
    x = part.tensors
    names = next(names for names in SPLIT if all(f"{each}.weight" in x for each in names))
    size = len(x[f"{names[0]}.weight"]) // heads
    groups = len(x[f"{names[1]}.weight"]) // size
    for kind, name in enumerate(names[:3]):
        count, index = (heads, head) if kind == 0 else (groups, head * groups // heads)
        mine = _run(index, len(x[f"{name}.weight"]) // count)
        yield f"{name}.weight", 0, mine
        if f"{name}.bias" in x:
            yield f"{name}.bias", 0, mine
    yield f"{names[3]}.weight", 1, _run(head, x[f"{names[3]}.weight"].shape[1] // heads)


def _fused(part: _Part, head: int, heads: int) -> Iterable[Entry]:
    x = part.tensors
    weight, bias, out = next(names for names in FUSED if names[0] in x and f"{names[2]}.weight" in x)
    turned = _is_turned(x)
    size = _inputs_of_output(part) // heads
    groups = (x[weight].shape[int(turned)] // size - heads) // 2
    shared = head * groups // heads
    mine = [*_run(head, size), *_run(shared, size, heads * size), *_run(shared, size, (heads + groups) * size)]
    yield weight, int(turned), mine
    if bias in x:
        yield bias, 0, mine
    yield f"{out}.weight", int(not turned), _run(head, size)


def _head_after_head(part: _Part, head: int, heads: int) -> Iterable[Entry]:
    size = _inputs_of_output(part) // heads
    yield "query_key_value.weight", 0, _run(head, 3 * size)
    if "query_key_value.bias" in part.tensors:
        yield "query_key_value.bias", 0, _run(head, 3 * size)
    yield "dense.weight", 1, _run(head, size)


def _stacked(part: _Part, head: int, heads: int) -> Iterable[Entry]:
    for name in ("W_Q", "b_Q", "W_K", "b_K", "W_V", "b_V", "W_O", "_W_K", "_b_K", "_W_V", "_b_V"):
        if name in part.tensors:
            groups = len(part.tensors[name])
            yield name, 0, [head * groups // heads]
