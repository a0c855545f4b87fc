"""Directions that the loss does not depend on: chains need not have spread along them."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from llc_core.compute.streams import torch_stream
from llc_core.engine.law import Measured, spread_of
from llc_core.engine.setup import Setup
from llc_core.engine.slopes import Slopes
from llc_core.observables.law_bias import LawBias
from llc_core.observables.look import Group

SHARE = 0.1
"""Share of the run's gradients that the search may take."""
CONFIRMED = 25
"""In so many rounds running no chain may find a slope: where the loss depends on them in a share p of the localiser's draws, four
chains miss it with a chance of exp(−100·p)."""
CHANGE = 0.01
"""nβ·ΔL may change by this share of λ̂, in the mean over the draws."""


class Idle(NamedTuple):
    """many: directions that the loss does not depend on.  unspread, unspread_se: as of `Measured`, of all other directions."""

    many: int = 0
    unspread: float = math.nan
    unspread_se: float = math.nan


def idle(setup: Setup, law: LawBias | None, group: Group, llc: float, heat: float) -> Idle:
    """Of the group's living chains, from the places where their law was measured.  llc: λ̂.  heat: see `engine.law.result`.

    Nothing is looked for where these places were not kept, or where it would cost too much.
    """
    places = None if law is None else law.places(group)
    if law is None or places is None or not _is_loss_alone(setup):
        return Idle()
    n_beta, gamma = (float(part[group.rows][0]) for part in (setup.target.n_beta, setup.target.localization))
    rounds = int(SHARE * setup.planned_steps * part_of_data(setup))
    slopes = search(setup, places[-1], n_beta, gamma, rounds, llc) if rounds >= 2 * CONFIRMED and gamma > 0 else None
    if slopes is None:
        return Idle()
    looks, chains, dim = places.shape
    pull = gamma * (places - slopes.part(places.view(-1, dim)).view_as(places)).square().sum(dim=2, dtype=torch.float64)
    seen = law.seen(group)
    # Along these directions ∇U is γδ, so that each look's share of the count is known.
    others = seen._replace(unspread=seen.unspread - (slopes.left - pull.cpu().numpy()))
    found = Measured(**spread_of(others, heat, llc))
    return Idle(slopes.left, found.unspread, found.unspread_se)


def search(setup: Setup, here: Tensor, n_beta: float, gamma: float, rounds: int, llc: float) -> Slopes | None:
    """The slopes seen from chains at δ = here [C, D], once directions are left without any; else None.

    The part of a chain's place along such directions is drawn anew from the localising Gaussian. Where neither the loss nor its
    slope along them changes, the posterior is that Gaussian times the law of all other directions, which the chains follow whatever
    they do along these: λ̂ is right however far they have spread along them. The search begins with all directions. Each round takes
    away those along which a chain finds a slope at its new place, until none does. Where a flat valley bends, or narrows farther
    out, there are slopes at the new places, and nothing is left. The other directions stay where the chains are: what is idle there
    may matter where they have not been, which is for `diagnostics.spread.without_idle` to weigh.
    """
    stream = torch_stream(setup.config.seed, "idle", here.device)
    length, slopes, changes = gamma**-0.5, Slopes(here), list[Tensor]()
    loss, grad = setup.problem.excess_loss_and_grad(here)
    loss = loss.clone()
    slopes.add(n_beta * length * grad)
    while rounds and slopes.left and len(changes) < CONFIRMED:
        fresh = length * torch.randn(here.shape, generator=stream, dtype=here.dtype, device=here.device)
        there, grad = setup.problem.excess_loss_and_grad(slopes.part(here - fresh) + fresh)
        changes = [] if slopes.add(n_beta * length * grad) else [*changes, n_beta * (there - loss).abs()]
        rounds -= 1
    if slopes.left and len(changes) == CONFIRMED and float(torch.stack(changes).mean()) <= CHANGE * llc:
        return slopes
    return None


def _is_loss_alone(setup: Setup) -> bool:
    """Whether chains of one problem follow nothing but its loss and the localisation, and can be asked side by side."""
    problem = setup.problem
    alone = problem.problems == 1 and problem.data_sets == 1 and not problem.by_chain
    return alone and problem.prior_energy_and_grad(setup.like.new_zeros(1, problem.dim)) is None


def part_of_data(setup: Setup) -> float:
    """What a step's gradient costs beside one of all data."""
    rows = max(setup.problem.samples, 1)
    return 1.0 if setup.gradient == "full" or setup.problem.has_factors else min(1.0, setup.batch_size / rows)
