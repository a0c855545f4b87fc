"""Stages of a deep linear network: rests of the flow, their exact λ, and λ̂ at the weights as they are."""

from __future__ import annotations

import math

import numpy as np
import pytest

import llc_core
from llc_core.studies import stages as module

TWO = {0: (18, 1), 1: (22, 2), 2: (25.5, 1), 3: (29, 2), 4: (32, 1)}
FOUR = {0: (8, 1), 1: (14, 1), 2: (20, 1), 3: (26, 1), 4: (32, 1)}
"""Rank → λ and m, by the exact formula: four layers climb in equal steps."""
DEEP = (10, 4, 10, 4, 10)


def coefficients(found) -> dict[int, tuple[float, int]]:
    return {stage.rank: (float(stage.coefficient), stage.coefficient.multiplicity) for stage in found}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_two_layers_climb_the_exact_steps(seed):
    found = llc_core.stages(seed=seed)
    assert coefficients(found) == TWO
    assert not any(stage.note for stage in found)
    for stage in found:  # a rest has learned so many values, and none of the others
        assert np.abs(stage.singular_values[: stage.rank] / found.teacher[: stage.rank] - 1).max(initial=0) < 0.1
        assert (stage.singular_values[stage.rank :] / found.teacher[stage.rank :]).max(initial=0) < 0.5
    assert (np.diff([stage.time for stage in found]) > 0).all()


@pytest.mark.slow
def test_four_layers_climb_in_equal_steps():
    assert coefficients(llc_core.stages(DEEP)) == FOUR


@pytest.mark.slow
@pytest.mark.parametrize(
    "widths, values", [((10, 4, 10), (4, 2, 1, 0.5)), ((7, 5, 6), (3, 1, 0.3)), (DEEP, (4, 2, 1, 0.5))]
)
def test_what_noise_hides_counts_as_none(widths, values):
    found = llc_core.stages(widths, values, seed=5)
    for stage in found:
        table = stage.problem().effective_rank_table()
        exact = llc_core.local_learning_coefficient(widths, table)
        assert table[0][-1] == stage.rank
        assert (float(exact), exact.multiplicity) == (float(stage.coefficient), stage.coefficient.multiplicity)
    last = found[len(found) - 1].problem()
    # The noise reaches the smallest value where nβ is its inverse square, by the same formula.
    edge = (math.sqrt(widths[0]) + math.sqrt(widths[-1])) / values[-1]
    few, many = (edge**2 / (2 * 100 / 3) * share for share in (0.8, 1.25))
    assert [last.effective_rank_table(n_beta)[0][-1] for n_beta in (few, many)] == [len(values) - 1, len(values)]
    with pytest.raises(ValueError, match="n_beta is -1"):
        last.effective_rank_table(-1)


def test_the_slope_is_that_of_the_loss():
    random = np.random.default_rng(0)
    shapes, teacher = [(3, 4), (2, 3), (5, 2)], random.standard_normal((5, 4))
    w, v = random.standard_normal((2, 28))

    def loss(flat: np.ndarray) -> float:
        a, b, c = module._layers(flat, shapes)
        return 0.5 * float(np.sum((c @ b @ a - teacher) ** 2))

    step = 1e-6
    assert module._slope(w, shapes, teacher) @ v == pytest.approx(
        -(loss(w + step * v) - loss(w - step * v)) / (2 * step), rel=1e-6
    )


def test_values_that_come_at_once_have_no_rest_between_them():
    found = llc_core.stages((4, 4, 4), (2.0, 1.9999, 0.5))
    between = [stage for stage in found if stage.rank == 1]
    assert not between or "no rest" in between[0].note
    assert [float(stage.coefficient) for stage in found if stage.rank in (0, 3)] == [6.0, 8.0]


def test_the_flow_that_does_not_end_says_so(monkeypatch):
    monkeypatch.setattr(module, "LONGEST", 1.0)
    with pytest.raises(ValueError, match="has not learned all values by time 1; take a larger init"):
        llc_core.stages()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"widths": (3, 3)}, "at least three"),
        ({"widths": (3, 2, 3), "singular_values": (3, 2, 1)}, "1 to 2 numbers"),
        ({"singular_values": (1.0, 2.0)}, "the largest first"),
        ({"init": 5.0}, "init"),
    ],
)
def test_bad_input_is_one_sentence(given, said):
    with pytest.raises(ValueError, match=said):
        llc_core.stages(**given)


@pytest.mark.slow
def test_lambda_at_raw_weights_is_that_of_what_was_learned():
    found = llc_core.stages((4, 2, 4), (4.0, 1.0))
    estimates = found.estimate("Gibbs", steps=300, chains=4)
    for stage, estimate in zip(found, estimates, strict=True):
        network = llc_core.DeepLinearNetwork(stage.truncated)
        reference = llc_core.gibbs_reference(network, sweeps=300)
        error = math.hypot(estimate.llc_se, reference.llc_se)
        assert abs(estimate.llc - reference.llc) < 4 * error + 0.03 * reference.llc, stage.rank
        assert float(estimate.local_learning_coefficient) == float(stage.coefficient)


@pytest.mark.slow
def test_at_a_saddle_of_the_real_loss_lambda_is_negative_and_refused():
    found = llc_core.stages((6, 3, 6), (4.0, 1.0))
    at = llc_core.estimate(found.against_target(found[0]), steps=400, n_beta=100.0, localization=1.0, progress=False)
    assert at.llc < 0 and not at.converged
    assert "minimum" in str(at.converged) or "w0" in str(at.converged)
    last = llc_core.estimate(found.against_target(found[-1]), "Gibbs", steps=1000, progress=False)
    assert last.llc > 0


@pytest.mark.slow
def test_a_picture_has_three_parts():
    pytest.importorskip("holoviews")
    found = llc_core.stages((4, 2, 4), (2.0, 0.5))
    assert len(found.plot()) == 3
    assert len(found.plot(found.estimate("Gibbs", steps=200, chains=2))) == 3


@pytest.mark.parametrize(("values", "rank"), [((4.0, 0.5, 0.45), 2), ((4.0, 3.5), 1)])
def test_a_value_that_can_be_seen_already_is_no_rest(values, rank):
    """One that is small beside the first is not small beside what chains see."""
    found = {stage.rank: stage for stage in llc_core.stages((10, 4, 10), values)}
    assert "no rest" in found[rank].note
    assert found[len(values)].note == ""


@pytest.mark.parametrize("times", [1.0, 10.0, 100.0])
def test_layers_of_any_sizes_have_the_ranks_that_their_product_shows(times):
    random = np.random.default_rng(0)
    network = llc_core.DeepLinearNetwork(
        [times * random.standard_normal((4, 10)), random.standard_normal((10, 4)) / times]
    )
    assert network.effective_rank_table() == network.rank_table
