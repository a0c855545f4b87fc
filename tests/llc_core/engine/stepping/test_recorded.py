"""The step on fixed memory: on a CPU it runs as on a GPU, but without being recorded."""

import sys
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from cases import few
from compiler import needs_compiler

from llc_core import DeepLinearNetwork, RunConfig, run
from llc_core.compute.matrices import prefers_numpy
from llc_core.compute.philox import normals
from llc_core.compute.precision import ShortProducts
from llc_core.compute.streams import stream_seed
from llc_core.engine.run import Run
from llc_core.engine.stepping.noise import NoiseInBlocks, noise_number
from llc_core.samplers import MetropolisSampler, samplers

WIDTHS, SEED = [7, 5, 6, 4], 4


@pytest.fixture
def linear():
    return DeepLinearNetwork.random(widths=WIDTHS, n=20_000, seed=3)


def config_of(linear, name, **options):
    return RunConfig(
        problem=linear.to_dict(),
        sampler={"name": name, "step_size": 2e-9},
        **{"gradient": "minibatch", "steps": 130, "chains": 3, "dtype": "float64", "seed": SEED, **options},
    )


def results(config, linear, block=1000):
    current = run(config, linear)
    while not current.finished:
        current.advance(block)
    return current.llc_per_chain(), current.displacements, current.estimates()[0]


@pytest.fixture
def same_noise(monkeypatch):
    """The usual way to step with the noise of the recorded one."""

    def drawn(self, fields, step):
        shape = (fields, self.chains, self.dim)
        return normals(stream_seed(SEED, "noise"), torch.tensor(noise_number(step)), shape, self.like.dtype)

    monkeypatch.setattr(NoiseInBlocks, "normals", drawn)


@pytest.mark.long
@pytest.mark.parametrize(
    "name", few([n for n, cls in sorted(samplers().items()) if not issubclass(cls, MetropolisSampler)], 2)
)
def test_fixed_memory_gives_the_numbers_of_the_usual_step(name, linear, same_noise, monkeypatch):
    config = config_of(linear, name, functional_variance=7)
    usual = results(config, linear)
    monkeypatch.setenv("LLC_LAB_GPU", "graphs")
    recorded = results(config, linear)
    for one, other in zip(usual[:2], recorded[:2], strict=True):
        np.testing.assert_array_equal(one, other)
    assert usual[2].diverged == 0 and usual[2].singular_fluctuation == recorded[2].singular_fluctuation
    assert usual[2].diagnostics == recorded[2].diagnostics


def test_a_trajectory_asks_no_generator_of_the_device(linear, monkeypatch):
    """Generators of a GPU and a CPU differ: a momentum from them made trajectories differ from the first step on."""

    def drawn(self, fields, step):
        raise AssertionError("these numbers depend on the device")

    monkeypatch.setenv("LLC_LAB_GPU", "graphs")
    monkeypatch.setattr(NoiseInBlocks, "normals", drawn)
    sampler = {"name": "UnderdampedLangevin", "step_size": 2e-9, "mass": "unit"}
    current = Run(config_of(linear, "SGLD", gradient="full").replace(sampler=sampler), linear)
    current.advance(1)
    first = current.displacements
    assert np.all(first != 0)
    # One step moves by h(1 + keep)/2 of the momentum at the start, but for the force: the start's numbers are not step 0's.
    seed = stream_seed(SEED, "noise")
    start, step = (normals(seed, torch.tensor(noise_number(k)), (1, 3, linear.dim), torch.float64)[0] for k in (-1, 0))
    assert np.corrcoef(first.ravel(), start.ravel())[0, 1] > 0.9 > abs(np.corrcoef(first.ravel(), step.ravel())[0, 1])


