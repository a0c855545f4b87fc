"""Semi-synthetic tasks: the risk is that of new targets, the best prediction is the best, and the methods can be told apart."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cases import few

from llc_core import semi_synthetic, semi_synthetic_risk
from llc_core.studies.risk.comparison import EXACT, HMC
from llc_core.studies.risk.task import SemiSynthetic

ROWS = np.random.default_rng(1).standard_normal((40, 2))


def task(likelihood: str, seed: int = 0) -> SemiSynthetic:
    return semi_synthetic(ROWS, width=10, likelihood=likelihood, seed=seed)


@pytest.mark.parametrize("likelihood", ["gaussian", "laplace"])
def test_risk_is_the_mean_loss_on_new_targets(likelihood):
    made, random = task(likelihood), np.random.default_rng(2)
    predicted, shape = made.truth + random.normal(0, 0.3, len(made.truth)), (100_000, len(made.truth))
    noise = (
        random.normal(0, math.sqrt(0.05), shape) if likelihood == "gaussian" else random.laplace(0, made.noise, shape)
    )
    off = np.abs(made.truth + noise - predicted)
    losses = (off**2 if likelihood == "gaussian" else off).mean(axis=1)
    assert abs(losses.mean() - made.risk(predicted)) < 4.5 * losses.std() / math.sqrt(len(losses))
    assert made.risk(made.truth) == pytest.approx(made.noise)


@pytest.mark.parametrize("likelihood", ["gaussian", "laplace"])
def test_no_prediction_is_better_than_the_best(likelihood):
    made = task(likelihood)
    draws = np.random.default_rng(3).exponential(0.4, (300, len(made.truth)))
    best = made.best_of(draws)
    for other in (best - 0.02, best + 0.02, np.median(draws, axis=0) + 0.1):
        assert made.expected_risk(best, draws) < made.expected_risk(other, draws)


def test_the_same_seed_makes_the_same_task_and_another_one_another():
    first, again, other = task("gaussian"), task("gaussian"), task("gaussian", seed=1)
    assert (first.truth == again.truth).all() and not (first.truth == other.truth).any()
    assert first.problem.to_dict() == again.problem.to_dict()
    assert first.problem.n + len(first.truth) == len(ROWS)
    assert abs(np.concatenate([first.problem.data.x, first.test_inputs]).std() - 1) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("likelihood", few(["gaussian", "laplace"], 1))
def test_hmc_is_near_the_bayes_risk_and_short_steps_are_further_off(likelihood):
    """A gap is at least 0, up to the error of the exact posterior's own draws, which is the same for all methods."""
    settings = {"width": 10, "likelihood": likelihood, "tasks": 1, "moves": 400, "chains": 8}
    found = semi_synthetic_risk(ROWS, gradients=600, **settings)
    assert set(found.risks) >= {HMC, EXACT, found.best_mala} and len(found.risks) == 7
    assert found.gap(EXACT) == 0 and all(found.gap(name) >= 0 for name in found.risks)
    assert found.gap(HMC) < 0.01 and found.gap(HMC) < found.gap("MALA, half the printed step")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: semi_synthetic([[1.0, 2.0]] * 9), "no column that varies"),
        (lambda: semi_synthetic(ROWS[:3]), "has 3 rows"),
        (lambda: semi_synthetic("wine"), "inputs is no table"),
        (lambda: semi_synthetic(ROWS, rows=3), "rows is 3"),
        (lambda: semi_synthetic(ROWS, test_share=1), "test_share is 1"),
        (lambda: semi_synthetic(ROWS, widths=(1, 2, 1)), "widths is the task's own"),
        (lambda: semi_synthetic(ROWS, likelihood="cauchy"), "likelihood is 'cauchy'"),
        (lambda: semi_synthetic_risk(ROWS, gradients=1), "gradients is 1"),
    ],
)
def test_bad_input_is_one_sentence(call, said):
    with pytest.raises(ValueError, match=said) as error:
        call()
    assert "\n" not in str(error.value)
