"""What the notebooks import is there: a move shows here at once, and not only when a whole notebook has run."""

from __future__ import annotations

import ast
import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OURS = ("llc_core", "app", "lab")


def missing(code: str) -> list[str]:
    """Names of this project that the code imports and that are not there."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in OURS:
            module = import_module(str(node.module))
            for alias in node.names:
                if not hasattr(module, alias.name) and find_spec(f"{node.module}.{alias.name}") is None:
                    found.append(f"{node.module}.{alias.name}")
    return found


@pytest.mark.parametrize("path", sorted((ROOT / "lab/notebooks").glob("*.ipynb")), ids=lambda path: path.name)
def test_imports_of_a_notebook_are_there(path):
    cells = json.loads(path.read_text())["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    lines = [line for line in code.splitlines() if not line.lstrip().startswith(("%", "!"))]
    assert missing("\n".join(lines)) == []


def test_a_name_that_has_moved_is_found():
    assert missing("from app.style import theme, thems\nfrom llc_core import estimate") == ["app.style.thems"]
