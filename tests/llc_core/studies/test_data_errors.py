"""The four errors, WAIC, WBIC and the free energy of one layer, in closed form; and theory on a singular network."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from llc_core import DeepLinearNetwork
from llc_core.studies.data_errors import (
    CHAINS,
    EVERY,
    HELD_OUT,
    OTHER_ROWS,
    DataErrors,
    data_errors,
    data_set,
    prior_free_energy,
    summary,
)
from llc_core.studies.information import Losses

torch.set_num_threads(1)
ONE_LAYER = DeepLinearNetwork([[[0.7, -0.4]]], n=10)
N, SEED, SWEEPS, GAMMA = 60, 3, 3000, 2.0


def rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """x [n, 2], noise [n]."""
    found = data_set(ONE_LAYER, n, seed).data.run(0, n, torch.device("cpu"), torch.float64).numpy()
    return found[:, :2], found[:, 2]


def posterior(n: int, beta: float, seed: int = SEED) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of δ: −log p of a row is (δ·x − noise)², and the prior is N(0, 1/γ)."""
    x, noise = rows(n, seed)
    covariance = np.linalg.inv(2 * beta * x.T @ x + GAMMA * np.eye(2))
    return covariance @ (2 * beta * x.T @ noise), covariance


def exact(x: np.ndarray, noise: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> tuple[float, float, float]:
    """Means over rows of −log E p, E loss and Var loss, above those of δ = 0."""
    at, spread = x @ mean, np.einsum("ri,ij,rj->r", x, covariance, x)
    bayes = -(noise**2) + np.log1p(2 * spread) / 2 + (at - noise) ** 2 / (1 + 2 * spread)
    gibbs = at**2 + spread - 2 * noise * at
    return bayes.mean(), gibbs.mean(), (2 * spread**2 + 4 * spread * (at - noise) ** 2).mean()


def exact_evidence(n: int) -> tuple[float, float]:
    """WBIC and −log Z, above n times the loss of δ = 0."""
    warm, cold = posterior(n, 1 / math.log(n)), posterior(n, 1.0)
    wbic = n * exact(*rows(n, SEED), *warm)[1]
    precision = np.linalg.inv(cold[1])
    return wbic, np.linalg.slogdet(precision / GAMMA)[1] / 2 - cold[0] @ precision @ cold[0] / 2


@pytest.mark.slow
def test_one_layer_gives_what_its_normal_posterior_gives():
    found = data_errors(ONE_LAYER, N, SEED, localization=GAMMA, sweeps=SWEEPS)
    law = posterior(N, 1.0)
    bayes, gibbs, variance = exact(*rows(N, SEED), *law)
    bayes_new, gibbs_new, _ = exact(*rows(HELD_OUT, SEED + OTHER_ROWS), *law)
    # Sweeps of one layer are independent. n·ΔL has variance λ = 1 at least; half as much again covers the cross term.
    error = math.sqrt(1.5 / (CHAINS * 0.75 * SWEEPS / EVERY))
    wanted = Losses(N * bayes, N * gibbs, N * bayes_new, N * gibbs_new)
    for name, value in vars(wanted).items():
        assert abs(getattr(found.errors, name) - value) < 5 * error, name
    assert abs(found.waic - N * (bayes + variance)) < 10 * error
    assert abs(found.fluctuation - N * variance / 2) < 5 * error
    assert abs(found.wbic - exact_evidence(N)[0]) < 5 * math.log(N) * error
    assert found.trusted
    # The four are told apart by more than the error.
    assert wanted.gibbs_generalisation - wanted.bayes_generalisation > 10 * error


def test_wbic_leaves_out_a_constant_that_hardly_depends_on_n():
    apart = [free - wbic for wbic, free in map(exact_evidence, (1_000, 10_000, 100_000))]
    limit = math.log(2 * 100 / 3 / GAMMA)  # ½ log det(2·E[xxᵀ]/γ), with x uniform on [−10, 10]
    assert apart == pytest.approx([limit] * 3, abs=0.1) and limit > 3


@pytest.mark.slow
def test_the_ladder_finds_the_free_energy():
    pytest.importorskip("scipy")
    found = prior_free_energy(ONE_LAYER, N, SEED, GAMMA)
    assert abs(-found.log_z - exact_evidence(N)[1]) < 4 * found.log_z_se


def test_a_summary_needs_two_data_sets_and_a_bad_r_hat_is_no_trust():
    one = DataErrors(Losses(-1, 0, 1, 2), 1.5, 3.0, 1.0, 1.2)
    other = DataErrors(Losses(-2, 0, 2, 3), 0.5, 3.0, 1.0, math.nan)
    assert not one.trusted and not other.trusted
    seen = summary([one, other], 1.0)
    assert seen.means["sum"] == 1.25 and seen.errors["sum"] == 0 and seen.correlation == pytest.approx(-1)
    assert seen.expected["bayes_training"] == -1 and seen.expected["gibbs_generalisation"] == 2
    with pytest.raises(ValueError, match="needs two"):
        summary([one], 1.0)
    with pytest.raises(ValueError, match="n is 2"):
        data_errors(ONE_LAYER, 2)


@pytest.mark.slow
def test_theory_holds_where_weights_are_not_identified():
    """λ is 7.5 of 12 = d/2: half of WAIC and the error on new data tells them apart within a dozen data sets."""
    network = DeepLinearNetwork.random(widths=[4, 3, 4], layer_ranks=[3, 3], seed=1, n=10)
    seen = summary([data_errors(network, 1000, seed) for seed in range(12)], float(network.learning_coefficient))
    for name, value in seen.expected.items():
        assert abs(seen.means[name] - value) < 4 * seen.errors[name], name
    assert abs(seen.means["sum"] - network.dim / 2) > 10 * seen.errors["sum"]
    assert seen.correlation < -0.5
