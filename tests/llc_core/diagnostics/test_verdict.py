"""What the verdict says of numbers that are known: which finding comes first, its remedy, and whether more steps would help."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from llc_core.diagnostics.chances import without_idle
from llc_core.diagnostics.convergence import mean_error, r_hat
from llc_core.diagnostics.evidence import Evidence
from llc_core.diagnostics.verdict import hangs_on_spread, judge, worth_an_answer
from llc_core.samplers import build
from llc_core.verdicts import Kind, Verdict

SOUND = {
    "llc": 50.0, "se": 0.5, "chains": 4, "dead": 0, "r_hat": 1.005, "ess": 900.0, "drift": 0.1, "drift_se": 0.2,
    "step_size": 1e-7, "stable_step": 1e-6, "noise_inflation": 0.0, "kept_steps": 4000, "parameters": 400,
}  # fmt: skip


def judged(**changes: Any) -> Verdict:
    return judge(Evidence(**{**SOUND, **changes}))


def test_a_sound_run_says_what_was_checked():
    found = judge(Evidence(**SOUND))
    assert found and "step size at 10% of the stability limit" in str(found) and not found.wants_steps


@pytest.mark.parametrize(
    "changes, words, longer",
    [
        (
            {"drift": 20.0},
            "still rising (+40% between the two halves after burn-in): the chains have not settled",
            True,
        ),
        ({"drift": -20.0}, "still falling (-40%", True),
        ({"drift": -20.0, "step_size": 9e-7}, "still falling (-40%", True),
        ({"drift": 20.0, "step_size": 9.5e-7}, "The step is at 95% of the stability limit", False),
        ({"drift": 20.0, "step_size": 6e-7}, "the chains have not settled", True),
        ({"drift": 20.0, "step_size": 9.5e-7, "acceptance": 0.8}, "the chains have not settled", True),
        ({"drift": 20.0, "stable_step": math.nan}, "the chains have not settled", True),
        ({"step_size": 2e-6}, "above the stability limit", False),
        ({"dead": 1}, "1 of 4 chains diverged", False),
        ({"rounding": 2.0}, "Rounding alone", False),
        ({"llc": 1000.0}, "no learning coefficient is above half the number of parameters", True),
        ({"se": 5.0}, "Keep going: ±10% so far", True),
        ({"step_bias": 5.0}, "step size alone is expected to make up about 10% of this estimate. Use a smaller", False),
        ({"noise_inflation": 5.0}, "Minibatch noise alone", False),
        ({"drift_se": 5.2}, "drift of 21% between the two halves after burn-in cannot be ruled out", True),
        ({"drift": 7.5, "drift_se": 2.0}, "may still be rising (+15% ± 4% between", True),
        ({"drift": -4.6, "drift_se": 1.6}, "may still be falling (-9% ± 3% between", True),
        ({"drift_se": math.nan}, "Whether the loss still drifts is not known", True),
        ({"se": math.nan, "drift_se": math.nan}, "error of the estimate is not known", True),
        ({"chain_offset": 1.7, "chain_chance": 1e-4, "r_hat": 1.04}, "means differ by ± 3% of the estimate", True),
        ({"r_hat": 1.2}, "R-hat is 1.200", True),
        ({"r_hat": math.inf, "se": 5.0}, "No chain has moved since burn-in", False),
        ({"ess": 20.0}, "Only 20 effective samples", True),
        ({"acceptance": 0.05}, "hardly move", False),
        ({"kept_steps": 20}, "too few to judge", True),
        ({"caveat": "It samples another law."}, "It samples another law.", False),
        ({"effective_share": 0.19}, "they are worth 19% of as many equal ones. Use a smaller zeta", False),
    ],
)
def test_each_finding_has_its_sentence(changes, words, longer):
    found = judged(**changes)
    assert not found and words in str(found) and found.wants_steps is longer


@pytest.mark.parametrize(
    "harmless",
    [
        {"drift": 2.0, "drift_se": 0.6},
        {"chain_offset": 1.4, "chain_chance": 1e-9},
        {"chain_offset": 5.0, "chain_chance": 0.01},
        {"rounding": 0.9},
    ],
)
def test_what_is_small_or_may_be_chance_is_no_fault(harmless):
    assert judged(**harmless)


def test_causes_add_up_with_their_signs():
    """Expected were 4.0% and 3.8% of an estimate that was 9.8% too high: each alone is below the tolerance of 5%."""
    both = judged(step_bias=2.0, noise_inflation=1.9)
    assert (
        "The step size alone is expected to make up about 4% of" in both.reason
        and "all causes together +8%" in both.reason
    )
    assert "Underdamped Langevin (BAOAB)" in both.remedy, "as the control is called"
    assert judged(step_bias=2.0) and judged(noise_inflation=1.9)
    noise = judged(step_bias=1.9, noise_inflation=2.0)
    assert "Minibatch noise alone" in noise.reason and "larger batch" in noise.remedy
    assert judged(step_bias=-3.0, noise_inflation=3.5), "what is left of them is 1%"
    less = judged(step_bias=-4.5, noise_inflation=1.0)
    assert "subtract about 9% from this estimate, all causes together -7%" in less.reason
    with_rounding = judged(step_bias=2.0, rounding=0.9)
    assert "together +6%" in with_rounding.reason, "rounding has no sign, so it counts as the worse one"


def test_a_measured_bias_takes_the_place_of_what_is_expected():
    known = {"law_bias": 0.5, "law_bias_se": 0.3}
    found = judged(step_bias=4.0, noise_inflation=4.0, **known)
    assert found and "the sampler itself adds +1.0% ± 0.6%" in found.reason
    high = judged(step_bias=1.0, noise_inflation=0.5, law_bias=5.0, law_bias_se=0.3)
    assert (
        "The sampler's own bias is measured to make up about 10%" in high.reason and "smaller step size" in high.remedy
    )
    low = judged(law_bias=-5.0, law_bias_se=0.3, exact_law=False)
    assert "subtract about 10% from" in low.reason and "that draws from the target" in low.remedy
    rough = {"law_bias_se": 2.0}
    assert "measured to make up about 14%" in judged(law_bias=7.0, **rough).reason, "beyond three of its errors"
    assert judged(law_bias=5.0, **rough), "within three of its errors"
    assert "step size alone" in judged(law_bias=5.0, step_bias=3.0, **rough).reason, "what is expected counts then"


def test_a_measure_beyond_the_tolerance_that_is_trusted_all_the_same_is_said_to_be_chance():
    found = judged(law_bias=4.75, law_bias_se=2.0)
    assert (
        found
        and "itself is expected to add nothing, and +9.5% ± 4.0% was measured, which may be chance" in found.reason
    )
    found = judged(law_bias=4.75, law_bias_se=2.0, step_bias=1.0)
    assert found and "expected to add +2.0%, and +9.5%" in found.reason
    assert "itself adds +4.0% ± 2.0%" in judged(law_bias=2.0, law_bias_se=1.0).reason


def test_a_test_of_acceptance_leaves_no_bias_and_no_limit_of_the_step_to_speak_of():
    found = judged(acceptance=0.57, step_size=1.36e-6, law_bias=2.6, law_bias_se=1.0)
    assert found and "57% of the proposals accepted" in found.reason
    assert "stability limit" not in found.reason and "the sampler itself" not in found.reason


def test_a_bias_that_is_within_the_noise_of_the_estimate_asks_for_steps_first():
    bias = {"law_bias": -6.6, "law_bias_se": 2.0}
    assert "more steps will narrow it" in judged(se=3.3, **bias).reason and judged(se=3.3, **bias).wants_steps
    assert "subtract about 13% from" in judged(se=2.0, **bias).reason, "steps enough: the bias stands out of them"
    assert "step size alone" in judged(se=3.3, step_bias=6.0, law_bias=6.0, law_bias_se=2.0).reason, (
        "a formula expects it"
    )
    assert "sampler's own bias" in judged(se=3.3, exact_law=False, **bias).reason, "another law is no chance"


def test_an_answer_that_is_known_better_than_the_bias_has_the_last_word():
    """Chance is in λ̂ and in the bias, and not in their difference. What formulas expect (0 ± .25) would else outweigh the measure."""
    rough = {"llc": 56.0, "se": 1.6, "law_bias": 6.0, "law_bias_se": 2.2}
    found = judged(**rough, law_rest_se=1e-6)
    assert not found and "measured to make up about 11%" in found.reason
    assert judged(**rough, law_rest_se=2.0), "an answer that is known as roughly as the bias says no more than that"
    assert judged(**{**rough, "se": 2.2}, law_rest_se=1e-6), "within three of its errors λ̂ may be off by chance"
    assert judged(**{**rough, "llc": 52.4, "law_bias": 2.4}, law_rest_se=1e-6), (
        "within the tolerance it may be off by anything"
    )


def test_a_bias_counts_with_its_error_whatever_the_law():
    """5% of the answer, which is the estimate less its bias. Between an error that is small and one that is not, nothing jumps."""
    for error in (0.2, 0.9, 1.1, 1.9):
        for bias in (-2.0, 0.0, 1.0):
            high, low = bias + error, error - bias
            fine = high <= 0.05 * (50 - high) and low <= 0.05 * (50 + low)
            assert bool(judged(exact_law=False, law_bias=bias, law_bias_se=error)) is fine
    # A measure that contradicts what is expected (0 ± .25) counts with its error too, and not less it.
    assert judged(law_bias=1.8, law_bias_se=0.5) and not judged(law_bias=2.2, law_bias_se=0.5)
    assert "bias is measured to make up about 4%" in judged(law_bias=2.2, law_bias_se=0.5).reason
    agreed = judged(law_bias=2.2, law_bias_se=0.5, law_rest_se=0.9)
    assert agreed, "it cannot be better known than what the estimate should be by it, and then it is no contradiction"


def test_the_tolerance_is_a_share_of_the_answer_and_not_of_an_estimate_that_is_too_high():
    """52.5 for 50 is at the edge; at 52.6 the bias is below 5% of the estimate, and above 5% of the answer."""
    assert judged(llc=52.5, law_bias=2.49, law_bias_se=0.0) and not judged(llc=52.6, law_bias=2.6, law_bias_se=0.0)
    assert judged(llc=47.5, law_bias=-2.49, law_bias_se=0.0) and not judged(llc=47.4, law_bias=-2.6, law_bias_se=0.0)
    below = {"unspread": 4.9, "unspread_se": 0.1, "pull": 0.02, "localization": 1.0}
    assert judged(**below) and not judged(**below, law_bias=-0.5, law_bias_se=0.1), "causes add up"


def test_chains_that_are_too_short_for_a_measure_are_told_to_go_on():
    """Of chains that disagree no distribution is measured, so another sampler would only begin anew."""
    for short in ({"se": 5.0}, {"r_hat": 1.2}, {"ess": 20.0}):
        found = judged(exact_law=False, sampler=build("PSGLD"), **short)
        assert found.wants_steps and not found.change and "law" not in found.reason
    assert judged(exact_law=False, sampler=build("PSGLD")).change, (
        "where they agree and the law is not known, more of them do not help"
    )


def test_a_rough_measure_leaves_what_is_expected_and_a_sharp_one_replaces_it():
    assert judged(step_bias=1.5, law_bias=4.0, law_bias_se=1.5), "within 3 errors: it is little news"
    assert not judged(step_bias=1.5, law_bias=4.0, law_bias_se=0.2)
    assert not judged(step_bias=3.0, law_bias=1.0, law_bias_se=4.0)
    assert judged(step_bias=3.0, law_bias=1.0, law_bias_se=0.2)


def test_a_measure_that_follows_the_loss_says_what_the_answer_is():
    """The error that λ̂ and the bias share does not count: on a quadratic λ̂ − bias is the answer, whatever chance has done."""
    assert judged(exact_law=False, law_bias=2.0, law_bias_se=1.5, law_rest_se=0.1)
    assert not judged(exact_law=False, law_bias=2.0, law_bias_se=1.5, law_rest_se=0.6)
    assert not judged(exact_law=False, law_bias=2.0, law_bias_se=1.5, law_rest_se=0.1, rounding=0.5)
    apart = judged(exact_law=False, law_bias=2.0, law_bias_se=1.5, law_rest_se=0.1, r_hat=1.2)
    assert not apart, "of chains that disagree it says nothing"


DOUBTS = [
    {"drift": 7.5, "drift_se": 2.0},
    {"drift_se": 5.2},
    {"chain_offset": 1.7, "chain_chance": 1e-4},
    {"r_hat": 1.2},
    {"ess": 20.0},
    {"exact_law": False},
    {"exact_law": False, "law_bias": 1.0, "law_bias_se": 3.0},
    {"step_bias": 5.0},
]
PLAIN = [
    {"drift": 20.0},
    {"dead": 1},
    {"se": 5.0},
    {"step_size": 2e-6},
    {"law_bias": 5.0, "law_bias_se": 0.3},
    {"rounding": 2.0},
    {"acceptance": 0.05},
]


@pytest.mark.parametrize("doubt", DOUBTS)
def test_an_exact_answer_beside_the_estimate_settles_a_doubt(doubt):
    alone = judged(**doubt)
    assert not alone and worth_an_answer(Evidence(**{**SOUND, **doubt}))
    found = judged(**doubt, reference=49.0, reference_se=0.2)
    assert found and "exact draws give 49 ± 0.2" in found.reason and alone.reason in found.reason
    assert (found.remedy, found.change, found.wants_steps) == (alone.remedy, alone.change, False)
    assert judged(**doubt, reference=52.0) and not judged(**doubt, reference=53.0)
    assert not judged(**doubt, reference=48.0, reference_se=0.6), "its own error counts as well"


@pytest.mark.parametrize("fault", PLAIN)
def test_what_speaks_plainly_against_an_estimate_is_not_settled_by_an_answer(fault):
    assert not judged(**fault, reference=50.0) and not worth_an_answer(Evidence(**{**SOUND, **fault}))
    assert judged(**fault, ess=20.0, reference=50.0).reason == judged(**fault).reason, (
        "a doubt beside it takes nothing away"
    )


def test_where_the_error_is_not_known_no_answer_is_asked_for():
    assert worth_an_answer(Evidence(**SOUND)) and not worth_an_answer(Evidence(**{**SOUND, "se": math.nan}))
    assert not judged(se=math.nan, drift_se=math.nan, reference=50.0)


def test_a_law_that_is_not_the_target_is_trusted_only_where_its_bias_is_known():
    unknown = judged(exact_law=False)
    assert not unknown and "what this sampler's bias adds is not known here" in unknown.reason.lower()
    assert not unknown.wants_steps
    rough = judged(exact_law=False, law_bias=1.0, law_bias_se=2.0)
    assert "known only to ± 4%" in rough.reason and rough.wants_steps
    assert judged(exact_law=False, law_bias=1.0, law_bias_se=0.3)
    assert judged(caveat="It samples another law.", law_bias=1.0, law_bias_se=0.3)


def test_a_negative_estimate_says_which_reason_it_is():
    noise = judged(llc=-206.4, expected=-206.0)
    assert "by more than λ/nβ (expected here: -206)" in noise.reason and "w0 may" not in str(noise)
    assert "more data or a smaller nβ, or an estimate at the minimum of L_n" in noise.remedy
    start = judged(llc=-20.0, expected=12.0, exact_losses=True)
    assert "w0 is no minimum of L_n" in start.reason and "baseline" not in str(start)
    baseline = judged(llc=-20.0, expected=12.0)
    assert "The baseline is noisy" in baseline.reason and "same-batch" in baseline.remedy
    chance = judged(llc=-0.1, expected=12.0)
    assert "does not differ from 0" in chance.reason and chance.wants_steps


def test_two_groups_of_chains_apart_are_seen_where_r_hat_is_not():
    """λ = 120, two groups of chains 8% apart: the trace varies by 9%, so that R-hat stays low."""
    rng = np.random.default_rng(0)
    trace = rng.gamma(120, size=(4000, 4)) * np.array([0.96, 0.96, 1.04, 1.04])
    error = mean_error(trace.mean(axis=0), trace)
    assert 1.01 < r_hat(trace) < 1.2 and error.offset == pytest.approx(120 * 0.08 / math.sqrt(3), rel=0.05)
    apart = judged(
        llc=120.0, se=2.0, drift=0.0, drift_se=1.0, r_hat=1.04, chain_offset=error.offset, chain_chance=error.chance
    )
    assert "The chains disagree" in apart.reason and apart.wants_steps
    alike = rng.gamma(120, size=(4000, 4))
    error = mean_error(alike.mean(axis=0), alike)
    assert judged(llc=120.0, se=2.0, drift=0.0, drift_se=1.0, chain_offset=error.offset, chain_chance=error.chance)


def test_a_step_that_carries_chains_away_is_named():
    """SGLD on a flat deep network (1K, seed 3) at a quarter of the limit that a short run measures: in a million steps its chains
    come to places where that step is at 97% of the limit, and λ̂ is four times too high. More steps would take them further."""
    found = judge(Evidence(**{**SOUND, "drift": 20.0, "step_size": 1.3e-7, "stable_step": 1.34e-7}))
    assert "Use a step size below 2.7e-08, a fifth of the largest stable one, and take more steps." in str(found)


def test_chains_that_do_not_move_have_no_finite_r_hat():
    """Where every proposal is refused, the variance within chains is that of rounding, and R-hat was 10¹⁶."""
    held = np.tile([1.0, 2.0], (50, 1))
    assert r_hat(held) == math.inf and math.isnan(r_hat(np.ones((50, 2))))
    held[25:, 0] += 0.1
    assert math.isfinite(r_hat(held))


FLAT = {"unspread": 31.0, "unspread_se": 2.0, "pull": 0.02, "localization": 1.0}


@pytest.mark.parametrize(
    "changes, trusted",
    [
        ({}, False),
        ({"unspread_se": 16.0}, True),  # may be chance
        ({"unspread": 4.9, "unspread_se": 0.1}, True),  # ½ for each is less than 5% of the answer
        ({"unspread": 5.3, "unspread_se": 0.1}, False),
        ({"unspread": -31.0}, True),
        ({"unspread_se": math.nan}, True),
        ({"reference": 50.4}, True),
        ({"reference": 52.6, "reference_se": 0.8}, True),  # within its errors
        ({"reference": 52.6, "reference_se": 0.8, "ess": 20.0}, False),  # which are not known here
        ({"reference": 60.0}, False),
    ],
)
def test_flat_directions_that_were_not_spread_along_leave_the_estimate_open(changes, trusted):
    found = judged(**{**FLAT, **changes})
    assert bool(found) is trusted
    assert ("not spread along about" in str(found)) is (
        (not trusted or "reference" in changes) and "ess" not in changes
    )


def test_what_is_said_of_flat_directions_names_what_helps():
    found = judged(**FLAT)
    assert "about 31 of 400 directions" in found.reason and "larger γ, such as 4600" in found.remedy
    assert not found.wants_steps, "γ‖w − w0‖² is to be 1,500 times as large"
    assert found.change == {"sampler": "UnderdampedLangevin"}
    fastest = judged(**FLAT, sampler=build("UnderdampedLangevin"))
    assert fastest.change == {"localization": 4600.0} and "such as 4600" in fastest.remedy
    assert not judged(**{**FLAT, "pull": 0.0}, sampler=build("UnderdampedLangevin")).change
    assert judged(**{**FLAT, "pull": 10.0}).wants_steps
    assert "nothing keeps the chains near" in judged(**{**FLAT, "localization": 0.0}).reason
    refuted = judged(**{**FLAT, "reference": 60.0, "reference_se": 0.4})
    assert refuted.reason.startswith(found.reason)
    assert refuted.reason.endswith("17% below what it should be: exact draws from the posterior give 60 ± 0.4.")


@pytest.mark.parametrize(
    "idle, trusted",
    [
        ((0, math.nan, math.nan), False),
        ((30, 1.0, 0.6), True),
        ((30, 1.0, 0.1), False),  # what is idle where the chains are may not be so farther out
        ((30, 0.4, 0.1), True),  # ½ is worth ¼
        ((30, 1.0, math.nan), False),
    ],
)
def test_directions_that_the_loss_does_not_depend_on_need_no_spread(idle, trusted):
    before = Evidence(**SOUND, **FLAT)
    assert hangs_on_spread(before) and not hangs_on_spread(Evidence(**SOUND))
    assert not hangs_on_spread(Evidence(**{**SOUND, **FLAT, "ess": 20.0})), "more than that is open"
    found = judge(without_idle(before, *idle))
    assert bool(found) is trusted
    assert (f"the loss does not depend on {idle[0]} of 400 directions" in found.reason) is trusted


def test_a_loss_that_nothing_changes_is_said_to_be_flat():
    found = judged(llc=0.0, se=0.0)
    assert found.kind is Kind.FLAT and not found and "do not matter" in found.reason
    assert judged(llc=0.0, se=0.1).kind is not Kind.FLAT
