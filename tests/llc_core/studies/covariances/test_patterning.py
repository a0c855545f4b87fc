"""Patterning: weights that are asked for move the mean by what was asked, exactly known for a regression, and as resampled for a network."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from lab.benchmarks.accuracy.influence.patterning import (
    LAYERS,
    RUN,
    drawn,
    layers_alone,
    linear_network,
    moved,
    regression,
    resampled,
)
from llc_core import NetworkPotential, patterning

SHARES = np.array([0.1, -0.1])
"""By how much the losses of two probe rows are to change."""


@pytest.mark.parametrize("share", [0.02, 0.05, 0.1])
def test_weights_move_means_by_what_is_wanted(share):
    exact, probes = regression(80, 3)
    kept, phi = drawn(exact, probes, 8000, 0)
    wanted = 10 * share * SHARES * exact.expected(probes)
    found = patterning(kept, wanted, phi)
    assert np.abs(moved(exact, found.weights, probes) - wanted) == pytest.approx(0, abs=3 * found.se.max())
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
        honest.append((moved(exact, found.weights, probes) - wanted) / found.se)
        twice, same = kept.losses.copy(), phi.copy()
        twice[:, 1::2], same[:, 1::2] = twice[:, ::2], same[:, ::2]
        wrong = patterning(replace(kept, losses=twice), wanted, same)
        faulty.append(moved(exact, wrong.weights, probes) / wanted)
    # 400 shares of .95 that hang together in pairs: ± 1.5%.
    assert 0.9 < (np.abs(honest) < 2).mean() < 0.99
    mean, error = np.mean(faulty), np.std(np.mean(faulty, axis=1)) / np.sqrt(len(faulty))
    assert mean + 5 * error < 1, "what is promised on the draws that chose is not kept"


@pytest.mark.slow
@pytest.mark.rare
def test_one_layer_moves_and_the_other_does_not():
    """Each layer alone. Sampled again with the weights, the excess loss of the data as they are changes as was said."""
    module, x, y = linear_network()
    run = RUN | {"steps": 400}
    problem, before = layers_alone(module, x, y, **run)
    wanted = {"first": 0.05 * before["first"].llc / problem.n_beta, "second": 0.0}
    found = patterning(before, wanted)
    heavier = NetworkPotential(module, "squared_error", (x, y), sample_weights=torch.as_tensor(found.weights))
    for at, name in enumerate(LAYERS):
        _, mean, noise = resampled(heavier, name, x, y, problem, before, **run)
        change, error = mean - found.before[at], float(np.hypot(found.se[at], noise))
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
