"""Chains on the line: the arithmetic of a step, the distributions they converge to, and the bugs that must show.

The rows and limits are those of the recipe for Rensmeyer & Niggemann 2025: 20,000 chains started in the target, burn-in
of time 6, 80 bins on [−4, 4]. Total variation of that many samples from the right distribution is about 0.005, and 0.007 of the 10,000
chains with which rows go whose limits are 0.02 and more.
"""

from __future__ import annotations

import dataclasses
import sys
from functools import lru_cache

import numpy as np
import pytest
import torch
from cases import few
from scipy.special import ndtr

from llc_core.bins import Bins
from llc_core.compute.single_precision import pipeline
from llc_core.compute.streams import torch_stream
from llc_core.line import LineRun, simulate, warm_up
from llc_core.line import kernel as kernels
from llc_core.line.blocks import CHUNK
from llc_core.potentials import landscape
from llc_core.samplers import (
    PSGLD,
    SGLD,
    SGLRW,
    AdamSGLD,
    CorrectedPSGLD,
    DriftAdamSGLD,
    FrozenPSGLD,
    MongeSGLD,
    RMSPropSGLD,
    ShampooSGLD,
    build,
    samplers,
)
from llc_core.samplers.base import ADAPTING_SHARE
from llc_core.stationary import masses, target_masses, total_variation

torch.set_num_threads(1)
LINED = sorted(name for name, cls in samplers().items() if cls().line() is not None)
UNLINED = sorted(set(samplers()) - set(LINED))


def run_of(sampler, target, **options):
    return LineRun(sampler, target, **{"steps": 100, "chains": 64, "dtype": "float64", "start": "target", **options})


def by_hand(run):
    """Positions, counts and sums of a float64 run of one block, from the sampler's `line()` and the same normals."""
    line, target, x = run.sampler.line(), run.target, run.positions
    a, b = (np.full_like(x, value) for value in line.start)
    stream = torch_stream(run.seed, "line/0")
    counts, sums = np.zeros(run.bins.count + 2), np.zeros(4)
    for t in range(run.total_steps):
        if t % CHUNK == 0:
            noise = torch.empty(CHUNK, len(x), dtype=torch.float64).normal_(generator=stream).numpy()
        size = run.sampler.step_size * (t + 1) ** -run.step_decay
        g = target.slope(x)
        if not (line.freezes and t >= int(ADAPTING_SHARE * run.burn_in)):
            a, b = line.memory(a, b, g, line.parameters)
        drift, metric = line.move(a, b, g, target.curvature(x), line.parameters)
        root, kick = np.sqrt(size * metric), noise[t % CHUNK]
        if line.signs:
            x = x + root * np.where(ndtr(kick) > 0.5 - size / 4 * drift / root, 1, -1)
        else:
            x = x + size / 2 * drift + root * kick
        if t >= run.burn_in and t % run.record_every == 0:
            weight = size if run.step_decay else 1.0
            counts += weight * run.bins.counts(x)
            sums += [weight * (x**k).sum() for k in (1, 2, 3, 4)]
    return x, counts, sums


@pytest.mark.parametrize("name", few(LINED, 1))
def test_the_kernel_does_the_arithmetic_of_the_line(name):
    run = run_of(build(name).replace(step_size=0.01), "double_well", burn_in=40, seed=3)
    x, counts, _ = by_hand(run)
    run.advance(100)
    np.testing.assert_allclose(run.positions, x, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(run.counts, counts)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["skewed", {"kind": "landscape", "expression": "x^4/4 + cos(3*x)", "of": "energy"}])
def test_decreasing_steps_weigh_what_they_count(target):
    run = run_of(PSGLD(step_size=0.1), target, step_decay=0.55, burn_in=0.25, record_every=3, bins={"count": 20})
    assert run.burn_in == 25
    x, counts, sums = by_hand(run)
    snapshot = run.advance(100)
    np.testing.assert_allclose(run.positions, x, rtol=0, atol=1e-10)
    np.testing.assert_allclose(snapshot.counts, counts, rtol=1e-12)
    np.testing.assert_allclose(snapshot.moments, sums / counts.sum(), rtol=1e-9)
    np.testing.assert_allclose(snapshot.masses().sum(), 1)
    np.testing.assert_allclose(snapshot.density() * run.bins.width, snapshot.masses()[1:-1])


