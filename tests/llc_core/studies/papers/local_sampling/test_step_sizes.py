"""What a sweep's rows say of a sampler, against numbers worked out by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from llc_core.studies.papers.items import find
from llc_core.studies.papers.local_sampling import step_sizes
from llc_core.studies.papers.local_sampling.errors import errors_of, ratio
from llc_core.studies.papers.local_sampling.step_sizes import BASE, StepSizes, fails_early, judged
from llc_core.studies.papers.local_sampling.summaries import COLUMNS, lines, plain, summary
from llc_core.studies.papers.running import run_item, study_of, title_of
from llc_core.studies.papers.study import Found

EVERY = np.arange(4)
TRUTHS = (10.0, 11.0, 30.0, 40.0)
BY_HAND = {
    1e-9: (7.0, 7.7, 21.0, 28.0),  # 30% low
    1e-8: (11.0, 9.9, 30.0, 40.0),  # right in the mean; the first two are the wrong way round
    1e-7: (16.0, 17.6, 48.0, 64.0),  # 60% high, and the last above half of 100 parameters
    1e-6: (None, None, -5.0, 20.0),  # lost, lost, below 0, and 50% low, which is no failure
}


def rows(by_step=BY_HAND, sampler: str = BASE, truths=TRUTHS, **more) -> list[dict]:
    return [
        {
            "size_class": "1K", "ranks": "paper", "sampler": sampler, "gradient": "minibatch", "problem": i, "dim": 100,
            "step_size": step, "status": "diverged" if value is None else "ok", "llc": value, "llc_printed": value,
            "global_llc": truths[i], "steps": 1000, "lost_after": 400 + 100 * i if value is None else 1000, **more,
        }
        for step, values in by_step.items()
        for i, value in enumerate(values)
    ]  # fmt: skip


def test_a_failure_is_seen_by_what_no_coefficient_can_be():
    errors = errors_of(rows(), "same_batch", "global")
    assert errors.bounds.tolist() == [50.0] * 4, "half the number of parameters"
    assert errors.seen_to_fail(EVERY) == pytest.approx(4 / 7), (
        "7 failed: 4 at 1e-7, of which one is seen, and 3 at 1e-6"
    )


def test_a_run_fails_early_where_it_is_lost_before_half_of_its_steps():
    """Of the 7 that failed two were lost, at steps 400 and 500 of 1,000; in an older store nobody kept when."""
    errors = errors_of(rows(), "same_batch", "global")
    assert errors.fail_early(EVERY) == (1, 7)
    assert errors.early(np.array([2, 3])) == 0, "of these two networks none was lost"
    old = errors_of(rows(lost_after=None), "same_batch", "global")
    assert np.isnan(old.early(EVERY)) and old.fail_early(EVERY)[1] == 7
    assert fails_early(BASE, old).holds is None and "not kept" in fails_early(BASE, old).found


@pytest.mark.parametrize("late, holds", [(0, True), (2, None), (8, False), (16, False)])
def test_the_claim_counts_settings_and_has_an_error(late, holds):
    """Sixteen networks that one step size throws out, so many of them after half of the steps: 14 of 16 are near 90%."""
    truths = tuple(np.linspace(10, 40, 16))
    found = rows({1e-9: truths, 1e-8: (None,) * 16}, truths=truths, lost_after=10)
    for row in found[len(found) - late :]:
        row["lost_after"] = 990
    errors = errors_of(found, "same_batch", "global")
    claim = fails_early(BASE, errors)
    assert claim.holds is holds
    assert claim.found.startswith(f"of 16 failed settings {16 - late} failed before half the steps, ")
    assert ("±" in claim.found) == (0 < late < 16), "equal ones leave no doubt"
    assert [each.ours for each in judged({BASE: errors}, 0.2) if "fails" in each.text] == [False, True]


def test_equation_3_8_is_judged_by_what_the_claim_says():
    right, off = (errors_of(rows(by), "printed", "global") for by in (BY_HAND, {1e-8: (40.0, 99.0, 80.0, 200.0)}))
    said = [judged({BASE: one}, 0.2, printed=other)[-1] for one, other in ((right, off), (off, right), (right, right))]
    assert all(
        claim.ours and claim.text.startswith("SGLD errs less with the loss at w0 on the same batch") for claim in said
    )
    assert [claim.holds for claim in said] == [True, False, None]


@pytest.mark.parametrize("factor, holds", [(2.0, True), (1.7, True), (1.0, False), (3.0, False)])
def test_what_the_correction_does_is_a_claim_for_each_pair(factor, holds):
    """At the smallest step size of both, over sixteen networks; the other step sizes say something else."""
    random = np.random.default_rng(0)
    truths = np.linspace(10, 40, 16)
    corrected = truths * (1 + random.normal(0, 0.05, 16))
    found = {}
    for name in ("SGHMC", "SGNHT"):
        by = {1e-10: tuple(9 * truths), 1e-9: tuple(factor * truths), 1e-8: tuple(truths * random.normal(5, 1, 16))}
        found[f"{name}(dynamics=printed)"] = errors_of(rows(by, name, truths), "same_batch", "global")
        by = {1e-9: tuple(corrected), 1e-8: tuple(truths)}
        found[name] = errors_of(rows(by, name, truths), "same_batch", "global")
    claims = judged(found, 0.2)
    assert [claim.text.split()[0] for claim in claims if claim.ours] == ["SGHMC", "SGNHT"]
    assert [claim.holds for claim in claims] == [holds, holds] and "±" in claims[0].found
    by_hand = factor * truths.sum() / truths.sum() / np.mean(corrected / truths)
    assert ratio(found["SGHMC(dynamics=printed)"], found["SGHMC"], np.arange(16)) == pytest.approx(by_hand)
    found["SGHMC"].errors[0, :2] = np.nan  # 2 of 16 are too many
    assert [claim.holds for claim in judged(found, 0.2)] == [None, holds]


def test_every_number_of_the_table_is_that_by_hand():
    found = summary(errors_of(rows(), "same_batch", "global"), 0.2)
    assert tuple(found) == COLUMNS
    assert {name: getattr(value, "value", value) for name, value in found.items()} == {
        "decades of ε that work": pytest.approx(2 / 3 + 1 / 3, abs=1e-9),  # |mean error| 0.3, 0, 0.6 by straight lines
        "best ε": 1e-8,
        "λ̂/λ there": pytest.approx((1.1 + 0.9 + 1 + 1) / 4),
        "its sd": pytest.approx((0.02 / 3) ** 0.5),
        "pairs in order there": pytest.approx(5 / 6),
        "largest ε": 1e-6,
        "no λ̂ there": 0.5,
        "failures seen": pytest.approx(4 / 7),
        "lost early": pytest.approx(1 / 7),
    }
    assert plain(found)["best ε"] == 1e-8 and plain(found)["λ̂/λ there"]["se"] > 0
    head, row, words, *_ = (line.replace("\u0302", "") for line in lines({"SGLD": found}, 0.2))
    assert row.split()[0] == "SGLD" and "50%" in row and "57%" in row and "1 ± " in row and "±20%" in words
    assert head.index("no λ there") == row.index("50%"), "columns stand below each other"


def test_step_sizes_that_lose_a_tenth_are_never_the_best():
    """Twenty networks: 2 lost at the step size that is right in the mean, 1 lost at one that is 10% off."""
    truths = tuple(np.linspace(10, 40, 20))
    lost = lambda count, factor: tuple(None if i < count else factor * each for i, each in enumerate(truths))  # noqa: E731
    found = summary(
        errors_of(rows({1e-9: lost(1, 1.1), 1e-8: lost(2, 1.0)}, truths=truths), "same_batch", "global"), 0.2
    )
    assert found["best ε"] == 1e-9 and found["λ̂/λ there"].value == pytest.approx(1.1)
    assert found["no λ̂ there"] == pytest.approx(0.1)


def test_nothing_is_said_of_a_sampler_that_never_works():
    found = summary(errors_of(rows({1e-9: (None, None, 1.0, 2.0)}), "same_batch", "global"), 0.2)
    assert found["decades of ε that work"].value == 0 and plain(found)["best ε"] is None
    assert lines({"SGLD": found}, 0.2)[1].count("no value") == 2, "λ̂/λ and order"


def test_pairs_in_order_are_of_one_size_class():
    """As the figure counts them: two classes of four, one pair of each the wrong way round; between classes nothing is counted."""
    both = [*rows(), *rows(size_class="10K")]
    assert errors_of(both, "same_batch", "global").order(np.arange(8)) == pytest.approx(10 / 12)


@pytest.mark.parametrize(
    "name, words",
    [
        ("figure-3", "about 1,000 parameters in place of about 100 million parameters"),
        ("figure-6", "about 10,000 parameters in place of about 1 million parameters"),
        (
            "figure-8",
            "about 1,000 parameters in place of about 100,000, 1 million, 10 million and 100 million parameters",
        ),
    ],
)
def test_the_title_of_a_small_size_says_which_networks_ran(name, words, monkeypatch, tmp_path):
    monkeypatch.setattr(step_sizes, "rough_seconds", lambda spec: (1.0, 1.0))
    monkeypatch.setattr(StepSizes, "run", lambda self, at: Found([], {}))
    item = find(f"000/{name}")
    assert title_of(item, "small").endswith(f"; here networks of {words}") and item.state.endswith(words)
    assert f"here networks of {words}</h1>" in run_item(item, "small", tmp_path).page.read_text()
    assert title_of(item, "paper") == f"000/{name} (paper): {item.title}"


def test_small_figures_of_different_networks_share_no_run():
    keys = {
        number: {key for unit in find(f"000/figure-{number}").sizes["small"].sweep.units() for key in unit.keys}
        for number in (3, 5, 6, 7, 8)
    }
    assert keys[8] == keys[3], "figure 8 is of the same runs"
    for one, other in combinations((3, 5, 6, 7), 2):
        assert not keys[one] & keys[other]


def test_rows_of_the_first_networks_are_rows_of_the_whole_sweep(monkeypatch, tmp_path):
    """Rows are kept by their keys, so that the whole sweep goes on from them. The page says how many networks ran."""
    monkeypatch.setattr(step_sizes, "rough_seconds", lambda spec: (1.0, 1.0))
    whole, some = (study_of(find("000/figure-5"), "paper", problems) for problems in (None, 3))
    every = {key: row[0] for unit in whole.sweep.units() for row, key in zip(unit.rows, unit.keys, strict=True)}
    chosen = {key for unit in some.sweep.units() for key in unit.keys}
    assert chosen == {key for key, problem in every.items() if problem < 3} and len(chosen) == 3 * 7 * 10
    monkeypatch.setattr(StepSizes, "run", lambda self, at: Found([], {}))
    page = run_item(find("000/figure-5"), "paper", tmp_path, problems=3).page.read_text()
    assert "here 3 networks in place of 100</h1>" in page
