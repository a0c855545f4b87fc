"""How far w0 lies above the minimum that the chains move around: what λ̂ from the mean is too low by."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.descent import Descent
from llc_core.engine.setup import Setup, can_be_asked
from llc_core.engine.spreading import part_of_data
from llc_core.potentials.base import Potential
from llc_core.potentials.polishing import FIRST

SHARE = 0.03
"""Share of the run's gradients that the search may take …"""
FEWEST, MOST = 12, 200
"""… between so many evaluations of all data. With fewer nothing is found, and more were never needed."""
DEAREST = 0.2
"""The fewest may take this share of the run's gradients: without them nothing is known of w0."""
STARTS = 2
FEW = 30
"""With fewer than this many all go to w0. Else a chain's place is a second start, since at a saddle w0 itself has no slope."""
NO_SLOPE = 60
"""Evaluations from a chain's place where there is no way down from w0: that may be a saddle. They may take `DEAREST` of the run's gradients."""
ENOUGH = 0.002
"""The search ends where the next step promises less than this, in units of λ̂."""


def above_minimum(setup: Setup, delta: Tensor, living: np.ndarray) -> np.ndarray | None:
    """nβ·(L(w0) − L(w*)) of every group, [problems, settings], in units of λ̂; None where it would cost too much, and nan where
    nothing lower is found from w0 and the way from a chain's place did not come to its end: w0 is then a minimum or a saddle.

    w* is the lowest place found of U = nβ·L + (γ/2)‖w − w0‖² − log φ by descent on all data from w0 and from a chain's place, so
    that the true number may be larger and is never smaller, but for rounding. Where the loss is a quadratic in what γ does not
    hold, E[nβ·ΔL] under the target is λ less just this number (complete the square), whatever γ.

    delta: [C, D] displacements of the chains now.  living: [C].
    """
    groups = setup.groups
    found = np.zeros((groups.problems, groups.settings))
    if setup.problem.w0_is_minimum:
        return found
    if not can_be_asked(setup):
        return None
    rows = [[groups.rows(p, s) for s in range(groups.settings)] for p in range(groups.problems)]
    targets = torch.cat([setup.target.n_beta, setup.target.localization], dim=1).double()
    # Settings that differ in their steps alone ask the same question.
    asked = {(p, *targets[mine][0].tolist()): (p, mine) for p, each in enumerate(rows) for mine in each}
    passes = _passes(setup, len(asked))
    starts, calls = _starts_and_calls(passes)
    if calls < FEWEST:
        return None
    above = {}
    for (number, n_beta, gamma), (_, mine) in asked.items():
        problem = setup.problem.member(number)
        here = _lower(problem, n_beta, gamma, torch.zeros_like(delta[0]), calls)
        still = here.by < ENOUGH and not problem.by_chain
        if starts > 1 or still:
            many = max(calls, min(NO_SLOPE, int(DEAREST * passes))) if still else calls
            there = _lower(problem, n_beta, gamma, _of_a_chain(delta[mine], living[mine]), many)
            known = not still or there.rested or there.by > 0
            here = here._replace(by=max(here.by, there.by) if known else math.nan)
        above[number, n_beta, gamma] = here.by
    for p, each in enumerate(rows):
        found[p] = [above[(p, *targets[mine][0].tolist())] for mine in each]
    return found


def _passes(setup: Setup, questions: int) -> float:
    """Gradients of all data that the run takes, for each question."""
    passes = setup.planned_steps * part_of_data(setup) / questions
    if setup.problem.by_chain:  # a step takes an evaluation for every chain
        passes *= setup.groups.chains * setup.groups.settings
    return passes


def _starts_and_calls(passes: float) -> tuple[int, int]:
    """How many starts each question has, and after how many evaluations a way is at its end."""
    if SHARE * passes / STARTS >= FEW:
        return STARTS, min(MOST, int(SHARE * passes / STARTS))
    return 1, max(int(SHARE * passes), min(FEWEST, int(DEAREST * passes)))


def _of_a_chain(delta: Tensor, living: np.ndarray) -> Tensor:
    """The place [D] of the first living chain of [C, D]; w0 where there is none."""
    fine = torch.as_tensor(living, device=delta.device) & torch.isfinite(delta).all(dim=1)
    return delta[int(fine.to(torch.int8).argmax())] if bool(fine.any()) else torch.zeros_like(delta[0])


class Way(NamedTuple):
    """by: nβ·(L(w0) − L) at its end, 0 where U is not lower than at w0.  rested: whether it came to an end before its evaluations did."""

    by: float
    rested: bool


def _lower(problem: Potential, n_beta: float, gamma: float, start: Tensor, calls: int) -> Way:
    """The way down U from `start` [D]."""
    used = 0

    def energy(at: Tensor) -> tuple[float, Tensor]:
        nonlocal used
        used += 1
        loss, grad = problem.excess_loss_and_grad(at.unsqueeze(0))
        value = n_beta * float(loss) + gamma / 2 * float(at.double().square().sum())
        force = (n_beta * grad).add_(at, alpha=gamma)[0]
        prior = problem.prior_energy_and_grad(at.unsqueeze(0))
        return (value, force) if prior is None else (value + float(prior[0]), force + prior[1][0])

    scale = torch.ones_like(start) * problem.typical_scale(start)
    search = Descent(energy, start, FIRST * float(scale.norm()), n_beta * abs(problem.baseline_loss))
    rested = False
    while used < calls and not rested:
        before = search.here.loss
        rested = not search.step() or max(before - search.here.loss, search.gain) < ENOUGH
    if search.here.loss >= 0:
        return Way(0.0, rested)
    lower = -n_beta * float(problem.excess_loss_and_grad(search.here.at.unsqueeze(0))[0])
    return Way(max(lower, 0.0), rested)