def test_numbers_depend_neither_on_threads_nor_on_how_the_run_is_cut():
    options = {"chains": 9000, "steps": 150, "seed": 5, "step_decay": 0.3}
    results = []
    for threads, cuts in ((1, [150]), (3, [150]), (2, [1, 31, 33, 7, 1000])):
        run = LineRun(PSGLD(step_size=0.05), "normal", threads=threads, **options)
        assert [run.advance(cut).steps for cut in cuts][-1] == 150 and run.finished
        results.append((run.positions, run.counts, run.snapshot().moments))
    for other in results[1:]:
        for mine, theirs in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(mine, theirs)
    assert not np.array_equal(results[0][0], LineRun(PSGLD(step_size=0.05), "normal", **options).positions)
    other_seed = simulate(PSGLD(step_size=0.05), "normal", **{**options, "seed": 6})
    assert not np.array_equal(results[0][1], other_seed.counts)


def test_iteration_yields_copies_until_the_end():
    run = LineRun(SGLD(step_size=0.1), "normal", steps=2000, chains=2000)
    snapshots = list(run)
    assert snapshots[-1].finished and snapshots[-1].steps == snapshots[-1].total_steps == 2000
    assert all(a.steps < b.steps for a, b in zip(snapshots, snapshots[1:], strict=False))
    first = next(s for s in snapshots if s.counts.sum() > 0)
    assert first is snapshots[-1] or first.counts.sum() < snapshots[-1].counts.sum(), "snapshots share their counts"
    run.counts[:] = 0
    assert run.counts.sum() == snapshots[-1].counts.sum() == 2000 * 175
    assert snapshots[-1].element_steps_per_second > 0 and snapshots[-1].seconds == run.seconds
    assert np.isnan(LineRun(SGLD(step_size=0.1), "normal", steps=10).masses()).all()


def test_starts_where_it_says():
    assert (run_of(SGLD(step_size=0.1), "double_well", start="mode").positions == 1.5).all()
    drawn = run_of(SGLD(step_size=0.1), "skewed", chains=50_000).positions
    bins = Bins(-5, 2, 70)
    counts = bins.counts(drawn)
    assert total_variation(counts / counts.sum(), target_masses("skewed", bins)) < 0.02


@pytest.mark.slow
def test_chains_that_diverge_are_dropped_and_counted():
    run = LineRun(SGLD(step_size=0.5), "quartic", steps=400, chains=3000, burn_in=0, record_every=1, seed=2)
    snapshot = run.advance(400)
    lost = 3000 - np.isfinite(run.positions).sum()
    assert snapshot.diverged == lost and 0 < lost < 3000
    assert 0 < snapshot.counts.sum() < 400 * 3000 and np.isfinite(snapshot.moments).all()
    assert snapshot.counts[[0, -1]].sum() > 0
    all_lost = LineRun(SGLD(step_size=10.0), "quartic", steps=400, chains=100)
    last = list(all_lost)[-1]
    assert last.diverged == last.chains == 100 and all_lost.finished and last.finished


def test_without_numba_numpy_gives_the_same_numbers_and_says_so(monkeypatch):
    pytest.importorskip("numba")
    sampler = FrozenPSGLD(step_size=0.01)
    compiled = run_of(sampler, "skewed", burn_in=40)
    compiled.advance(100)
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setattr(kernels, "_COMPILED", {})
    kernels._warn.cache_clear()
    with pytest.warns(UserWarning, match="numba is not installed"):
        plain = run_of(sampler, "skewed", burn_in=40)
    plain.advance(100)
    np.testing.assert_allclose(plain.positions, compiled.positions, atol=1e-11)
    np.testing.assert_array_equal(plain.counts, compiled.counts)
    np.testing.assert_allclose(plain.snapshot().moments, compiled.snapshot().moments)
    assert run_of(sampler, "skewed", dtype="float32").advance(5).diverged == 0


# -- distributions -------------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Row:
    """A simulation with what its distances must be: to the predicted distribution, and below or above to the target."""

    sampler: object
    target: str = "normal"
    time: float = 20.0
    chains: int = 20_000
    predicted: float = 0.025
    target_above: float = 0.0
    target_below: float = 1.0
    seed: int = 0

    def distances(self, sampler=None):
        sampler = sampler or self.sampler
        steps = int(self.time / self.sampler.step_size)
        snapshot = simulate(
            sampler,
            self.target,
            steps=steps,
            chains=self.chains,
            burn_in=int(min(0.3 * self.time, 6) / self.sampler.step_size),
            seed=self.seed,
        )
        assert snapshot.diverged == 0
        simulated = snapshot.masses()
        return (
            total_variation(simulated, masses(self.sampler, self.target)),
            total_variation(simulated, target_masses(self.target)),
        )


