"""Flat directions: which of them the loss does not depend on, and whether chains have spread along the others."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.streams import torch_stream
from llc_core.diagnostics import convergence as diagnostics
from llc_core.engine.law import LEAST_LOOKS, BiasAndSpread, has_no_law, on_the_plane, spread_of, without_heat
from llc_core.engine.setup import Setup, can_be_asked
from llc_core.observables.law_bias import LawBias
from llc_core.observables.look import Group
from llc_core.observables.spreading import SpreadCount
from llc_core.observables.term_sizes import TermSizes

SLOPE = 0.1
"""nβ·ΔL may change by so much over the length 1/√γ."""
ROUNDED = 1e-5
"""A slope below this share of the whole gradient is rounding."""


class Slopes:
    """The directions that the gradients which were seen span.  left: how many of D are orthogonal to all of them."""

    def __init__(self, like: Tensor):
        self._basis = like.new_zeros(0, like.shape[1], dtype=torch.float64)
        self.left = like.shape[1]

    def add(self, slopes: Tensor) -> bool:
        """Takes up those of the slopes [C, D], nβ∇L/√γ, that are too large; whether there are any."""
        if not torch.isfinite(slopes).all():
            self.left = 0
            return True
        before = self.left
        for slope in slopes.double():
            rest = slope - self._along(slope)
            if self.left and float(rest.norm()) > SLOPE + ROUNDED * float(slope.norm()):
                rest = rest - self._along(rest)  # once more, since rounding leaves something
                self._basis = torch.cat([self._basis, (rest / rest.norm()).unsqueeze(0)])
                self.left -= 1
        return self.left < before

    def part(self, moved: Tensor) -> Tensor:
        """What of δ [C, D] lies along directions with a slope."""
        return self._along(moved.double()).to(moved)

    def _along(self, moved: Tensor) -> Tensor:
        return (moved @ self._basis.T) @ self._basis


SHARE = 0.1
"""Share of the run's gradients that the search may take."""
CONFIRMED = 25
"""In so many rounds running no chain may find a slope: where the loss depends on them in a share p of the localiser's draws, four
chains miss it with a chance of exp(−100·p)."""
CHANGE = 0.01
"""nβ·ΔL may change by this share of λ̂, in the mean over the draws."""


class Idle(NamedTuple):
    """many: directions that the loss does not depend on.  unspread, unspread_se: as of `BiasAndSpread`, of all other directions."""

    many: int = 0
    unspread: float = math.nan
    unspread_se: float = math.nan


def idle(setup: Setup, law: LawBias | None, group: Group, llc: float, heat: float) -> Idle:
    """Of the group's living chains, from the places where their distribution was measured.  llc: λ̂.  heat: see `engine.law.result`.

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
    found = BiasAndSpread(**spread_of(others, heat, llc))
    return Idle(slopes.left, found.unspread, found.unspread_se)


def search(setup: Setup, here: Tensor, n_beta: float, gamma: float, rounds: int, llc: float) -> Slopes | None:
    """The slopes seen from chains at δ = here [C, D], once directions are left without any; else None.

    The part of a chain's place along such directions is drawn anew from the localising Gaussian. Where neither the loss nor its
    slope along them changes, the posterior is that Gaussian times the distribution of all other directions, which the chains follow whatever
    they do along these: λ̂ is right however far they have spread along them. The search begins with all directions. Each round takes
    away those along which a chain finds a slope at its new place, until none does. Where a flat valley bends, or narrows farther
    out, there are slopes at the new places, and nothing is left. The other directions stay where the chains are: what is idle there
    may matter where they have not been, which is for `diagnostics.chances.without_idle` to weigh.
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


MOST_LOOKS = 400
"""Looks cost two products of vectors each, and batches' noise wants many."""


class Spreading(NamedTuple):
    """unspread, se: how many directions the chains have not spread along as far as γ lets them, with its error.
    pull: the mean of γ‖w − w0‖². nan: not known."""

    unspread: float = math.nan
    se: float = math.nan
    pull: float = math.nan


def spread_count(setup: Setup) -> SpreadCount | None:
    """What counts them in a run whose distribution is not measured; None where ∇U is not what the chains follow, or exact answers tell."""
    if setup.sampler.needs_conditionals and can_be_asked(setup):
        return SpreadCount(TermSizes.every)  # for γ's share alone, at steps whose energy is looked at anyway
    if on_the_plane(setup) and setup.config.interaction is None:
        return SpreadCount(TermSizes.every)  # for λ̂ from the variance alone
    if has_no_law(setup):
        return None
    # A step that is watched is not replayed on a GPU, so there it is one that is watched in any case.
    least = 1 if setup.like.device.type == "cpu" else TermSizes.every
    kept = setup.planned_steps - setup.adapting
    return SpreadCount(least * max(1, kept // (least * MOST_LOOKS)))


def spreading(count: SpreadCount | None, group: Group, heat: float, llc: float) -> Spreading:
    """What was counted of a group's chains.  heat, llc: as in `llc_core.engine.law.without_heat`."""
    if count is None:
        return Spreading()
    seen = count.seen(group)
    if len(seen.unspread) < LEAST_LOOKS or seen.unspread.size == 0 or not np.isfinite(seen.unspread).all():
        return Spreading()
    means = np.average(seen.unspread, axis=0, weights=seen.weights)
    chance = diagnostics.standard_error(means, seen.unspread, seen.weights)
    many, error = without_heat(float(means.mean()), chance, heat, llc)
    return Spreading(many, error, float(np.average(seen.pull, weights=seen.weights)))
