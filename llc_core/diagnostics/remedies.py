"""What helps against an error of λ̂: chosen by its cause, in one place for verdicts, splits of an error, pages and scripts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from llc_core.fields import hyper_fields
from llc_core.samplers.base import Sampler
from llc_core.samplers.registry import samplers

NOISE, LAW, STEP, MIXING, HELD, ELSEWHERE = "minibatch", "law", "step_size", "mixing", "localization", "local_global"
"""Causes, as in a split of the error (`llc_core.studies.explain.parts.CAUSES`)."""
RAISED, LOWERED = 100.0, 10.0
"""A stability constant is raised by this factor: what it is compared with, a squared gradient, varies by as much. β is lowered by
the other. So far from its default neither does anything any more, and what is left of the bias is not the metric's."""
AIM = 0.02
"""A smaller step is meant to leave this share of the estimate."""
MOST_DIVISION = 64
STRAIGHT, FAST, FULL = "SGLD", "UnderdampedLangevin", "full gradients"


@dataclass(frozen=True)
class Remedy:
    """sentence: for people.  change: the one control that it names, and the value it would get; empty where that is no click."""

    sentence: str
    change: Mapping[str, Any] = field(default_factory=dict)


def remedy(cause: str, sampler: Sampler | None = None, step_size: float = math.nan, share: float = math.nan) -> Remedy:
    """What helps against `cause` with this sampler.

    step_size: in use.  share: what the cause adds to the estimate, as a share of it. Both nan where they are not known.
    """
    make = {NOISE: _quieter, LAW: _other_law, STEP: _smaller, MIXING: _faster, HELD: _looser, ELSEWHERE: _tighter}[
        cause
    ]
    return make(sampler, step_size, share)


def _called(name: str) -> str:
    """A sampler as people read it."""
    return samplers()[name].label or name


def _quieter(sampler: Sampler | None, step_size: float, share: float) -> Remedy:
    words = (
        "Use full gradients, a larger batch, a smaller step size, or, in place of plain minibatches, a control variate."
    )
    return Remedy(words, {"gradient": "full"})


def _smaller(sampler: Sampler | None, step_size: float, share: float) -> Remedy:
    other = "" if sampler is not None and sampler.name == FAST else f", or {_called(FAST)} with {FULL}"
    if not (math.isfinite(step_size) and step_size > 0):
        return Remedy(f"Use a smaller step size (and more steps){other}.")
    order = 1 if sampler is None else sampler.order
    wanted = (abs(share) / AIM) ** (1 / order) if math.isfinite(share) else 2.0
    division = min(MOST_DIVISION, 2 ** max(1, math.ceil(math.log2(max(wanted, 2.0)))))
    value = float(f"{step_size / division:.2g}")
    aim = f", for an error of at most {AIM:.0%}" if math.isfinite(share) and wanted <= division else ""
    return Remedy(f"Use a smaller step size, such as {value:.2g}{aim} (and more steps){other}.", {"step_size": value})


def _other_law(sampler: Sampler | None, step_size: float, share: float) -> Remedy:
    if sampler is None:
        return Remedy(f"Use a sampler that draws from the target: {_called(STRAIGHT)}, or {_called(FAST)} with {FULL}.")
    if sampler.exact_law:
        return _smaller(sampler, step_size, share)
    if getattr(sampler, "dynamics", "") == "printed":
        return Remedy(
            "Use the corrected dynamics: those printed sample at twice the temperature.", {"dynamics": "corrected"}
        )
    weaker = _weaker(sampler)
    if weaker is None:
        return another_law(sampler)
    way, name, value = weaker
    return Remedy(f"{_target()}, or {way} to {value:.2g}{_why(sampler)}", {name: value})


def _target() -> str:
    return f"Switch to a sampler that draws from the target ({_called(STRAIGHT)}, or {_called(FAST)} with {FULL})"


def _why(sampler: Sampler) -> str:
    return f": the step sizes that {sampler.label or sampler.name} adapts along the way bend its distribution."


def another_law(sampler: Sampler) -> Remedy:
    """A sampler whose distribution is the target: where the distribution of this one is not known, less of it is not known either."""
    return Remedy(f"{_target()}{_why(sampler)}", {"sampler": STRAIGHT})


def _weaker(sampler: Sampler) -> tuple[str, str, float] | None:
    """Of a sampler that adapts: how its metric or its extra drift is made to matter less, the field and its value; None where it
    matters as little already."""
    about, values, usual = hyper_fields(sampler), sampler.to_dict(), type(sampler)().to_dict()
    if sampler.name == "MongeSGLD":
        now = values["beta"]
        return ("lower β", "beta", now / LOWERED) if now * LOWERED > usual["beta"] else None
    if "stability" not in about or sampler.name == "ShampooSGLD":  # whose constant is forgotten
        return None
    now, most = values["stability"], min(about["stability"].high, RAISED * usual["stability"])
    return ("raise the stability constant", "stability", min(now * RAISED, most)) if now < most else None


def _faster(sampler: Sampler | None, step_size: float, share: float) -> Remedy:
    if sampler is not None and (sampler.name == FAST or sampler.needs_conditionals):
        return Remedy("Take more steps.")
    return Remedy(f"Take more steps, or a sampler that moves faster ({_called(FAST)}).")


def _looser(sampler: Sampler | None, step_size: float, share: float) -> Remedy:
    return Remedy("No sampler changes that: γ (localization), nβ and n do.")


def _tighter(sampler: Sampler | None, step_size: float, share: float) -> Remedy:
    return Remedy("A larger γ (localization) keeps the chains near w0.")