@pytest.mark.parametrize(
    "options", few([{"gradient": "control_variate"}, {"gradient": "full"}, {"step_decay": 0.3}, {}], 1)
)
def test_what_the_driver_changes_reaches_the_fixed_memory(options, linear, same_noise, monkeypatch):
    """Automatic steps, adapted coordinates and restarts all change what a step uses, in the middle of a run."""
    config = config_of(linear, "UnderdampedLangevin", **options).replace(sampler={"name": "UnderdampedLangevin"})
    if options.get("step_decay"):
        config = config_of(linear, "SGLD", **options)
    usual = results(config, linear)
    monkeypatch.setenv("LLC_LAB_GPU", "graphs")
    for block in (1000, 7):
        recorded = results(config, linear, block)
        for one, other in zip(usual[:2], recorded[:2], strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.slow
@needs_compiler
def test_the_compiled_update_is_the_written_one(linear, monkeypatch):
    found = []
    for way in ("graphs", "fused"):
        monkeypatch.setenv("LLC_LAB_GPU", way)
        found.append(results(config_of(linear, "RMSPropSGLD", steps=60), linear))
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-9)


class Streams:
    """A device whose streams do their work as late as they may: when another waits for them."""

    class Stream:
        def __init__(self, device=None):
            self.work, self.waited_for = [], []

        def wait_stream(self, other):
            self.waited_for.append(other)
            while other.work:
                other.work.pop(0)()

    def __init__(self):
        self.usual = self.now = self.Stream()

    def current_stream(self, device=None):
        return self.now

    @contextmanager
    def stream(self, chosen):
        self.now, before = chosen, self.now
        yield
        self.now = before


@pytest.mark.parametrize("late", [True, False], ids=["late", "at once"])
@pytest.mark.parametrize("name", ["SGLD", "UnderdampedLangevin"])
def test_noise_that_is_made_on_a_second_stream_is_there_when_it_is_used(name, late, linear, monkeypatch):
    """By streams that wait as long as they may, and by those of a CPU, which do not."""
    monkeypatch.setenv("LLC_LAB_GPU", "graphs")
    in_the_update = results(config_of(linear, name), linear)
    device, asked = Streams(), []

    def fill_normals(out, seed, step):
        asked.append(lambda: out.copy_(normals(seed, step, tuple(out.shape), out.dtype)))
        (device.now.work.append if late else lambda work: work())(asked[-1])

    monkeypatch.setattr("llc_core.engine.stepping.recorded.makes_normals", lambda delta: True)
    monkeypatch.setitem(sys.modules, "llc_core.compute.philox_triton", SimpleNamespace(fill_normals=fill_normals))
    if late:
        monkeypatch.setattr(torch, "get_device_module", lambda _: device)
    beside = results(config_of(linear, name), linear)
    np.testing.assert_array_equal(in_the_update[0], beside[0])
    np.testing.assert_array_equal(in_the_update[1], beside[1])
    assert len(asked) == 130
    if late:
        (own,) = set(device.usual.waited_for)
        # The numbers of a step are written over those of the one before, so that its update must be over.
        assert own is not device.usual and own.waited_for == [device.usual] * 130


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("name", ["SGLD", "RMSPropSGLD"])
def test_the_compiled_update_makes_its_noise_where_it_is_used(name, linear, monkeypatch):
    """One kernel, and no memory but for the state after the step: none for noise or for random words."""
    from torch._inductor.utils import run_and_get_code

    monkeypatch.setenv("LLC_LAB_GPU", "fused")
    current = Run(config_of(linear, name), linear)
    with torch.compiler.config.patch(force_disable_caches=True):
        _, (code,) = run_and_get_code(current.advance, 1)
    assert code.count("async_compile.cpp_pybinding(") == 1 and ".cos()" in code
    assert code.count("= empty_strided_cpu(") == sum(part.shape[1] == linear.dim for part in current.state.values())


@pytest.mark.slow
@needs_compiler
def test_every_run_of_a_sweep_is_compiled(monkeypatch):
    """torch compiles one piece of code for eight shapes at most (here for one), and then goes on without a word."""
    monkeypatch.setenv("LLC_LAB_GPU", "fused")
    with torch._dynamo.config.patch(recompile_limit=1, accumulated_recompile_limit=1, fail_on_recompile_limit_hit=True):
        for last in (2, 3, 4):
            network = DeepLinearNetwork.random(widths=[3, last], n=200, seed=0)
            Run(config_of(network, "SGLD", gradient="full"), network).advance(3)


