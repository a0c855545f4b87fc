"""Risks of MALA and of gradient descent: claims follow the numbers, items share runs, and tables of the UCI repository are read."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from llc_core.cli.commands import main
from llc_core.networks.data.tables import tabular
from llc_core.studies.keeping import Kept
from llc_core.studies.papers.function_space.risks import FOLLOWED, Case, CaseRisks, RiskCourses
from llc_core.studies.papers.study import Place
from llc_core.studies.risk.comparison import DESCENT
from llc_core.studies.risk.courses import LOSS_ALONE, MALA

TINY = RiskCourses(
    tables=["linnerud"], hidden=[[3], [6], [3, 3]], networks=2, chains=4, looks=[1, 4, 8], grid=[0.05, 0.1, 0.2], trial=8,
    exact_up_to=16, moves=100,
)  # fmt: skip
CASE, WIDER = (Case("wine", "gaussian", shape) for shape in ((4, 4), (8, 8)))


def seen(above: float, r_hat: float = 1.0, wide: float = 1.0) -> CaseRisks:
    """Eight networks on which MALA ends so far above gradient descent, which is .001 above the Bayes risk."""
    random = np.random.default_rng(0)
    rows = []
    for own in random.normal(0.001, 1e-4, 8):
        gaps = {way: wide * np.array([0.5, 0.1, own]) for way in FOLLOWED}
        gaps[MALA] = gaps[MALA] + [0, 0, above]
        risks = {way: 0.06 + gap for way, gap in gaps.items()}
        rows.append(
            {"risks": risks, "gaps": gaps, "bayes": 0.06, "r_hat": r_hat, "noise": 0.05, "eta": 0.1, "acceptance": 0.72}
        )
    return CaseRisks(TINY, rows)


@pytest.mark.parametrize(
    ("above", "r_hat", "holds"),
    [(0.0, 1.0, True), (0.01, 1.0, False), (0.0, 2.0, True), (0.01, 2.0, None)],
)
def test_claims_follow_the_numbers(above, r_hat, holds):
    descent, alone, bayes = TINY._claims(CASE, seen(above, r_hat))
    assert descent.holds is alone.holds is (above == 0)
    assert bayes.holds is holds, "chains that do not agree cannot say that a gap is too large"


def test_widths_are_compared_by_iteration_and_depths_at_the_end():
    deeper, other = (Case("wine", "gaussian", shape) for shape in ((4, 4, 4), (8, 8, 8)))
    cases = {CASE: seen(0), WIDER: seen(0), deeper: seen(0.02), other: seen(0)}
    assert [claim.holds for claim in TINY._compared(CASE, WIDER, cases)] == [True, True]
    assert [claim.holds for claim in TINY._compared(CASE, deeper, cases)] == [False]
    assert not list(TINY._compared(CASE, other, cases)), "two differences cannot be told apart"
    slower = cases | {WIDER: seen(0, wide=2.0)}
    assert [claim.holds for claim in TINY._compared(CASE, WIDER, slower)] == [True, False]


def test_best_stopping_is_where_the_mean_risk_is_least():
    found = seen(0)
    found.values[DESCENT] = np.array([[0.3, 0.1, 0.2], [0.3, 0.4, 0.1]])
    assert found.best(DESCENT) == 2 and found.best(LOSS_ALONE) == 2
    assert seen(0).last.value == pytest.approx(0.001, abs=2e-4)


@pytest.mark.slow
def test_items_share_their_runs_and_draw_what_was_found(tmp_path):
    pytest.importorskip("holoviews")
    pytest.importorskip("sklearn")
    said: list[str] = []
    at = Place(Kept(tmp_path / "rows.jsonl"), tmp_path / "sweeps", say=said.append)
    found = dataclasses.replace(TINY, show="courses").run(at)
    assert len(said) == 3 * (1 + TINY.networks) and found.draw is not None and found.draw() is not None
    assert len(found.claims) == 3 * 3 + 3, "of each network, of two widths twice, of two depths"
    steps = dataclasses.replace(TINY, show="steps").run(at)
    assert len(said) == 9 and len(steps.claims) == 3 and all("acceptance" in line for line in steps.table)


def test_tables_of_the_uci_repository_need_their_files_and_are_read(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["paper", "004/table-1", "--size", "paper", "--out", str(tmp_path)])
    assert "--uci" in (said := "".join(capsys.readouterr())) and said.strip().count("\n") <= 2
    rows = np.random.default_rng(0).standard_normal((308, 7))
    np.savetxt(tmp_path / "yacht_hydrodynamics.data", rows)
    study = dataclasses.replace(TINY, tables=["yacht"], hidden=[[3]], rows=12_000, exact_up_to=0)
    found = study.run(Place(Kept(None), tmp_path / "sweeps", uci=tmp_path))
    assert len(found.claims) == 2 and "Bayes" not in found.table[0]


def test_scikit_learn_s_wine_is_not_taken_for_wine_quality(capsys):
    """In what is printed, in titles, claims and figures; rows are found by the name alone."""
    pytest.importorskip("sklearn")
    for item, tables in (("table-1", "diabetes and {}"), ("figure-5", "{}")):
        main(["paper", f"004/{item}", "--dry-run"])
        title, words = capsys.readouterr().out.splitlines()
        said = tables.format("wine (scikit-learn's cultivars)")
        assert f"here {said} in place of boston, " in title and words.startswith(f"{said} with gaussian noise")
    main(["paper", "004/table-1", "--size", "paper", "--dry-run"])
    assert "scikit-learn" not in (said := capsys.readouterr().out) and "in place of" not in said
    name = "wine (scikit-learn's cultivars), gaussian"
    claims = [*TINY._claims(CASE, seen(0)), *TINY._compared(CASE, WIDER, {CASE: seen(0), WIDER: seen(0)})]
    assert len(claims) == 5 and all(claim.text.startswith(name) for claim in claims)
    asked: list[list[object]] = []

    class Rows(Place):
        def part(self, question, make, words):
            asked.append(question)
            assert words.startswith(name)
            return {"eta": 0.1}

    TINY._rows(CASE, tabular("wine"), Rows(Kept(None), Path()))
    assert [question[1] for question in asked] == ["wine"] * 3, "kept rows of before are found"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"tables": ["wine", "wine"]}, "tables is .*each once"),
        ({"tables": ["mnist"]}, "tables is 'mnist'"),
        ({"hidden": [[4, 5]]}, "hidden is .*same width"),
        ({"hidden": [4]}, r"hidden is \[4\]"),
    ],
)
def test_what_cannot_be_is_one_sentence(settings, words):
    with pytest.raises(ValueError, match=words):
        RiskCourses(**settings)
