"""The compiled update of one chain is the sampler's own update with the noise of `llc_core.compute.philox`."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from cases import few
from rounding import likely

from llc_core.compute.philox import normals
from llc_core.compute.philox_layout import GROUP
from llc_core.engine.stepping import compiled
from llc_core.engine.stepping.chain_by_chain import ChainByChain
from llc_core.engine.stepping.compiled import CompiledUpdate
from llc_core.engine.target import Target, hp_of
from llc_core.samplers import build
from llc_core.samplers.registry import hyperparameters, samplers
from llc_core.types import Energy

pytest.importorskip("numba")

WITH_CELL = [name for name, kind in samplers().items() if kind().cell() is not None]
DIM, CHAINS, SEED = 2 * GROUP + 37, 3, 11


def energy(delta: torch.Tensor, step: int) -> Energy:
    """Any energy will do: another gradient at every step, coefficients that differ between the chains."""
    grad = torch.sin(100 * delta + torch.linspace(0, 3 + step, DIM)) * 1e-3
    n_beta, localization = torch.tensor([[1e4], [3e4], [1e5]]), torch.tensor([[1.0], [30.0], [500.0]])
    return Energy(grad.sum(1), grad, delta, n_beta, localization)


def steps(name: str, driver: ChainByChain, hp, count: int, compiled: bool) -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    state = driver.start(1e-2 * torch.randn(CHAINS, DIM), hp)
    for step in range(count):
        whole = energy(state["delta"], step)
        if compiled:
            for chain in range(CHAINS):
                row = slice(chain, chain + 1)
                cut = {k: v[row] for k, v in vars(whole).items() if isinstance(v, torch.Tensor)}
                mine = {k: v[row] for k, v in state.items()}
                driver._update(mine, Energy(**cut), hp_of(hp, row), chain, step + 1)
        else:
            noise = normals(SEED, torch.tensor(step + 1), (1, CHAINS, DIM), torch.float32)
            state = {k: v.clone() for k, v in driver.sampler.update(state, whole, noise, hp).items()}
    return state


def tolerance(count: int, scale: float) -> dict[str, float]:
    """Of `count` steps of 40 operations each, for numbers of this size; a normal number's angle is 2π times as unsure."""
    rounded = likely(40 * count, torch.float32)
    return {"rtol": rounded, "atol": 2 * math.pi * rounded * scale}


def driver_of(name: str, **fields) -> tuple[ChainByChain, object]:
    if name == "UnderdampedLangevin":  # its automatic friction is so small that rounding would decide
        fields["friction"] = 1e5
    sampler = build({"name": name, "step_size": 1e-6, **fields})
    hp = hyperparameters(sampler, CHAINS, torch.empty(1))
    hp.step_size = torch.tensor([[1e-6], [3e-6], [1e-7]])
    target = Target(None, torch.ones(CHAINS, 1), torch.ones(CHAINS, 1))
    return ChainByChain(target, sampler, None, None, SEED), hp


def test_the_samplers_that_networks_are_mostly_run_with_have_one():
    assert {"SGLD", "RMSPropSGLD", "AdamSGLD", "SGHMC", "SGNHT", "UnderdampedLangevin"} <= set(WITH_CELL)


PRINTED = {"dynamics": "printed"}


@pytest.mark.parametrize(
    "name, fields",
    few([("SGNHT", PRINTED), ("SGHMC", PRINTED), *((name, {}) for name in WITH_CELL)], 2, unpack=True, rare=False),
    ids=str,
)
def test_the_compiled_update_is_the_written_one(name, fields):
    driver, hp = driver_of(name, **fields)
    one, other = steps(name, driver, hp, 5, True), steps(name, driver, hp, 5, False)
    assert set(one) == set(other)
    for key in one:
        assert torch.allclose(one[key], other[key], **tolerance(5, float(other[key].abs().mean()))), key
    moved = float((one["delta"] - steps(name, driver, hp, 0, True)["delta"]).abs().mean())
    assert moved > 100 * float((one["delta"] - other["delta"]).abs().mean())


def test_a_chain_s_parameters_are_shared_out_among_threads(monkeypatch):
    """To the last bit: each part makes the noise of its own places."""
    driver, hp = driver_of("SGNHT")
    alone = steps("SGNHT", driver, hp, 3, True)
    monkeypatch.setattr(compiled, "ENOUGH_FOR_THREADS", 1)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert compiled._cuts(DIM) == [0, GROUP, DIM]
        together = steps("SGNHT", driver, hp, 3, True)
    finally:
        torch.set_num_threads(before)
    for key in alone:
        assert torch.equal(alone[key], together[key]), key


@pytest.mark.parametrize("name", ["SGHMC", "SGNHT"])
def test_half_a_force_does_not_pass_for_a_whole_one(name):
    """What the comparison above is worth: printed dynamics, which have half the force, are told from the corrected ones."""
    ends = []
    for dynamics in ("printed", "corrected"):
        driver, hp = driver_of(name, dynamics=dynamics)
        ends.append(steps(name, driver, hp, 5, True)["momentum"])
    assert not torch.allclose(ends[0], ends[1], **tolerance(5, float(ends[0].abs().mean())))


@pytest.mark.parametrize("field", ["metric_grad", "hessian_diagonal", "prior_grad"])
def test_other_forces_go_the_written_way(field):
    plain = energy(torch.zeros(CHAINS, DIM), 0)
    loop = CompiledUpdate(build("SGLD"), SEED)
    assert loop.serves(plain)
    assert not loop.serves(replace(plain, **{field: plain.loss_grad}))
    assert not loop.serves(replace(plain, loss_grad=plain.loss_grad.double()))
    assert not CompiledUpdate(build("HMC"), SEED).serves(plain), "it has no scalar formula"


@pytest.mark.parametrize("name", [name for name in WITH_CELL if samplers()[name]().adapts_coordinates])
def test_a_force_in_adapted_coordinates_is_taken_as_a_whole(name):
    sampler = build(name)
    hp = hyperparameters(sampler, CHAINS, torch.empty(0))
    hp.step_size, hp.friction = torch.tensor([[1e-2], [3e-2], [1e-1]]), torch.full((CHAINS, 1), 2.0)
    generator = torch.Generator().manual_seed(0)
    z, momentum, force = torch.randn(3, CHAINS, DIM, generator=generator)
    adapted = replace(energy(1e-3 * z, 0), pulled_force=force)
    state = {"delta": z.clone(), "momentum": momentum.clone()}
    noise = normals(SEED, torch.tensor(7), (1, CHAINS, DIM), torch.float32)
    wanted = sampler.update(state, adapted, noise, hp)
    loop = CompiledUpdate(sampler, SEED)
    assert loop.serves(adapted)
    loop.step(state, adapted, hp, 7)
    for key in wanted:
        torch.testing.assert_close(state[key], wanted[key], **tolerance(1, 1.0))


def test_only_samplers_that_adapt_coordinates_are_given_a_whole_force():
    plain = energy(torch.zeros(CHAINS, DIM), 0)
    assert not CompiledUpdate(build("RMSPropSGLD"), SEED).serves(replace(plain, pulled_force=plain.loss_grad))
