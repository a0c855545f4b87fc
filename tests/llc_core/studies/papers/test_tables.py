"""Tables of plain text: cells stand below each other, also where a name has a hat."""

from __future__ import annotations

import pytest

from llc_core.studies.papers.tables import aligned, grouped, wide


def test_a_hat_takes_no_place():
    assert wide("λ̂ ± s.e.") == 8 and wide("λ = 1") == 5


def test_cells_begin_or_end_below_each_other():
    rows = [["way", "λ̂"], ["a", "0.5"], ["both", ""]]
    assert aligned(rows) == ["way   λ̂", "a     0.5", "both"]
    assert aligned(rows, right=True, between="|") == [" way|  λ̂", "   a|0.5", "both|"]
    with pytest.raises(ValueError):
        aligned([["a", "b"], ["a"]])


def test_groups_stand_above_their_columns():
    found = grouped({"": {"k": ["1", "22"]}, "by a long name": {"λ̂": ["0.5", "1"], "ν̂": ["–", "0.25"]}})
    assert found == [
        "    by a long name",
        " k    λ̂    ν̂",
        " 1  0.5    –",
        "22    1 0.25",
    ]
