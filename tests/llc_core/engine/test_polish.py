"""Runs at a polished w0: λ̂ is exact there, and the estimate tells what was done."""

from __future__ import annotations

import json
import math

import pytest
import torch
from torch import nn

from llc_core import DeepLinearNetwork, NetworkPotential, Run, RunConfig, estimate, gibbs_reference, polish
from llc_core.cli.commands import main
from llc_core.diagnostics.confirmation import exact_value
from llc_core.results import Estimate
from llc_core.studies.explain.subject import Subject

WITHIN = 0.03
N = 3000


def _made(loss: str, seed: int) -> NetworkPotential:
    torch.manual_seed(seed)
    module, x = nn.Linear(8, 3, bias=False), torch.randn(N, 8)
    output = module(x).detach()
    if loss == "squared_error":
        return NetworkPotential(module, loss, (x, output + 0.5 * torch.randn(N, 3)))
    return NetworkPotential(module, loss, (x, torch.distributions.Categorical(logits=output).sample()))


CASES = pytest.mark.parametrize(("loss", "exact"), [("squared_error", 12), ("cross_entropy", 8)])
SEEDS = pytest.mark.parametrize("seed", [0, 1])


@SEEDS
def test_what_an_exact_sampler_reads_is_right_at_a_polished_w0_and_too_low_at_the_truth(seed: int) -> None:
    """λ of a regular model is half the number of its parameters that count, to terms of γ/nβ and 1/n."""
    problem = _made("squared_error", seed)
    done = polish(problem)
    before, after = (exact_value(each, problem.n_beta, 1.0) for each in (problem, done.problem))
    assert after == pytest.approx(12, rel=WITHIN)
    assert done.llc > 0.3 and after - before == pytest.approx(done.llc, abs=0.1)  # which γ's new centre may change


@pytest.mark.slow
@SEEDS
@CASES
def test_the_mean_of_a_run_is_right_at_a_polished_w0(loss: str, exact: float, seed: int) -> None:
    found = estimate(_made(loss, seed), "UnderdampedLangevin", gradient="full", polish=True, chains=8, steps=2500)
    assert found.llc == pytest.approx(exact, rel=WITHIN) and found.confirmed


@pytest.mark.slow
@SEEDS
@pytest.mark.parametrize("gradient", ["full", "control_variate"])
def test_one_linear_layer_reads_15_on_its_data(gradient: str, seed: int) -> None:
    problem = DeepLinearNetwork.random(widths=[6, 5], n=2000, seed=seed)
    found = estimate(problem, "UnderdampedLangevin", polish=True, gradient=gradient, chains=8, steps=3000)
    assert found.llc == pytest.approx(15, rel=WITHIN)
    assert found.reference == pytest.approx(15, abs=0.02) and found.confirmed
    drawn = gibbs_reference(polish(problem).problem, chains=8, sweeps=1000)
    assert drawn.llc == pytest.approx(15, abs=4 * drawn.llc_se)


@pytest.mark.slow
def test_exact_draws_confirm_a_deep_network_at_its_new_w0() -> None:
    """Of low rank, where no formula is known: the reference must have the new baseline and the new centre of γ."""
    problem = DeepLinearNetwork.random(widths=[5, 4, 5], layer_ranks=[2, 2], n=2000)
    found, before = (estimate(problem, "Gibbs", steps=600, polish=each) for each in (True, False))
    assert found.expected is None and before.expected is not None
    drawn = gibbs_reference(polish(problem).problem, chains=4, sweeps=600, seed=3)
    assert found.llc == pytest.approx(drawn.llc, abs=4 * math.hypot(found.llc_se, drawn.llc_se))
    assert found.polished is not None and found.llc - before.llc == pytest.approx(
        found.polished.llc, abs=4 * math.hypot(found.llc_se, before.llc_se)
    )


def test_the_estimate_tells_of_it_and_can_be_read_back_and_repeated() -> None:
    problem = DeepLinearNetwork.random(widths=[3, 2], n=500, seed=1)
    found = estimate(problem, "MALA", polish=True, steps=200)
    assert found.polished is not None and found.polished == polish(problem).record
    assert found.polished.sentence in str(found) and str(found).count("w0 was moved by") == 1
    assert found.config.polish and found.config.problem == problem.to_dict()
    back = Estimate.from_json(found.to_json())
    assert back.polished == found.polished and back.config == found.config
    data = pytest.importorskip("xarray") and found.to_dataset()
    assert json.loads(data.attrs["polished"])["sentence"] == found.polished.sentence
    again = Run(RunConfig.from_json(found.config.to_json()))
    for _ in again:
        pass
    assert again.estimates()[0].llc == found.llc
    plain = estimate(problem, "MALA", steps=200)
    assert plain.polished is None and Estimate.from_json(plain.to_json()).polished is None
    assert "polish" not in plain.config.to_dict() and not RunConfig.from_dict(plain.config.to_dict()).polish


def test_a_network_that_has_no_minimum_runs_where_it_is() -> None:
    torch.manual_seed(0)
    x = torch.randn(200, 4)
    problem = NetworkPotential(nn.Linear(4, 2), "cross_entropy", (x, (x[:, 0] > 0).long()))
    found = estimate(problem, "SGLD", polish=True, steps=50)
    assert found.polished is not None and not found.polished.converged and found.polished.distance == 0
    assert found.baseline_loss == pytest.approx(problem.baseline_loss)
    assert "There is no minimum to find" in str(found)
    assert found.evidence.polished is False and "polish=True" not in str(found)


def test_the_second_loss_moves_along() -> None:
    problem, other = (DeepLinearNetwork.random(widths=[3, 2], n=n, seed=1) for n in (500, 400))
    found = estimate(problem, "MALA", polish=True, steps=400, observable=other, observe_every=1)
    moved = polish(problem)
    apart = estimate(moved.problem, "MALA", steps=400, observable=other.moved(moved.delta), observe_every=1)
    assert found.observed_llc == apart.observed_llc


def test_what_explains_an_estimate_begins_at_its_w0() -> None:
    problem = DeepLinearNetwork.random(widths=[3, 2], n=500, seed=1)
    found = estimate(problem, "SGLD", polish=True, steps=200)
    subject = Subject.of(found, problem)
    assert subject.problem.to_dict() == polish(problem).problem.to_dict() == subject.config.problem
    assert not subject.config.polish


def test_the_command_line_says_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", "--widths", "3", "2", "--sampler", "MALA", "--steps", "200", "--polish"]) == 0
    assert "w0 was moved by" in capsys.readouterr().out


def test_polish_is_true_or_false() -> None:
    with pytest.raises(ValueError, match="polish is 1; it must be true or false"):
        RunConfig(polish=1)  # type: ignore[arg-type]
