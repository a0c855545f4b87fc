"""Kernels of many rows as sketches: their stated errors against the whole kernel, of shapes that nothing was tried on."""

from __future__ import annotations

import numpy as np
import pytest
from sentences import tells

from llc_core import KernelSketch, LossKernel, influence, linear_losses, loss_kernel
from llc_core.studies.covariances.draws import row_draws
from llc_core.studies.covariances.sketches import COPIES, NUMBER, OF_PROBES, PROBES, sketch


def linear(rows: int, dim: int, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Losses [T, 8, R] of independent draws, and their exact kernel."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, dim)) * np.geomspace(1, 0.1, dim)
    exact = linear_losses(x, x @ rng.standard_normal(dim) + 0.3 * rng.standard_normal(rows))
    return exact.draws(count, seed).reshape(8, -1, rows).swapaxes(0, 1), exact.kernel()


def curved(rows: int, seed: int, steps: int = 300) -> np.ndarray:
    """Losses of tanh units along eight chains that remember; one row of them never moves."""
    rng = np.random.default_rng(seed)
    x, z, found = rng.standard_normal((rows, 6)), rng.standard_normal((8, 6, 9)), []
    for _ in range(steps):
        z = 0.7 * z + np.sqrt(1 - 0.7**2) * rng.standard_normal(z.shape)
        found.append((np.tanh(x @ z).sum(axis=2) - x[:, 0]) ** 2)
    losses = np.array(found)
    losses[:, :, 5] = 2.0
    return losses


CASES = {
    "linear": lambda: linear(170, 11, 2400, 21)[0],
    "curved": lambda: curved(140, 22),
}


def room(rows: int, rank: int) -> int:
    return NUMBER * rows * (COPIES * rank + OF_PROBES * PROBES)


@pytest.mark.parametrize("correlations", [False, True])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("rank", [16, 48])
def test_a_sketch_is_off_by_what_it_says(case, rank, correlations):
    losses = CASES[case]()
    size = losses.shape[2]
    kernel, found = loss_kernel(losses, correlations), sketch(row_draws(losses), np.arange(size), correlations, rank)
    assert found.factor.shape == (size, rank)
    everywhere = np.arange(size)
    values, truth = found.between(everywhere, everywhere), kernel.values
    np.testing.assert_array_equal(np.isnan(values), np.isnan(truth))
    values, truth, left = np.nan_to_num(values), np.nan_to_num(truth), np.nan_to_num(found.left_out)
    np.testing.assert_allclose(np.diag(values), np.diag(truth), rtol=1e-9, atol=1e-12)
    beside = ~np.eye(size, dtype=bool)
    bound = np.sqrt(np.outer(left, left))
    assert (np.abs(values - truth) <= bound + 1e-9 * np.abs(truth).max())[beside].all()
    cut = np.linalg.norm(values - truth) / np.linalg.norm(truth)
    # The mean of 64 squares of sums of signs: known to √(2/64) at worst, so that its root is to 9%; three of these on either side.
    assert found.cut == pytest.approx(cut, rel=0.27) and 1e-4 < cut < 0.7
    assert kernel.relative_error * (0.85 if not correlations else 0.9) < found.relative_error
    assert found.relative_error < kernel.relative_error * (1.2 if not correlations else 1.6)
    vector = np.random.default_rng(0).standard_normal((size, 2))
    np.testing.assert_allclose(found.times(vector), values @ vector, rtol=1e-9, atol=1e-9)


def test_more_columns_are_off_by_less_and_a_factor_as_wide_as_the_kernel_is_exact():
    losses = CASES["linear"]()
    cuts = [sketch(row_draws(losses), np.arange(170), rank=rank).cut for rank in (4, 16, 64, 170)]
    assert cuts == sorted(cuts, reverse=True) and cuts[-1] < 1e-9


def test_a_kernel_is_a_sketch_only_where_its_square_has_no_room():
    losses, exact = linear(600, 6, 800, 23)
    usual = loss_kernel(losses)
    assert isinstance(usual, LossKernel)
    found = loss_kernel(losses, memory=room(600, 20))
    assert isinstance(found, KernelSketch) and found.factor.shape == (600, 20)
    some = np.arange(0, 600, 7)
    off = found.between(some, np.arange(600)) - exact[some]
    assert np.linalg.norm(off) < 2 * np.hypot(found.cut, found.relative_error) * np.linalg.norm(exact[some])
    # ν̂ needs the diagonal alone
    assert found.variances.sum() == pytest.approx(np.trace(usual.values), rel=1e-12)
    assert "600 rows by 20 columns" in repr(found)


def test_what_has_no_room_is_one_sentence(monkeypatch):
    losses, _ = linear(600, 4, 80, 24)
    with pytest.raises(ValueError, match="a kernel of 600 rows needs 3 MiB even as a sketch") as caught:
        loss_kernel(losses, memory=2**20)
    tells(caught.value)
    monkeypatch.setattr("llc_core.compute.memory.free_memory", lambda: 2**20)
    monkeypatch.setattr("llc_core.studies.covariances.draws.SMALL", 1000)
    with pytest.raises(ValueError, match="Covariances of 600 numbers with 600") as caught:
        influence(losses)
    tells(caught.value)
    assert influence(losses, [3]).values.shape == (1, 600)


def test_a_large_constant_in_all_losses_changes_nothing():
    losses = np.random.default_rng(4).standard_normal((200, 2, 12))
    plain, far = (sketch(row_draws(each), np.arange(12), rank=12) for each in (losses, losses + 1e8))
    assert np.allclose(plain.factor @ plain.factor.T, far.factor @ far.factor.T, atol=1e-5)
