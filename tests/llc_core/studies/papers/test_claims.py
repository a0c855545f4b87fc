"""Claims are judged by numbers with errors: right ones hold, planted wrong ones do not, and what errors leave open is left open."""

from __future__ import annotations

import math

import numpy as np
import pytest

from llc_core.studies.papers.claims import Claim, Measured, alike, at_least, at_most, less, near, ours

ONE, TWO = ("one", Measured(1.0, 0.1)), ("two", Measured(2.0, 0.1))


@pytest.mark.parametrize(
    "claim, holds",
    [
        (less("", ONE, TWO), True),
        (less("", TWO, ONE), False),
        (less("", ONE, ("near", Measured(1.2, 0.1))), None),
        (less("", ONE, ("none", Measured(math.nan, math.nan))), None),
        (less("", ONE, ("one run", Measured(2.0, math.nan))), None),
        (at_most("", Measured(0.02, 0.001), 0.03), True),
        (at_most("", Measured(0.04, 0.001), 0.03), False),
        (at_most("", Measured(0.031, 0.001), 0.03), None),
        (at_least("", Measured(1.0), 1.0), True),
        (at_least("", Measured(0.9), 1.0), False),
        (near("", Measured(1.12391), 1.1238, 1e-3), True),
        (near("", Measured(1.12391), 1.5, 1e-3), False),
        (near("", Measured(0.5, 0.2), 0.4, 0.1), None),
        (alike("", Measured(1.0, 0.1), ("", Measured(1.15, 0.1)), 0.3), True),
        (alike("", Measured(1.0, 0.1), ("", Measured(1.15, 0.1)), 0.2), None),
        (alike("", Measured(1.0, 9.0), ("", Measured(1.0, 0.1)), 0.3), None),
        (alike("", Measured(1.0, 0.1), ("", Measured(2.0, 0.1)), 0.2), False),
        (alike("", Measured(1.0), ("", Measured(1.0)), 0.0), True),
        (alike("", Measured(1.0, math.nan), ("", Measured(2.0, 0.1)), 0.3), None),
        (less("", ("one", Measured(1.0, 1.0)), ("two", Measured(2.0, 1.0)), apart=Measured(1.0, 0.1)), True),
        (less("", ONE, TWO, apart=Measured(1.0, 0.6)), None),
    ],
)
def test_a_claim_is_decided_by_two_errors(claim, holds):
    assert claim.holds is holds


def test_numbers_of_numpy_are_judged_by_a_plain_yes_or_no():
    """numpy's own would be 1.0 in a report."""
    one, two = (Measured(np.float64(value), np.float64(0.1)) for value in (1.0, 2.0))
    judged = (
        less("", ("", one), ("", two)),
        near("", one, 1.0, 0.5),
        alike("", one, ("", two), 0.9),
        at_most("", two, 1.5),
    )
    assert [claim.holds for claim in judged] == [True, True, True, False]
    assert {type(claim.holds) for claim in judged} == {bool}


@pytest.mark.parametrize("repeats", [2, 3, 5, 50])
def test_a_difference_of_nothing_is_decided_as_seldom_with_few_repeats_as_with_many(repeats):
    """By two normal errors three repeats would decide one claim in six. 4,000 claims, within four errors of their share, .0455."""
    random, tries, wanted = np.random.default_rng(repeats), 4000, 0.0455
    decided = sum(
        less("", ("", Measured.of(random.normal(size=repeats))), ("zero", Measured(0.0))).holds is not None
        for _ in range(tries)
    )
    assert abs(decided / tries - wanted) < 4 * (wanted * (1 - wanted) / tries) ** 0.5


def test_errors_of_unlike_repeats_make_one_as_welch_has_it():
    few, many = Measured(1.0, 0.3, 2), Measured(0.0, 0.4, 9)
    assert (few - many).freedom == pytest.approx(0.25**2 / (0.3**4 / 2 + 0.4**4 / 9))
    assert (many - Measured(0.0)).freedom == pytest.approx(9) and (Measured(1.0) - Measured(0.0)).reach == 0
    assert Measured(0.0, 1.0).reach == 2 and 4.5 < Measured(0.0, 1.0, 2).reach < 4.6


def test_a_claim_says_its_numbers_with_errors():
    assert str(less("one is less", ONE, TWO)) == "one is less: yes, one 1 ± 0.1 against two 2 ± 0.1"
    assert [str(each) for each in ours([Claim("a", True, "b")])] == ["a (ours): yes, b"]
    assert str(Claim("a", None, "b")) == "a: not decided, b" and str(Measured(math.nan)) == "no value"


def test_errors_of_repeats_are_those_of_a_mean():
    values = np.random.default_rng(0).normal(3, 2, 400)
    plain, drawn = Measured.of([*values, math.nan]), Measured.resampled(lambda some: values[some].mean(), len(values))
    assert abs(plain.value - 3) < 4 * plain.se and 0.09 < plain.se < 0.11
    assert drawn.value == pytest.approx(plain.value) and drawn.se == pytest.approx(plain.se, rel=0.2)
    assert math.isnan(Measured.of([1.0]).se) and math.isnan(Measured.of([]).value)


def test_a_few_repeats_that_say_the_same_decide_nothing():
    same = [Measured.resampled(lambda some: 0.8 + 0 * some.sum(), count) for count in (2, 20)]
    assert [at_least("", each, 0.9).holds for each in same] == [None, False]