DRAWN = {"kind": "landscape", "points": [[-3.0, 0.05], [-1.0, 1.0], [0.5, 0.3], [1.5, 0.6], [3.0, 0.05]]}
PUBLISHED = PSGLD(step_size=1e-3, alpha=0.9, stability=0.1)
OTHER = PSGLD(step_size=1e-3, alpha=0.6, stability=0.3)
ROWS = {
    "SGLD": Row(SGLD(step_size=1e-2), predicted=0.01, target_below=0.01),
    "SGLRW": Row(SGLRW(step_size=1e-2), predicted=0.01, target_below=0.01),
    "PSGLD": Row(PUBLISHED, target_above=0.15, chains=10_000),
    "PSGLD without Γ": Row(PUBLISHED.replace(gamma_term="dropped"), target_above=0.15, chains=10_000),
    "TFP form": Row(PUBLISHED.replace(stability_form="inside", stability=0.1**0.5), target_above=0.15, chains=10_000),
    "Shampoo": Row(ShampooSGLD(step_size=1e-3, alpha=0.9, stability=1e-3), target_above=0.15, chains=10_000),
    "Monge": Row(MongeSGLD(step_size=1e-2, alpha=0.9, beta=1.0), time=80, predicted=0.015, target_above=0.15),
    "Adam": Row(
        DriftAdamSGLD(step_size=1e-2, alpha=0.9, stability=0.1, beta=0.5, a=1.0), predicted=0.015, target_above=0.15
    ),
    "corrected, α = 0.5": Row(
        CorrectedPSGLD(step_size=1e-3, alpha=0.5, stability=0.1), target_below=0.02, chains=10_000
    ),
    "corrected, λ = 1": Row(CorrectedPSGLD(step_size=1e-3, alpha=0.9, stability=1.0), target_below=0.02, chains=10_000),
    "frozen": Row(FrozenPSGLD(step_size=5e-3, alpha=0.99), time=60, target_below=0.02, chains=10_000),
    "PSGLD, double well": Row(OTHER, "double_well", predicted=0.02, target_above=0.05, chains=10_000),
    "PSGLD, skewed": Row(OTHER, "skewed", predicted=0.02, target_above=0.05, chains=10_000),
    "PSGLD, drawn": Row(OTHER, DRAWN, predicted=0.02, target_above=0.05, chains=10_000),
    "RMSProp, skewed": Row(
        RMSPropSGLD(step_size=1e-3, beta=0.9, stability=0.1), "skewed", predicted=0.02, target_above=0.15, chains=5_000
    ),
    "Adam with everything adapted, skewed": Row(
        AdamSGLD(step_size=1e-3, beta1=0.5, beta2=0.9, stability=0.1),
        "skewed",
        predicted=0.02,
        target_above=0.15,
        chains=5_000,
    ),
    "corrected, skewed": Row(
        CorrectedPSGLD(step_size=1e-3, alpha=0.5, stability=0.3), "skewed", target_below=0.02, chains=10_000
    ),
}


QUICK = ("SGLD", "PSGLD, skewed")
"""Rows of `make test`; in the last bugs are planted below."""


@pytest.mark.long
@pytest.mark.parametrize(
    "row",
    [pytest.param(row, id=name, marks=[] if name in QUICK else pytest.mark.slow) for name, row in ROWS.items()],
)
def test_law_is_the_predicted_one_and_not_the_target(row):
    to_predicted, to_target = row.distances()
    print(f"{to_predicted:.4f} {to_target:.4f}")
    assert to_predicted < row.predicted
    assert row.target_above < to_target < row.target_below


class Planted(PSGLD):
    """PSGLD with a bug in its arithmetic."""

    share = 1.0
    """Of Γ, relative to the right one; None: without the factor 1 − α."""
    noise = 1.0

    def line(self):
        line = super().line()
        alpha, stability, share = line.parameters
        wrong = 1.0 if self.share is None else share * self.share
        changed = dataclasses.replace(line, parameters=(alpha, stability, wrong))
        return changed if self.noise == 1.0 else dataclasses.replace(changed, move=_louder(line.move))


@lru_cache
def _louder(move):
    numba = pytest.importorskip("numba")
    move = numba.njit(move)

    def louder(a, b, g, h, p):
        drift, metric = move(a, b, g, h, p)
        return drift, 2 * metric

    return louder


class Missing(Planted):
    share = None


class Doubled(Planted):
    share = 2.0


