"""Words about estimates: in some hundreds of configurations verdict, remedy and split never contradict one another or the truth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from contradictions import contradictions

from app.estimates import texts
from app.runs.job import State, Status
from llc_core import Conclusion, Estimate, RunConfig, conclude, planar_landscape, results
from llc_core.diagnostics import conclusion, remedies
from llc_core.diagnostics.evidence import Evidence
from llc_core.diagnostics.remedies import LAW, MIXING, NOISE, STEP, Remedy
from llc_core.engine.summary import Chains, make_estimate
from llc_core.samplers.base import MetropolisSampler
from llc_core.samplers.registry import build, samplers
from llc_core.studies.explain.sentences import part_of
from llc_core.verdicts import (
    AT_MINIMUM,
    CONSISTENT,
    POLISH,
    TEMPERATURES,
    WRONG,
    Fault,
    Kind,
    Trust,
    Verdict,
    plain_words,
)

PROBLEM = planar_landscape("quadratic")
N_BETA = 150.0
TRUTH = PROBLEM.expected_llc_at(N_BETA, 1.0)
NAMES = sorted(name for name, kind in samplers(conditionals=True).items() if not kind.needs_prior)
SHARES = (0.25, 0.8)
"""Step sizes, as shares of the stability limit."""
GRADIENTS = ("full", "minibatch", "control_variate")
OFF = (0.0, 0.2, -0.2)
NOISE_OF_CHAINS = np.random.default_rng(0).gamma(20.0, size=(1000, 4))


def made_up(name: str, share: float = 0.25, gradient: str = "full", off: float = 0.0, **known: Any) -> Estimate:
    """Four chains that agree, as if this sampler had made them; λ̂ is `off` from the truth."""
    sampler = build(name)
    trace = NOISE_OF_CHAINS / NOISE_OF_CHAINS.mean() * TRUTH * (1 + off)
    seen = Chains(
        per_chain=trace.mean(axis=0), living=np.ones(4, dtype=bool), trace=trace, trace_steps=np.arange(1000),
        n_beta=N_BETA, localization=1.0, steps=1000, burn_in=0, seconds=1.0, steps_per_second=1.0,
    )  # fmt: skip
    tested = isinstance(sampler, MetropolisSampler)
    found = Evidence(
        step_size=share * 1e-3,
        stable_step=1e-3,
        acceptance=0.8 if tested else np.nan,
        exact_law=sampler.exact_law,
        caveat=sampler.caveat(),
        sampler=sampler,
        **known,
    )
    config = RunConfig(
        problem=PROBLEM.to_dict(), sampler=sampler.to_dict(), gradient=gradient, localization=1.0, steps=1000, chains=4
    )
    return make_estimate(PROBLEM, config, seen, found)


def configurations() -> Iterator[tuple[Estimate, Any]]:
    """Estimates, and of those that are off a split that puts it down to the cause that was made up."""
    for name in NAMES:
        for share in SHARES:
            for gradient in GRADIENTS:
                for off in OFF:
                    biased = off > 0 and not build(name).needs_conditionals
                    size = off * TRUTH if biased else 0.0
                    tested = isinstance(build(name), MetropolisSampler)
                    noisy = biased and gradient != "full"
                    known = {"noise_inflation": size} if noisy else {} if tested else {"step_bias": size}
                    if not build(name).exact_law:
                        known = {"law_bias": size or 0.001 * TRUTH, "law_bias_se": 0.001 * TRUTH}
                    found = made_up(name, share, gradient, off, **known)
                    cause = (
                        LAW
                        if not build(name).exact_law
                        else NOISE
                        if noisy
                        else STEP
                        if biased and not tested
                        else MIXING
                    )
                    yield found, split_of(found, cause, off)


def split_of(found: Estimate, cause: str, off: float) -> Any:
    """A split of the error with one large part; None where there is no error, or none that a split finds."""
    if off <= 0:
        return None
    value = found.llc - TRUTH
    return SimpleNamespace(parts=(part_of([cause], value, 0.001 * TRUTH, "made up", found, TRUTH),))


def on_the_page(found: Estimate, hidden: bool, split: Any = None) -> tuple[str, str]:
    snapshot = SimpleNamespace(steps=1000, burn_in=0, alive=np.ones(4, dtype=bool))
    state = State(status=Status.PAUSED, snapshot=snapshot, estimate=found)  # type: ignore[arg-type]
    return texts.verdict(state, not hidden, split=split)


def walk() -> Iterator[list[str]]:
    """What contradicts itself in each configuration."""
    for found, split in configurations():
        for hidden in (False, True):
            said = conclude(found, not hidden, split=split)
            words = on_the_page(found, hidden, split)[1]
            sampler = found.evidence.sampler
            assert sampler is not None
            about = f"{sampler.name}, {found.config.gradient}, hidden {hidden}, λ̂ {found.llc:.3f}: "
            yield [about + fault for fault in contradictions(said, words, found, sampler, TRUTH, split, hidden)]


def test_words_never_contradict_one_another_or_the_truth():
    faults = list(walk())
    assert len(faults) >= 300 and not sum(faults, [])


def plant_a_smaller_step(monkeypatch):
    monkeypatch.setattr(remedies, "_other_law", lambda *known: Remedy("Halve the step size."))


def plant_another_tolerance(monkeypatch):
    monkeypatch.setattr(results, "AGREES", 0.5)


def plant_an_answer_for_the_class(monkeypatch):
    monkeypatch.setattr(conclusion, "_settled", lambda estimate: f"They have settled; the exact value is {TRUTH:.4g}.")


def plant_a_sampler_in_use(monkeypatch):
    monkeypatch.setattr(remedies, "_smaller", lambda *known: Remedy("Use SGLD."))


PLANTED = (plant_a_smaller_step, plant_an_answer_for_the_class, plant_a_sampler_in_use, plant_another_tolerance)


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_a_planted_contradiction_is_found(plant, monkeypatch):
    plant(monkeypatch)
    assert any(walk())


def test_trust_is_for_what_an_answer_confirms_and_for_draws_of_the_posterior():
    right = made_up("SGLD")
    assert right.confirmed and conclude(right).kind is Trust.CONFIRMED and on_the_page(right, False)[0] == "good"
    unknown = replace(right, reference=float("nan"))
    said = conclude(unknown)
    assert (
        said.kind is Trust.ALONE
        and str(said).startswith("The chains agree.")
        and on_the_page(unknown, False)[0] == "fair"
    )
    assert "γ = 1 (localization)" in said.reason and "The sampler may be biased." in said.details
    exact = conclude(replace(made_up("HMC"), reference=float("nan")))
    assert (
        exact.kind is Trust.ALONE and "may be biased" not in str(exact) and "All chains may have missed" in str(exact)
    )
    drawn = conclude(replace(made_up("Gibbs"), reference=float("nan")))
    assert drawn.kind is Trust.DRAWN and drawn.trusted and "drawn from the posterior itself" in drawn.reason
    wrong = made_up("SGLD", off=0.3)
    assert conclude(wrong).kind is Trust.REFUSED and on_the_page(wrong, False)[0] == "bad"


def test_with_answers_hidden_right_and_wrong_are_told_of_in_the_same_words():
    for name in ("SGLD", "UnderdampedLangevin", "HMC"):
        right, wrong = (on_the_page(made_up(name, off=off), True) for off in (0.0, 0.3))
        assert right == wrong and right[0] == "fair"


@pytest.mark.parametrize(
    "name, words, change",
    [
        ("RMSPropSGLD", "raise the stability constant to 10", {"stability": 10.0}),
        ("MongeSGLD", "lower β to 0.1", {"beta": 0.1}),
        ("ShampooSGLD", "Switch to a sampler", {"sampler": "SGLD"}),
    ],
)
def test_a_bent_law_is_not_mended_by_smaller_steps(name, words, change):
    bias = {"law_bias": 0.2 * TRUTH, "law_bias_se": 0.001 * TRUTH}
    said = conclude(made_up(name, off=0.25, **bias))
    assert words in said.remedy and said.change == change and "smaller step" not in said.remedy
    unknown = conclude(made_up(name, off=0.25))
    assert unknown.change == {"sampler": "SGLD"}, "less of a law that is not known is not known either"
    assert unknown.remedy.startswith("Switch to a sampler") and "smaller step" not in unknown.remedy


@pytest.mark.parametrize("name, weak", [("RMSPropSGLD", {"stability": 10.0}), ("MongeSGLD", {"beta": 0.1})])
def test_a_law_that_was_weakened_is_not_weakened_again(name, weak):
    """A metric that matters little already is not what puts λ̂ off: the same advice twice would be a circle."""
    help = remedies.remedy(LAW, build(name).replace(**weak))
    assert help.change == {"sampler": "SGLD"} and "stability" not in help.sentence and "β" not in help.sentence


def test_of_two_samplers_the_faster_is_a_click_where_gradients_are_of_all_data():
    bias = {"law_bias": 0.2 * TRUTH, "law_bias_se": 0.001 * TRUTH}
    for about in (bias, {}):
        assert conclude(made_up("ShampooSGLD", off=0.25, exact_losses=True, **about)).change == {
            "sampler": "UnderdampedLangevin"
        }


def test_a_measured_split_chooses_the_remedy():
    found = made_up("SGLD", off=0.25)
    assert conclude(found).change == {"step_size": 1.6e-05}
    split = split_of(found, MIXING, 0.25)
    assert conclude(found, split=split).remedy.startswith("Take more steps") and not conclude(found, split=split).change


def test_details_are_folded_and_what_chains_cannot_tell_is_not():
    checks = " (no chain diverged, no drift, R-hat 1.002)"
    drawn = Conclusion(
        Trust.DRAWN,
        "",
        f"They have settled{checks}. That cannot tell whether γ suits.",
        said=Kind.SETTLED,
        details=checks,
    )
    assert texts.folded(drawn) == (
        '<span class="brief" data-sign="(…)">They have settled</span><span class="rest"> (no chain diverged, no drift, R-hat 1.002)</span>'
        ". That cannot tell whether γ suits."
    )
    right = Verdict.right("the exact value is 7.5", Fault(Kind.R_HAT, "a < b."))
    settled = texts.folded(Conclusion(Trust.CONFIRMED, "", right.reason, said=right.kind, details=right.details))
    assert 'data-sign="…"' in settled and settled.endswith(
        '7.5).</span><span class="rest"> The chains alone leave it open: a &lt; b.</span>'
    )
    alone = conclude(replace(made_up("SGLD"), reference=float("nan")))
    unfolded = texts.folded(alone)
    assert unfolded.startswith(f'<span class="brief" data-sign="{WRONG}">{CONSISTENT}</span>')
    assert texts.folded(Conclusion(Trust.REFUSED, "", "R-hat is 1.4 > 1.05.")) == "R-hat is 1.4 &gt; 1.05."


@pytest.mark.parametrize(
    "status, newest, told",
    [
        (Status.RUNNING, 3.2449, {"llc": "3.24 so far"}),
        (Status.PAUSED, -0.001, {"llc": "0 so far"}),
        (Status.RUNNING, float("nan"), {}),
        (Status.FINISHED, 3.2, {}),
        (Status.FAILED, 3.2, {}),
    ],
)
def test_before_there_is_an_estimate_what_is_drawn_stands_in_its_place(status, newest, told):
    assert texts.so_far(State(status), newest) == told


def test_directions_that_are_not_spread_along_are_no_verdict_while_the_run_is_on():
    found = Conclusion(
        Trust.REFUSED,
        "Do not trust it.",
        "The chains have not spread along about 9 of 24 directions.",
        "A larger γ.",
        change={"localization": 9.0},
        said=Kind.UNSPREAD,
    )
    for status, on in ((Status.RUNNING, True), (Status.PAUSED, False), (Status.FINISHED, False)):
        assert texts.quiet(State(status), found) is on
        assert texts.advised(State(status), found) == ({} if on else {"localization": 9.0})


def test_remedies_name_no_argument_of_python():
    """Every sentence of a verdict: whoever reads it here has buttons and fields."""
    moves = (POLISH, AT_MINIMUM, TEMPERATURES)
    assert all("=" in words for words in moves)
    for words in [*(kind.value.remedy for kind in Kind), *map(plain_words, moves)]:
        assert not re.search(r"\w=[\w(]", words), words
