"""What a calibration says: what to use, why, and what was refused."""

from __future__ import annotations

import math

import numpy as np

from llc_core.studies.calibration.trials import Trials


def explanation(trials: Trials, chosen: tuple[int, int, int] | None, plateau: np.ndarray) -> tuple[str, ...]:
    """Sentences on the pick. chosen, plateau: as `plateau.pick` returns them."""
    if chosen is None:
        return _nothing(trials)
    return (*_choice(trials, chosen, plateau), *_refused_neighbours(trials, chosen), *_refused(trials))


def _nothing(trials: Trials) -> tuple[str, ...]:
    count, smallest, limit = len(trials.cells), trials.step_sizes[0], trials.limit
    if (trials.dead_fraction >= 1).all():
        below = f" below {limit:.2g}" if math.isfinite(limit) and limit > 0 else f" far below {smallest:.2g}"
        return (f"All chains of all {count} settings diverged, so nothing can be picked: use step sizes{below}.",)
    return (
        f"None of the {count} settings can be trusted, so nothing is picked.",
        f"At the smallest step size, {smallest:.2g}: {trials.reason.flat[0]}",
    )


def _choice(trials: Trials, chosen: tuple[int, int, int], plateau: np.ndarray) -> list[str]:
    e, g, b = chosen
    members = np.flatnonzero(plateau[:, g, b])
    value = f"λ̂ = {trials.llc[chosen]:.4g} ± {trials.llc_se[chosen]:.2g}"
    first, last = trials.step_sizes[members[0]], trials.step_sizes[members[-1]]
    return [
        f"Use step_size = {trials.step_sizes[e]:.3g}, localization = {trials.localizations[g]:.3g}, "
        f"n_beta = {trials.n_betas[b]:.4g}.",
        f"There λ̂ is on a plateau: at {len(members)} settings from ε = {first:.2g} to {last:.2g} it "
        f"stays within its errors of {value}."
        if len(members) > 1
        else f"Only this one setting can be trusted ({value}); no neighbour in ε confirms it: try finer steps.",
        "The chosen step size has the smallest expected error there, noise and bias of the step together; none of its "
        "chains died.",
    ]


def _refused_neighbours(trials: Trials, chosen: tuple[int, int, int]) -> list[str]:
    """What was nearer to the problem's own values, or larger in step size, and could not be taken."""
    e, g, b = chosen
    sentences = []
    if e + 1 < len(trials.step_sizes) and not trials.ok[e + 1, g, b]:
        larger, reason = trials.step_sizes[e + 1], trials.reason[e + 1, g, b]
        sentences.append(f"The next larger step size, {larger:.2g}, is refused: {reason}")
    if g != int(np.argmin(trials.localization_distance)):
        own = trials.own_localization
        sentences.append(
            f"The localisation nearest the problem's own {own:.3g} has no plateau; this is the nearest that has."
        )
    if b != int(np.argmin(trials.n_beta_distance)):
        usual = trials.usual_n_beta
        sentences.append(f"The n_beta nearest n / log n = {usual:.4g} has no plateau; this is the nearest that has.")
    return sentences


def _refused(trials: Trials) -> list[str]:
    refused, dead = int((~trials.ok).sum()), int((trials.dead_fraction > 0).sum())
    if not refused:
        return []
    return [f"{refused} of {len(trials.cells)} settings are refused, {dead} of them with dead chains."]
