"""The short ways of `estimate`: a step size, a callback; and an estimate that is written and read again."""

from __future__ import annotations

import json
import math
import warnings

import numpy as np
import pytest
from sentences import tells

from llc_core import SGLD, DeepLinearNetwork, Estimate, estimate, planar_landscape

QUICK = {"chains": 3, "steps": 200}


@pytest.mark.parametrize("sampler", [None, "SGLD", SGLD(step_size=1e-5), {"name": "SGLD"}])
def test_a_step_size_is_that_of_the_sampler(sampler):
    problem = planar_landscape("quadratic")
    found = estimate(problem, sampler, step_size=2e-4, **QUICK)
    assert found.config.sampler["step_size"] == 2e-4 == pytest.approx(found.diagnostics["step_size"], rel=1e-6)
    assert found.config.sampler["name"] == ("UnderdampedLangevin" if sampler is None else "SGLD")


def test_the_default_sampler_of_noisy_gradients_takes_a_step_size_too():
    network = DeepLinearNetwork.random(widths=[3, 2, 3], n=1000)
    found = estimate(network, step_size=1e-6, gradient="minibatch", batch_size=50, **QUICK)
    assert found.config.sampler["name"] == "SGLD" and found.diagnostics["step_size"] == pytest.approx(1e-6, rel=1e-6)


def test_a_callback_sees_every_snapshot():
    seen = []
    found = estimate(planar_landscape("quadratic"), callback=seen.append, **QUICK)
    assert seen[-1].finished and [s.steps for s in seen] == sorted(s.steps for s in seen)
    assert np.array_equal(seen[-1].llc, found.per_chain)


def test_what_a_callback_raises_ends_the_run():
    def stop(snapshot):
        raise StopAsyncIteration("enough")

    with pytest.raises(StopAsyncIteration):
        estimate(planar_landscape("quadratic"), callback=stop, **QUICK)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"callback": 3}, ["callback", "int", "Snapshot"]),
        ({"step_size": -1.0, "sampler": "SGLD"}, ["step_size", "-1"]),
        ({"step_size": "small"}, ["step_size", "small"]),
    ],
)
def test_one_sentence(options, words):
    with pytest.raises(ValueError) as caught:
        estimate(planar_landscape("quadratic"), **options)
    tells(caught.value)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_an_estimate_is_written_and_read_again():
    found = estimate(
        DeepLinearNetwork.random(widths=[3, 2, 3], n=1000), "SGLD", grid={"n_beta": [50.0, 100.0]}, **QUICK
    )[1]
    again = Estimate.from_json(found.to_json())
    assert again.to_json() == found.to_json()
    assert again.llc == found.llc and again.config == found.config and again.setting == {"n_beta": 100.0}
    assert again.local_learning_coefficient == found.local_learning_coefficient and again.converged == found.converged
    assert np.array_equal(again.per_chain, found.per_chain) and again.n == 1000 and again.dim == 12
    assert repr(again) == repr(found) and again.trace.shape == (0, 3)


def test_what_is_not_finite_is_read_as_nan():
    dead = estimate(planar_landscape("quadratic"), SGLD(step_size=1.0), **QUICK)
    again = Estimate.from_json(dead.to_json())
    assert math.isnan(again.llc) and np.isnan(again.per_chain).all() and again.to_json() == dead.to_json()
    assert json.loads(dead.to_json())["llc"] is None


@pytest.mark.parametrize("text", ["", "[1]", "{}", "3", '{"llc": 1}', "null", "{" * 2000])
def test_other_texts_are_no_estimates(text):
    with pytest.raises(ValueError, match="no estimate") as caught:
        Estimate.from_json(text)
    tells(caught.value)


def test_an_n_beta_made_from_the_batch_size_is_said_to_be_too_hot():
    problem = DeepLinearNetwork.random(widths=[3, 3], n=1000, seed=0)
    wanted = {"gradient": "minibatch", "batch_size": 100, "steps": 20, "chains": 2, "progress": False}
    with pytest.warns(
        UserWarning, match=r"n_beta is 21.7, made from the batch size 100 and not from the 1,000 rows: too hot"
    ):
        estimate(problem, "SGLD", n_beta=100 / math.log(100), **wanted)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "n_beta is")
        estimate(problem, "SGLD", n_beta=36.0, **wanted)
        estimate(problem, "SGLD", **wanted)
        estimate(problem, "SGLD", n_beta=100 / math.log(100), **{**wanted, "gradient": "full"})


@pytest.mark.parametrize("gradient", ["full", "minibatch"])
def test_chains_of_the_next_seed_share_no_number_with_those_of_this_one(gradient):
    """Chain i + 1 of seed s would be chain i of seed s + 1 where seeds of chains are s, s + 1, …"""
    problem = DeepLinearNetwork.random(widths=[3, 4, 3], layer_ranks=[2, 2], n=500, seed=0)
    wanted = {"gradient": gradient, "steps": 200, "chains": 6, "dtype": "float64", "progress": False}
    this, same, following = (
        estimate(problem, SGLD(step_size=1e-5), seed=seed, **wanted).trace[1:].ravel() for seed in (7, 7, 8)
    )
    assert len(np.intersect1d(this, same)) == len(np.unique(this)) > 1000
    assert len(np.intersect1d(this, following)) == 0
