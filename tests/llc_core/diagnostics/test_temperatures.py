"""The verdict on λ̂ from temperatures: it asks the chains of every level, counts causes as the slope does, and w0 not at all."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from llc_core.diagnostics.evidence import Evidence
from llc_core.diagnostics.temperatures import _bend_by_variance, hangs_on_spread, judge_slope, leverage

SOUND = Evidence(
    llc=50.0, se=0.5, chains=4, kept_steps=4000, r_hat=1.005, ess=900.0, drift=0.1, drift_se=0.2, step_size=1e-7,
    stable_step=1e-6, parameters=400,
)  # fmt: skip


def judged(change=(math.nan, math.nan), hot=None, **slope):
    levels = [(1.0, SOUND), (1.5, replace(SOUND, **(hot or {})))]
    return judge_slope(levels, replace(SOUND, **slope), *change)


def test_a_sound_one_says_what_was_checked():
    found = judged()
    assert found and "R-hat at most 1.005, ESS at least 900" in found.reason and not found.remedy
    assert "the slope changes by +2% ± 4%" in judged(change=(1.0, 2.0)).reason


@pytest.mark.parametrize(
    "changes, words, longer",
    [
        ({"hot": {"dead": 1}}, "At temperature 1.5: 1 of 4 chains diverged", False),
        ({"hot": {"drift": 20.0}}, "At temperature 1.5: The loss is still rising", True),
        ({"hot": {"r_hat": 1.2}}, "At temperature 1.5: R-hat is 1.200", True),
        ({"hot": {"ess": 40.0}}, "At temperature 1.5: Only 40 effective samples", True),
        ({"hot": {"kept_steps": 20}}, "At temperature 1.5: Only 20 steps", True),
        ({"hot": {"step_size": 2e-6}}, "At temperature 1.5: The step size 2e-06 is above", False),
        ({"hot": {"rounding": 2.0}}, "At temperature 1.5: Rounding alone", False),
        ({"llc": math.nan}, "There is no estimate", False),
        ({"llc": -0.5}, "does not rise with the temperature beyond its error", True),
        ({"llc": -5.0}, "The mean loss falls as the temperature rises", True),
        ({"se": 4.0}, "standard error is 8%. Take more steps, or temperatures that are further apart.", True),
        (
            {"se": 3.3, "law_bias": -6.6, "law_bias_se": 2.0},
            "still noisy: its standard error is 7%. Take more steps",
            True,
        ),
        ({"drift": 20.0}, "still rising", True),
        ({"drift_se": 6.0}, "cannot be ruled out", True),
        ({"step_bias": 5.0}, "step size alone is expected to make up about 10% of this estimate", False),
        ({"law_bias": 9.0, "law_bias_se": 1.0}, "make up about 18% of this estimate", False),
        ({"unspread": 40.0, "unspread_se": 2.0, "localization": 1.0, "pull": 30.0}, "have not spread along", True),
        ({"reference": 40.0}, "The chains agree with one another, but their estimate is 25% above", False),
        ({"change": (5.0, 1.0)}, "λ̂ changes with the temperature, by +10% ± 2%", False),
        ({"hot": {"gap": 6.0, "gap_se": 1.0}}, "λ̂ changes with the temperature, by -12% ± 2%", False),
        (
            {"hot": {"from_variance": 42.0, "from_variance_se": 1.0}},
            "λ̂ changes with the temperature, by -16% ± 2%",
            False,
        ),
    ],
)
def test_what_is_found(changes, words, longer):
    found = judged(**changes)
    assert not found and words in str(found) and found.wants_steps == longer, str(found)


@pytest.mark.parametrize(
    "changes",
    [
        {"change": (5.0, 2.0)},
        {"change": (-2.0, 0.1)},
        {"expected": -3.0},
        {"hot": {"gap": -9.0, "gap_se": 1.0}},
        {"hot": {"from_variance": 46.0, "from_variance_se": 2.0}},
    ],
)
def test_what_is_none_of_its_matters(changes):
    """A change within 3 errors or below 5%; and that w0 is expected to lie above the minimum."""
    assert judged(**changes)


@pytest.mark.parametrize(
    "cold, hot, bend",
    [
        ((47.0, 1.0), (53.0, 1.0), (6.0, 2**0.5)),
        ((44.0, 0.5), (49.0, 2.0), (-6.0, 0.5**0.5)),
        ((51.0, 2.0), (51.0, 2.0), (1.0, 4.25**0.5)),
        ((math.nan, math.nan), (60.0, 2.0), (10.0, 4.25**0.5)),
    ],
)
def test_a_bend_is_what_differs_most_in_its_errors(cold, hot, bend):
    """Of two levels: the variances at both from one another, or one of them from the slope, which is 50 ± .5."""
    known = [replace(SOUND, from_variance=llc, from_variance_se=se) for llc, se in (hot, cold)]
    assert _bend_by_variance([(2.0, known[0]), (1.0, known[1])], SOUND) == pytest.approx(bend)


def test_a_mean_above_its_variance_bends_and_one_below_it_does_not():
    """The second may be of a w0 that is no minimum."""
    for gap, bend in ((6.0, -6.0), (-6.0, math.nan)):
        levels = [(1.0, SOUND), (1.5, replace(SOUND, gap=gap, gap_se=1.0))]
        assert _bend_by_variance(levels, SOUND)[0] == pytest.approx(bend, nan_ok=True)


def test_a_line_that_meets_no_temperature_above_w0_is_none():
    levels = [(1.0, SOUND), (1.5, SOUND)]
    assert judge_slope(levels, SOUND, over=2.0, over_se=0.1) and judge_slope(levels, SOUND, over=-9.0, over_se=0.1)
    assert "above L_n(w0), by 20% ± 2%" in judge_slope(levels, SOUND, over=10.0, over_se=1.0).reason


def test_an_exact_answer_settles_doubts():
    doubtful = {"hot": {"ess": 40.0}}
    assert not judged(**doubtful) and judged(**doubtful, reference=50.0)
    assert "The estimate is wrong" in judged(**doubtful, reference=40.0).reason


def test_directions_that_were_not_spread_along_can_be_all():
    levels = [(1.0, SOUND), (2.0, SOUND)]
    wide = replace(SOUND, unspread=40.0, unspread_se=2.0, localization=1.0, pull=30.0)
    assert hangs_on_spread(levels, wide) and not hangs_on_spread(levels, replace(wide, se=9.0))


def test_what_each_level_counts():
    """Lines and parabolas are found again, whatever the weights; of two levels the slope is the difference quotient."""
    place = np.array([1.0, 1.5, 2.0, 3.0])
    slope, at_zero, bend = leverage(place, place**-2)
    line, parabola = 7 + 12 * place, place**2
    assert slope @ line == pytest.approx(12) and at_zero @ line == pytest.approx(7)
    assert bend @ line == pytest.approx(0, abs=1e-9) and bend @ parabola == pytest.approx(2 * 2 * 1.0)
    two, _, none = leverage(np.array([1.0, 0.5]), np.array([1.0, 4.0]))
    assert two == pytest.approx([2, -2]) and not none.any()
