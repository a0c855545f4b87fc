"""What a run measures beside λ̂, and how its averages are weighted: histograms, decreasing steps, the metric's gradient."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import stats
from targets import Quadratic

import llc_core
from llc_core import DeepLinearNetwork, RunConfig
from llc_core.bins import Bins
from llc_core.observables import Look, RunShape
from llc_core.observables.visits import Visits
from llc_core.potentials.base import EXACT_DIAGONAL, Potential
from llc_core.samplers import PSGLD, SGLD, RMSPropSGLD

BINS = {"low": -2.0, "high": 2.0, "count": 20}


def masses_of_normal(variance: float) -> np.ndarray:
    cdf = stats.norm.cdf(Bins.of(BINS).edges, scale=math.sqrt(variance))
    return np.diff(np.concatenate([[0.0], cdf, [1.0]]))


def run(sampler, problem=None, **changes) -> llc_core.Run:
    problem = problem or Quadratic([1.0])
    config = RunConfig(
        problem=problem.to_dict(), sampler=sampler.to_dict(), n_beta=1.0, localization=0.0, dtype="float64"
    )
    return llc_core.Run(config.replace(**changes), problem)


def test_bins_count_what_lies_in_and_outside_them():
    bins = Bins(-1, 1, 4)
    assert bins.counts(np.array([-5, -1, -0.51, 0.0, 0.99, 1.0, 7, np.nan])).tolist() == [1, 2, 0, 1, 1, 2]
    assert bins.density(np.array([1.0, 2, 0, 1, 1, 2])) == pytest.approx(np.array([2, 0, 1, 1]) / 7 / 0.5)
    visits, problem = Visits(low=-1, high=1, count=4), Quadratic([1.0])
    visits.begin(RunShape(problem, None, chains=4, settings=2, dtype=torch.float64, device=torch.device("cpu")))

    def look(x: list[float], share: float, alive: list[bool]) -> None:
        ones = torch.ones(4, dtype=torch.float64)
        delta = torch.tensor(x).unsqueeze(1)
        visits.look(Look(0, share, slice(None), delta, ones, problem, alive=torch.tensor(alive)))

    look([-5.0, 0.0, math.nan, 0.99], 0.5, [True] * 4)
    assert visits.counts().tolist() == [[0.5, 0, 0, 0, 0, 0], [0, 0, 0, 0.5, 0.5, 0]]
    look([0.0] * 4, 1.0, [False, True, False, False])
    assert visits.counts().sum() == 2.5


@pytest.mark.parametrize(
    "bad, words", [({"low": 1, "high": 1}, "below high"), ({"count": 0}, "count"), ({"bins": 3}, "bins")]
)
def test_bins_say_what_is_wrong(bad, words):
    with pytest.raises(ValueError, match=words):
        RunConfig(histogram=bad)


@pytest.mark.slow
def test_the_histogram_of_a_run_is_the_discrete_law_of_each_setting():
    current = run(
        SGLD(),
        chains=400,
        steps=4000,
        burn_in=400,
        histogram=BINS,
        grid={"step_size": [0.5, 2.0], "n_beta": [1.0, 0.5]},
    )
    snapshot = list(current)[-1]
    counts = snapshot.observables["histogram"]
    assert counts.shape == (4, 22) and (counts.sum(axis=1) == 400 * 3600).all()
    for row, setting in zip(counts, current.settings, strict=True):
        c, e = setting["n_beta"], setting["step_size"]
        exact = masses_of_normal(1 / (c * (1 - e * c / 4)))
        assert np.abs(row / row.sum() - exact).sum() / 2 < 0.004, setting
        wrong = masses_of_normal(1 / (c * (1 - e * c / 8)))
        assert np.abs(row / row.sum() - wrong).sum() / 2 > 0.004, "the check cannot tell a wrong law"


def test_the_histogram_does_not_depend_on_how_the_run_is_cut():
    whole = run(SGLD(step_size=0.1), steps=300, histogram=BINS).advance(300)
    cut = run(SGLD(step_size=0.1), steps=300, histogram=BINS)
    for steps in (1, 150, 7, 142):
        last = cut.advance(steps)
    assert (whole.observables["histogram"] == last.observables["histogram"]).all()
    assert "histogram" not in run(SGLD(step_size=0.1), steps=10).advance(10).observables


def test_a_chain_that_has_died_counts_nowhere_again():
    current = run(
        SGLD(step_size=0.8), llc_core.landscape("quartic"), chains=200, steps=2000, burn_in=100, histogram=BINS
    )
    snapshots = list(current)
    living = sum(int(np.isfinite(s.excess_loss[s.recorded >= 100]).sum()) for s in snapshots)
    counted = snapshots[-1].observables["histogram"].sum()
    assert not snapshots[-1].alive.any() and counted == living < 200 * 1900 / 2


def test_a_histogram_needs_one_parameter():
    with pytest.raises(ValueError, match="one parameter; this one has 2"):
        run(SGLD(), Quadratic([1.0, 2.0]), histogram=BINS)


def test_decreasing_steps_weight_the_averages():
    """Averages against sums by hand over the trace; the first step has the full size."""
    current = run(SGLD(step_size=1.0), chains=2, steps=60, burn_in=10, step_decay=0.55, histogram=BINS)
    snapshot = current.advance(60)
    weights = np.arange(1, 61) ** -0.55
    losses = snapshot.excess_loss
    by_hand = (losses[10:] * weights[10:, None]).sum(0) / weights[10:].sum()
    assert snapshot.llc == pytest.approx(by_hand, rel=1e-12)
    assert snapshot.observables["histogram"].sum() == pytest.approx(2 * weights[10:].sum())
    assert snapshot.llc != pytest.approx(losses[10:].mean(0), rel=1e-3)


def test_decreasing_steps_remove_the_bias_of_large_ones():
    """What their last steps leave of it is 0.0054, by the variances of all steps in turn, and 0.0038 after three times as many."""
    found = {}
    for decay in (0.0, 0.55):
        current = run(SGLD(step_size=2.0), chains=1000, steps=2000, burn_in=0.3, step_decay=decay)
        for _ in current:
            pass
        # R-hat and ESS of the estimate would take longer than the run.
        found[decay] = current.llc_per_chain()
    for decay, exact in ((0.0, 1.0), (0.55, 0.5)):
        se = found[decay].std(ddof=1) / math.sqrt(1000)
        assert se < 0.006 and found[decay].mean() == pytest.approx(exact, abs=5 * se + 0.01)


@pytest.mark.parametrize("bad", [-0.1, 1.0, math.nan, "x"])
def test_step_decay_is_checked(bad):
    with pytest.raises(ValueError, match="step_decay"):
        RunConfig(step_decay=bad)


def test_the_metric_can_have_a_gradient_of_its_own():
    """Full gradients drive the chain; the metric sees the minibatch's noise, whose variance then sets its size."""
    noisy = Quadratic([1.0], gradient_noise=3.0)
    sampler = RMSPropSGLD(step_size=1e-3, beta=0.99, stability=1e-6)
    sizes = {}
    for kind in (None, "full", "minibatch"):
        current = run(sampler, noisy, chains=50, steps=600, gradient="full", metric_gradient=kind)
        for _ in current:
            pass
        square = current.state["square"]
        sizes[kind] = float(square.mean() / (1 - 0.99**600))
    assert sizes[None] == sizes["full"] < 2
    assert sizes["minibatch"] == pytest.approx(9.0 + sizes["full"], rel=0.1)
    with pytest.raises(ValueError, match="metric_gradient is 'minibatch'"):
        run(sampler, metric_gradient="minibatch")


