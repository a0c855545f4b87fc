"""Every table of pictures can be read, and what is none is refused in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.benchmarks.accuracy.pictures import read_table
from llc_core.networks import PUBLISHED

TABLES = sorted((Path(__file__).resolve().parents[3] / "lab/sweeps/pictures").glob("*.toml"))


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_a_table_names_what_there_is(path):
    table = read_table(path)
    assert table.data == path.stem and set(table.networks) <= set(PUBLISHED) and "one net" in table.methods


@pytest.mark.parametrize(
    "text, words",
    [
        ('data = "cifar100"', "is no table of pictures"),
        ("data = [", "is no table of pictures"),
        ('data = "cifar100"\nnetworks = ["VGG"]\nmethods = []', "has 'VGG' among its networks"),
        ('data = "faces"\nnetworks = []\nmethods = []', "has 'faces' among its data"),
        ('data = "cifar10"\nnetworks = []\nmethods = []\nspeed = 1', "has 'speed' among its keys"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, text, words):
    path = tmp_path / "table.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        read_table(path)
