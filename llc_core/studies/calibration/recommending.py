"""What a calibration recommends: its pick is run by itself, and what the verdict asks for is done, until it is content."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from llc_core.estimating import estimate
from llc_core.potentials.base import Potential
from llc_core.results import Estimate
from llc_core.samplers import Sampler
from llc_core.verdicts import Kind, Verdict

ROUNDS = 4
"""Runs that follow one another at most, each with what the verdict on the one before asks for."""
LONGER, LONGEST = 2, 8
"""Times as many steps as a trial has that such a run takes, and may take where the verdict asks for more."""
UNSAID = ("sampler", "seed", "progress")
USUAL_BURN_IN = 0.5
TEMPERATURES = (1.0, 0.25)
NO_MINIMUM = (Kind.NO_MINIMUM, Kind.NOISY_BASELINE, Kind.FITS_NOISE)
OF_W0 = (Kind.ABOVE_MINIMUM, Kind.VARIANCE_ABOVE, Kind.UNLOOKED)
FOLLOWED = ("step_size", "sampler", "dtype", "n_beta")
"""Changes that a verdict names and that are made. γ is not among them: another γ asks another question."""
OTHER_GAMMAS, HALF = (0.1, 10.0), 0.5
SPREAD = 3
"""λ̂ that differ by more than so many errors, and by `SHARE` of them, are different."""
SHARE = 0.05


@dataclass(frozen=True)
class Recommendation:
    """One setting, and what it gives.

    settings: keywords of `llc_core.estimate`: `estimate(problem, **settings)` repeats the run.
    estimate: that run.  llc, llc_se, verdict: what to read of it, which is λ̂ from temperatures where w0 is no minimum.
    why: sentences, what was changed since the pick and for which reason.
    beside: sentences, what else is plausible.
    neighbours: λ̂ at γ and nβ beside these, with the same step.
    """

    settings: Mapping[str, Any]
    estimate: Estimate
    why: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    neighbours: tuple[Estimate, ...] = ()

    @property
    def llc(self) -> float:
        slope = self.estimate.from_temperatures
        return self.estimate.llc if slope is None else slope.llc

    @property
    def llc_se(self) -> float:
        slope = self.estimate.from_temperatures
        return self.estimate.llc_se if slope is None else slope.llc_se

    @property
    def verdict(self) -> Verdict:
        slope = self.estimate.from_temperatures
        return self.estimate.converged if slope is None else slope.verdict

    def __bool__(self) -> bool:
        """Whether λ̂ at the setting can be trusted."""
        return bool(self.verdict)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The setting and what it gives, why, and what else is plausible."""
        value = f"λ̂ = {self.llc:.4g} ± {self.llc_se:.2g}"
        first = f"Use {said(self.settings)}: {value}."
        judged = str(self.verdict) if self else f"It is not to be trusted yet. {self.verdict}"
        return first, judged, *self.why, *self.beside

    def __str__(self) -> str:
        return " ".join(self.sentences)


def said(settings: Mapping[str, Any]) -> str:
    """Settings in words: the sampler, and what differs from what it has by itself."""
    sampler = settings["sampler"]
    given = {name: value for name, value in settings.items() if name not in UNSAID and value is not None}
    if given.get("burn_in") == USUAL_BURN_IN:
        given.pop("burn_in")
    steps, most = given.pop("steps", None), given.pop("max_steps", None)
    words = [_named({name: value}) for name, value in given.items()]
    if steps is not None:
        words.append(f"steps = {steps}" + (f" (up to {most})" if most and most > steps else ""))
    step = "" if "step_size" in given else " an automatic step size,"
    return f"{sampler.name} with{step} {', '.join(words[:-1])} and {words[-1]}"


def _named(settings: Mapping[str, Any]) -> str:
    values = ((name, f"{value:.4g}" if isinstance(value, float) else str(value)) for name, value in settings.items())
    return ", ".join(f"{name} = {value}" for name, value in values)


