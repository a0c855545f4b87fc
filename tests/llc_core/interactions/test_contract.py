"""Interactions between chains: the form on tensors and its scalar twin agree, and what may not matter does not."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from cases import few

import llc_core
from llc_core.groups import Groups
from llc_core.interactions import Seen
from llc_core.plane import PlaneRun

pytest.importorskip("numba")

STEPS = 2000
EPS = np.finfo(float).eps
CASES = {
    "contour": (llc_core.Contour(low=-1, high=11.5, pilot=200, clip=5), 5),
    "contour, log bins": (llc_core.Contour(low=0.01, high=12, scale="log", difference="forward", field="old"), 5),
    "even and odd pairs": (llc_core.ReplicaExchange(temperatures=(1, 2, 4, 8)), 4),
    "random pairs": (
        llc_core.ReplicaExchange(temperatures=(1, 2, 4, 8), swap="random", correction=30, energy_variance=0.06),
        4,
    ),
}


def both(interaction, members: int, spoil: bool = False):
    """Yields, step by step, what the two forms say of the same losses and uniforms; now and then a chain is dead."""
    rng = np.random.default_rng(0)
    ladder = getattr(interaction, "ladder", None)
    groups = Groups(1, 1, members) if ladder else Groups(1, members, 1)
    n_beta = torch.tensor(ladder(1.0) if ladder else [1.0] * members, dtype=torch.float64).unsqueeze(1)
    layout = interaction.layout(groups, n_beta, STEPS * 3 // 4)
    shared = interaction.init(layout)
    twin = interaction.twin(n_beta.squeeze(1).numpy(), STEPS * 3 // 4)
    vector = twin.vector.copy()
    levels = n_beta[:, 0].numpy()
    for step in range(STEPS):
        loss = rng.exponential(2, members) / np.sqrt(levels)
        alive = rng.random(members) > 0.02
        loss[~alive] = 0
        uniform = 1 - rng.random(members)
        row = [torch.from_numpy(a).unsqueeze(0) for a in (loss, alive, uniform)]
        shared, order = interaction.exchange(shared, Seen(step, row[0], layout.n_beta * row[0], row[1], row[2]), layout)
        heat, log_weight = interaction.heat(shared, layout), interaction.log_weight(step, shared, layout)
        said = np.zeros(members, np.int64), np.zeros(members), np.zeros(members)
        twin.step(step, loss[::-1].copy() if spoil else loss, levels, alive, uniform, twin.q, vector, *said)
        yield shared, order, heat, log_weight, vector, said


@pytest.mark.parametrize("name", few([name for name in CASES if name.startswith("contour")], 1, rare=False))
def test_contours_agree_with_their_twin(name):
    """θ has a relative rounding error of a few units in each of its STEPS updates, and the multiplier is a difference of
    logarithms of θ over the width of a bin."""
    interaction, members = CASES[name]
    bound = 8 * EPS * STEPS
    for shared, _, heat, log_weight, _, (_, twin_heat, twin_weight) in both(interaction, members):
        scale = np.abs(twin_heat).max() + 1
        assert np.abs(heat[0].numpy() - twin_heat).max() < bound * scale * 10
        assert np.abs(log_weight[0].exp().numpy() - twin_weight).max() < bound
        theta = shared["theta"]
        assert torch.isfinite(theta).all() and (theta > 0).all()


def test_a_twin_that_sees_other_losses_is_found():
    interaction, members = CASES["contour"]
    far = [np.abs(heat[0].numpy() - said[1]).max() for _, _, heat, _, _, said in both(interaction, members, spoil=True)]
    assert max(far) > 1e-3
    interaction, members = CASES["even and odd pairs"]
    orders = ((order, said[0]) for _, order, _, _, _, said in both(interaction, members, spoil=True))
    assert sum(order is not None and (order[0].numpy() != said).any() for order, said in orders) > 100


@pytest.mark.parametrize("name", few(["random pairs", "even and odd pairs"], 1, rare=False))
def test_replicas_change_places_as_their_twin_says(name):
    interaction, members = CASES[name]
    moved = 0
    for each in both(interaction, members):
        shared, order, _, _, vector, said = each
        want = np.arange(members) if order is None else order[0].numpy()
        assert (want == said[0]).all() and sorted(want) == list(range(members))
        moved += int((want != np.arange(members)).any())
    assert moved > 100, "otherwise nothing was compared"
    assert float(shared["round_trips"][0]) == vector[0]


@pytest.mark.parametrize(
    "interaction", [llc_core.Contour(low=-1, high=11.4945), llc_core.ReplicaExchange(temperatures=(1, 3.46, 12))]
)
def test_numbers_do_not_depend_on_blocks(interaction):
    surface = llc_core.surface(noise=0.25)

    def counts(block: int) -> np.ndarray:
        run = PlaneRun(llc_core.SGLD(step_size=6e-3), surface, interaction, steps=1000, trials=2, seed=1)
        while not run.finished:
            seen = run.advance(block)
        return seen.counts

    assert np.array_equal(counts(1000), counts(137)) and counts(1000).sum() > 0
