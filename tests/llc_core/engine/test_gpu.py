"""A CUDA device against the CPU in float64: arithmetic to rounding, estimates within their errors. Skipped without one."""

import copy
import math
from contextlib import nullcontext

import numpy as np
import pytest
import torch

from llc_core import DeepLinearFamily, DeepLinearNetwork, NetworkPotential, RunConfig, estimate, run
from llc_core.compute.gpu import compiling_rows
from llc_core.compute.philox import normals
from llc_core.engine.target import Target
from llc_core.samplers import MetropolisSampler, build, hyperparameters, samplers

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here")
CHAINS = 6
UNIT = {"UnderdampedLangevin": {"mass": "unit"}}
ADAPTED = [
    name
    for name, cls in sorted(samplers().items())
    if not issubclass(cls, MetropolisSampler) and build({"name": name}).complete(True).adapts_coordinates
]
"""Samplers that adapt a mass and whose steps are recorded; those with a Metropolis test go step by step."""


@pytest.fixture(scope="module")
def linear():
    return DeepLinearNetwork.random(widths=[7, 5, 6, 4], n=20_000, seed=3)


@pytest.fixture(scope="module")
def family():
    return DeepLinearFamily([DeepLinearNetwork.random(widths=[7, 5, 6, 4], n=20_000, seed=seed) for seed in (3, 4)])


@pytest.fixture(scope="module")
def module():
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.Tanh(), torch.nn.Linear(12, 3))
    x = torch.randn(400, 6)
    return NetworkPotential(net, "cross_entropy", (x, x[:, :3].argmax(1)), batch_size=100)


def displacement(dim, device="cpu", dtype=torch.float64):
    random = torch.Generator().manual_seed(1)
    return (0.05 * torch.randn(CHAINS, dim, generator=random, dtype=torch.float64)).to(device=device, dtype=dtype)


@pytest.mark.parametrize("name", ["linear", "family", "module"])
@pytest.mark.parametrize("dtype, tolerance", [(torch.float64, 1e-10), (torch.float32, 2e-5)])
def test_losses_and_gradients_are_the_cpu_s(name, dtype, tolerance, request):
    problem = request.getfixturevalue(name)
    with torch.no_grad():
        loss, grad = problem.excess_loss_and_grad(displacement(problem.dim))
        loss, grad = loss.clone(), grad.clone()
        on_gpu, grad_gpu = problem.excess_loss_and_grad(displacement(problem.dim, "cuda", dtype))
    np.testing.assert_allclose(on_gpu.double().cpu(), loss, rtol=tolerance)
    assert float((grad_gpu.double().cpu() - grad).norm() / grad.norm()) < tolerance


def test_differences_survive_short_products(linear):
    """Products of TF32 have ten bits; on propagated differences that is an error of the gradient, not of λ̂'s size."""
    with torch.no_grad():
        loss, _ = linear.excess_loss_and_grad(displacement(linear.dim))
        before = torch.backends.cuda.matmul.allow_tf32
        torch.backends.cuda.matmul.allow_tf32 = True
        try:
            short, _ = linear.excess_loss_and_grad(displacement(linear.dim, "cuda", torch.float32))
        finally:
            torch.backends.cuda.matmul.allow_tf32 = before
    np.testing.assert_allclose(short.double().cpu(), loss, rtol=5e-3)


@pytest.mark.parametrize("name", sorted(samplers()))
def test_one_step_of_every_sampler_is_the_cpu_s(name, linear):
    sampler = build({"name": name, "step_size": 1e-7}).complete(False)
    if isinstance(sampler, MetropolisSampler):
        pytest.skip("its steps depend on random numbers inside; the estimate is compared below")
    moved = {}
    for device in ("cpu", "cuda"):
        like = torch.empty(0, dtype=torch.float64, device=device)
        hp = hyperparameters(sampler, CHAINS, like, linear.layers)
        ones = torch.ones(CHAINS, 1, dtype=torch.float64, device=device)
        target = Target(linear, ones * linear.n_beta, ones)
        noise = torch.randn(
            sampler.noises, CHAINS, linear.dim, dtype=torch.float64, generator=torch.Generator().manual_seed(2)
        )
        with torch.no_grad():
            state = sampler.init(displacement(linear.dim, device), noise[0].to(device), hp)
            for _ in range(3):
                probe = torch.Generator(device=device).manual_seed(0) if sampler.needs_hessian_diagonal else None
                energy = target.evaluate(state["delta"], None, None, probe)
                state = sampler.update(state, energy, noise.to(device), copy.copy(hp))
        moved[device] = {key: value.cpu() for key, value in state.items()}
    for key, value in moved["cpu"].items():
        np.testing.assert_allclose(moved["cuda"][key], value, rtol=1e-8, atol=1e-12, err_msg=key)


