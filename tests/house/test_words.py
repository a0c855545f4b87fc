"""What the documents name is there: links, headings, commands and paths of README, CONTRIBUTING, docs and the results."""

from __future__ import annotations

from pathlib import Path

import documents
import pytest

ROOT = Path(__file__).resolve().parents[2]
RESULTS = sorted((ROOT / "lab/benchmarks/results").glob("*.md"))
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "lab/benchmarks/RESULTS.md",
    *RESULTS,
]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_a_document_names_is_there(path):
    assert not list(documents.faults(path, path.read_text(), ROOT))


@pytest.mark.parametrize(
    "planted",
    [
        "[speed](results/sped.md)",
        "[speed](results/speed.md#no-such-heading)",
        "![picture](../pictures/none.png)",
        "`python -m lab.benchmarks.speed.nothing --rounds 3`",
        "OMP_NUM_THREADS=1 python -m lab.benchmarks.defaults",
        "    pytest tests/llc_core/test_nothing.py -s",
        "see `llc_core/engine/nothing.py`",
        "`llc-lab sweep lab/sweeps/nothing.toml`",
    ],
)
def test_a_planted_fault_is_found(planted):
    assert len(list(documents.faults(ROOT / "lab/benchmarks/RESULTS.md", planted, ROOT))) == 1


def test_the_index_names_every_file_of_results():
    index = (ROOT / "lab/benchmarks/RESULTS.md").read_text()
    assert [path.name for path in RESULTS if f"(results/{path.name})" not in index] == []
    assert len(RESULTS) > 3


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.name)
def test_a_table_of_results_is_followed_by_three_sentences_at_most(path):
    assert not list(documents.crowded(path.read_text()))


def test_a_planted_fourth_sentence_is_found():
    table = "| a | b |\n|---|---|\n| 1 | 2.5 |\n\n"
    assert not list(
        documents.crowded(table + "One of 1.5 s. Two.\nThree (`a.b. c.`).\n\n- A finding. And. Two. More.\n")
    )
    assert len(list(documents.crowded(table + "One. Two.\n\nThree. Four.\n\n" + table))) == 1
    assert len(list(documents.crowded(table + "One. Two.\n\nThree.\n\n" + table + "1. 2. 3.\n\n4! Five?\n"))) == 1
