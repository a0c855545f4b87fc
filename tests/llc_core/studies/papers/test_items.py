"""Every figure and table of the five papers has a name and a state; what can be run has settings that are valid at both sizes, and a cost."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from cases import few

from app.server.cli import build_parser
from llc_core.cli.commands import main
from llc_core.studies.papers import items
from llc_core.studies.papers.contour_sampling.regrets import VERSIONS, BanditTable
from llc_core.studies.papers.function_space.risks import RiskCourses
from llc_core.studies.papers.local_sampling.step_sizes import StepSizes
from llc_core.studies.papers.study import STUDIES
from llc_core.sweeps import costs

ROOT = Path(__file__).resolve().parents[4]
EVERY = items.items()
RUN = [item for item in EVERY if item.sizes]
PRINTED = {
    "000": {"figure": range(1, 9), "table": range(1, 3)},
    "001": {"figure": range(1, 11), "table": range(1, 3)},
    "002": {"figure": range(1, 8), "table": range(1, 3)},
    "003": {"figure": range(1, 4), "table": ()},
    "004": {"figure": range(1, 7), "table": range(1, 4)},
}
"""Figures and tables of each paper, by their numbers."""


@pytest.fixture(autouse=True)
def two_common_cores(monkeypatch):
    """What a cost is reckoned with: rates that a quiet core of two had, and not those of the machine that runs the tests."""
    monkeypatch.setattr(costs, "_rates", lambda: (1.5e-4, 7e-9, 6.4e-12))
    monkeypatch.setattr(costs, "available_cores", lambda: 2)


def test_every_figure_and_table_has_a_name():
    wanted = {
        f"{paper}/{kind}-{number}"
        for paper, kinds in PRINTED.items()
        for kind, numbers in kinds.items()
        for number in numbers
    }
    named = {item.address for item in EVERY if item.name.startswith(("figure", "table"))}
    assert named == wanted


def test_every_state_says_what_there_is():
    assert len(RUN) >= 20 and {type(study).__name__ for item in RUN for study in item.sizes.values()} == set(STUDIES)
    for item in EVERY:
        assert item.title and (item.sizes or not item.lacks)
        assert item.state.startswith(("ready", "in part: lacks ", "not yet: needs ", "nothing to run"))


@pytest.mark.slow
@pytest.mark.parametrize("item", few(RUN, 6), ids=lambda item: item.address)
def test_a_dry_run_of_both_sizes_says_what_it_takes(item, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seconds = {}
    for size in items.SIZES:
        assert main(["paper", item.address, "--size", size, "--dry-run"]) == 0
        assert "about" in capsys.readouterr().out
        seconds[size] = item.sizes[size].cost().seconds
    assert 0 < seconds["small"] <= 300 and seconds["paper"] >= seconds["small"] / 2
    assert not list(tmp_path.iterdir())


def _runs(item) -> dict[object, float]:
    """Seconds of what the small size runs, by what another item that has run in the same folder would have left for it."""
    study = item.sizes["small"]
    if isinstance(study, StepSizes):
        return {str(study.sweep.to_dict()): study.cost().seconds}
    if isinstance(study, BanditTable):
        plays = [study.plays(version).cost() for version in VERSIONS]
        return {(item.paper, cost.words): cost.seconds for cost in plays}
    if not isinstance(study, RiskCourses):
        return {(item.paper, study.cost().words): study.cost().seconds}
    cases = [
        replace(study, tables=(case.table,), likelihoods=(case.likelihood,), hidden=(case.hidden,), show="risks")
        for case in study.cases
    ]
    return {str(each.to_dict()): each.cost().seconds for each in cases}


def test_all_small_ones_together_take_about_an_hour():
    """As reckoned, which is more than they take: it was a third of that where it was measured (`docs/papers.md`)."""
    assert sum({run: seconds for item in RUN for run, seconds in _runs(item).items()}.values()) < 3900


def test_the_list_names_all_of_them(capsys):
    assert main(["paper", "--list"]) == 0
    said = capsys.readouterr().out
    assert all(f"{item.address} " in said and item.state in said for item in EVERY)
    assert main(["paper", "--list", "003"]) == 0
    assert "003/figure-1 " in (said := capsys.readouterr().out) and "000/" not in said


def test_the_page_of_the_docs_is_that_of_the_files():
    """python -m llc_core.studies.papers.items > docs/papers.md"""
    assert (ROOT / "docs/papers.md").read_text() == items.page()


@pytest.mark.parametrize(
    "item", [item for item in EVERY if item.command.startswith("llc-lab")], ids=lambda i: i.address
)
def test_commands_are_there(item):
    assert build_parser().parse_args(item.command.split()[1:]).handle


@pytest.mark.parametrize(
    "old, new, said",
    [
        ('study = "LineLaws"', 'study = "LineLows"', "Unknown study 'LineLows'"),
        ("seeds = 4", "seeds = 0", "seeds is 0"),
        ("seeds = 4", "sead = 4", "Unknown key 'sead'"),
        ("[small]", "[tiny]", "Unknown key 'tiny'"),
        ('name = "MongeSGLD"', 'name = "Mongo"', "Unknown sampler 'Mongo'"),
        ('title = "', "title = ", "is no file of an item"),
    ],
)
def test_a_fault_in_a_file_is_one_sentence(tmp_path, old, new, said):
    (tmp_path / "003").mkdir()
    text = (items.FOLDER / "003/figure-1.toml").read_text()
    assert old in text
    (tmp_path / "003/figure-1.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(ValueError, match=said) as raised:
        items.read_item(tmp_path / "003/figure-1.toml")
    assert "\n" not in str(raised.value)


def test_what_is_not_there_is_one_sentence(tmp_path, capsys):
    with pytest.raises(ValueError, match="choose one of 003/figure-1"):
        items.find("003/figure-9")
    with pytest.raises(ValueError, match="holds no papers"):
        items.papers(tmp_path)
    for words in (["002/figure-5"], ["000/figure-1"], [], ["003/figure-1", "--workers", "0"]):
        with pytest.raises(SystemExit) as ended:
            main(["paper", *words])
        assert ended.value.code == 2 and capsys.readouterr().err.count("\n") == 1


def test_an_item_that_is_there_twice_is_refused(tmp_path):
    shutil.copytree(items.FOLDER / "002", tmp_path / "002")
    (tmp_path / "002/figure-5.toml").write_text((tmp_path / "002/figure-7.toml").read_text())
    with pytest.raises(ValueError, match="002/figure-5 is there twice"):
        items.items(tmp_path)