def recommend(
    problem: Potential,
    sampler: Sampler,
    pick: Mapping[str, Any],
    shared: Mapping[str, Any],
    *,
    polish: bool | None,
) -> Recommendation:
    """Run the pick by itself, and do what verdicts ask for.

    pick: step_size (None: automatic), localization, n_beta, and the steps of a trial.  shared: all other keywords.
    polish: whether w0 is moved to the minimum; None: where the verdict says that it lies above it.
    """
    settings: dict[str, Any] = {"sampler": sampler.replace(step_size=None), **pick}
    settings |= {name: value for name, value in shared.items() if value is not None}
    trial = settings["steps"]
    settings |= {"steps": LONGER * trial, "max_steps": LONGEST * trial}
    if polish:
        settings["polish"] = True
    why: list[str] = []
    for left in reversed(range(ROUNDS)):
        found = Recommendation(settings, estimate(problem, progress=False, **settings), tuple(why))
        change = {} if found or not left else change_of(found, polish)
        if not change:
            break
        moved = found.estimate.polished
        stayed = moved is not None and not moved.distance
        reason = moved.sentence if moved is not None and stayed else found.verdict.reason
        why = [each for each in why if not (stayed and "polish" in each)] + [f"Why {_named(change)}: {reason}"]
        settings = {**settings, **change}
        if stayed:
            settings.pop("polish")
        if "sampler" in change:
            settings.pop("step_size", None)
    return beside(problem, found)


def change_of(found: Recommendation, polish: bool | None) -> dict[str, Any]:
    """What to change of the settings; empty where nothing that is asked for can be done here."""
    judged, settings = found.verdict, found.settings
    if "temperatures" in settings:
        return {}
    moved = found.estimate.polished
    if asks_for_a_minimum(judged) or (moved is not None and judged.kind in OF_W0):
        if moved is None and polish is None and found.estimate.evidence.movable:
            return {"polish": True}
        return {"temperatures": TEMPERATURES}
    if judged.kind is Kind.VARIANCE_BELOW:
        return {"temperatures": TEMPERATURES}
    return {name: value for name, value in judged.change.items() if name in FOLLOWED}


def asks_for_a_minimum(judged: Verdict) -> bool:
    """Whether a verdict says that w0 is none."""
    return "polish" in judged.change or judged.kind in NO_MINIMUM


def beside(problem: Potential, found: Recommendation) -> Recommendation:
    """The same with λ̂ at γ and nβ beside those recommended, one at a time, and what that says."""
    settings, gamma, n_beta = dict(found.settings), found.settings["localization"], found.settings["n_beta"]
    if not math.isfinite(found.llc) or "temperatures" in settings:
        return found
    settings |= {"steps": found.estimate.steps, "progress": False}
    settings.pop("max_steps")
    cells = {f"n_beta = {HALF * n_beta:.4g}": estimate(problem, **{**settings, "n_beta": HALF * n_beta})}
    if gamma:
        settings["grid"] = {"localization": [gamma * share for share in OTHER_GAMMAS]}
        settings.pop("localization")
        cells |= {f"localization = {e.setting['localization']:.3g}": e for e in estimate(problem, **settings)}
    beside = [_neighbour(name, cell, found) for name, cell in cells.items()]
    return replace(found, beside=(*beside, _of_settings(cells.values(), found)), neighbours=tuple(cells.values()))


def _neighbour(name: str, cell: Estimate, found: Recommendation) -> str:
    value = f"λ̂ is {cell.llc:.4g} ± {cell.llc_se:.2g}"
    if not cell.converged:
        return f"At {name} {value}, which is not to be trusted: {cell.converged.reason}"
    return f"At {name} {value}{', the same within its error' if _same(cell, found) else ''}."


def _same(cell: Estimate, found: Recommendation) -> bool:
    error = math.hypot(cell.llc_se, found.llc_se)
    return abs(cell.llc - found.llc) <= max(SPREAD * error, SHARE * abs(found.llc))


def _of_settings(cells: Iterable[Estimate], found: Recommendation) -> str:
    trusted = [each for each in cells if each.converged]
    if trusted and all(_same(each, found) for each in trusted):
        return "Where it can be trusted λ̂ hangs neither on γ nor on nβ: each of these settings is plausible."
    return "λ̂ hangs on the setting: state γ and nβ with the number, and compare only at the same ones."
