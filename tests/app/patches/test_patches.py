"""Each patch says which versions it holds for, which are those that are tested here, and what it gains; and it has a test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PINNED = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().split() if "==" in line)
ENGINE = ("compute/compiling", "compute/kept_kernels", "compute/single_precision", "diagnostics/ranks")
"""The engine's own, for numba and arviz."""
PATCHES = [
    *(path for path in sorted((ROOT / "app" / "patches").glob("*.py")) if path.name != "__init__.py"),
    *(ROOT / "llc_core" / f"{name}.py" for name in ENGINE),
]


@pytest.mark.parametrize("path", PATCHES, ids=lambda path: path.stem)
def test_a_patch_says_what_it_holds_for_and_gains_and_has_a_test(path):
    text = path.read_text(encoding="utf-8")
    said = re.search(r"\nHolds for (.*?)\.(?:  Upstream: \S+)?\nGains: \S", text)
    assert said, "its first words lack “Holds for library version.” and “Gains: …”"
    for library, version in re.findall(r"(\S+) ([\d.]+)", said[1]):
        assert PINNED[library] == version, "look whether it still holds, and is needed, and say so"
    mirror = path.relative_to(ROOT)
    assert (ROOT / "tests" / mirror.parent / f"test_{path.name}").is_file()
