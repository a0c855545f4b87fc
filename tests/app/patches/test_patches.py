"""Each patch says which versions it holds for, which are those that are tested here, and what it gains; and it has a test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PINNED = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().split() if "==" in line)
APP = (path.stem for path in sorted((ROOT / "app" / "patches").glob("*.py")) if path.name != "__init__.py")
PATCHES = {f"app/patches/{name}.py": f"app/patches/test_{name}.py" for name in APP} | {
    "llc_core/compute/compiling.py": "llc_core/compute/test_compiling.py",
    "llc_core/compute/kept_kernels.py": "llc_core/compute/test_kept_kernels.py",
    "llc_core/compute/single_precision.py": "llc_core/compute/test_single_precision.py",
    "llc_core/diagnostics/convergence.py": "llc_core/diagnostics/test_ranks.py",
}
"""File → its test. The engine has its own patches, of numba and arviz."""


@pytest.mark.parametrize("path", PATCHES)
def test_a_patch_says_what_it_holds_for_and_gains_and_has_a_test(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    said = re.search(r"\n *Holds for (.*?)\.(?:  Upstream: \S+)?\n *Gains: \S", text)
    assert said, "its words lack “Holds for library version.” and “Gains: …”"
    for library, version in re.findall(r"(\S+) ([\d.]+)", said[1]):
        assert PINNED[library] == version, "look whether it still holds, and is needed, and say so"
    assert (ROOT / "tests" / PATCHES[path]).is_file()
