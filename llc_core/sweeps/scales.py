"""What the figures of a sweep have in common: names and looks of samplers, what is on an axis, its ends and its ticks.

Relative errors span five orders of magnitude and both signs: their axis is linear within ±5% and logarithmic beyond (asinh),
so that one frame holds the percent that matters and the factor of a thousand that does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

from llc_core.plots.style import CHAINS
from llc_core.samplers.registry import samplers
from llc_core.sweeps.series import CLOSE, PAPER, Curve

DASHES: dict[str, list[int]] = {"full": [], "control_variate": [9, 4], "minibatch": [2, 3]}
TITLES = {
    "relative_error": "Relative error by step size",
    "nan_share": "Problems without an estimate",
    "mean_against_sd": "Mean against standard deviation",
    "order_preservation": "Does it rank networks correctly?",
}
MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle", "hex", "star")
FIRST = (*PAPER, "UnderdampedLangevin", "HMC")
PRINTED = {"SGHMC(dynamics=printed)": 21, "SGNHT(dynamics=printed)": 23}
"""Places, after those of all samplers, at which they have colours that no other sampler of the paper has."""
SHORT = {"full": "full data", "control_variate": "control variate", "minibatch": "minibatch"}
MARKS = (0.05, 0.2, 1.0, 5.0, 20.0, 100.0, 1e3, 1e4, 1e5, 1e6, 1e7)
FEW_MARKS = (0.05, 1.0, 20.0, 1e3, 1e5, 1e7)
"""Ticks of relative errors: all of them where errors are small, fewer where they reach far."""
FAR = 50.0
MOST_POWERS = 6
LEAST_FRAME, LEAST_SD = 0.3, 0.06
LEAST_GAP = 0.045
"""Least share of an axis between zero and the next label."""


def squeeze(error: Any) -> np.ndarray:
    """Place of a relative error on its axis."""
    return np.arcsinh(np.asarray(error, dtype=float) / CLOSE)


def place(error: float) -> float:
    return float(squeeze(error))


def tick_text(error: float) -> str:
    """A relative error in percent, and from 10 on as a multiple of λ."""
    sign = "+" if error > 0 else "−" if error < 0 else ""
    size = abs(error)
    return f"{sign}{size:.0%}" if size < 10 else f"{sign}{size:,.0f}×"


def error_ticks(low: float, high: float, most: int = 99) -> list[tuple[float, str]]:
    """(place, text) of round relative errors between two places, zero among them and not more than about `most`."""
    marks = FEW_MARKS if max(-low, high) > place(FAR) else MARKS
    values = [*(-m for m in reversed(marks)), 0.0, *marks]
    ticks = [(place(v), tick_text(v)) for v in values if low <= place(v) <= high]
    # Where errors reach millions, the labels next to zero would overlap that of zero.
    ticks = [tick for tick in ticks if tick[0] == 0 or abs(tick[0]) >= LEAST_GAP * (high - low)]
    zero = next(i for i, (at, _) in enumerate(ticks) if at == 0)
    every = math.ceil(len(ticks) / most)
    return [tick for i, tick in enumerate(ticks) if (i - zero) % every == 0]


def sd_ticks(high: float) -> list[tuple[float, str]]:
    """As `error_ticks`, for standard deviations, which begin at zero."""
    near = [(place(v), f"{v:.0%}") for v in (0.01, 0.02)] if high < place(FAR) else []
    return sorted([*near, *((at, text.lstrip("+")) for at, text in error_ticks(0.0, high))])


def step_ticks(low: float, high: float) -> tuple[list[float], list[float]]:
    """Powers of ten with a label, and those between: few enough labels for a phone."""
    powers = list(range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1))
    every = math.ceil(len(powers) / MOST_POWERS)
    return [10.0**p for p in powers if p % every == 0], [10.0**p for p in powers if p % every]


def label(sampler: str, gradient: str = "") -> str:
    """The name of a sampler, and of its gradient, for people."""
    known = samplers().get(sampler)
    name = (known.label or sampler) if known else _plain(sampler)
    return f"{name}, {SHORT.get(gradient, _plain(gradient))}" if gradient else name


def _plain(text: str) -> str:
    """A name from a store without $ and \\, which would make a figure load a library of formulas from the internet."""
    return text.replace("$", "").replace("\\", "")


def look(sampler: str) -> tuple[str, str]:
    """(colour, marker) of a sampler: the same in every figure, and each pair used once."""
    known = [*FIRST, *sorted(set(samplers()) - set(FIRST))]
    places = {**PRINTED, **{name: index for index, name in enumerate(known)}}
    index = places[sampler] if sampler in places else len(known) + crc32(sampler.encode()) % 56
    return CHAINS[index % len(CHAINS)], MARKERS[index % len(MARKERS)]


@dataclass(frozen=True)
class Axes:
    """What is on the axes of a figure: a curve → places [S] of its S step sizes.  bands: whether bands are drawn."""

    x: Callable[[Curve], np.ndarray]
    y: Callable[[Curve], np.ndarray]
    bands: bool = False


def error_frame(found: Sequence[Curve], spread: bool) -> tuple[float, float]:
    """Ends of the axis of relative errors. Every mean fits; a band fits as far as it is no wider than its mean."""
    ends = [-LEAST_FRAME, LEAST_FRAME]
    for c in found:
        mean = c.mean[np.isfinite(c.mean)]
        sd = np.nan_to_num(c.sd[np.isfinite(c.mean)]) if spread else np.zeros(len(mean))
        if len(mean):
            sd = np.minimum(sd, np.maximum(np.abs(mean), LEAST_FRAME))
            ends += [float((mean - sd).min()), float((mean + sd).max())]
    return 1.04 * place(min(ends)), 1.04 * place(max(ends))


def sd_frame(found: Sequence[Curve]) -> tuple[float, float]:
    """Ends of the axis of standard deviations."""
    sds = np.concatenate([c.sd[np.isfinite(c.sd)] for c in found] or [np.zeros(0)])
    top = 1.06 * place(max(LEAST_SD, float(sds.max(initial=0.0))))
    return -0.04 * top, top


def step_frame(found: Sequence[Curve]) -> tuple[float, float]:
    """Ends of the axis of step sizes."""
    steps = [step for c in found for step in c.step_size.tolist()]
    low, high = (min(steps), max(steps)) if steps else (1e-10, 1e-6)
    room = max(high / low, 10.0) ** 0.03
    return low / room, high * room


AXES_OF = {
    "relative_error": Axes(lambda c: c.step_size, lambda c: squeeze(c.mean), bands=True),
    "nan_share": Axes(lambda c: c.step_size, lambda c: c.nan),
    "mean_against_sd": Axes(lambda c: squeeze(c.mean), lambda c: squeeze(c.sd)),
    "order_preservation": Axes(lambda c: c.step_size, lambda c: c.order),
}
"""By the names of the figures."""


def axis_ends(name: str, found: Sequence[Curve], spread: bool) -> tuple[tuple[float, float], tuple[float, float]]:
    """Ends of both axes of a figure. spread: whether bands are drawn."""
    if name == "mean_against_sd":
        return error_frame(found, False), sd_frame(found)
    return step_frame(found), error_frame(found, spread) if name == "relative_error" else (-0.04, 1.04)
