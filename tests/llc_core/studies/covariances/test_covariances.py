"""Covariances of losses: against linear regression in closed form, with errors that cover, and with faults that must show."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr
from torch import nn

from llc_core import HMC, NetworkPotential, estimate, influence, linear_losses, loss_kernel, with_rows
from llc_core.studies.covariances.draws import covariances

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 3))
Y = X @ np.array([1.0, -0.5, 0.3]) + 0.5 * RNG.standard_normal(80)
QUERIES = RNG.standard_normal((4, 3)), RNG.standard_normal(4)
EXACT = linear_losses(X, Y)


def drawn(count: int, seed: int = 0, chains: int = 4, queries=None) -> np.ndarray:
    """[T, C, R] of independent draws."""
    losses = EXACT.draws(count, seed, queries)
    return losses.reshape(chains, -1, losses.shape[1]).swapaxes(0, 1)


def slow(seed: int, chains: int = 4, steps: int = 3000, keep: float = 0.8) -> np.ndarray:
    """[T, C, R] along autoregressive chains of w, whose draws are as those of the posterior, but correlated."""
    rng, root = np.random.default_rng(seed), np.linalg.cholesky(EXACT.covariance)
    z = rng.standard_normal((chains, 3))
    found = []
    for _ in range(steps):
        z = keep * z + np.sqrt(1 - keep**2) * rng.standard_normal(z.shape)
        found.append((Y - (EXACT.mean + z @ root.T) @ X.T) ** 2)
    return np.array(found)


def off(values: np.ndarray, truth: np.ndarray) -> float:
    return float(np.linalg.norm(values - truth) / np.linalg.norm(truth))


@pytest.mark.parametrize("half", [False, True])
def test_the_exact_kernel_is_that_of_the_definition(half):
    """By hand: Cov of quadratics of a normal number, from its own moments at a million draws, within 5 of their errors."""
    exact = linear_losses(X[:4], Y[:4], n_beta=2.0, localization=0.7, w0=[0.1, 0.2, -0.3], half=half)
    losses = exact.draws(200_000)
    products = losses - losses.mean(axis=0)
    for i in range(4):
        each = products[:, [i]] * products
        assert (np.abs(each.mean(axis=0) - exact.kernel()[i]) < 5 * each.std(axis=0) / np.sqrt(len(losses))).all()
    assert (np.abs(losses.mean(axis=0) - exact.expected()) < 5 * losses.std(axis=0) / np.sqrt(len(losses))).all()
    step = 1e-4 * np.eye(3)

    def energy(w: np.ndarray) -> float:
        loss = exact.scale * ((Y[:4] - X[:4] @ w) ** 2).mean()
        return 2.0 * loss + 0.35 * ((w - exact.w0) ** 2).sum()

    slope = [energy(exact.mean + e) - energy(exact.mean - e) for e in step]
    np.testing.assert_allclose(slope, 0, atol=1e-12)
    bend = [(energy(exact.mean + e) - 2 * energy(exact.mean) + energy(exact.mean - e)) / 1e-8 for e in step]
    np.testing.assert_allclose(bend, np.diag(np.linalg.inv(exact.covariance)), rtol=1e-5)


@pytest.mark.parametrize(("count", "most"), [(500, 0.15), (8000, 0.04)])
def test_the_kernel_is_as_near_as_so_many_draws_allow(count, most):
    found = loss_kernel(drawn(count))
    assert off(found.values, EXACT.kernel()) < most and found.relative_error < most
    assert found.effective_draws == pytest.approx(count, rel=0.2) and not found.note
    np.testing.assert_array_equal(found.values, found.values.T)


def covered(make, cases: int = 60) -> float:
    truth = EXACT.kernel()
    shares = []
    for seed in range(cases):
        found = loss_kernel(make(seed)[:, :, ::8])
        shares.append((np.abs(found.values - truth[::8, ::8]) < 2 * found.se).mean())
    return float(np.mean(shares))


@pytest.mark.slow
@pytest.mark.parametrize("make", [lambda seed: drawn(4000, seed), slow])
def test_errors_cover(make):
    """60 seeds of 100 entries that hang together: the share is known to about 1.5%."""
    assert 0.91 < covered(make) < 0.985


def test_chains_that_disagree_make_a_wide_error_around_the_mean_of_all():
    """Around each chain's own mean the kernel would be that of one chain, and the error small: the fault is planted here."""
    rng = np.random.default_rng(1)
    places = 3 * rng.standard_normal((1, 8, 1))
    losses = places * np.array([1.0, -1.0]) + rng.standard_normal((400, 8, 2))
    found = loss_kernel(losses)
    pooled = np.cov(losses.reshape(-1, 2).T, ddof=0)
    np.testing.assert_allclose(found.values, pooled)
    assert found.by == "chains" and found.units == 8 and found.effective_draws < 100
    assert abs(found.values[0, 1] + 9) < 3 * found.se[0, 1], "what the places of all chains would give"
    wrong = loss_kernel(losses - losses.mean(axis=0))
    assert wrong.by == "blocks of time" and abs(wrong.values[0, 1]) < 1 < abs(found.values[0, 1])


