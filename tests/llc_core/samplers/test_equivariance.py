"""Which symmetries of a network a sampler respects: two copies of w0 and of the noise, and the losses along both paths.

A deep linear network keeps its function under W1 → G W1, W2 → W2 Gᵀ. A sampler whose metric goes parameter by parameter respects
signed permutations G, and no others: under rotations it sees which copy it began from.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from cases import few
from torch import Tensor

from llc_core.samplers import MetropolisSampler, Sampler, build, hyperparameters, samplers
from llc_core.types import Energy

HIDDEN, INPUTS, OUTPUTS = 4, 3, 2
FIRST = HIDDEN * INPUTS
LAYERS = ((HIDDEN, INPUTS), (OUTPUTS, HIDDEN))
CHAINS, STEPS, STEP_SIZE, N_BETA = 3, 150, 3e-3, 40.0
TRUTH = torch.randn(OUTPUTS, INPUTS, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
ROUNDING = 1e-9
"""Of the loss: 150 steps of 10⁻¹⁶ each, which nearby paths let grow a little."""
NAMES = sorted(samplers(priors=True))
SEE_ROTATIONS = ("AdamSGLD", "CorrectedPSGLD", "DriftAdamSGLD", "FrozenPSGLD", "PSGLD", "RMSPropSGLD", "SGLRW")
"""Their metrics, drifts or steps go parameter by parameter."""
SMALLER = {"SGHMC": 1e-5, "SGNHT": 1e-5}
"""Step sizes of samplers that do not stand the usual one here: theirs is the square of a leapfrog's step."""


def split(w: Tensor) -> tuple[Tensor, Tensor]:
    return w[:, :FIRST].view(-1, HIDDEN, INPUTS), w[:, FIRST:].view(-1, OUTPUTS, HIDDEN)


def joined(first: Tensor, second: Tensor) -> Tensor:
    return torch.cat([first.flatten(1), second.flatten(1)], dim=1)


def moved(w: Tensor, g: Tensor) -> Tensor:
    first, second = split(w)
    return joined(g @ first, second @ g.mT)


def signed_permutation(random: torch.Generator) -> Tensor:
    signs = 1 - 2 * torch.randint(2, (HIDDEN, 1), generator=random).double()
    return signs * torch.eye(HIDDEN, dtype=torch.float64)[torch.randperm(HIDDEN, generator=random)]


def rotation(random: torch.Generator) -> Tensor:
    return torch.linalg.qr(torch.randn(HIDDEN, HIDDEN, generator=random, dtype=torch.float64))[0]


@torch.inference_mode()  # a sixth less time
def losses(sampler: Sampler, members: Tensor) -> np.ndarray:
    """[STEPS, members, CHAINS]: along the same paths, moved by each of these members of a group [members, HIDDEN, HIDDEN], side by side.

    w0 = 0 and γ = 1, so that the prior has every symmetry, and is N(0, I) for samplers that want it so.
    """
    random, copies = torch.Generator().manual_seed(1), len(members)
    g, chains = members.repeat_interleave(CHAINS, 0), CHAINS * copies
    column = torch.ones(chains, 1, dtype=torch.float64)

    def normals(count: int) -> Tensor:
        drawn = torch.randn(count, CHAINS, FIRST + OUTPUTS * HIDDEN, generator=random, dtype=torch.float64)
        return torch.stack([moved(each.repeat(copies, 1), g) for each in drawn])

    def evaluate(w: Tensor) -> Energy:
        first, second = split(w)
        gap = second @ first - TRUTH
        grad = joined(second.transpose(1, 2) @ gap, gap @ first.transpose(1, 2))
        above, below = second.square().sum(1), first.square().sum(2)
        diagonal = joined(above.unsqueeze(2).expand_as(first), below.unsqueeze(1).expand_as(second))
        return Energy(gap.square().sum((1, 2)) / 2, grad, w, N_BETA * column, column, hessian_diagonal=diagonal)

    hp = hyperparameters(sampler, chains, column, LAYERS)
    state = sampler.init(0.7 * normals(1)[0], normals(1)[0], hp)
    energy, found = evaluate(state["delta"]), []
    for step in range(STEPS):
        if step == STEPS // 4:
            hp.adapting = torch.zeros_like(hp.adapting)
        found.append(energy.excess_loss.numpy())
        noise = normals(sampler.noises)
        if isinstance(sampler, MetropolisSampler):
            uniform = 1 - torch.rand(CHAINS, 1, generator=random, dtype=torch.float64).repeat(copies, 1)
            state, energy = sampler.step(state, energy, evaluate, noise, uniform, hp)
        else:
            state = sampler.update(state, energy, noise, hp)
            energy = evaluate(state["delta"])
    return np.array(found).reshape(STEPS, copies, CHAINS)


def gap(name: str, group) -> float:
    """The largest difference of the losses along a path and its image, over three members of the group."""
    sampler = build(name).complete(False).replace(step_size=SMALLER.get(name, STEP_SIZE))
    random = torch.Generator().manual_seed(2)
    members = torch.stack([torch.eye(HIDDEN, dtype=torch.float64), *(group(random) for _ in range(3))])
    plain, *images = losses(sampler, members).transpose(1, 0, 2)
    assert np.isfinite(plain).all() and np.ptp(plain, axis=0).min() > 1e-3, "the chains move"
    return max(float(np.abs(image - plain).max()) for image in images)


@pytest.mark.parametrize("name", NAMES)
def test_signed_permutations_are_respected(name):
    assert gap(name, signed_permutation) < ROUNDING


@pytest.mark.parametrize("name", few([name for name in NAMES if name not in SEE_ROTATIONS], 5))
def test_rotations_are_respected_where_no_coordinate_is_special(name):
    assert gap(name, rotation) < ROUNDING


@pytest.mark.parametrize("name", SEE_ROTATIONS)
def test_a_metric_of_single_parameters_sees_rotations(name):
    """By far more than rounding; RMSProp's paths part for good."""
    assert gap(name, rotation) > (0.1 if name == "RMSPropSGLD" else 1e-3)
