"""Patterning: weights that are asked for move the mean by what was asked, exactly known for a regression, and as resampled for a network."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from llc_core import (
    HMC,
    NetworkPotential,
    estimate,
    linear_losses,
    moving_only,
    patterning,
    susceptibilities,
    with_rows,
)
from llc_core.diagnostics.convergence import mean_error
from llc_core.studies.covariances.draws import RowDraws, row_draws

SHARES = np.array([0.1, -0.1])
"""By how much the losses of two probe rows are to change."""


def regression(rows: int, dim: int):
    """The exact posterior, and two probe rows."""
    rng = np.random.default_rng(dim)
    x = rng.standard_normal((rows, dim))
    truth, x_new = rng.standard_normal(dim), rng.standard_normal((2, dim))
    y = x @ truth + 0.5 * rng.standard_normal(rows)
    return linear_losses(x, y), (x_new, x_new @ truth + np.array([1.0, -1.0]))


def drawn(exact, probes, count: int, seed: int, chains: int = 8) -> tuple[RowDraws, np.ndarray]:
    """Losses of the rows, and of the probes, [T, C, …]."""
    losses = exact.draws(count, seed, probes).reshape(chains, count // chains, -1).swapaxes(0, 1)
    kept = row_draws(losses[:, :, : len(exact.y)])
    return replace(kept, beta=exact.beta, n_beta=exact.n_beta), losses[:, :, len(exact.y) :]


def changed(exact, weights: np.ndarray, probes) -> np.ndarray:
    """What the weights do, exactly."""
    return replace(exact, weights=weights).expected(probes) - exact.expected(probes)


@pytest.mark.parametrize("share", [0.02, 0.05, 0.1])
def test_weights_move_means_by_what_is_wanted(share):
    exact, probes = regression(80, 3)
    kept, phi = drawn(exact, probes, 8000, 0)
    wanted = 10 * share * SHARES * exact.expected(probes)
    found = patterning(kept, wanted, phi)
    assert np.abs(changed(exact, found.weights, probes) - wanted) == pytest.approx(0, abs=3 * found.se.max())
    assert (found.se < 0.1 * np.abs(wanted)).all() and found.weights.mean() == pytest.approx(1)
    np.testing.assert_allclose(found.before, exact.expected(probes), rtol=0.05)
    assert not found.note and "value 1" in repr(found)
    if share == 0.02:  # of first order alone it is the shortest of all changes with the same sum
        slopes = -exact.beta * exact.kernel(probes).T
        slopes -= slopes.mean(axis=1, keepdims=True)
        shortest = np.linalg.pinv(slopes) @ wanted
        assert np.linalg.norm(found.weights - 1 - shortest) < 0.2 * np.linalg.norm(shortest)


@pytest.mark.slow
def test_errors_cover_and_the_same_draws_promise_too_much():
    """Few draws of 20 weights, 200 seeds. The fault is planted: chains that measure are those that chose."""
    exact, probes = regression(100, 20)
    wanted = 0.2 * SHARES * exact.expected(probes)
    honest, faulty = [], []
    for seed in range(200):
        kept, phi = drawn(exact, probes, 400, seed)
        found = patterning(kept, wanted, phi)
        honest.append((changed(exact, found.weights, probes) - wanted) / found.se)
        twice, same = kept.losses.copy(), phi.copy()
        twice[:, 1::2], same[:, 1::2] = twice[:, ::2], same[:, ::2]
        wrong = patterning(replace(kept, losses=twice), wanted, same)
        faulty.append(changed(exact, wrong.weights, probes) / wanted)
    # 400 shares of .95 that hang together in pairs: ± 1.5%.
    assert 0.9 < (np.abs(honest) < 2).mean() < 0.99
    mean, error = np.mean(faulty), np.std(np.mean(faulty, axis=1)) / np.sqrt(len(faulty))
    assert mean + 5 * error < 1, "what is promised on the draws that chose is not kept"


@pytest.fixture(scope="module")
def network():
    """A deep linear network at its minimum: (problem, inputs and targets)."""
    torch.manual_seed(0)
    x = torch.randn(200, 4, dtype=torch.float64)
    y = x @ (torch.randn(4, 2).double() @ torch.randn(2, 4).double()) / 2 + 0.3 * torch.randn(200, 4).double()
    module = nn.Sequential(nn.Linear(4, 3, bias=False), nn.Linear(3, 4, bias=False)).double()
    optimizer = torch.optim.LBFGS(module.parameters(), max_iter=500)

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        found = (module(x) - y).square().sum(1).mean()
        found.backward()
        return found

    optimizer.step(loss)
    return module, x, y


PARTS = {"first": "0.*", "second": "1.*"}
RUN = {"chains": 64, "steps": 400, "burn_in": 100, "localization": 1.0, "dtype": "float64", "progress": False}
SAMPLER = HMC(step_size=0.05, leapfrog_steps=8)


@pytest.mark.slow
def test_one_layer_moves_and_the_other_does_not(network):
    """Each layer alone. Sampled again with the weights, the excess loss of the data as they are changes as was said."""
    module, x, y = network
    problem = NetworkPotential(module, "squared_error", (x, y))
    before = susceptibilities(problem, PARTS, list(range(200)), SAMPLER, every=2, most=4096, **RUN).estimates
    wanted = {"first": 0.05 * before["first"].llc / problem.n_beta, "second": 0.0}
    found = patterning(before, wanted)
    heavier = NetworkPotential(module, "squared_error", (x, y), sample_weights=torch.as_tensor(found.weights))
    for at, (name, part) in enumerate(PARTS.items()):
        there = moving_only(heavier, part)
        watched = [{"name": "RowLosses", "rows": [0], "every": 2, "most": 4096}]
        after = estimate(
            there,
            SAMPLER,
            observable=with_rows(there, (x, y)),
            observables=watched,
            n_beta=problem.n_beta,
            seed=1,
            **RUN,
        )
        losses = row_draws(after).of_probes.mean(axis=2) - problem.baseline_loss
        known = before[name].observables["LossDraws"]["draws"]
        errors = [mean_error(each.mean(axis=0), each).se for each in (losses, known)]
        change, error = losses.mean() - found.before[at], float(np.hypot(found.se[at], np.hypot(*errors)))
        assert abs(change - wanted[name]) < 3 * error and error < 0.4 * wanted["first"]
        assert abs(change - wanted["first"] * (name != "first")) > 2 * error, "layers that are taken for one another"


def test_what_cannot_be_had_is_one_sentence():
    exact, probes = regression(80, 3)
    kept, phi = drawn(exact, probes, 800, 0)
    calls = {
        "a weight of -": lambda: patterning(kept, [0.4, -0.05], phi),
        "for each of value 0, value 1, not all": lambda: patterning(kept, [0.1], phi),
        "a number for each of value 0": lambda: patterning(kept, {"value 0": 0.1}, phi),
        "No weights of these rows change one": lambda: patterning(kept, [0.1, 0.0], phi[:, :, [0, 0]]),
        "at least 2 chains": lambda: patterning(drawn(exact, probes, 800, 0, chains=1)[0], [0.1], 0),
        "with their n_beta": lambda: patterning(phi, [0.1], 0),
        "has no runs": lambda: patterning({}, [0.1]),
        "no draws of an observable": lambda: patterning(kept, [0.1]),
    }
    for said, call in calls.items():
        with pytest.raises(ValueError, match=said):
            call()
