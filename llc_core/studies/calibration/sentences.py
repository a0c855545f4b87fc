"""What a calibration says: what to use, why, and what was refused."""

from __future__ import annotations

import math

import numpy as np

from llc_core.studies.calibration.plateau import plateau_at
from llc_core.studies.calibration.trials import Trials


def explanation(trials: Trials, chosen: tuple[int, int, int] | None, plateau: np.ndarray) -> tuple[str, ...]:
    """Sentences on the pick. chosen, plateau: as `plateau.pick` returns them."""
    if chosen is None:
        return (*_nothing(trials), *_other_neighbourhoods(trials, None))
    return (
        *_choice(trials, chosen, plateau),
        *_refused_neighbours(trials, chosen),
        *_other_neighbourhoods(trials, chosen),
        *_refused(trials),
    )


def _nothing(trials: Trials) -> tuple[str, ...]:
    count, smallest, limit, own = len(trials.cells), trials.step_sizes[0], trials.limit, trials.own
    if (trials.diverged_fraction >= 1).all():
        below = f" below {limit:.2g}" if math.isfinite(limit) and limit > 0 else f" far below {smallest:.2g}"
        return (f"All chains of all {count} settings diverged, so nothing can be picked: use step sizes{below}.",)
    gamma, good = trials.localizations[own], trials.ok[:, own]
    if not good.any():
        return (
            f"None of the {good.size} settings at γ = {gamma:.3g} can be trusted, so nothing is picked.",
            f"At the smallest step size, {smallest:.2g}: {trials.reason[0, own, 0]}",
        )
    e, b = (int(i) for i in np.argwhere(good)[0])
    value = f"λ̂ = {trials.llc[e, own, b]:.4g} ± {trials.llc_se[e, own, b]:.2g}"
    if good.sum() == 1:
        said = f"At γ = {gamma:.3g} one setting alone can be trusted, and no other step size confirms it"
    else:
        said = f"At γ = {gamma:.3g} no two step sizes that can be trusted agree"
    return (
        f"{said}: there is no plateau, so nothing is picked.",
        f"The smallest such step size is {trials.step_sizes[e]:.3g}, with {value}: try finer step sizes around it, or more steps.",
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
        f"stays within its errors of {value}.",
        "The chosen step size has the smallest expected error there, noise and bias of the step together; none of its "
        "chains diverged.",
    ]


def _refused_neighbours(trials: Trials, chosen: tuple[int, int, int]) -> list[str]:
    """What was larger in step size, or nearer to n / log n, and could not be taken."""
    e, g, b = chosen
    sentences = []
    if e + 1 < len(trials.step_sizes) and not trials.ok[e + 1, g, b]:
        larger, reason = trials.step_sizes[e + 1], trials.reason[e + 1, g, b]
        sentences.append(f"The next larger step size, {larger:.2g}, is refused: {reason}")
    if b != int(np.argmin(trials.n_beta_distance)):
        usual = trials.usual_n_beta
        sentences.append(f"The n_beta nearest n / log n = {usual:.4g} has no plateau; this is the nearest that has.")
    return sentences


def _other_neighbourhoods(trials: Trials, chosen: tuple[int, int, int] | None) -> list[str]:
    """What γ means, and λ̂ on the plateaus at the other γ: values to compare, none of them a better answer."""
    if len(trials.localizations) == 1:
        return []
    b = int(np.argmin(trials.n_beta_distance)) if chosen is None else chosen[2]
    found = []
    for g, gamma in enumerate(trials.localizations):
        members = plateau_at(trials, g, b) if g != trials.own else []
        if members:
            found.append(f"{float(np.mean(trials.llc[members, g, b])):.3g} at γ = {gamma:.3g}")
    return [
        "γ is the strength of the pull (γ/2)‖w − w0‖² towards w0 and sets the neighbourhood that λ̂ speaks of.",
        "Another γ asks another question, so step sizes were compared at "
        f"γ = {trials.localizations[trials.own]:.3g} alone.",
        *([f"For comparison, λ̂ on its plateau is {' and '.join(found)}."] if found else []),
    ]


def _refused(trials: Trials) -> list[str]:
    refused, dead = int((~trials.ok).sum()), int((trials.diverged_fraction > 0).sum())
    if not refused:
        return []
    return [f"{refused} of {len(trials.cells)} settings are refused, {dead} of them with diverged chains."]
