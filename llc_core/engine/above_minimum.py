"""How far w0 lies above the minimum that the chains move around: what λ̂ from the mean is too low by."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.descent import descend
from llc_core.engine.idle import part_of_data
from llc_core.engine.setup import Setup
from llc_core.groups import Groups

SHARE = 0.03
"""Share of the run's gradients that the search may take …"""
FEWEST, MOST = 12, 200
"""… between so many evaluations of all data. With fewer nothing is found, and more were never needed."""
DEAREST = 0.2
"""The fewest may take this share of the run's gradients: without them nothing is known of w0."""
FEW = 30
"""With fewer than this many all go to w0. Else a chain's place is a second start, since at a saddle w0 itself has no slope."""
ENOUGH = 0.02
"""The search ends where the next step promises less than this, in units of λ̂."""


def can_be_asked(setup: Setup) -> bool:
    """Whether the chains move around a minimum that w0 is meant to be, and on one data set."""
    problem = setup.problem
    return not (problem.starts_at_prior or problem.walls or problem.data_sets > 1)


def above_minimum(setup: Setup, delta: Tensor, living: np.ndarray) -> np.ndarray | None:
    """nβ·(L(w0) − L(w*)) of every group, [problems, settings], in units of λ̂; None where it would cost too much.

    w* is the lowest place found of U = nβ·L + (γ/2)‖w − w0‖² − log φ by descent on all data from w0 and from a chain's place, so
    that the true number may be larger and is never smaller, but for rounding. Where the loss is a quadratic in what γ does not
    hold, E[nβ·ΔL] under the target is λ less just this number (complete the square), whatever γ.

    delta: [C, D] displacements of the chains now.  living: [C].
    """
    problem, groups = setup.problem, setup.groups
    if problem.w0_is_minimum:
        return np.zeros((groups.problems, groups.settings))
    number, calls = _starts_and_calls(setup)
    if calls < FEWEST or not can_be_asked(setup):
        return None
    starts = Groups(groups.problems, number, groups.settings)
    n_beta, gamma = (
        _of_starts(part, starts, groups).double() for part in (setup.target.n_beta, setup.target.localization)
    )
    chain = _first(delta, living, groups)
    place = torch.stack([torch.zeros_like(chain), chain][:number], dim=1).reshape(starts.count, -1)

    def energy(at: Tensor) -> tuple[Tensor, Tensor]:
        loss, grad = problem.excess_loss_and_grad(at)
        value = n_beta.squeeze(1) * loss.double() + gamma.squeeze(1) / 2 * at.double().square().sum(dim=1)
        force = (gamma.to(at) * at).addcmul_(n_beta.to(at), grad)
        prior = problem.prior_energy_and_grad(at)
        if prior is not None:
            value, force = value + prior[0].double(), force + prior[1]
        return value.to(at), force

    found = descend(energy, place, calls, ENOUGH)
    losses = n_beta.squeeze(1) * problem.excess_loss_and_grad(found.place)[0].double()
    lowest = starts.split(torch.where(torch.isfinite(losses), losses, math.inf)).amin(dim=1)
    return (-lowest).clamp_min(0.0).cpu().numpy()


def _starts_and_calls(setup: Setup) -> tuple[int, int]:
    """How many starts each group has, and how often all of them may be evaluated."""
    groups = setup.groups
    passes = setup.planned_steps * part_of_data(setup)
    # Small networks take as long for one chain as for a few; large ones are evaluated one chain after the other.
    each = groups.chains if setup.problem.by_chain else 1
    for number in (2, 1):
        calls = min(MOST, int(SHARE * passes * each / (number if each > 1 else 1)))
        if calls >= FEW:
            return number, calls
    return 1, max(calls, min(FEWEST, int(DEAREST * passes * each)))


def _of_starts(values: Tensor, starts: Groups, groups: Groups) -> Tensor:
    """[starts' rows, 1] of what every chain has, [C, 1], and all chains of a group alike."""
    return groups.split(values)[:, :1].expand(-1, starts.chains, -1, -1).reshape(-1, 1)


def _first(delta: Tensor, living: np.ndarray, groups: Groups) -> Tensor:
    """The place of the first living chain of every group, [problems, settings, D]; w0 where none lives."""
    alive = torch.as_tensor(living, device=delta.device) & torch.isfinite(delta).all(dim=1)
    split, fine = groups.split(delta), groups.split(alive)
    at = fine.to(torch.int8).argmax(dim=1)  # [problems, settings]
    index = at[:, None, :, None].expand(-1, 1, -1, delta.shape[1])
    chosen = split.gather(1, index)[:, 0]
    return torch.where(fine.any(dim=1).unsqueeze(2), chosen, torch.zeros_like(chosen))