def test_influence_has_the_sign_and_size_of_rows_that_are_left_out():
    found = influence(drawn(8000, 2, queries=QUERIES)[:, :, :80], drawn(8000, 2, queries=QUERIES)[:, :, 80:])
    exact, without = EXACT.influence(QUERIES), EXACT.left_out(QUERIES)
    assert off(found.values, exact) < 0.05
    assert (np.abs(found.values - exact) < 2 * found.se).mean() > 0.8
    for measured, truth in zip(found.values, without, strict=True):
        assert spearmanr(-measured, truth).statistic > 0.95, "a row that helps: without it the loss of the query rises"
    # The first order of leaving one out, with its factor: what is left is the second order, as large as a row's leverage.
    assert off(-EXACT.beta * exact, without) < 0.2
    few = EXACT.beta * exact
    more = linear_losses(X, Y)
    weights = more.weights.copy()
    weights[5] += 1e-5
    heavier = type(more)(**{**{k: getattr(more, k) for k in more.__dataclass_fields__}, "weights": weights})
    slope = (heavier.expected(QUERIES) - more.expected(QUERIES)) / 1e-5
    np.testing.assert_allclose(slope, few[:, 5], rtol=1e-3)


@pytest.fixture(scope="module")
def network():
    """The same regression as a network, with draws of HMC and probe rows."""
    module = nn.Linear(3, 1, bias=False)
    with torch.no_grad():
        module.weight.copy_(torch.as_tensor(EXACT.mean))
    data = torch.as_tensor(X), torch.as_tensor(Y)[:, None]
    problem = NetworkPotential(module.double(), "squared_error", data)
    probe = with_rows(problem, (torch.as_tensor(QUERIES[0]), torch.as_tensor(QUERIES[1])[:, None]))
    exact = linear_losses(X, Y, problem.n_beta, 1.0, EXACT.mean)
    found = estimate(
        problem,
        HMC(step_size=0.1, leapfrog_steps=6),
        chains=32,
        steps=200,
        burn_in=50,
        localization=1.0,
        functional_variance=1,
        observable=probe,
        observables=[
            {"name": "RowLosses", "every": 1, "most": 2000},
            {"name": "WeightDraws", "every": 1, "most": 2000},
        ],
        dtype="float64",
    )
    return exact, found


def test_a_run_keeps_what_the_kernel_needs(network):
    exact, found = network
    kernel = loss_kernel(found)
    truth = np.block([[exact.kernel(), exact.kernel(QUERIES)], [exact.kernel(QUERIES).T, np.zeros((4, 4))]])[:80]
    assert off(kernel.values[:80], truth) < 3 * kernel.relative_error
    assert kernel.rows[:80].tolist() == list(range(80)) and kernel.rows[80:].tolist() == [-1, -2, -3, -4]
    own = kernel.values[:80, :80]
    assert kernel.beta / 2 * np.trace(own) == pytest.approx(found.singular_fluctuation, rel=1e-12)
    # nβ²·Var(L_n), exactly that of the posterior and near D/2
    measured, exactly = found.n_beta**2 * own.mean(), found.n_beta**2 * exact.loss_variance
    assert measured == pytest.approx(exactly, rel=3 * kernel.relative_error) and exactly == pytest.approx(1.5, rel=0.1)
    assert "known to" in repr(kernel) and not kernel.note


def test_influence_on_probes_rows_and_other_observables(network):
    exact, found = network
    of_probes, of_one = influence(found), influence(found, 2)
    assert off(of_probes.values, exact.influence(QUERIES)) < 3 * of_probes.relative_error
    np.testing.assert_allclose(of_one.values[0], of_probes.values[2])
    assert of_one.queries == ("probe 2",) and of_one.per_weight == pytest.approx(found.n_beta / 80 * of_one.values)
    best = of_one.top(3)
    assert [each["row"] for each in best] == np.argsort(-np.abs(of_one.values[0]))[:3].tolist() and best[0]["clear"]
    assert f"{best[0]['row']}" in repr(of_one) and "probe 2" in repr(of_one)
    # dE[w]/dw_i of the posterior mean of the weights: β·V·2·r_i·x_i
    weights = influence(found, "WeightDraws")
    truth = -2 * exact.covariance @ (exact.x * (exact.y - exact.x @ exact.mean)[:, None]).T
    assert off(weights.values, -truth) < 3 * weights.relative_error


