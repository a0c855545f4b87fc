"""The plateau of a calibration: neighbouring step sizes whose λ̂ agree, and the best of them."""

from __future__ import annotations

import math

import numpy as np

from llc_core.studies.calibration.trials import PLATEAU_SHARE, Trials

ERRORS = 2.5
"""Neighbours belong to one plateau when λ̂ differs by less than this many standard errors or PLATEAU_SHARE."""
LEAST = 2
"""Cells that make a plateau. One alone may stand anywhere on a slope."""


def pick(trials: Trials) -> tuple[tuple[int, int, int] | None, np.ndarray]:
    """The index of the pick, None where there is no plateau; and the cells of its plateau, a mask of the trials' shape.

    Step sizes are compared at the problem's own γ alone, since another γ asks another question. nβ is taken from n / log n
    outwards: the first with two agreeing cells along the step sizes. A single cell that nothing confirms is no plateau.
    """
    g = trials.own
    plateau = np.zeros(trials.shape, dtype=bool)
    for b in np.argsort(trials.n_beta_distance, kind="stable").tolist():
        members = plateau_at(trials, g, b)
        if members:
            plateau[members, g, b] = True
            llc, error = trials.llc[:, g, b], trials.expected_error[:, g, b]
            risks = [_risk(llc, error, members, e) for e in members]
            return (members[int(np.argmin(risks))], g, b), plateau
    return None, plateau


def plateau_at(trials: Trials, g: int, b: int) -> list[int]:
    """Indices of the step sizes that agree at one γ and nβ; empty where fewer than LEAST do."""
    members = longest_plateau(trials.llc[:, g, b], trials.llc_se[:, g, b], trials.ok[:, g, b])
    return members if len(members) >= LEAST else []


def longest_plateau(llc: np.ndarray, se: np.ndarray, ok: np.ndarray) -> list[int]:
    """Indices of the most good cells in a row that all agree with each other, of [E] cells along the step size.

    Refused cells between them are passed over. Of two plateaus of equal length the one at smaller step sizes is taken.
    """
    best: list[int] = []
    members: list[int] = []
    for e in np.flatnonzero(ok).tolist():
        while not all(_agree(llc, se, e, other) for other in members):
            members = members[1:]
        members = [*members, e]
        if len(members) > len(best):
            best = members
    return best


def _risk(llc: np.ndarray, error: np.ndarray, members: list[int], e: int) -> float:
    """A cell's expected error, and its distance from the mean of the plateau at smaller step sizes.

    The distance counts because a prediction of the step's bias does not see heavy tails.
    """
    smaller = [other for other in members if other < e]
    if not smaller:
        return float(error[e])
    weight = 1 / np.maximum(error[smaller], 1e-300) ** 2
    return math.hypot(error[e], llc[e] - float((weight * llc[smaller]).sum() / weight.sum()))


def _agree(llc: np.ndarray, se: np.ndarray, a: int, b: int) -> bool:
    error = np.nan_to_num(math.hypot(se[a], se[b]))
    return abs(llc[a] - llc[b]) < max(ERRORS * error, PLATEAU_SHARE * abs(llc[[a, b]]).max())