def test_where_the_compiler_fails_the_update_goes_on_uncompiled(linear, monkeypatch):
    def no_compiler(method):
        def fail(*arguments):
            raise RuntimeError("no C compiler found\nand a long story")

        return fail

    monkeypatch.setenv("LLC_LAB_GPU", "graphs")
    recorded = results(config_of(linear, "RMSPropSGLD", steps=60), linear)
    monkeypatch.setenv("LLC_LAB_GPU", "fused")
    monkeypatch.setattr("llc_core.compute.gpu.torch_compiled", no_compiler)
    with pytest.warns(UserWarning, match=r"could not be compiled \(no C compiler found\); it goes on uncompiled"):
        uncompiled = results(config_of(linear, "RMSPropSGLD", steps=60), linear)
    np.testing.assert_array_equal(recorded[0], uncompiled[0])


def test_an_unknown_way_is_named(linear, monkeypatch):
    monkeypatch.setenv("LLC_LAB_GPU", "fast")
    with pytest.raises(ValueError, match="LLC_LAB_GPU is 'fast'; it must be one of auto, plain, graphs, fused"):
        run(config_of(linear, "SGLD"), linear)
    monkeypatch.setenv("LLC_LAB_GPU", "plain")
    monkeypatch.setenv("LLC_LAB_PRODUCTS", "float8")
    with pytest.raises(ValueError, match="LLC_LAB_PRODUCTS is 'float8'; it must be one of float32, tf32, bf16"):
        run(config_of(linear, "SGLD"), DeepLinearNetwork.random(widths=WIDTHS, n=20_000, seed=3)).advance(1)
    monkeypatch.setenv("LLC_LAB_BLAS", "mkl")
    with pytest.raises(ValueError, match="LLC_LAB_BLAS is 'mkl'; it must be one of auto, numpy, torch"):
        prefers_numpy.__wrapped__()


@pytest.mark.slow
def test_short_products_of_differences_keep_the_excess_loss(monkeypatch):
    """Near w0, where the loss itself differs by less than bf16 could show, the excess is right to some thousandths."""
    network = DeepLinearNetwork.random(widths=[60, 50, 40], n=10**6, seed=0)
    random = torch.Generator().manual_seed(0)
    delta = 1e-4 * torch.randn(4, network.dim, generator=random, dtype=torch.float64)
    batch = network.draw(random, 4, 500, "minibatch", torch.float64)
    exact, slope = network.excess_loss_and_grad(delta, batch)
    assert float(exact.abs().max()) < 2**-8 * network.baseline_loss
    monkeypatch.setenv("LLC_LAB_PRODUCTS", "bf16")
    short = DeepLinearNetwork.random(widths=[60, 50, 40], n=10**6, seed=0)
    single = type(batch)({k: v.float() for k, v in batch.data.items()}, batch.baseline_loss.float())
    loss, grad = short.excess_loss_and_grad(delta.float(), single)
    assert float((loss / exact - 1).abs().max()) < 0.01
    assert 1e-4 < float((grad - slope).norm() / slope.norm()) < 0.01


def test_sums_of_short_products_are_long():
    """Ones from a half up: in bf16 a sum of 10,000 of them would stop growing."""
    a = torch.full((1, 1, 10_000), 0.5)
    assert float(ShortProducts().multiply(a, torch.ones(1, 10_000, 1))) == 5000


@pytest.mark.parametrize("gradient, size", [("minibatch", 50), ("minibatch", 5), ("control_variate", 50)])
def test_batches_of_all_chains_together_are_those_one_by_one(linear, gradient, size, monkeypatch):
    """What a device draws in one piece, with the rows that a CPU draws chain by chain."""
    monkeypatch.setattr("llc_core.potentials.deep_linear.data.KEPT_NUMBERS", 0)
    apart = linear.draw(torch.Generator().manual_seed(1), 3, size, gradient, torch.float64)
    together = linear._draw_together(
        linear.data.gather(torch.Generator().manual_seed(1), 3, size, torch.float64), gradient
    )
    assert apart.data.keys() == together.data.keys()
    for name, value in apart.data.items():
        np.testing.assert_allclose(together.data[name], value, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(together.baseline_loss, apart.baseline_loss)