class Louder(Planted):
    noise = 2.0


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("bug", [Missing, Doubled, Louder])
@pytest.mark.parametrize("name", ["PSGLD", "PSGLD, double well", "PSGLD, skewed"])
def test_planted_bugs_break_the_agreement(name, bug):
    row = dataclasses.replace(ROWS[name], chains=5_000)
    values = {f.name: getattr(row.sampler, f.name) for f in dataclasses.fields(row.sampler)}
    to_predicted, _ = row.distances(bug(**values))
    print(f"{to_predicted:.4f}")
    assert to_predicted > 1.2 * row.predicted


@pytest.mark.slow
def test_correction_holds_at_the_papers_settings_with_small_steps():
    """α = 0.9, λ = 0.1 at ε = 1e-4, where the memory is short against λ: ε well below λ³(1 − α) = 1e-4 would be better."""
    corrected = Row(CorrectedPSGLD(step_size=1e-4, alpha=0.9, stability=0.1), time=12, chains=6000)
    assert corrected.distances()[1] < 0.03
    assert Row(PUBLISHED.replace(step_size=1e-4), time=7, chains=1024).distances()[1] > 0.2


@pytest.mark.slow
def test_decreasing_steps_converge_to_the_predicted_law():
    """Steps 0.1/n^0.55 with averages weighted by them, as in the paper; time 15 of burn-in and 11 after it."""
    found = simulate(PSGLD(step_size=0.1), "normal", steps=40_000, chains=4000, step_decay=0.55).masses()
    assert total_variation(found, masses(PSGLD(), "normal")) < 0.025
    assert total_variation(found, target_masses("normal")) > 0.2


@pytest.mark.slow
def test_float32_and_float64_have_the_same_law():
    options = {"steps": 1500, "chains": 10_000, "burn_in": 500, "seed": 7}
    single, double = (simulate(PSGLD(step_size=1e-2), "skewed", dtype=d, **options) for d in ("float32", "float64"))
    assert total_variation(single.masses(), double.masses()) < 0.02
    np.testing.assert_allclose(single.moments, double.moments, rtol=0.05, atol=0.05)


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", UNLINED)
def test_samplers_without_a_line_are_refused(name):
    with pytest.raises(ValueError, match=f"{name} has no form on the line; choose one of .*PSGLD"):
        LineRun(name, "normal", steps=10)


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"sampler": "PSGLD"}, "PSGLD.step_size is automatic"),
        ({"sampler": "Nothing"}, "Unknown sampler"),
        ({"target": "nothing"}, "landscape is 'nothing'"),
        ({"chains": 0}, "chains is 0"),
        ({"steps": 0}, "steps is 0"),
        ({"steps": 1.5}, "steps must be a whole number"),
        ({"burn_in": 100}, "burn_in is 100 steps"),
        ({"burn_in": 1.5}, "burn_in is 1.5; give a whole number"),
        ({"burn_in": -0.1}, "burn_in is -0.1"),
        ({"bins": {"n": 3}}, "Unknown key 'n' in the set of bins"),
        ({"dtype": "float16"}, "dtype is 'float16'"),
        ({"step_decay": 1.0}, "step_decay is 1"),
        ({"start": "zero"}, "start is 'zero'"),
        ({"threads": 0}, "threads is 0"),
        ({"record_every": 0}, "record_every is 0"),
        ({"seed": "a"}, "seed must be a number"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(change, sentence):
    arguments = {"sampler": SGLD(step_size=0.1), "target": "normal", "steps": 100, **change}
    with pytest.raises(ValueError, match=sentence):
        LineRun(arguments.pop("sampler"), arguments.pop("target"), **arguments)


def test_numbers_in_scalar_functions_do_not_widen_single_precision():
    """Without the pass in `llc_core.compute.single_precision` the distributions are the same, at a fifth of the speed."""
    numba = pytest.importorskip("numba")
    line = PSGLD().line()
    p = (np.float32(0.9),) * 3
    one = np.float32(1)
    for options, kind in (({}, "float64"), ({"pipeline_class": pipeline(np.float32)}, "float32")):
        for function, arguments in ((line.memory, (one, one, one, p)), (line.move, (one, one, one, one, p))):
            compiled = numba.njit(**options)(function)
            compiled(*arguments)
            first = next(iter(compiled.nopython_signatures)).return_type[0]
            assert str(first) == kind
    cubed = numba.njit(pipeline_class=pipeline(np.float32))(lambda x: 2 * x**3)
    assert cubed(np.float32(2)) == 16


def test_warm_up_compiles_for_an_automatic_step_size_too():
    warm_up("SGLD", landscape("normal"))
    assert any(key[0] is SGLD().line().memory and key[-1] == "float32" for key in kernels._COMPILED)
