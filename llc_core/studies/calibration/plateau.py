"""The plateau of a calibration: neighbouring step sizes whose λ̂ agree, and the best of them."""

from __future__ import annotations

import math

import numpy as np

from llc_core.studies.calibration.trials import PLATEAU_SHARE, Trials

ERRORS = 2.5
"""Neighbours belong to one plateau when λ̂ differs by less than this many standard errors or PLATEAU_SHARE."""


def pick(trials: Trials) -> tuple[tuple[int, int, int] | None, np.ndarray]:
    """The index of the pick, None where nothing can be trusted; and the cells of its plateau, a mask of the trials' shape.

    Localisation and nβ are taken from the problem's own outwards, nβ first. The first of them with two agreeing cells
    along the step sizes is taken, else the first with a single good cell.
    """
    lines = sorted(
        np.ndindex(trials.shape[1:]),
        key=lambda at: (trials.n_beta_distance[at[1]], trials.localization_distance[at[0]]),
    )
    plateau = np.zeros(trials.shape, dtype=bool)
    for least in (2, 1):
        for g, b in lines:
            llc, error = trials.llc[:, g, b], trials.expected_error[:, g, b]
            members = longest_plateau(llc, trials.llc_se[:, g, b], trials.ok[:, g, b])
            if len(members) >= least:
                plateau[members, g, b] = True
                risks = [_risk(llc, error, members, e) for e in members]
                return (members[int(np.argmin(risks))], g, b), plateau
    return None, plateau


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