@pytest.mark.parametrize("name", ["SGLD", "RMSPropSGLD", "SGHMC", "UnderdampedLangevin", "HMC"])
def test_estimates_agree_within_their_errors(name, linear):
    options = {"chains": 24, "steps": 3000 if name != "HMC" else 400, "gradient": "full", "progress": False}
    on_gpu = estimate(linear, name, device="cuda", seed=1, **options)
    on_cpu = estimate(linear, name, dtype="float64", seed=2, **options)
    assert on_gpu.diverged == 0 and on_gpu.llc_se < 0.1 * on_gpu.llc
    assert abs(on_gpu.llc - on_cpu.llc) < 4 * math.hypot(on_gpu.llc_se, on_cpu.llc_se)


@pytest.mark.parametrize("gradient", ["full", "control_variate", "minibatch"])
def test_the_same_configuration_gives_the_same_numbers(linear, gradient):
    config = RunConfig(
        problem=linear.to_dict(),
        sampler={"name": "SGLD", "step_size": 1e-8},
        gradient=gradient,
        steps=60,
        device="cuda",
    )
    found = []
    for block in (60, 7):
        current = run(config, linear)
        while not current.finished:
            current.advance(block)
        found.append(current.llc_per_chain())
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(
    "seed, step, shape", [(5, 3, (2, 3, 5000)), (2**63 - 5, 2**33 + 7, (1, 40, 4096)), (7, 0, (1, 1, 17))]
)
def test_the_kernel_s_normals_are_those_of_the_processor(seed, step, shape):
    """The bound: an angle in single precision is right to 4e-7, and a radius reaches 6.8."""
    kernel = pytest.importorskip("llc_core.compute.philox_triton")
    made = kernel.fill_normals(torch.full(shape, math.nan, device="cuda"), seed, torch.tensor(step, device="cuda"))
    np.testing.assert_allclose(made.cpu(), normals(seed, torch.tensor(step), shape, torch.float64), rtol=0, atol=1e-5)


