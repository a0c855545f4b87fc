"""Benchmarks that are made in pieces: what is kept is not made again, a torn line is, and the clock ends a piece between runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from lab.benchmarks import command
from lab.benchmarks.accuracy import defaults
from lab.benchmarks.verdicts import rates, runs
from lab.benchmarks.verdicts.cases import Case, cases
from llc_core.samplers.registry import samplers
from llc_core.studies.keeping import Kept, engine_digest

RESULTS = Path(__file__).resolve().parents[3] / "lab/results"


def test_rows_are_there_again(tmp_path):
    path = tmp_path / "new folder" / "rows.jsonl"
    kept = Kept(path)
    kept.add(["a", 1, {"x": 1, "y": None}], {"llc": 0.1})
    kept.add(("b", 2), {"llc": 0.2})
    again = Kept(path)
    assert again.rows == kept.rows and again["b", 2] == {"llc": 0.2}
    assert ["a", 1, {"y": None, "x": 1}] in again, "the order of names is no part of a question"
    assert ["a", 1, {"x": 2, "y": None}] not in again and ("b", 2) in again
    assert again.codes == {engine_digest()} and "this engine" in again.origin()


def test_a_line_that_was_cut_off_is_made_anew(tmp_path):
    path = tmp_path / "rows.jsonl"
    whole = Kept(path)
    for number in range(3):
        whole.add([number, "ü"], {"llc": number})
    text = path.read_bytes()
    for cut in (1, 10, len(text.splitlines()[-1])):
        path.write_bytes(text[:-cut])
        kept = Kept(path)
        assert list(kept.rows) == list(whole.rows)[:2]
        kept.add([2, "ü"], {"llc": 2})
        assert path.read_bytes() == text


def test_a_file_of_something_else_is_left_as_it_is(tmp_path):
    path = tmp_path / "rows.jsonl"
    for text in ("notes\n", '{"asked": 1}\n', "[1]\n"):
        path.write_text(text)
        with pytest.raises(ValueError, match="Line 1 of .* is no kept row"):
            Kept(path)
        assert path.read_text() == text


def test_rows_of_another_engine_are_told(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"asked": 1, "row": {}, "code": "00000000"}) + "\n")
    assert "other states of the engine: 00000000" in Kept(path).origin()


def row(llc: float, **changes) -> dict:
    return {
        "llc": llc,
        "llc_se": 0.1,
        "answer": 10.0,
        "trusted": True,
        "reason": "",
        "evidence": {"ess": 500.0},
    } | changes


def test_only_missing_runs_are_made_until_the_time_is_over(tmp_path, monkeypatch):
    wanted, asked = list(cases(4, seed=1)), []
    clock = iter([0.0, 0.0, 0.0, 61.0])

    def one_run(case: Case) -> dict:
        asked.append(case)
        return row(10.0)

    # another thread that asks the time of the whole process would take a tick
    monkeypatch.setattr(command, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    path = tmp_path / "rows.jsonl"
    assert command.made(wanted, Kept(path), minutes=1, make=one_run) == 2 and asked == wanted[:2]
    monkeypatch.setattr(command, "time", SimpleNamespace(monotonic=lambda: 0.0))
    assert command.made(wanted, Kept(path), minutes=1, make=one_run) == 2
    assert asked == wanted and len(Kept(path).rows) == 4


def test_a_longer_list_begins_with_the_shorter_one():
    assert list(cases(40, seed=3))[:20] == list(cases(20, seed=3)) != list(cases(20, seed=4))
    named = {case.settings["sampler"] for case in list(cases(640, seed=3))[600:]}
    assert set(samplers()) <= named and "Gibbs" in named


def test_both_rates_and_what_is_too_short(capsys):
    case = next(cases(1, seed=1))
    noisy = {"trusted": False, "reason": "The estimate is still noisy: 7%."}
    rows = [
        row(10.4),
        row(10.6),
        row(10.4, **noisy),
        row(12.0, llc_se=1.0, **noisy),
        row(10.1, evidence={"ess": 40.0}, **noisy),
        row(10.1, llc_se=None, **noisy),
        row(13.0, trusted=False),
    ]
    assert [rates.right(each) for each in rows] == [True, False, True, True, True, True, False]
    assert [rates.too_short(each) for each in rows[:6]] == [False, False, False, True, True, True]
    runs.show([(case, each) for each in rows])
    last = next(text for text in capsys.readouterr().out.splitlines() if text.startswith("all"))
    assert "1 of   2 =  50.0%" in last and "1 of   5 =  20.0%" in last and last.count("1 of   2") == 2


@pytest.mark.slow
def test_kept_evidence_is_judged_as_the_run_was(tmp_path):
    """A short run of each kind: judged again from what is kept, it says the same."""
    settings = {"steps": 300, "gradient": "full", "seed": 1, "chains": 2}
    for name, sampler in (("one layer 4-3", "HMC"), ("Gaussian on the plane", "SGLD")):
        case = Case(name, 100, {**settings, "sampler": sampler}, "three times automatic")
        kept = Kept(tmp_path / "rows.jsonl")
        kept.add(case, runs.one_run(case))
        found = Kept(tmp_path / "rows.jsonl")[case]
        again = runs.judged_again(case, found)
        assert (again["trusted"], again["reason"]) == (found["trusted"], found["reason"]) and found["reason"]


def test_the_defaults_are_made_in_pieces(tmp_path, monkeypatch, capsys):
    asked = []

    def one_run(size_class, seed, *rest):
        asked.append(seed)
        numbers = {"llc": 10.0 + seed, "llc_se": 0.1, "expected": 9.0 + seed, "gibbs": 10.5 + seed, "gibbs_se": 0.1}
        return {"dim": 9, "layers": 2, "rank": 1, "seconds": 0.1, "trusted": True, "reason": "", **numbers}

    def run(*options: str) -> str:
        monkeypatch.setattr(sys, "argv", ["defaults", "1K", "3", "--keep", str(tmp_path / "rows.jsonl"), *options])
        defaults.main()
        return capsys.readouterr().out

    monkeypatch.setattr(defaults, "one_run", one_run)
    assert "0 of 3 problems" in run("--minutes", "0") and not asked
    told = run()
    assert "3 of 3 problems" in told and asked == [0, 1, 2] and "beyond max(3%, 3 se)     [0, 1, 2]" in told
    assert run() == told and asked == [0, 1, 2], "nothing is made twice"
    run("--sampler", "HMC")
    assert len(asked) == 6, "another question has its own rows"


@pytest.mark.parametrize(
    ("file", "seed", "others"),
    [
        ("verdict_remedies", 5, False),
        ("verdict_remedies_today", 5, False),
        ("verdicts_seed2", 2, False),
        ("verdicts_seed31", 31, True),
    ],
)
def test_kept_runs_are_those_that_are_asked_for(file, seed, others):
    """A new sampler among the others once made all runs other ones, and a table of 600 had 15."""
    kept = [json.loads(line)["asked"] for line in (RESULTS / f"{file}.jsonl").read_text().splitlines()]
    wanted = [json.loads(json.dumps(case)) for case in cases(600, seed, others)]
    assert kept and all(each in wanted for each in kept)
