"""What the verdict says of a w0 above the minimum, a variance that contradicts the mean, and a λ̂ that is γ's or the data's."""

from __future__ import annotations

import math
from typing import Any

import pytest

from llc_core.diagnostics.evidence import Evidence
from llc_core.diagnostics.verdict import judge, worth_an_answer
from llc_core.samplers import build
from llc_core.verdicts import Kind, Verdict, plain_words

SOUND = {
    "llc": 50.0, "se": 0.3, "chains": 4, "dead": 0, "r_hat": 1.005, "ess": 900.0, "drift": 0.1, "drift_se": 0.2,
    "step_size": 1e-7, "stable_step": 1e-6, "kept_steps": 4000, "parameters": 400, "localization": 100.0, "above": 0.1,
    "from_variance": 50.5, "from_variance_se": 1.0, "gap": -0.5, "gap_se": 1.0, "of_gamma": 0.4, "of_gamma_se": 0.2, "pull": 290.0,
    "unspread": 1.0, "unspread_se": 2.0, "n_beta": 100.0, "data_variance": -0.1, "data_variance_se": 0.3,
}  # fmt: skip


def judged(**changes: Any) -> Verdict:
    return judge(Evidence(**{**SOUND, **changes}))


def test_a_sound_run_has_the_variance_beside_it():
    found = judged()
    assert found and "from the variance 50.5 ± 1" in found.reason


@pytest.mark.parametrize(
    "changes, words, change",
    [
        ({"above": 10.0}, "a lower loss nearby takes 10 off λ̂, and λ̂ there is about 60", {"polish": True}),
        ({"above": 2.7}, "w0 lies above the minimum", {"polish": True}),
        ({"gap": -6.0}, "w0 lies above the minimum, or is no minimum at all: the mean of the losses says 50, their variance 56", {"polish": True}),
        ({"gap": 6.0}, "λ̂ changes with the temperature", {}),
        ({"of_gamma": 20.0}, "at twice this γ (localization) it would be about 24% lower", {"localization": 10.0}),
        ({"data_variance": 25.0, "data_variance_se": 6.0}, "other data of this size would change it by about ± 10%", {"n_beta": 25.0}),
        ({"data_variance": 225.0, "data_variance_se": 6.0, "n_beta": 200.0}, "by about ± 30%", {"n_beta": 17.0}),
        ({"data_variance": 25.0, "data_variance_se": 15.0}, "λ̂ may hang on these data", {}),
        ({"data_variance": 25.0, "data_variance_se": 6.0, "n_beta": 20.0}, "hangs on these data", {}),
        ({"unlooked": True, "above": math.nan, "gap_se": math.nan, "gap": math.nan}, "is not known", {"polish": True}),
        ({"above": 1.4, "law_bias": -1.5, "law_bias_se": 0.3}, "takes 1.4 off λ̂", {"polish": True}),
        ({"above": 0.5, "law_bias": -2.3, "law_bias_se": 0.1}, "takes 0.5 off λ̂", {"polish": True}),
        ({"llc": 10.0, "se": 0.1, "above": 0.04, "law_bias": -0.4, "law_bias_se": 0.02, "unspread": 0.45, "unspread_se": 0.1,
          "from_variance": math.nan, "gap": math.nan, "of_gamma": math.nan}, "have not spread", {}),
        ({"above": 1.2, "unspread": 3.0, "unspread_se": 0.5}, "have not spread along about 3 of 400", {}),
        ({"llc": -3.0, "above": 60.0, "expected": 50.0}, "w0 lies above the minimum", {"polish": True}),
    ],
)  # fmt: skip
def test_each_has_its_sentence_and_its_remedy(changes, words, change):
    found = judged(**changes)
    assert not found and words in found.reason and dict(found.change) == change


