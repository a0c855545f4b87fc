"""What must hold of chains that interact, as checks; and for each bug that is easy to make, that a check finds it."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
import torch
from cases import few

import llc_core
from llc_core.engine.stepping import interacting
from llc_core.groups import Groups
from llc_core.interactions import Contour, ReplicaExchange, Seen
from llc_core.plane import PlaneRun
from llc_core.plane.group import PlaneGroup

pytest.importorskip("numba")

STEPS = 2000
CONTOUR = Contour(low=-1.0, high=11.4945, clip=5.0, pilot=100)
LADDER = ReplicaExchange(temperatures=(1.0, 2.3, 5.3, 12.0), step_power=1.0)
ALL = {
    "contour": CONTOUR,
    "replica exchange": LADDER,
    "cyclical": llc_core.Cyclical(length=40),
    "Stein": llc_core.SteinVariational(temperature=0.5, bandwidth=1.0, members=2),
}


def config(interaction, **values) -> llc_core.RunConfig:
    chains = 4 if interaction.across == "chains" else 1
    common = {"sampler": {"name": "SGLD", "step_size": 6e-3}, "gradient": "full", "dtype": "float64", "chains": chains}
    return llc_core.RunConfig(**{**common, "interaction": interaction.to_dict(), "steps": 100, "burn_in": 50, **values})


# -- step by step and compiled --------------------------------------------------------------------------------------


def check_that_both_steppings_agree(interaction, monkeypatch) -> None:
    """2,000 steps of the engine's stepper and of the plane's compiled loop, from the same normals and uniforms, to 1e-12.

    Chains contract within a mode, so that a rounding error of 1e-16 a step does not grow; a decision on one side of a bin's edge
    or of a swap's chance that falls otherwise would show at once.
    """
    surface = llc_core.surface(noise=0.0)
    drawn: list[tuple[np.ndarray, np.ndarray]] = []
    draw = PlaneGroup._draw
    monkeypatch.setattr(PlaneGroup, "_draw", lambda self: (draw(self), drawn.append((self._normals, self._uniform)))[0])
    plane = PlaneRun(
        llc_core.SGLD(step_size=6e-3), surface, interaction, chains=4, steps=STEPS, burn_in=STEPS // 2, seed=5
    )
    plane.advance(STEPS)
    normals, uniforms = (torch.from_numpy(np.concatenate(each)) for each in zip(*drawn, strict=True))
    run = llc_core.Run(config(interaction, steps=STEPS, burn_in=STEPS // 2), surface)
    stepper = run._stepper
    assert isinstance(stepper, interacting.Interacting)
    at = iter(range(STEPS))
    monkeypatch.setattr(stepper, "uniforms", lambda loss: uniforms[next(at)])
    monkeypatch.setattr(stepper.noise, "normals", lambda count, step: normals[step].unsqueeze(0))
    run.advance(STEPS)
    group = plane._groups[0]
    np.testing.assert_allclose(run.displacements, group.places, rtol=0, atol=1e-12)
    if "theta" in stepper.shared:
        theta = stepper.shared["theta"][0].numpy()
        np.testing.assert_allclose(theta, group.vector[: len(theta)], rtol=1e-10, atol=1e-12)
        assert np.ptp(theta) > 1e-3, "θ has learned"
    elif "round_trips" in stepper.shared:
        assert stepper.shared["round_trips"][0] == group.vector[0] and stepper.shared["accepted"].sum() > 100


@pytest.mark.parametrize(
    "interaction", few([CONTOUR, LADDER, ALL["cyclical"]], 1), ids=["contour", "replica exchange", "cyclical"]
)
def test_step_by_step_and_compiled_agree(interaction, monkeypatch):
    check_that_both_steppings_agree(interaction, monkeypatch)


# -- the distribution of a swap ----------------------------------------------------------------------------------------------


def check_that_swaps_keep_the_law(interaction: ReplicaExchange = LADDER) -> None:
    """nβ·ΔL of exact draws has a Gamma distribution of shape D/2 at every level. After four rounds of swaps of 20,000 ladders its mean is
    D/2 still, within 4 standard errors √(D/2/ladders): swaps keep the product of the distributions, in which ladders stay independent."""
    shape, ladders = 1.5, 20_000
    rng = np.random.default_rng(2)
    levels = np.array(interaction.ladder(100.0))
    groups = Groups(1, ladders, len(levels))
    n_beta = torch.from_numpy(np.tile(levels, ladders)).unsqueeze(1)
    layout = interaction.layout(groups, n_beta, 0)
    loss = torch.from_numpy(rng.gamma(shape, size=(ladders, len(levels))) / levels)
    shared, alive, moved = interaction.init(layout), torch.ones(loss.shape, dtype=torch.bool), 0
    for step in range(4):
        uniform = torch.from_numpy(1 - rng.random(loss.shape))
        shared, order = interaction.exchange(shared, Seen(step, loss, layout.n_beta * loss, alive, uniform), layout)
        moved += int((order != torch.arange(len(levels))).sum())
        loss = loss.gather(1, order)
    assert moved > ladders, "they swap"
    mean = (loss * layout.n_beta).mean(dim=0).numpy()
    assert (np.abs(mean - shape) < 4 * np.sqrt(shape / ladders)).all(), mean


@pytest.mark.parametrize("swap", ["even_odd", "random"])
def test_swaps_keep_the_law_of_every_level(swap):
    check_that_swaps_keep_the_law(ReplicaExchange(temperatures=(1.0, 2.3, 5.3, 12.0), swap=swap))


# -- bins, and what is shared ---------------------------------------------------------------------------------------


def check_bins() -> None:
    """u_J < E ≤ u_{J+1}: a point just below an edge, on it and just above it; what lies outside is in the outermost bins."""
    for interaction in (Contour(low=0.0, high=10.0, bins=20), Contour(low=0.01, high=10.0, bins=20, scale="log")):
        edges = torch.from_numpy(interaction.edges)
        middle = (edges[1:] + edges[:-1]) / 2
        assert interaction.bin_of(middle).tolist() == list(range(20))
        assert interaction.bin_of(edges[1:-1] * (1 + 1e-9)).tolist() == list(range(1, 20))
        assert interaction.bin_of(edges[1:-1] * (1 - 1e-9)).tolist() == list(range(19))
        assert interaction.bin_of(torch.tensor([-3.0, 1e9], dtype=torch.float64)).tolist() == [0, 19]


def check_that_nothing_shared_is_changed_in_place(interaction: Contour = CONTOUR) -> None:
    groups = Groups(1, 4, 1)
    layout = interaction.layout(groups, torch.ones(4, 1, dtype=torch.float64), 500)
    shared, rng = interaction.init(layout), np.random.default_rng(0)
    learned = 0.0
    for step in range(200):
        before = {name: value.clone() for name, value in shared.items()}
        loss = torch.from_numpy(rng.exponential(2, (1, 4)))
        seen = Seen(step, loss, loss, torch.ones(1, 4, dtype=torch.bool), torch.ones(1, 4, dtype=torch.float64))
        after, _ = interaction.exchange(shared, seen, layout)
        assert all(torch.equal(shared[name], value) for name, value in before.items()), "changed in place"
        learned += float((after["theta"] - before["theta"]).abs().sum())
        shared = after
    assert learned > 0


def test_bins_hold_what_they_should():
    check_bins()


def test_nothing_shared_is_changed_in_place():
    check_that_nothing_shared_is_changed_in_place()


# -- blocks, and chains that die ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_numbers_of_the_engine_do_not_depend_on_blocks(name):
    def places(block: int) -> np.ndarray:
        run = llc_core.Run(config(ALL[name]), llc_core.surface(noise=0.25))
        while run.steps_done < run.total_steps:
            run.advance(block)
        return run.displacements

    assert np.array_equal(places(100), places(13)) and np.ptp(places(100)) > 0


def check_that_a_dead_chain_harms_no_other(interaction) -> None:
    """One chain of the first group dies. The others live, those of the second group go exactly where they went without that."""

    def run(dies: bool) -> tuple[np.ndarray, llc_core.Run]:
        per_group = 1 if interaction.across == "levels" else 4
        made = llc_core.Run(config(interaction, chains=2 * per_group), llc_core.surface(noise=0.25))
        made.advance(60)
        if dies:
            made._state = {**made._state, "delta": made._state["delta"].clone()}
            made._state["delta"][1] = torch.nan
        made.advance(40)
        return made.displacements, made

    (clean, _), (harmed, after) = run(False), run(True)
    living = after._record.losses.alive
    assert not living.all() and living.sum() == len(living) - 1
    assert np.isfinite(harmed[living]).all()
    second = slice(len(clean) // 2, None)
    np.testing.assert_array_equal(clean[second], harmed[second])


GROUPED = {**ALL, "contour": Contour(low=-1.0, high=11.4945, clip=5.0, pilot=20, members=4)}


@pytest.mark.parametrize("name", GROUPED)
def test_a_dead_chain_harms_no_other(name):
    check_that_a_dead_chain_harms_no_other(GROUPED[name])


# -- planted bugs ---------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def found():
    with pytest.raises(AssertionError):
        yield


def test_a_swap_with_the_wrong_sign_is_found(monkeypatch):
    right = ReplicaExchange.log_ratio
    monkeypatch.setattr(ReplicaExchange, "log_ratio", lambda self, *seen: -right(self, *seen))
    with found():
        check_that_swaps_keep_the_law()


@pytest.mark.slow
def test_energies_that_stay_when_places_swap_are_found(monkeypatch):
    monkeypatch.setattr(interacting, "permuted", lambda energy, order: energy)
    with found():
        check_that_both_steppings_agree(LADDER, monkeypatch)


@pytest.mark.slow
def test_bins_that_are_off_by_one_are_found(monkeypatch):
    right = Contour.bin_of
    monkeypatch.setattr(Contour, "bin_of", lambda self, energy: (right(self, energy) + 1).clamp_max(self.bins - 1))
    with found():
        check_bins()
    with found():
        check_that_both_steppings_agree(CONTOUR, monkeypatch)


def test_theta_that_is_changed_in_place_is_found(monkeypatch):
    right = Contour.exchange

    def in_place(self, shared, seen, layout):
        after, order = right(self, shared, seen, layout)
        shared["theta"].copy_(after["theta"])
        return {**after, "theta": shared["theta"]}, order

    monkeypatch.setattr(Contour, "exchange", in_place)
    with found():
        check_that_nothing_shared_is_changed_in_place()


def test_theta_that_learns_member_by_member_is_found(monkeypatch):
    """In place within one step: every member then sees what those before it have changed."""

    def one_after_another(self, theta, bins, hits, alive):
        now = theta.clone()
        for p in range(bins.shape[1]):
            weight = now.gather(1, bins[:, p : p + 1])
            now = now + self.rate * (weight * hits[:, p] - weight * now)
        return (now - theta) / self.rate

    monkeypatch.setattr(Contour, "_pull", one_after_another)
    with found():
        check_that_both_steppings_agree(CONTOUR, monkeypatch)