@pytest.mark.parametrize("way", ["graphs", "fused"])
@pytest.mark.parametrize("kind", ["linear", "family"])
@pytest.mark.parametrize("name", ["SGLD", "RMSPropSGLD", "UnderdampedLangevin"])
def test_recorded_steps_are_those_of_the_cpu(kind, name, way, monkeypatch, request):
    """Noise by place is the same on both, so that whole trajectories can be compared.

    Not with an adapted mass: its eigenvectors have the signs that the library of each device gives them.
    """
    monkeypatch.setenv("LLC_LAB_GPU", way)
    problem = request.getfixturevalue(kind)
    ends = []
    for device in ("cpu", "cuda"):
        config = RunConfig(
            problem=problem.to_dict(), sampler={"name": name, "step_size": 2e-9, **UNIT.get(name, {})}, gradient="full",
            steps=120, device=device, dtype="float64",
        )  # fmt: skip
        current = run(config, problem)
        current.advance(120)
        ends.append(current.displacements)
    np.testing.assert_allclose(ends[1], ends[0], rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("way", ["graphs", "fused"])
def test_noise_of_a_second_stream_is_that_of_the_step(linear, way, monkeypatch):
    """In single precision triton's kernel makes it beside the products. Were one of 120 steps given another's numbers, the path would
    end √2/√120 = 13% of its length elsewhere."""
    monkeypatch.setenv("LLC_LAB_GPU", way)
    ends = []
    for device in ("cpu", "cuda"):
        config = RunConfig(
            problem=linear.to_dict(), sampler={"name": "SGLD", "step_size": 2e-9}, gradient="full", steps=120, device=device,
            dtype="float32",
        )  # fmt: skip
        current = run(config, linear)
        current.advance(120)
        ends.append(current.displacements)
    assert np.abs(ends[1] - ends[0]).max() < 1e-3 * np.abs(ends[0]).max()


@pytest.mark.parametrize("way", ["graphs", "fused"])
@pytest.mark.parametrize("gradient", ["minibatch", "control_variate"])
def test_recorded_minibatches_give_the_same_estimate(linear, gradient, way, monkeypatch):
    options = {"chains": 24, "steps": 3000, "gradient": gradient, "device": "cuda", "progress": False}
    usual = estimate(linear, "SGLD", seed=1, **options)
    monkeypatch.setenv("LLC_LAB_GPU", way)
    recorded = estimate(linear, "SGLD", seed=2, **options)
    assert abs(usual.llc - recorded.llc) < 4 * math.hypot(usual.llc_se, recorded.llc_se)


@pytest.mark.parametrize("way", ["graphs", "fused"])
@pytest.mark.parametrize("name", ADAPTED)
def test_recorded_steps_in_adapted_coordinates_give_the_estimate_of_the_cpu(linear, name, way, monkeypatch):
    """A recording holds the coordinates of its time: each change of them during burn-in needs another.

    A run that keeps its first ones mixes badly: R-hat 2.1 and a standard error of 6% (on a CPU), in place of 1.01 and .7%.
    """
    options = {"chains": 24, "steps": 3000, "gradient": "full", "progress": False}
    on_cpu = estimate(linear, name, dtype="float64", seed=2, **options)
    monkeypatch.setenv("LLC_LAB_GPU", way)
    on_gpu = estimate(linear, name, device="cuda", seed=1, **options)
    assert on_gpu.diverged == 0 and on_gpu.llc_se < 0.02 * on_gpu.llc
    assert not on_gpu.r_hat > 1.1  # nan where arviz-stats is missing
    assert abs(on_gpu.llc - on_cpu.llc) < 4 * math.hypot(on_gpu.llc_se, on_cpu.llc_se)


@pytest.mark.parametrize("gradient", ["minibatch", "control_variate"])
def test_networks_side_by_side_get_the_estimates_they_have_alone(family, gradient):
    """The moments of their batches lie in one table there."""
    options = {"chains": 24, "steps": 3000, "gradient": gradient, "progress": False}
    together = estimate(family, "SGLD", seed=1, device="cuda", **options)
    for mine, network in zip(together, family.networks, strict=True):
        alone = estimate(network, "SGLD", seed=2, dtype="float64", **options)
        assert abs(mine.llc - alone.llc) < 4 * math.hypot(mine.llc_se, alone.llc_se)


def test_virtual_rows_are_the_cpu_s():
    network = DeepLinearNetwork.random(widths=[7, 5, 4], n=20_000, seed=3, virtual=True)
    index = torch.tensor([[0, 19_999, 17], [4096, 1, 2]])
    own = network.data.run(19_990, 20, torch.device("cpu"), torch.float32)
    for way in (nullcontext, compiling_rows):
        with way():
            there = network.data.rows_at(index.cuda(), torch.float32, in_step=True).cpu()
        torch.testing.assert_close(there, network.data.rows_at(index, torch.float32), rtol=1e-5, atol=1e-5)
        again = network.data.run(19_990, 20, torch.device("cuda"), torch.float32).cpu()
        torch.testing.assert_close(again, own, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("way", ["plain", "graphs", "fused"])
@pytest.mark.parametrize("size", [5, 100])
def test_virtual_minibatches_give_the_estimate_of_the_cpu(size, way, monkeypatch):
    """Batches of 5 rows are made in every step, those of 100 have kept moments."""
    network = DeepLinearNetwork.random(widths=[7, 5, 4], n=20_000, seed=3, virtual=True)
    options = {"chains": 24, "steps": 3000, "gradient": "control_variate", "batch_size": size, "progress": False}
    on_cpu = estimate(network, "SGLD", seed=2, **options)
    monkeypatch.setenv("LLC_LAB_GPU", way)
    on_gpu = estimate(network, "SGLD", seed=1, device="cuda", **options)
    assert abs(on_gpu.llc - on_cpu.llc) < 4 * math.hypot(on_gpu.llc_se, on_cpu.llc_se)


@pytest.mark.parametrize("virtual", [False, True])
def test_moments_made_there_are_the_cpu_s(virtual):
    """All batches' moments at once, and of virtual data those over all rows; no rows stay."""
    found = []
    for device in ("cpu", "cuda"):
        data = DeepLinearNetwork.random(widths=[7, 5, 4], n=20_000, seed=3, virtual=virtual).data
        data.work_on(torch.device(device))
        kept = data.kept(torch.device(device), torch.float64, 100)
        kept.learn_all()
        found.append([t.cpu() for t in (kept.sxx, kept.snx, kept.baseline, data.sxx, data.snx)])
        assert device == "cpu" or not data._pools
    for there, here in zip(found[1], found[0], strict=True):
        torch.testing.assert_close(there, here, rtol=1e-5, atol=1e-5)


def test_short_products_give_the_same_estimate(linear, monkeypatch):
    options = {"chains": 24, "steps": 3000, "gradient": "full", "device": "cuda", "progress": False}
    usual = estimate(linear, "SGLD", seed=1, **options)
    for precision in ("tf32", "bf16"):
        monkeypatch.setenv("LLC_LAB_PRODUCTS", precision)
        network = DeepLinearNetwork.random(widths=linear.widths, n=linear.n, seed=3)
        short = estimate(network, "SGLD", seed=2, **options)
        assert abs(usual.llc - short.llc) < 4 * math.hypot(usual.llc_se, short.llc_se) + 0.01 * usual.llc
