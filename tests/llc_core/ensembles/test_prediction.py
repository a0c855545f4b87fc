"""Ensembles: averages that do not care about the order of draws, and every score against numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from sentences import tells
from torch import nn

import llc_core
from llc_core.compute.streams import torch_stream
from llc_core.ensembles import (
    EnsemblePrediction,
    RunningPrediction,
    brier,
    calibration_curve,
    calibration_error,
    detection,
    negative_log_likelihood,
)
from llc_core.networks import build_model

MLP = {"kind": "mlp", "widths": [5, 7, 3]}
P = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.4, 0.3, 0.3], [0.25, 0.25, 0.5]], dtype=torch.float64)
LABELS = torch.tensor([0, 1, 2, 2])


def ensemble(count: int = 6):
    models = [build_model(MLP, seed) for seed in range(count)]
    inputs = torch.randn(40, 5, generator=torch_stream(0, "inputs"))
    return models[0], [model.state_dict() for model in models], inputs


def same(a: EnsemblePrediction, b: EnsemblePrediction) -> bool:
    names = ("probabilities", "entropy_of_mean", "mean_entropy", "mutual_information")
    return all(torch.equal(getattr(a, name), getattr(b, name)) for name in names)


def test_equal_weights_are_no_weights_and_order_changes_no_bit():
    model, draws, inputs = ensemble()
    plain = llc_core.predictive(model, draws, inputs)
    assert same(plain, llc_core.predictive(model, draws, inputs, weights=[0.3] * 6)) and plain.kish_share == 1
    assert same(plain, llc_core.predictive(model, draws[::-1], inputs))
    weights = np.array([0.1, 3.0, 0.7, 1e-9, 2.0, 0.0])
    order = np.array([4, 0, 5, 2, 1, 3])
    one = llc_core.predictive(model, draws, inputs, weights=weights)
    other = llc_core.predictive(model, [draws[k] for k in order], inputs, weights=weights[order])
    assert same(one, other) and not same(one, plain) and one.kish_share == other.kish_share
    assert one.kish_share == pytest.approx(weights.sum() ** 2 / (6 * (weights**2).sum()))


def test_a_mean_is_that_of_the_members_and_information_what_they_disagree_on():
    model, draws, inputs = ensemble(3)
    members = [llc_core.predictive(model, [draw], inputs) for draw in draws]
    found = llc_core.predictive(model, draws, inputs, weights=[1, 2, 1])
    by_hand = (members[0].probabilities + 2 * members[1].probabilities + members[2].probabilities) / 4
    torch.testing.assert_close(found.probabilities, by_hand)
    entropy = -(by_hand * by_hand.log()).sum(1)
    own = sum(w * m.entropy_of_mean for w, m in zip((0.25, 0.5, 0.25), members, strict=True))
    torch.testing.assert_close(found.entropy_of_mean, entropy)
    torch.testing.assert_close(found.mean_entropy, own)
    torch.testing.assert_close(found.mutual_information, entropy - own)
    assert (found.mutual_information > 0).all()
    assert members[0].mutual_information.abs().max() < 1e-15


def test_two_opposite_draws():
    """Certain and opposite: all doubt is disagreement, log 2. Both undecided: none is."""
    model = nn.Linear(1, 2, bias=False)
    inputs = torch.ones(1, 1)
    sure = llc_core.predictive(model, torch.tensor([[[400.0, 0.0]], [[0.0, 400.0]]]), inputs)
    assert sure.entropy_of_mean.item() == pytest.approx(math.log(2)) and sure.mean_entropy.item() == pytest.approx(0)
    assert sure.mutual_information.item() == pytest.approx(math.log(2))
    unsure = llc_core.predictive(model, torch.zeros(2, 2), inputs)
    assert unsure.mean_entropy.item() == pytest.approx(math.log(2)) and unsure.mutual_information.item() == 0


def test_forms_of_draws_agree():
    model, draws, inputs = ensemble(3)
    flat = torch.stack([torch.cat([v.flatten() for v in draw.values()]) for draw in draws])
    by_state = llc_core.predictive(model, draws, inputs)
    assert same(by_state, llc_core.predictive(model, flat, inputs))
    network = llc_core.NetworkPotential(model, "cross_entropy", (inputs, torch.arange(40) % 3))
    by_delta = llc_core.predictive(network, flat - flat[0], inputs)
    torch.testing.assert_close(by_delta.probabilities, by_state.probabilities, rtol=1e-4, atol=1e-6)
    done = nn.Sequential(model, nn.Softmax(dim=1))
    rows = llc_core.predictive(done, flat.numpy(), inputs, output="probabilities")
    torch.testing.assert_close(rows.probabilities, by_state.probabilities, rtol=1e-5, atol=1e-6)


def test_draws_of_a_run_make_an_ensemble():
    model, _, inputs = ensemble(1)
    network = llc_core.NetworkPotential(model, "cross_entropy", (inputs, torch.arange(40) % 3))
    found = llc_core.estimate(
        network,
        llc_core.SGLD(step_size=1e-3),
        steps=200,
        chains=2,
        observables=[{"name": "WeightDraws", "count": 1000}],
    )
    draws = found.observables["WeightDraws"]["draws"]
    said = llc_core.predictive(network, draws, inputs)
    assert draws.shape[2] == network.dim and said.weights.shape == (draws.shape[0] * draws.shape[1],)
    kept = found.observables["WeightDraws"]
    assert same(said, llc_core.predictive(network, kept, inputs))
    dead = {"draws": draws.copy(), "weights": np.arange(draws.shape[0] * draws.shape[1]).reshape(draws.shape[:2])}
    dead["draws"][:, 1] = np.nan
    one = llc_core.predictive(network, draws[:, 0], inputs, weights=dead["weights"][:, 0])
    assert same(one, llc_core.predictive(network, dead, inputs))
    assert (said.mutual_information > 0).all() and said.accuracy(torch.arange(40) % 3) >= 0


def test_likelihood_brier_and_calibration_by_hand():
    assert negative_log_likelihood(P, LABELS) == pytest.approx(-np.log([0.7, 0.8, 0.3, 0.5]).mean())
    by_row = [0.09 + 0.04 + 0.01, 0.01 + 0.04 + 0.01, 0.16 + 0.09 + 0.49, 0.0625 + 0.0625 + 0.25]
    assert brier(P, LABELS) == pytest.approx(np.mean(by_row))
    # Two bins: (0, .5] has confidences .4 (wrong) and .5 (right), (.5, 1] has .7 and .8 (both right).
    assert calibration_error(P, LABELS, bins=2) == pytest.approx((abs(1 - 0.9) + abs(2 - 1.5)) / 4)
    assert calibration_error(P, LABELS, bins=1) == pytest.approx(abs(3 - 2.4) / 4)
    assert negative_log_likelihood(torch.tensor([[1.0, 0.0]], dtype=torch.float64), torch.tensor([1])) < 1000


def test_detection_by_hand():
    """Outside .9, .8, .3 against inside .5, .2, .3: of nine pairs seven are right and one is a tie."""
    pytest.importorskip("sklearn")
    found = detection([0.5, 0.2, 0.3], [0.9, 0.8, 0.3])
    assert found.auroc == pytest.approx(7.5 / 9)
    # Recall rises by a third at .9 and .8, precision 1, and by a third at .3 with three of five called outside.
    assert found.aupr == pytest.approx((1 + 1 + 3 / 5) / 3)
    assert found.fpr95 == pytest.approx(2 / 3)
    perfect = detection([0.0, 0.1], [0.2, 0.3])
    assert (perfect.auroc, perfect.aupr, perfect.fpr95) == (1, 1, 0)


def test_columns_detect_what_they_measure():
    pytest.importorskip("sklearn")
    inside, outside = (
        EnsemblePrediction(p, entropy, entropy / 2, torch.ones(1))
        for p, entropy in ((P[:2], torch.tensor([0.1, 0.2])), (P[2:], torch.tensor([0.3, 0.4])))
    )
    for column in ("entropy_of_mean", "mean_entropy", "mutual_information", "confidence"):
        assert inside.against(outside, column).auroc == 1 and outside.against(inside, column).auroc == 0


@pytest.mark.parametrize(
    "change",
    [
        {"weights": [1, 2]},
        {"weights": [-1, 1, 1]},
        {"weights": [0, 0, 0]},
        {"weights": "many"},
        {"draws": []},
        {"draws": torch.zeros(3, 4)},
        {"draws": [{"0.weight": torch.zeros(7, 5)}]},
        {"draws": "all"},
        {"draws": {"rows": []}},
        {"model": 3},
        {"inputs": torch.zeros(0, 5)},
        {"output": "scores"},
        {"output": "probabilities"},
        {"model": nn.Conv1d(5, 7, 1), "draws": torch.zeros(1, 42), "inputs": torch.zeros(2, 5, 4)},
    ],
)
def test_what_does_not_fit_is_one_sentence(change):
    model, draws, inputs = ensemble(3)
    given = {"model": model, "draws": draws, "inputs": inputs, **change}
    with pytest.raises(ValueError) as caught:
        llc_core.predictive(given.pop("model"), given.pop("draws"), given.pop("inputs"), **given)
    tells(caught.value)


@pytest.mark.parametrize("targets", [torch.tensor([0, 1]), torch.tensor([0, 1, 2, 3]), torch.rand(4)])
def test_labels_that_are_none_are_one_sentence(targets):
    with pytest.raises(ValueError) as caught:
        brier(P, targets)
    tells(caught.value)


@pytest.mark.parametrize("outside", [[], [math.nan]])
def test_scores_that_are_none_are_one_sentence(outside):
    with pytest.raises(ValueError) as caught:
        detection([1.0], outside)
    tells(caught.value)


def test_draws_that_come_one_after_another_say_what_all_of_them_say():
    model, draws, inputs = ensemble()
    weights = [0.5, 1.0, 0.0, 2.0, 1.5, 0.25]
    for given in (None, weights):
        running = RunningPrediction()
        with pytest.raises(ValueError, match="no draw yet"):
            running.prediction  # noqa: B018
        for some in (slice(0, 2), slice(2, 5), slice(5, 6)):
            running.add(model, draws[some], inputs, weights=None if given is None else given[some])
        together = llc_core.predictive(model, draws, inputs, weights=given)
        for name in ("probabilities", "entropy_of_mean", "mean_entropy"):
            torch.testing.assert_close(
                getattr(running.prediction, name), getattr(together, name), rtol=1e-12, atol=1e-14
            )
        assert running.draws == 6 and running.prediction.kish_share == pytest.approx(together.kish_share)
    with pytest.raises(ValueError, match="same inputs at every call"):
        running.add(model, draws[:1], inputs[:3])


def test_what_an_observable_gave_keeps_its_weights_from_call_to_call():
    model, draws, inputs = ensemble()
    weights = np.array([0.5, 1.0, 0.0, 2.0, 1.5, 0.25])
    rows = torch.stack([torch.cat([each.flatten() for each in state.values()]) for state in draws])
    running = RunningPrediction()
    for some in (slice(0, 2), slice(2, 6)):
        running.add(model, {"draws": rows[some], "weights": weights[some]}, inputs)
    together = llc_core.predictive(model, draws, inputs, weights=weights)
    torch.testing.assert_close(running.prediction.probabilities, together.probabilities, rtol=1e-12, atol=1e-14)
    assert running.prediction.kish_share == pytest.approx(together.kish_share)


def test_the_calibration_curve_by_hand():
    """Confidences .7, .8, .4, .5 with labels 0, 1, 2, 2: right, right, wrong, right. Five bins of width .2."""
    curve = calibration_curve(P, LABELS, 5)
    assert curve.counts.tolist() == [1, 1, 2]
    assert curve.confidence == pytest.approx([0.4, 0.5, 0.75]) and curve.accuracy.tolist() == [0, 1, 1]
    assert curve.error == pytest.approx((0.4 + 0.5 + 2 * 0.25) / 4) == pytest.approx(calibration_error(P, LABELS, 5))


def test_log_weights_may_be_as_far_apart_as_those_of_contours_are():
    model, draws, inputs = ensemble()
    logs = np.array([-1.5e7, -1.5e7 + 2, -9e6, -9e6 - 1, -2e7, -9e6 + 0.5])
    running = RunningPrediction()
    for some in (slice(0, 2), slice(2, 3), slice(3, 6)):
        running.add(model, draws[some], inputs, log_weights=logs[some])
    together = llc_core.predictive(model, draws, inputs, weights=np.exp(logs - logs.max()))
    torch.testing.assert_close(running.prediction.probabilities, together.probabilities, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(running.prediction.mean_entropy, together.mean_entropy, rtol=1e-9, atol=1e-12)
    assert running.draws == 6 and running.prediction.kish_share == pytest.approx(together.kish_share)
    for bad in ({}, {"log_weights": [np.inf]}, {"log_weights": [0.0], "weights": [1.0]}):
        with pytest.raises(ValueError) as caught:
            running.add(model, draws[:1], inputs, **bad)
        tells(caught.value)