@pytest.mark.parametrize(
    "changes, named, said",
    [
        ({"llc": -56.0, "above": 60.0, "se": 3.9, "parameters": 3}, False, ""),  # 4 ± 3.9 is no number
        ({"llc": 0.5, "above": 4000.0, "se": 100.0, "parameters": 5}, False, "no learning coefficient is"),
        ({"llc": 2.0, "above": 0.9, "se": 0.05, "parameters": 5}, False, "no learning coefficient is"),
        ({"llc": 2.0, "above": 0.6, "se": 0.05, "parameters": 5}, True, ""),
        ({"llc": 2.0, "above": 0.9, "se": 0.3, "parameters": 5}, True, ""),
    ],
)
def test_a_number_that_can_be_no_coefficient_is_not_called_one(changes, named, said):
    found = judged(**changes)
    assert "a lower loss nearby takes" in found.reason and said in found.reason
    assert ("and λ̂ there is about" in found.reason) is named and ("no learning coefficient is" in found.reason) is bool(
        said
    )


def test_a_loss_that_has_a_minimum_is_gone_down_further_and_gets_no_weight_decay():
    found = judged(above=10.0, polished=False, endless=False).remedy
    assert "more passes (llc_core.polish), or read λ̂ from temperatures=" in found and "weight decay" not in found
    assert "polish" not in plain_words(found) and "more passes, in Python, or read" in plain_words(found)


@pytest.mark.parametrize("polished, words", [(True, "w0 is polished already"), (False, "Polishing led to no minimum")])
@pytest.mark.parametrize("changes", [{"above": 10.0}, {"gap": -6.0}])
def test_who_has_polished_w0_is_not_told_to_do_it(changes, polished, words):
    found = judged(**changes, polished=polished)
    assert not found and words in found.remedy and "temperatures=" in found.remedy
    assert "polish=True" not in found.remedy and not found.change


def test_a_reason_that_names_gamma_has_a_remedy_for_it():
    found = judged(above=10.0, of_gamma=20.0)
    assert "at twice this γ" in found.reason and found.remedy.endswith("such as 10, or state γ with the number.")
    assert "γ" not in judged(above=10.0).remedy


@pytest.mark.parametrize(
    "harmless",
    [
        {"above": 1.4},
        {"above": 0.4, "law_bias": -2.0, "law_bias_se": 0.3},
        {"above": 1.4, "law_bias": 1.5, "law_bias_se": 0.3},
        {"above": 0.4, "unspread": 3.0, "unspread_se": 0.5},
        {"data_variance": 6.0, "data_variance_se": 1.0},
        {"data_variance": 9.0, "data_variance_se": 10.0},
        {"data_variance": math.nan, "data_variance_se": math.nan},
        {"gap": -2.4},
        {"gap": -6.0, "gap_se": 2.1},
        {"gap": 6.0, "gap_se": math.nan},
        {"of_gamma": 12.0},
        {"of_gamma": 20.0, "of_gamma_se": 7.0},
        {"unlooked": True, "above": math.nan},
        {"above": math.nan, "gap": math.nan, "gap_se": math.nan, "from_variance": math.nan},
    ],
)
def test_what_is_small_or_not_known_says_nothing(harmless):
    assert judged(**harmless)


def test_whoever_has_polished_or_cannot_is_not_told_to_do_so():
    for expected in (math.nan, -30.0):
        given = {"llc": -40.0, "se": 1.0, "expected": expected, "exact_losses": True, "above": math.nan}
        asked = judged(**given)
        assert "polish=True" in asked.remedy and dict(asked.change) == {"polish": True}
        assert plain_words(asked.remedy) == asked.remedy.replace(" (polish=True)", "")
        for known in ({"polished": True}, {"polished": False}, {"movable": False}):
            found = judged(**given, **known)
            assert "olish" not in found.remedy and not found.change and found.remedy


def test_gamma_has_no_share_of_what_is_not_positive():
    found = judged(llc=-40.0, se=1.0, above=60.0, of_gamma=20.0, expected=50.0)
    assert "w0 lies above the minimum" in found.reason and "γ's" not in found.reason


