"""Modules that are named in a text are there, in documents and in the strings of programs; such a name is not seen by a linter."""

from __future__ import annotations

from pathlib import Path

import commands
import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = sorted(path for folder in (*commands.OURS, "tests") for path in (ROOT / folder).rglob("*.py"))
PROGRAMS.remove(Path(__file__).resolve())  # its own are planted
NOT_OURS = {
    "lab.example.org": "an address",
    "app.pages.toy": "a page that a test makes, and that is there once it has been made",
    "app.style.thems": "planted",
    "lab.benchmarks.speed.nothing": "planted",
    "lab.benchmarks.defaults": "planted",
    "llc_core.nowhere": "planted",
}
"""Names in tests and examples that no module has, and why."""
MADE = {"app.pages."}
"""Beginnings of names that programs may complete as they run: every page has the same modules. Others are written out."""


def dead(text: str) -> list[str]:
    known = tuple(NOT_OURS)
    return [name for name in commands.dead_names(text) if not name.startswith(known)]


@pytest.mark.parametrize("path", commands.documents(ROOT), ids=lambda path: path.name)
def test_modules_that_a_document_names_are_there(path):
    assert not dead(path.read_text())


@pytest.mark.slow
@pytest.mark.parametrize("folder", [*commands.OURS, "tests"])
def test_modules_that_a_string_names_are_there(folder):
    mine = [path for path in PROGRAMS if path.is_relative_to(ROOT / folder)]
    texts = [(path, text) for path in mine for text in commands.strings(path.read_text())]
    assert len(texts) > 10
    assert [(path.name, found) for path, text in texts if (found := dead(text))] == []
    if folder != "tests":  # which fail by themselves
        assert [(path.name, at) for path, text in texts for at in commands.MADE.findall(text) if at not in MADE] == []


@pytest.mark.parametrize(
    "planted, name",
    [
        ("python -m lab.benchmarks.dln_devinterp --rounds 3", "lab.benchmarks.dln_devinterp"),
        ("`lab.benchmarks.speed.modules.nothing`", "lab.benchmarks.speed.modules.nothing"),
        ("See app.pages.benchmark.figure.", "app.pages.benchmark.figure"),
    ],
)
def test_a_planted_name_is_found(planted, name):
    program = f"import subprocess\nsubprocess.run(['python', '-m', {planted!r}])\n"
    for text in (planted, *commands.strings(program)):
        assert dead(text) == ([name] if "." in text else [])


def test_a_planted_name_that_is_put_together_is_found():
    (text,) = commands.strings("Peer(f'lab.benchmarks.{module}')")
    assert commands.MADE.findall(text) == ["lab.benchmarks."] and "lab.benchmarks." not in MADE


def test_names_that_are_there_are_not_dead():
    there = "lab.benchmarks.speed.stores, llc_core.sweeps.series.curves, app.pages.benchmark.config, lab/results/a.json"
    assert not dead(there) and not dead("llc_core.sqlite and lab.toml")


@pytest.fixture(scope="module")
def named() -> set[str]:
    """Every dotted name in a document, or in a string of a program."""
    texts = [text for path in PROGRAMS for text in commands.strings(path.read_text())]
    texts += [path.read_text() for path in commands.documents(ROOT)]
    return {name for text in texts for name in commands.DOTTED.findall(text)}


@pytest.mark.slow
def test_every_exception_is_needed(named):
    assert [name for name in NOT_OURS if not any(each.startswith(name) for each in named)] == []


@pytest.mark.slow
def test_modules_that_are_named_can_be_imported(named):
    modules = sorted({commands.module_of(name) for name in named} - {""})
    assert len(modules) > 100 and not commands.broken(modules, ROOT)


def test_a_planted_module_that_fails_is_found(tmp_path):
    for name, text in (
        ("fails", "raise ValueError('Why.')"),
        ("lacks", "import no_such_package"),
        ("lost", "import lab.lost"),
    ):
        (tmp_path / f"{name}.py").write_text(text)
    found = commands.broken(["fails", "lacks", "lost"], tmp_path)
    assert "fails: ValueError('Why.')" in found and "lost: ModuleNotFoundError" in found and "lacks" not in found


def test_commands_of_a_document_are_found_across_lines():
    text = "```bash\nmake\n```\nRun `OMP_NUM_THREADS=1 python -m lab.benchmarks.speed.stores\n--rounds 3`.\n\n    python -m lab.benchmarks.a.b 1 … 3  # why\n"
    assert commands.commands(text) == [
        ("lab.benchmarks.speed.stores", "--rounds", "3"),
        ("lab.benchmarks.a.b", "1", "3"),
    ]
