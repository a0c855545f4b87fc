"""Data that are nowhere kept: the same rows however they are asked for, and the distribution that they must have."""

from __future__ import annotations

import gc
import json
import math
import weakref

import numpy as np
import pytest
import torch
from compiler import needs_compiler
from rounding import likely

from llc_core import DeepLinearFamily, DeepLinearNetwork, RunConfig, estimate
from llc_core.compute.gpu import CompiledIfPossible, compiling_rows
from llc_core.compute.philox import fill_uniforms, uniforms_at
from llc_core.compute.philox_layout import GROUP
from llc_core.engine.run import Run
from llc_core.potentials import build
from llc_core.potentials.deep_linear import data as dln_data
from llc_core.potentials.deep_linear import virtual_data as dln_virtual
from llc_core.potentials.deep_linear.data import KeptBatches
from llc_core.potentials.deep_linear.virtual_data import VirtualData

CPU = torch.device("cpu")
SINGLE = dict.fromkeys(("rtol", "atol"), 2 * math.pi * likely(40, torch.float32))
"""Rows are made in single precision, by some forty operations; the angle of a normal number is 2π times as unsure."""


def network(n=5000, widths=(6, 4, 3), seed=0):
    return DeepLinearNetwork.random(widths=list(widths), n=n, seed=seed, virtual=True)


def test_uniform_numbers_are_those_of_the_written_loop_and_fill_the_interval():
    out = torch.empty(3 * GROUP + 77)
    fill_uniforms(out, 99, 2 * GROUP)
    place = torch.arange(2 * GROUP, 5 * GROUP + 77)
    np.testing.assert_array_equal(out, uniforms_at(99, place, torch.float32))
    exact = uniforms_at(99, place, torch.float64)
    np.testing.assert_allclose(out, exact, atol=1e-7)
    assert 0 < exact.min() < 0.001 and 0.999 < exact.max() < 1
    many = uniforms_at(1, torch.arange(200_000), torch.float64)
    counts = torch.histc(many, 20, 0, 1)
    assert float((counts - 10_000).square().sum() / 10_000) < 45  # χ² of 19 degrees; 45 is the 99.9% point
    assert abs(float(torch.corrcoef(torch.stack([many[:-1], many[1:]]))[0, 1])) < 5 / 200_000**0.5
    seeds = torch.tensor([[1], [2]])
    both = uniforms_at(seeds, torch.arange(50), torch.float64)
    np.testing.assert_array_equal(both[0], many[:50])
    assert abs(float(torch.corrcoef(both)[0, 1])) < 0.7


def test_a_row_is_the_same_however_it_is_asked_for():
    data = network().data
    assert isinstance(data, VirtualData)
    whole = data.pool(CPU, torch.float64)
    assert whole.shape == (5000, 10)
    index = torch.tensor([[4999, 0, 17], [1234, 2048, 4095]])
    torch.testing.assert_close(data.rows_at(index, torch.float64), whole[index], **SINGLE)
    torch.testing.assert_close(data.run(4990, 30, CPU, torch.float64), torch.cat([whole[4990:], whole[:20]]))
    torch.testing.assert_close(data.run(4990, 10_020, CPU, torch.float64)[-10:], whole[:10], **SINGLE)
    torch.testing.assert_close(whole[:, -1], whole[:, 6:9].square().sum(1), rtol=1e-5, atol=1e-6)


def test_rows_have_the_law_of_the_data():
    data = network(n=200_000, widths=(5, 4), seed=3).data
    z = data.pool(CPU, torch.float64)
    x, noise = z[:, :5], z[:, 5:-1]
    assert float(x.abs().max()) <= 10
    # Standard deviations of the squares: 200/√45 = 29.8 and √2·0.25.
    assert float(x.square().mean()) == pytest.approx(100 / 3, abs=5 * 29.8 / 1e6**0.5)
    assert float(noise.square().mean()) == pytest.approx(0.25, abs=5 * 0.25 * (2 / 8e5) ** 0.5)
    together = torch.corrcoef(z[:, :-1].T) - torch.eye(9, dtype=torch.float64)
    assert float(together.abs().max()) < 5 / 200_000**0.5
    one_later = torch.corrcoef(torch.cat([z[:-1, :-1], z[1:, :-1]], dim=1).T)[:9, 9:]
    assert float(one_later.abs().max()) < 5 / 200_000**0.5
    assert not torch.equal(
        network(seed=1).data.run(0, 5, CPU, torch.float32), network().data.run(0, 5, CPU, torch.float32)
    )