def test_an_exact_answer_settles_doubts_and_not_a_w0_far_above():
    for doubt in ({"above": 2.0, "truth_known": True}, {"gap": -6.0}, {"of_gamma": 20.0}):
        assert not judged(**doubt) and worth_an_answer(Evidence(**{**SOUND, **doubt}))
        assert judged(**doubt, reference=50.2)
    for far in ({"above": 2.0}, {"above": 10.0}):
        assert not judged(**far, reference=50.2) and not worth_an_answer(Evidence(**{**SOUND, **far}))
    beside = judged(**far, reference=50.2, truth_known=True)
    assert beside and "The estimate is right" in beside.reason and "w0 lies above the minimum" in beside.reason
    assert not judged(**far, truth_known=True), "nothing says that the number is right"


def test_exact_draws_are_right_for_their_w0():
    exact = {"above": 10.0, "sampler": build("Gibbs"), "truth_known": True}
    found = judged(**exact)
    assert found and "its draws are exact" in found.reason and "w0 lies above the minimum" in found.reason
    assert not judged(**{**exact, "truth_known": False}) and not judged(**exact, r_hat=1.2), "other doubts stay"


def test_a_loss_that_still_rises_comes_first():
    assert "still rising" in judged(above=10.0, drift=20.0).reason
    assert "w0 lies above the minimum" in judged(above=10.0, drift=-20.0).reason


def test_a_w0_that_cannot_be_moved_is_not_to_be_polished():
    found = judged(above=10.0, movable=False)
    assert "olish" not in found.remedy and "temperatures" in found.remedy and not found.change


def test_before_the_end_nothing_is_known_of_w0():
    early = {"unlooked": True, "unfinished": True, "above": math.nan, "gap": math.nan, "gap_se": math.nan}
    found = judged(**early)
    assert not found and found.wants_steps and "when the run ends" in found.reason and not found.change
    assert judged(**early, reference=50.2), "an exact answer is there already"


def test_gamma_is_named_beside_a_w0_above_the_minimum():
    found = judged(above=10.0, of_gamma=20.0)
    assert (
        "w0 lies above the minimum" in found.reason
        and "About 291 of 400 directions are kept near w0 by γ" in found.reason
    )


def test_how_many_directions_gamma_holds_is_said_where_it_is_known():
    found = judged(of_gamma=20.0, pull=math.nan)
    assert found.reason.endswith("it would be about 24% lower.") and dict(found.change) == {"localization": 10.0}


def test_directions_that_gamma_holds_count_those_not_spread_along():
    assert Evidence(**SOUND).held == 291.0
    assert Evidence(**{**SOUND, "unspread": 500.0}).held == 400.0
    assert math.isnan(Evidence(**{**SOUND, "pull": math.nan}).held)


@pytest.mark.parametrize(
    ("changes", "kind", "also"),
    [
        ({"above": 10.0, "se": 5.0}, Kind.ABOVE_MINIMUM, Kind.WIDE_ERROR),
        ({"above": 10.0, "law_bias": 8.0, "law_bias_se": 0.1}, Kind.ABOVE_MINIMUM, Kind.SYSTEMATIC),
        ({"above": 2.0, "se": 5.0}, Kind.WIDE_ERROR, Kind.ABOVE_MINIMUM),
        ({"above": 2.0, "law_bias": 8.0, "law_bias_se": 0.1}, Kind.SYSTEMATIC, Kind.ABOVE_MINIMUM),
        ({"above": 10.0}, Kind.ABOVE_MINIMUM, None),
        ({"se": 5.0}, Kind.WIDE_ERROR, None),
        ({"above": 1.0, "se": 5.0}, Kind.WIDE_ERROR, None),
        ({"above": 10.0, "gap": -6.0}, Kind.ABOVE_MINIMUM, None),
        ({"above": 10.0, "se": 5.0, "unfinished": True}, Kind.ABOVE_MINIMUM, None),
    ],
)
def test_what_can_be_mended_in_the_same_go_is_said_besides(changes, kind, also):
    found = judged(**changes)
    assert not found and found.kind is kind and (found.also and found.also.kind) is also
    assert ("Besides: " in found.remedy) == (also is not None)
    if also is not None:
        assert found.also.reason in found.remedy and found.also.remedy in found.remedy
    assert found.wants_steps == (kind is Kind.WIDE_ERROR), "the first fault says what a program does next"
    assert Verdict.from_dict(found.to_dict()) == found
