"""The deep linear network: evaluation against autograd, its data, its random problems."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch
from rounding import condition, likely, passes

from llc_core import DeepLinearNetwork, estimate
from llc_core.compute.streams import torch_stream
from llc_core.potentials import Batch
from llc_core.potentials.deep_linear.random_networks import SIZE_CLASSES

WIDTHS = [6, 4, 5, 3]


@pytest.fixture(scope="module")
def network() -> DeepLinearNetwork:
    return DeepLinearNetwork.random(widths=WIDTHS, layer_ranks=[4, 2, 3], n=4000, seed=3)


def plain_loss(network: DeepLinearNetwork, flat: torch.Tensor, x: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
    """The loss as one would write it first: predict, subtract the targets, sum over outputs, mean over samples."""
    start, hidden, teacher = 0, x.T, x.T
    for w in network.weights:
        w0 = torch.as_tensor(w, dtype=x.dtype)
        move = flat[start : start + w.size].view(w.shape)
        hidden, teacher = (w0 + move) @ hidden, w0 @ teacher
        start += w.size
    return (hidden - (teacher + noise.T)).square().sum(0).mean()


def moves(network: DeepLinearNetwork, chains: int, scale: float = 0.1) -> torch.Tensor:
    return scale * torch.randn(chains, network.dim, dtype=torch.float64, generator=torch_stream(0, "moves"))


def expected(network: DeepLinearNetwork, delta: torch.Tensor, x: torch.Tensor, noise: torch.Tensor):
    losses, grads = [], []
    for row in delta:
        row = row.clone().requires_grad_()
        loss = plain_loss(network, row, x, noise)
        grads.append(torch.autograd.grad(loss, row)[0])
        losses.append(loss.detach() - plain_loss(network, torch.zeros_like(row), x, noise).detach())
    return torch.stack(losses), torch.stack(grads)


def test_full_data_loss_and_gradient_equal_autograd_on_the_samples(network):
    x, noise = network.data.pool(torch.device("cpu"), torch.float64)[:, :-1].split([6, 3], dim=1)
    delta = moves(network, 3)
    loss, grad = network.excess_loss_and_grad(delta)
    want_loss, want_grad = expected(network, delta, x, noise)
    torch.testing.assert_close(loss, want_loss, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(grad, want_grad, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("size", [4, 40], ids=["rows form", "moment form"])
def test_minibatch_equals_autograd_on_the_batch(network, size):
    generator = torch_stream(1, "batch")
    batch = network.draw(generator, 2, size, "minibatch", torch.float64)
    assert ("x" in batch.data) == (size < WIDTHS[0])
    drawn = [
        z[:, :-1].split([6, 3], dim=1) for z in network.data.batches(torch_stream(1, "batch"), 2, size, torch.float64)
    ]
    delta = moves(network, 4)  # two settings for each of two batches, chain-major
    loss, grad = network.excess_loss_and_grad(delta, batch)
    for chain in range(4):
        want_loss, want_grad = expected(network, delta[chain : chain + 1], *drawn[chain // 2])
        torch.testing.assert_close(loss[chain : chain + 1], want_loss, rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(grad[chain : chain + 1], want_grad, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(batch.baseline_loss, torch.stack([e.square().sum(1).mean() for _, e in drawn]))


def test_batches_wrap_around_and_use_every_row_equally(network):
    data = DeepLinearNetwork.random(widths=[1, 1], n=10, seed=0).data
    pool = data.pool(torch.device("cpu"), torch.float64)
    counts = torch.zeros(10)
    for z in data.batches(torch_stream(0, "batch"), 3000, 4, torch.float64):
        where = (pool[:, 0][None, :] == z[:, :1]).double().argmax(1)
        assert ((where[1:] - where[:-1]) % 10 == 1).all()
        counts[where] += 1
    assert (counts / 3000 - 0.4).abs().max() < 5 * (0.24 / 3000) ** 0.5


def test_control_variate_is_unbiased_exact_at_w0_and_has_less_variance(network):
    delta = moves(network, 1, 0.005)
    _, exact = network.excess_loss_and_grad(delta)
    _, exact_at_w0 = network.excess_loss_and_grad(torch.zeros_like(delta))
    spread = {}
    for kind in ("minibatch", "control_variate"):
        batch = network.draw(torch_stream(2, kind), 2000, 50, kind, torch.float64)
        _, grads = network.excess_loss_and_grad(delta.expand(2000, -1), batch)
        error = grads.mean(0) - exact[0]
        se = grads.std(0) / 2000**0.5
        assert (error.abs() < 5 * se + 1e-12).all()
        spread[kind] = float(grads.var(0).sum())
        _, at_w0 = network.excess_loss_and_grad(torch.zeros_like(delta).expand(2000, -1), batch)
        if kind == "control_variate":
            torch.testing.assert_close(at_w0, exact_at_w0.expand_as(at_w0), rtol=1e-9, atol=1e-9)
    assert spread["control_variate"] < 0.2 * spread["minibatch"]


def test_float32_excess_loss_does_not_cancel(network):
    delta = moves(network, 2, 1e-5)
    exact, _ = network.excess_loss_and_grad(delta)
    single, _ = network.excess_loss_and_grad(delta.float())
    bound = likely(passes(network).loss, torch.float32) * condition(network, delta).loss
    assert ((single.double() / exact - 1).abs() <= bound).all()


def test_kronecker_factors_are_the_hessian_of_each_layer(network):
    delta = moves(network, 1)
    start = 0
    for (b, a), w in zip(network.kronecker_factors(delta), network.weights, strict=True):
        vector = torch.zeros_like(delta)
        block = torch.randn(w.shape, dtype=torch.float64, generator=torch_stream(4, "block"))
        vector[0, start : start + w.size] = block.flatten()
        image = network.hvp(delta, vector)[0, start : start + w.size].view(w.shape)
        torch.testing.assert_close(image, b[0] @ block @ a[0], rtol=1e-9, atol=1e-9)
        start += w.size


def test_data_are_a_function_of_the_seed_and_full_and_pool_agree():
    one, same, other = (DeepLinearNetwork.random(widths=[3, 2], n=2000, seed=s).data for s in (5, 5, 6))
    torch.testing.assert_close(one.sxx, same.sxx, rtol=0, atol=0)
    assert not torch.allclose(one.sxx, other.sxx)
    x, noise = one.pool(torch.device("cpu"), torch.float64)[:, :-1].split([3, 2], dim=1)
    assert x.abs().max() <= 10
    torch.testing.assert_close(x.T @ x / len(x), one.sxx, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(noise.T @ x / len(x), one.snx, rtol=1e-9, atol=1e-9)
    assert one.noise_square == pytest.approx(float(noise.square().sum(1).mean()))


def test_a_pool_smaller_than_n_keeps_the_law_of_the_cross_moment():
    """Finite-n bias comes from Snx: its size must be that of n samples, not of the rows in memory."""
    n, rows, outputs, inputs = 10**6, 2000, 40, 30
    import llc_core.potentials.deep_linear.data as module

    original = module.POOL_NUMBERS
    module.POOL_NUMBERS = rows * (inputs + outputs)
    try:
        data = DeepLinearNetwork.random(widths=[inputs, outputs], n=n, seed=1).data
        assert data.rows == rows
        whitened = data.snx @ torch.linalg.inv(torch.linalg.cholesky(data.sxx)).T
        variance = float(whitened.square().mean()) * n / 0.25
        assert variance == pytest.approx(1, abs=5 * (2 / (inputs * outputs)) ** 0.5)
        x, noise = data.pool(torch.device("cpu"), torch.float64)[:, :-1].split([inputs, outputs], dim=1)
        torch.testing.assert_close(noise.T @ x / rows, data.snx, rtol=1e-3, atol=2e-5)
        assert data.noise_square == pytest.approx(float(noise.square().sum(1).mean()), rel=1e-5)
    finally:
        module.POOL_NUMBERS = original


@pytest.mark.parametrize("size_class", ["1K", "10K", "100K"])
@pytest.mark.parametrize("ranks", ["equal", "full", "paper"])
def test_random_networks_follow_their_class(size_class, ranks):
    (few, many), (narrow, wide) = SIZE_CLASSES[size_class]
    for seed in range(5):
        p = DeepLinearNetwork.random(size_class, ranks, seed=seed)
        assert few <= len(p.widths) - 1 <= many
        assert all(narrow <= h <= wide for h in p.widths)
        assert p.layer_ranks == [np.linalg.matrix_rank(w) for w in p.weights]
        local, globe = p.local_learning_coefficient, p.learning_coefficient
        assert local.value >= globe.value
        if ranks != "paper":
            assert local.value == globe.value
        if ranks == "full":
            assert p.layer_ranks == [min(a, b) for a, b in zip(p.widths, p.widths[1:], strict=False)]


def test_exact_table_from_masks_equals_numerical_ranks():
    for seed in range(10):
        p = DeepLinearNetwork.random("1K", "paper", seed=seed)
        again = DeepLinearNetwork(p.weights, n=100)
        assert again.local_learning_coefficient == p.local_learning_coefficient
        assert again.rank == p.rank


@pytest.mark.parametrize("given", ["tensors", "arrays", "numbers", "doubles"])
def test_low_rank_weights_in_single_precision(given):
    torch.manual_seed(0)
    low = [torch.randn(8, 2) @ torch.randn(2, 8) for _ in range(2)]
    made = {
        "arrays": [w.numpy() for w in low],
        "numbers": [w.tolist() for w in low],
        "doubles": [w.double() for w in low],
    }
    network = DeepLinearNetwork(made.get(given, low), n=100)
    assert network.layer_ranks == [2, 2] and network.rank == 2
    assert network.local_learning_coefficient.value == Fraction(55, 2) and not network.rank_note


def test_a_rank_that_is_a_close_call_is_said_in_the_result():
    near = torch.diag(torch.tensor([1.0, 1.0, 2e-6]))
    network = DeepLinearNetwork([near, near], n=100)
    assert network.layer_ranks == [3, 3] and "close call" in network.local_learning_coefficient.note
    result = estimate(network, steps=40, burn_in=20)
    assert "singular value" in repr(result) and "double precision" in repr(result)


def test_expected_llc_of_a_regular_network():
    p = DeepLinearNetwork.random(widths=[4, 3], n=10**6, noise_std=0.5, seed=0)
    assert float(p.local_learning_coefficient) == 6
    assert p.expected_llc() == pytest.approx(6 * (1 - 0.5 / np.log(10**6)))


def test_a_batch_has_the_shapes_it_says():
    p = DeepLinearNetwork.random(widths=[5, 4], n=1000, seed=0)
    batch = p.draw(torch_stream(0, "batch"), 3, 7, "control_variate", torch.float32)
    assert isinstance(batch, Batch) and batch.data["sxx"].shape == (3, 5, 5) and batch.baseline_loss.shape == (3,)
