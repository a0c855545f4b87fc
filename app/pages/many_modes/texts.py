"""What the page "Many modes" says of its run. Every number is worked out from the run; what is known from 60 trials stands in presets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from app.pages.many_modes.config import CELLS, ModesConfig
from app.pages.many_modes.job import ModesProgress, SideProgress
from app.style.numbers import UNKNOWN
from llc_core.interactions import Contour, Cyclical, ReplicaExchange, SteinVariational

WORDS = {"left": "Left", "right": "Right"}
OWN_SETTINGS = "Your own settings. Every change starts a new run, so that no curve mixes two methods."
PICTURES = (
    "The first trial. Left in each card: its chains, the shade stronger where the energy is lower. A red cross "
    "marks a place where the multiplier is negative and pushes uphill. Right: what was visited, in each of 25 "
    "cells as a multiple of the exact mass, or in full."
)
INDEPENDENT, CYCLICAL = "independent chains", "cyclical steps"
CLEAR = 2.0
"""Standard errors by which the mean logs of KL differ where one side is called nearer."""
DRAWS = (CELLS**2 - 1) / 2
"""n independent draws leave a KL of about DRAWS/n over the cells, to first order in 1/n."""


def method(config: ModesConfig, side: str) -> str:
    """Its name within a sentence."""
    made, chains = config.made(side), config.chains(side)
    if made is None:
        return INDEPENDENT if chains > 1 else "one chain"
    if isinstance(made, Contour):
        return "contour sampling"
    if isinstance(made, ReplicaExchange):
        return "replica exchange"
    if isinstance(made, SteinVariational):
        return "SPOS" if made.temperature else "SVGD"
    return CYCLICAL


def names(config: ModesConfig) -> tuple[str, str]:
    """Of both sides, with the side where they are the same."""
    left, right = method(config, "left"), method(config, "right")
    return (left, right) if left != right else (f"{left} (left)", f"{right} (right)")


def describe(config: ModesConfig, side: str) -> str:
    """One line: the method with its numbers."""
    made, own = config.made(side), getattr(config, side)
    step = f"ε = {own['step_size']:g}"
    if isinstance(made, Contour):
        begin = f"{made.pilot:,} pilot steps" if made.pilot else "uniform θ at first"
        return f"{config.chains(side)} chains, {made.bins} bins, ζ = {made.zeta:g}, {begin}, {step}"
    if isinstance(made, ReplicaExchange):
        rungs = ", ".join(f"{t:.3g}" for t in made.temperatures)
        swaps = "every step" if made.interval == 1 else f"every {made.interval} steps"
        power = {0.0: "", 1.0: "·T", 2.0: "·T²"}.get(made.step_power, f"·T^{made.step_power:g}")
        return f"T = {rungs}; swaps {swaps}; {step}{power}"
    if isinstance(made, Cyclical):
        return f"{plural(config.chains(side))}, cycles of {made.length:,} steps, {step} at first"
    if isinstance(made, SteinVariational):
        noise = f"with noise, τ = {made.temperature:g} (SPOS)" if made.temperature else "without noise (SVGD)"
        return f"{config.chains(side)} particles {noise}, {step}"
    return f"{plural(config.chains(side))} of SGLD, {step}"


def plural(chains: int) -> str:
    return "1 chain" if chains == 1 else f"{chains} chains"


def small(value: float) -> str:
    """KL as people compare it: two digits."""
    if not math.isfinite(value):
        return UNKNOWN
    return f"{value:.4f}" if value >= 1e-3 else f"{value:.1e}"


def median(values: np.ndarray) -> float:
    return float(np.median(values)) if np.isfinite(values).all() else math.nan


def headline(config: ModesConfig, seen: ModesProgress | None, answers: bool) -> str:
    """One plain sentence of what is seen."""
    left, right = names(config)
    spent = 0 if seen is None else seen.steps
    if seen is None or not answers or not all(np.isfinite(seen.side(s).kl).all() for s in ("left", "right")):
        return f"Both sides have spent the same number of gradients, {spent:,} in each trial: {left} and {right}."
    a, b = median(seen.left.kl), median(seen.right.kl)
    known = "in this one trial" if config.trials == 1 else f"medians of {config.trials} trials"
    figures = f"KL {small(min(a, b))} against {small(max(a, b))}, {known}"
    better, worse, side = (left, right, "left") if a < b else (right, left, "right")
    factor = at_least(seen.left.kl, seen.right.kl)
    if factor <= 1:
        return f"After {spent:,} gradients each, these trials show no difference between {left} and {right}. {figures}."
    # Rounded down, since it is a bound.
    shown = f"{math.floor(10 * factor) / 10:.1f}" if factor < 3 else f"{math.floor(factor):,}"
    how = f"at least {shown} times nearer" if config.trials > 1 else f"{shown} times nearer"
    verb = "are" if method(config, side) in (INDEPENDENT, CYCLICAL) else "is"
    return f"After {spent:,} gradients each, {better} {verb} {how} to the exact masses than {worse}. {figures}."


def at_least(a: np.ndarray, b: np.ndarray) -> float:
    """By which factor the KLs [R] of two sides differ at least: that of their geometric means, less two standard errors.

    Below 1 where chance may have made the difference. One trial tells nothing of chance: then it is the factor itself.
    """
    logs = [np.log(np.maximum(values, 1e-12)) for values in (a, b)]
    apart = abs(float(logs[0].mean() - logs[1].mean()))
    error = math.sqrt(sum(values.var(ddof=1) / len(values) for values in logs)) if len(a) > 1 else 0.0
    return math.exp(min(apart - CLEAR * error, 700.0))


def cells(side: str) -> list[dict[str, Any]]:
    """The numbers under one side."""
    return [
        {
            "key": f"{side}_kl",
            "label": "error (KL)",
            "main": True,
            "tip": "Kullback-Leibler divergence Σ p·log(p/q) of the visited masses q of 25 cells from the exact ones "
            "p. The median of the trials.",
        },
        {
            "key": f"{side}_draws",
            "label": "worth … independent draws",
            "main": True,
            "tip": "So many independent draws would leave the same KL: 12/KL. For n draws over 25 cells leave about "
            "12/n.",
        },
        {
            "key": f"{side}_kish",
            "detail": True,
            "label": "effective share of draws",
            "tip": "Kish's (Σw)²/(nΣw²) of the weights of the counted states. It is 1 where all weigh the same. The "
            "median of the trials.",
        },
        {
            "key": f"{side}_turned",
            "detail": True,
            "label": "pushed uphill",
            "tip": "Share of the steps on which the multiplier is below 0: the force is reversed and pushes uphill. "
            "Contour sampling alone.",
        },
        {
            "key": f"{side}_trips",
            "detail": True,
            "label": "round trips",
            "tip": "How often a copy went from the coldest level to the hottest and back. Average of one trial, "
            "replica exchange alone.",
        },
        {
            "key": f"{side}_gradients",
            "detail": True,
            "label": "gradients",
            "tip": "Spent by one trial, all its chains together.",
        },
    ]


ANSWERS = ("kl", "draws")
"""Cells that compare with the exact masses."""


def readings(config: ModesConfig, side: str, seen: SideProgress | None) -> dict[str, str]:
    """Values of `cells`."""
    found = dict.fromkeys((item["key"] for item in cells(side)), UNKNOWN)
    if seen is None:
        return found
    made = config.made(side)
    kl, kish = median(seen.kl), median(seen.kish)
    found[f"{side}_gradients"] = f"{seen.gradients:,}"
    if math.isfinite(kl):
        found[f"{side}_kl"] = small(kl)
        found[f"{side}_draws"] = f"{DRAWS / kl:,.0f}" if kl > 0 else UNKNOWN
    if math.isfinite(kish):
        found[f"{side}_kish"] = f"{kish:.2f}"
    if isinstance(made, Contour):
        found[f"{side}_turned"] = f"{seen.turned:.0%}"
    if isinstance(made, ReplicaExchange):
        found[f"{side}_trips"] = f"{seen.shared[:, 0].mean():,.0f}"
    return found