def test_full_data_are_the_rows():
    """Loss and gradient with all data are those of a batch of all rows."""
    problem = network(n=600)
    delta = 0.1 * torch.randn(2, problem.dim, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    x, noise = problem.data.pool(CPU, torch.float64)[:, :-1].split([6, 3], dim=1)
    torch.testing.assert_close(problem.data.sxx, x.T @ x / 600, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(problem.data.snx, noise.T @ x / 600, rtol=1e-6, atol=1e-6)
    assert problem.baseline_loss == pytest.approx(float(noise.square().sum(1).mean()), rel=1e-6)
    excess = problem.per_sample_loss(delta, 0, 600).mean(dim=1) - problem.baseline_loss
    torch.testing.assert_close(excess, problem.excess_loss_and_grad(delta)[0], **SINGLE)


def test_no_pool_is_made(monkeypatch):
    """Whole runs, with kept moments and without: never is there more than a batch of rows."""
    monkeypatch.setattr(VirtualData, "pool", lambda *_: pytest.fail("a pool was made"))
    for most in (0, dln_data.KEPT_NUMBERS):
        monkeypatch.setattr(dln_data, "KEPT_NUMBERS", most)
        found = estimate(network(n=10**5), "SGLD", gradient="minibatch", batch_size=100, steps=200)
        assert found.config.problem["virtual"] is True and not found.diverged


@pytest.mark.slow
@pytest.mark.usefixtures("no_draws")
@pytest.mark.long
@pytest.mark.parametrize("gradient", ["full", "minibatch"])
def test_the_estimate_is_that_of_kept_data(gradient):
    """Other rows of the same distribution."""
    options = {"gradient": gradient, "chains": 16, "steps": 4000, "batch_size": 400}
    virtual = estimate(network(n=10**5, seed=4), "SGLD", **options)
    kept = estimate(DeepLinearNetwork.random(widths=[6, 4, 3], n=10**5, seed=4), "SGLD", **options)
    assert abs(virtual.llc - kept.llc) < 4 * np.hypot(virtual.llc_se, kept.llc_se)
    assert virtual.llc_se < 0.05 * virtual.llc


def sizes_that_follow(data, rows=100_000):
    """Largest correlation of an input with the size of a noise."""
    z = data.run(0, rows, CPU, torch.float64)
    both = torch.cat([z[:, : data.inputs], z[:, data.inputs : -1].abs()], dim=1)
    return float(torch.corrcoef(both.T)[: data.inputs, data.inputs :].abs().max())


def test_inputs_and_noise_come_from_streams_of_their_own():
    data = VirtualData(2, 2, 100_000, 0.5, 0)
    assert sizes_that_follow(data) < 5 / 100_000**0.5
    data.seeds = data.seeds[0], data.seeds[0]  # a bug that the line above must catch
    data._seeds.clear()
    assert sizes_that_follow(data) > 20 / 100_000**0.5


@pytest.mark.slow
@needs_compiler
def test_compiled_rows_are_the_written_ones():
    """Of ten kinds of data: torch by itself stops after eight shapes."""
    index = torch.tensor([[5, 4999, 17], [0, 1, 2]])
    with torch._dynamo.config.patch(recompile_limit=1, accumulated_recompile_limit=1, fail_on_recompile_limit_hit=True):
        for last in (2, 3):
            one, other = (network(widths=(4, last), seed=seed).data for seed in (0, 1))
            before = dln_virtual._fused.cache_info().misses
            for data in (one, other):
                with compiling_rows():
                    made = data.rows_at(index, torch.float32, in_step=True)
                torch.testing.assert_close(made, data.rows_at(index, torch.float32), **SINGLE)
            assert dln_virtual._fused.cache_info().misses == before + 1, "networks of one shape share it"


@pytest.fixture
def rows_in_steps(monkeypatch):
    """Rows are drawn as on a GPU: in every step, those of all chains together, and no moments are kept."""

    def draw(self, generator, chains, size, gradient, dtype):
        gather = self._gather if isinstance(self, DeepLinearFamily) else self.data.gather
        return self._draw_together(gather(generator, chains, size, dtype), gradient)

    for kind in (DeepLinearNetwork, DeepLinearFamily):
        monkeypatch.setattr(kind, "draw", draw)


def stepped(problem, way, monkeypatch, steps=3):
    """A run for which this way to step was chosen."""
    monkeypatch.setattr("llc_core.engine.stepping.choose.way_of", lambda *given, **more: way)
    config = RunConfig(
        problem=problem.to_dict(), sampler={"name": "SGLD", "step_size": 1e-9}, gradient="minibatch", batch_size=40, steps=30
    )  # fmt: skip
    current = Run(config, problem)
    current.advance(steps)
    return current


@pytest.mark.parametrize("way", ["plain", "graphs", "fused"])
@pytest.mark.parametrize("kind", ["network", "family"])
def test_rows_are_compiled_where_the_update_is(kind, way, rows_in_steps, monkeypatch):
    """Whatever the environment says: what counts is what was chosen for the run."""
    compiled, written = [], CompiledIfPossible.__init__

    def planted(self, what, method, plain=None):
        written(self, what, method, plain)
        compiled.append(what)
        self._do = plain or method  # no compiler is asked

    monkeypatch.delenv("LLC_LAB_GPU", raising=False)
    monkeypatch.setattr(CompiledIfPossible, "__init__", planted)
    dln_virtual._fused.cache_clear()
    problem = network() if kind == "network" else DeepLinearFamily([network(seed=seed) for seed in range(2)])
    stepped(problem, way, monkeypatch)
    dln_virtual._fused.cache_clear()
    assert compiled == (["The update", "What makes rows"] if way == "fused" else [])
    index = torch.tensor([[5, 17]])
    network().data.rows_at(index, torch.float32, in_step=True)
    assert len(compiled) == (2 if way == "fused" else 0), "outside of such a run they are as they were"


@pytest.mark.slow
@needs_compiler
def test_a_run_on_compiled_rows_is_that_on_written_ones(rows_in_steps, monkeypatch):
    """Rows are right to 1e-6; those of another step would show at once."""
    ends = [stepped(network(), way, monkeypatch, 30).displacements for way in ("graphs", "fused")]
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-4 * np.abs(ends[0]).max())


def test_where_the_compiler_fails_rows_are_made_as_written(rows_in_steps, monkeypatch):
    def no_compiler(method):
        def fail(*arguments):
            raise RuntimeError("no C compiler found\nand a long story")

        return fail

    usual = stepped(network(), "graphs", monkeypatch).displacements
    monkeypatch.setattr("llc_core.compute.gpu.torch_compiled", no_compiler)
    dln_virtual._fused.cache_clear()
    with pytest.warns(UserWarning, match=r"What makes rows could not be compiled \(no C compiler found\); it goes on"):
        found = stepped(network(), "fused", monkeypatch).displacements
    dln_virtual._fused.cache_clear()
    np.testing.assert_array_equal(found, usual)


def test_rows_are_made_in_blocks(monkeypatch):
    data = network().data
    seeds = tuple(torch.cat([network(seed=k).data.seeds_on(CPU)[i] for k in range(7)]) for i in (0, 1))
    index = torch.arange(7 * 11).view(7, 11)
    whole, apart = data.rows_at(index, torch.float32), data.rows_at(index, torch.float32, seeds=seeds)
    monkeypatch.setattr(dln_virtual, "LEARNT_NUMBERS", 3 * 11 * 9)
    sizes = []
    made = dln_virtual.Maker.made
    monkeypatch.setattr(dln_virtual.Maker, "made", lambda self, *a: sizes.append(len(a[2])) or made(self, *a))
    torch.testing.assert_close(data.rows_at(index, torch.float32), whole, rtol=0, atol=0)
    torch.testing.assert_close(data.rows_at(index, torch.float32, seeds=seeds), apart, rtol=0, atol=0)
    assert sizes == [3, 3, 1] * 2
    own = network(seed=6).data.rows_at(index[6:], torch.float32)
    torch.testing.assert_close(apart[6:], own, rtol=0, atol=0)


def test_what_a_family_keeps_goes_with_it():
    """On a GPU it is up to 4 GB, and allocating there does not look for cycles."""
    gc.disable()
    try:
        family = DeepLinearFamily([network(seed=seed) for seed in range(2)])
        table = weakref.ref(family._kept_on(CPU, torch.float64, 50))
        assert table() is not None
        del family
        assert table() is None
    finally:
        gc.enable()


def test_what_a_device_keeps_of_a_family_is_what_each_network_keeps():
    """Off the CPU all moments are made at once and lie in one table; here that is done on a CPU."""
    for virtual in (False, True):
        networks = [DeepLinearNetwork.random(widths=[6, 4, 3], n=3000, seed=seed, virtual=virtual) for seed in range(3)]
        family = DeepLinearFamily(networks)
        table = family._kept_on(CPU, torch.float64, 70)
        drawn = table.draw(torch.Generator().manual_seed(0), 12)
        places = torch.randint(table.count, (12,), generator=torch.Generator().manual_seed(0))
        for chain, place in enumerate(places.tolist()):
            own = networks[chain // 4].data.kept(CPU, torch.float64, 70)
            assert own.known is not None
            own._learn([place])
            for mine, theirs in zip(drawn, (own.sxx, own.snx, own.baseline), strict=True):
                torch.testing.assert_close(mine[chain], theirs[place], **SINGLE)


def test_rows_gathered_for_a_family_are_each_network_s_own():
    networks = [network(n=3000, seed=seed) for seed in range(3)]
    found = DeepLinearFamily(networks)._gather(torch.Generator().manual_seed(0), 6, 40, torch.float64)
    starts = torch.randint(3000, (6, 1), generator=torch.Generator().manual_seed(0))[:, 0].tolist()
    for chain, start in enumerate(starts):
        own = networks[chain // 2].data.run(start, 40, CPU, torch.float64)
        torch.testing.assert_close(found[chain], own, **SINGLE)


def test_all_moments_at_once_are_those_one_by_one(monkeypatch):
    data = DeepLinearNetwork.random(widths=[6, 4, 5], n=1000, seed=0).data
    monkeypatch.setattr(dln_data, "LEARNT_NUMBERS", 120 * 11 * 4)  # four batches at a time
    apart, at_once = (KeptBatches(data, data.kept_count(120), 120, CPU, torch.float64) for _ in range(2))
    apart._learn(range(apart.count))
    at_once.learn_all()
    torch.testing.assert_close(at_once.sxx, apart.sxx)
    torch.testing.assert_close(at_once.snx, apart.snx)
    torch.testing.assert_close(at_once.baseline, apart.baseline)


def test_a_device_goes_through_the_rows_a_few_times_at_most():
    """A batch size that has nothing in common with n would have a million batches."""
    data = network(n=10**6, widths=(4, 3, 4)).data
    assert data.kept_count(9999) == 10**6 and data.kept_count(9999, on_gpu=True) == 0
    assert data.kept_count(500, on_gpu=True) == 2000 and data.kept_count(501 * 8, on_gpu=True) == 0


def test_rows_that_were_there_before_stay():
    """Another run's recorded step may read them."""
    data = DeepLinearNetwork.random(widths=[6, 4, 5], n=1000, seed=0).data
    kept = KeptBatches(data, data.kept_count(100), 100, CPU, torch.float64)
    kept.learn_all()
    assert not data.has_rows(CPU, torch.float64)
    rows = data.pool(CPU, torch.float64)
    kept.learn_all()
    assert data.pool(CPU, torch.float64) is rows


def test_it_is_made_again_from_its_description():
    description = json.loads(json.dumps(network().to_dict()))
    again = build(description)
    assert isinstance(again, DeepLinearNetwork) and again.virtual and again.to_dict() == description
    assert "virtual" not in DeepLinearNetwork.random(widths=[3, 2]).to_dict()  # keys of older stores stay
    given = [np.eye(3)]
    assert DeepLinearNetwork(given).to_dict() != DeepLinearNetwork(given, virtual=True).to_dict()


def test_what_cannot_be_is_refused():
    with pytest.raises(
        ValueError, match="n is 10000000000; virtual data of 6 inputs and 3 outputs have at most .* rows: take fewer"
    ):
        network(n=10**10)
    with pytest.raises(ValueError, match="virtual is 'yes'"):
        DeepLinearNetwork.random(widths=[3, 2], virtual="yes")
    with pytest.raises(ValueError, match=r"networks\[1\].virtual is True"):
        DeepLinearFamily([DeepLinearNetwork.random(widths=[6, 4, 3], n=5000), network()])