def test_the_problem_chooses_the_localization():
    class Free(Quadratic):
        localization = 0.0

    config = RunConfig(problem=Free([1.0]).to_dict(), steps=10)
    assert llc_core.Run(config, Free([1.0])).config.localization == 0.0
    assert llc_core.Run(config, Quadratic([1.0])).config.localization == 1.0
    assert llc_core.Run(config.replace(localization=3.0), Free([1.0])).config.localization == 3.0


# -- diagonal of the Hessian ------------------------------------------------------------------------------------------


def unit_products(problem: Potential, delta: torch.Tensor) -> torch.Tensor:
    eye = torch.eye(problem.dim, dtype=delta.dtype)
    return torch.stack([problem.hvp(delta, row.expand_as(delta).contiguous())[:, i] for i, row in enumerate(eye)], 1)


def test_the_hessian_diagonal_of_a_network_is_exact():
    problem = DeepLinearNetwork.random(widths=[4, 3, 5, 2], n=1000, seed=1)
    generator = torch.Generator().manual_seed(0)
    delta = 0.3 * torch.randn(3, problem.dim, generator=generator, dtype=torch.float64)
    found = problem.hessian_diagonal(delta, None, generator)
    torch.testing.assert_close(found, unit_products(problem, delta), rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(found, Potential.hessian_diagonal(problem, delta, None, generator), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind, size", [("minibatch", 2), ("minibatch", 50), ("control_variate", 50)])
def test_the_hessian_diagonal_is_that_of_the_batch(kind, size):
    problem = DeepLinearNetwork.random(widths=[4, 3, 2], n=1000, seed=1)
    generator = torch.Generator().manual_seed(0)
    delta = 0.3 * torch.randn(4, problem.dim, generator=generator, dtype=torch.float64)
    batch = problem.draw(generator, 2, size, kind, torch.float64)
    found = problem.hessian_diagonal(delta, batch, generator)
    for i in range(problem.dim):
        step = torch.zeros_like(delta)
        step[:, i] = 1e-4
        above, below = (problem.excess_loss_and_grad(delta + s * step, batch)[1][:, i] for s in (1, -1))
        torch.testing.assert_close(found[:, i], (above - below) / 2e-4, rtol=1e-6, atol=1e-6)


def test_the_estimated_hessian_diagonal_of_large_potentials_is_unbiased():
    problem = DeepLinearNetwork.random(widths=[8, 9, 3], n=1000, seed=1)
    assert problem.dim > EXACT_DIAGONAL
    generator = torch.Generator().manual_seed(0)
    delta = 0.3 * torch.randn(1, problem.dim, generator=generator, dtype=torch.float64).expand(4000, -1)
    probes = Potential.hessian_diagonal(problem, delta, None, generator)
    exact = problem.hessian_diagonal(delta[:1], None, generator)[0]
    se = probes.std(dim=0) / math.sqrt(len(probes))
    assert float(((probes.mean(dim=0) - exact).abs() / se).max()) < 4.5
    assert not torch.allclose(probes[0], exact, rtol=0.1)


@pytest.mark.slow
def test_samplers_that_ask_for_the_hessian_get_it():
    """PSGLD as published samples exp(−U)·(λ + |U′|)^α."""
    current = run(PSGLD(step_size=1e-3), chains=2000, steps=9000, burn_in=5000, histogram=BINS, dtype="float32")
    snapshot = list(current)[-1]
    x = np.linspace(-8, 8, 16001)
    weight = np.exp(-(x**2) / 2) * (0.1 + np.abs(x)) ** 0.9
    exact = Bins.of(BINS).counts(np.zeros(0))
    for place, w in zip(np.clip(np.floor((x + 2) / 0.2), -1, 20).astype(int) + 1, weight, strict=True):
        exact[place] += w
    counts = snapshot.observables["histogram"][0]
    assert np.abs(counts / counts.sum() - exact / exact.sum()).sum() / 2 < 0.03
    assert np.abs(counts / counts.sum() - masses_of_normal(1.0)).sum() / 2 > 0.15