def test_chains_that_died_are_in_no_covariance(network):
    found = network[1]
    kept = {name: values.copy() for name, values in found.observables["RowLosses"].items()}
    rest = np.delete(kept["draws"], 2, axis=1)
    kept["draws"][:, 2] = np.nan
    per_chain = np.where(np.arange(found.chains) == 2, np.nan, found.per_chain)
    hurt = dataclasses.replace(found, per_chain=per_chain, observables={**found.observables, "RowLosses": kept})
    np.testing.assert_allclose(loss_kernel(hurt).values, loss_kernel(rest).values, rtol=1e-10, atol=1e-14)
    losses = found.observables["RowLosses"]["draws"]
    # Of draws that lie otherwise in memory, libraries add in another order.
    for same in (rest[:, :, 80], 0):
        of_all = influence(hurt, losses[:, :, 80]).values
        np.testing.assert_allclose(of_all, influence(hurt, same).values, rtol=1e-10, atol=1e-14)
    assert influence(hurt, "WeightDraws").values.shape == (3, 80)
    weights = np.ones(losses.shape[:2])
    weights[:, 2] = 0
    light = {**found.observables, "RowLosses": {**found.observables["RowLosses"], "weights": weights}}
    kernel = loss_kernel(dataclasses.replace(found, observables=light))
    np.testing.assert_allclose(kernel.values, loss_kernel(rest).values, rtol=1e-10, atol=1e-14)


def test_correlations_order_and_clusters():
    rng = np.random.default_rng(3)
    common = rng.standard_normal((500, 4, 2))
    which = np.array([0, 1, 0, 1, 1, 0])
    losses = common[:, :, which] * np.arange(1, 7) + 0.3 * rng.standard_normal((500, 4, 6))
    found = loss_kernel(losses, correlations=True)
    plain = loss_kernel(losses)
    np.testing.assert_allclose(found.values, np.corrcoef(losses.reshape(-1, 6).T))
    np.testing.assert_allclose(np.diag(found.se), 0, atol=1e-12)
    for kernel in (found, plain):
        assert len(set(which[kernel.order()[:3]])) == 1
        assert (kernel.clusters(2) == kernel.clusters(2)[0]).tolist() == (which == 0).tolist()
    still = loss_kernel(np.concatenate([losses, np.ones((500, 4, 1))], axis=2), correlations=True)
    assert np.isnan(still.values[6]).all() and still.relative_error > 0 and len(still.order()) == 7


def test_weights_of_draws_count():
    """A draw of weight 2 is as two of them."""
    rng = np.random.default_rng(4)
    losses = rng.standard_normal((60, 3, 2))
    twice = np.repeat(losses, np.tile([1, 2], 30), axis=0)
    weights = np.tile([1.0, 2.0], 30)[:, None].repeat(3, 1)
    found = covariances(losses, losses, weights / weights.sum(axis=0))
    np.testing.assert_allclose(found.values, loss_kernel(twice).values)
    assert found.effective_draws < 180


def test_too_few_draws_are_said():
    few, alone = loss_kernel(drawn(60)), loss_kernel(drawn(2, chains=1))
    assert few.note.startswith("Too few draws") and "from about" in few.note
    assert alone.note.startswith("Too few draws for an error") and np.isnan(alone.se).all()
    assert not loss_kernel(drawn(4000)).note


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda found: loss_kernel("a"), "must be an Estimate"),
        (lambda found: loss_kernel(np.zeros((3, 2))), "must be an Estimate"),
        (lambda found: influence(drawn(100), 99), "from 0 to 79"),
        (lambda found: influence(found, 4), "from 0 to 3"),
        (lambda found: influence(found, "Nothing"), "no draws of an observable"),
        (lambda found: influence(found, np.zeros((3, 2))), "has the shape"),
        (lambda found: linear_losses(X, Y[:5]), "give finite rows"),
        (lambda found: linear_losses(np.ones((5, 2)), np.ones(5), localization=0), "localization is 0"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(network, call, said):
    with pytest.raises(ValueError, match=said):
        call(network[1])


def test_a_run_without_rows_is_one_sentence():
    found = estimate(NetworkPotential(nn.Linear(2, 1), "mse", (torch.randn(5, 2), torch.randn(5, 1))), steps=20)
    with pytest.raises(ValueError, match="kept no losses of rows"):
        loss_kernel(found)
