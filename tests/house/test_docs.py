"""README, CONTRIBUTING and docs can be read, and what they say can be done: Python runs as pasted, commands are there."""

from __future__ import annotations

import argparse
import re
import shlex
import tomllib
from pathlib import Path

import documents
import pytest
from panel.command.serve import Serve

from app.server.cli import build_parser
from llc_core import SweepSpec
from llc_core.studies.papers.items import find

ROOT = Path(__file__).resolve().parents[2]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text()
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS)
}
WITH_PYTHON = [name for name, text in PAGES.items() if documents.blocks(text, "python")]
MOST_LINES = {"README.md": 120, "CONTRIBUTING.md": 150}

SHORTER = {
    "README.md": {"estimate(problem)": "estimate(problem, steps=500)"},
    "docs/how-to/criteria.md": {"steps=6000": "steps=300"},
    "docs/python.md": {
        "gibbs_reference(problem)": "gibbs_reference(problem, sweeps=50)",
        "[1, 160, 160, 1]": "[1, 16, 16, 1]",
        "finite_width(network, [[-1.0], [0.0]])": "finite_width(network, [[-1.0], [0.0]], moves=1_500)",
        "estimate(problem))": "estimate(problem, steps=500))",
        "max_steps=64_000": "steps=200, max_steps=400",
        '"steps": 4000': '"steps": 100',
        "chains=20_000, steps=2000": "chains=20_000, steps=200",
        "found = llc_core.estimate(network, steps=200": "found = llc_core.estimate(network, steps=50",
        "steps=20_000, trials=4": "steps=2_000, trials=4",
        "advance(20_000)": "advance(2_000)",
    },
    "docs/how-to/my-own-model.md": {
        "steps=1000": "steps=100",
        "steps=2000": "steps=100",
        "max_steps=4000": "max_steps=200",
        "steps=400": "steps=50",
    },
    "docs/how-to/coming-from-devinterp.md": {
        "num_draws=1000": "num_draws=100",
        "num_burnin_steps=500": "num_burnin_steps=20",
        "burn_in=500": "burn_in=20",
    },
    "docs/w0-is-no-minimum.md": {"steps=2000": "steps=200"},
    "docs/how-to/step-size.md": {"steps=4000": "steps=200", "steps=1000": "steps=200"},
    "docs/how-to/language-models.md": {
        "steps=600": "steps=50",
        "from transformers import": "from hugging_face import",
        'open("texts.txt").read().splitlines()': '["a b c", "c d", "d a b c", "b d"] * 8',
        "max_steps=32_000": "steps=100",
    },
    "docs/how-to/which-rows-matter.md": {"steps=20_000": "steps=500", "steps=4000": "steps=200"},
}
"""What would take most of the time: the same calls on less."""


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_PYTHON)
def test_the_python_of_a_page_runs_as_one_program(name, capsys):
    code = "\n".join(documents.blocks(PAGES[name], "python"))
    for long, short in SHORTER.get(name, {}).items():
        assert long in code
        code = code.replace(long, short)
    exec(compile(code, name, "exec"), {"__name__": "__main__"})
    assert "λ̂" in capsys.readouterr().out


def test_pages_with_python_are_found():
    assert set(SHORTER) == set(WITH_PYTHON)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_read(name):
    assert not list(documents.hard_to_read(PAGES[name]))
    assert PAGES[name].count("\n") <= MOST_LINES.get(name, 200)


@pytest.mark.parametrize(
    "planted", ["word " * 30, "A sentence of so " + "many\nwords " * 20, "- one\n- " + "two\n" * 36]
)
def test_a_planted_line_or_sentence_is_found(planted):
    assert len(list(documents.hard_to_read(planted))) == 1
    assert not list(documents.hard_to_read(f"```bash\n{'word ' * 20}\n```\n"))


@pytest.mark.parametrize("name", PAGES)
def test_commands_of_a_page_are_there(name):
    makefile = (ROOT / "Makefile").read_text()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for program, *words in documents.commands(PAGES[name]):
        if program == "llc-lab":
            options, others = build_parser().parse_known_args(words)
            assert options.handle, "a wrong option ends the parser"
            assert not others or options.command == "serve"
            Serve(parser=(panel := argparse.ArgumentParser()))
            panel.parse_args(others)
        elif program == "make":
            assert re.search(rf"^{words[0]}\b.*:", makefile, re.M), words
        elif program == "pip":
            asked = re.findall(r"\[(.*)\]", " ".join(words))
            assert {extra for each in asked for extra in each.split(",")} <= set(extras)


RESULTS = sorted((ROOT / "lab/benchmarks").rglob("*.md"))


def test_commands_that_the_results_name_besides_benchmarks_are_there():
    """What a benchmark's command does is asked in `tests/lab/benchmarks/test_commands.py`."""
    named = [words for path in RESULTS for words in re.findall(r"llc-lab ([a-z]+ [^`]+)`", path.read_text())]
    assert len(named) > 10
    for words in named:
        options = build_parser().parse_args(shlex.split(words))
        if options.command == "paper":
            assert find(options.item).sizes
        else:
            assert (ROOT / words.split()[1]).is_file(), words


def test_all_pages_and_pictures_are_in_use():
    index = PAGES["docs/README.md"]
    names = [path.relative_to(ROOT / "docs").as_posix() for path in DOCS]
    named = index + PAGES["docs/course/README.md"].replace("](", "](course/")
    assert [name for name in names if name != "README.md" and f"({name})" not in named] == []
    pictures = {path for text in PAGES.values() for path in re.findall(r"!\[.*?\]\(.*?(lab/pictures/.*?)\)", text)}
    kept = {path.relative_to(ROOT).as_posix() for path in (ROOT / "lab/pictures").glob("*.[!p]*")} - {
        "lab/pictures/make.py"
    }
    assert pictures >= kept and len(pictures) == 2
    assert all(10_000 < (ROOT / path).stat().st_size < 1_500_000 for path in pictures)


def test_every_notebook_page_extra_and_setting_is_named():
    notebooks = [path.name for path in (ROOT / "lab/notebooks").glob("*.ipynb")]
    pages = [
        title
        for path in (ROOT / "app/pages").glob("*/page.py")
        for title in re.findall(r'^PAGE = PageInfo\("([^"]+)"', path.read_text(), re.M)
    ]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    code = "".join(path.read_text() for top in ("app", "llc_core") for path in (ROOT / top).rglob("*.py"))
    settings = set(re.findall(r"LLC_LAB_[A-Z_]+", code))
    assert len(notebooks) > 5 and "Landscapes" in pages and len(settings) > 8
    assert [name for name in notebooks if f"/{name})" not in PAGES["docs/notebooks.md"]] == []
    assert [title for title in pages if f'"{title}"' not in PAGES["docs/app.md"]] == []
    assert [
        name for name in extras if name not in ("dev", "test") and f"`{name}`" not in PAGES["docs/install.md"]
    ] == []
    assert {
        name for name in re.findall(r"LLC_LAB_[A-Z_]+", PAGES["docs/settings.md"]) if name != "LLC_LAB_"
    } == settings


def test_the_sweep_of_the_page_is_one(tmp_path):
    (found,) = documents.blocks(PAGES["docs/how-to/sweeps.md"], "toml")
    (tmp_path / "own.toml").write_text(found)
    assert SweepSpec.from_toml(tmp_path / "own.toml").problems == (0, 1, 2)
