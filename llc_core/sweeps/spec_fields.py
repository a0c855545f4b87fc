"""The fields of a sweep as they are written in a file, checked and brought into one form."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from llc_core.fields import check_hyper, choice, hyper_fields, number, short, whole
from llc_core.potentials import problem_class
from llc_core.samplers import build

OTHERS = "others"
"""In step_sizes: of the samplers that are not named there."""
PLAIN = (int, float, str, bool, type(None))
"""What JSON has for single values; others, such as numpy's, are stored as what they are read as."""
MAX_STEP_SIZES = 1000
MAX_PROBLEMS = 1_000_000


def label_of(sampler: Mapping[str, Any]) -> str:
    """The name, with the fields that differ from their defaults: "RMSPropSGLD(stability=0.1)"."""
    built = build(sampler)
    changed = [
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in built.changed().items()
    ]
    return f"{built.name}({', '.join(changed)})" if changed else built.name


def names(name: str, value: Any, known: tuple[str, ...]) -> tuple[str, ...]:
    items = (value,) if isinstance(value, str) else _list(name, value)
    return tuple(dict.fromkeys(choice(name, item, known) for item in items))


def size_classes(label: str, value: Any) -> tuple[str, ...]:
    items = (value,) if isinstance(value, str) else _list(label, value)
    for item in items:
        if not isinstance(item, str):
            raise ValueError(f"{label} holds {short(item)}; give names such as '1K' or widths such as '10-8-10'.")
    return tuple(dict.fromkeys(problem_class(item).name for item in items))


def kinds_of_ranks(label: str, value: Any) -> tuple[str, ...]:
    """A name or a list of names; whether they are known is up to the class of problems."""
    items = (value,) if isinstance(value, str) else _list(label, value)
    for item in items:
        if not isinstance(item, str):
            raise ValueError(f"{label} holds {short(item)}; give names such as 'equal'.")
    return tuple(dict.fromkeys(items))


def problem_seeds(label: str, value: Any) -> tuple[int, ...]:
    if isinstance(value, list | tuple):
        return tuple(dict.fromkeys(whole(label, seed, 0, 2**31) for seed in _list(label, value)))
    if isinstance(value, str) or value is None:
        raise ValueError(f"{label} is {short(value)}; give how many, or a list of seeds such as [0, 1, 2].")
    return tuple(range(whole(label, value, 1, MAX_PROBLEMS)))


def sampler_tables(label: str, value: Any) -> tuple[dict[str, Any], ...]:
    found: dict[str, dict[str, Any]] = {}
    for item in _list(label, value):
        values = {"name": item} if isinstance(item, str) else item
        if isinstance(values, Mapping) and "step_size" in values:
            raise ValueError("samplers must not hold a step_size; give them in step_sizes.")
        try:
            built = build(values)
        except ValueError as error:
            raise ValueError(f"{label}: {error}") from None
        # Without what is the default anyway, so that the same sampler has one key however it is written.
        changed = built.changed()
        given = {k: v if type(v) in PLAIN else changed[k] for k, v in dict(values).items() if k in changed}
        found[label_of(built.to_dict())] = {"name": built.name, **given}
    return tuple(found.values())


def step_sizes_of(value: Any, samplers: tuple[Mapping[str, Any], ...]) -> dict[str, tuple[float, ...]]:
    """By the label of each sampler."""
    labels = {label_of(sampler): build(sampler) for sampler in samplers}
    if not isinstance(value, Mapping) or {"from", "to", "count"} & set(value):
        value = {OTHERS: value}
    for name in value:
        if name not in labels and name != OTHERS and name not in {s.name for s in labels.values()}:
            raise ValueError(f"step_sizes names {short(name)}; the samplers of this sweep are {', '.join(labels)}.")
    found = {}
    for label, sampler in labels.items():
        given = value.get(label, value.get(sampler.name, value.get(OTHERS)))
        if given is None:
            raise ValueError(f"step_sizes has none for {label}; add them, or 'others' for all that are not named.")
        about = hyper_fields(sampler)["step_size"]
        sizes = [float(check_hyper(label, "step_size", e, about)) for e in _sizes(given)]
        found[label] = tuple(sorted(set(sizes)))
    return found


def _sizes(value: Any) -> list[float]:
    if isinstance(value, Mapping):
        if set(value) != {"from", "to", "count"}:
            raise ValueError(f"step_sizes has the keys {short(list(value))}; give from, to and count.")
        low, high = number("step_sizes.from", value["from"]), number("step_sizes.to", value["to"])
        count = whole("step_sizes.count", value["count"], 1, MAX_STEP_SIZES)
        if not 0 < low <= high:
            raise ValueError(f"step_sizes go from {low:g} to {high:g}; give a range above 0, the smaller end first.")
        ratio = math.log(high / low) / max(count - 1, 1)
        return [float(f"{low * math.exp(i * ratio):.6g}") for i in range(count)]
    sizes = [number("step_sizes", e) for e in _list("step_sizes", value)]
    if len(sizes) > MAX_STEP_SIZES:
        raise ValueError(f"step_sizes has {len(sizes)} values; at most {MAX_STEP_SIZES} run as one batch.")
    return sizes


def _list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"{name} is {short(value)}; give a list of at least one.")
    return list(value)
