"""Scripts and style sheets of components are files beside them, and a package that is installed has these files."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.components.base import text_beside

ROOT = Path(__file__).resolve().parents[3]
MODULES = sorted((ROOT / "app").rglob("*.py"))


def scripts_in_strings(text: str) -> Iterator[str]:
    """Classes whose script stands in the Python code."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef):
            for line in node.body:
                if isinstance(line, ast.Assign) and any(getattr(t, "id", "") == "_esm" for t in line.targets):
                    texts = [part.value for part in ast.walk(line.value) if isinstance(part, ast.Constant)]
                    if not any(str(part).endswith(".js") for part in texts) or any("function" in str(t) for t in texts):
                        yield node.name


def files_named(path: Path) -> set[Path]:
    """The files that a module reads with `text_beside`."""
    calls = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
    mine = (call for call in calls if getattr(call.func, "id", "") == "text_beside")
    return {path.parent / str(name.value) for call in mine for name in call.args[1:] if isinstance(name, ast.Constant)}


def test_every_script_is_a_file():
    assert not [name for path in MODULES for name in scripts_in_strings(path.read_text())]


def test_a_script_in_a_string_is_found():
    planted = 'class A(JSComponent):\n    _esm = "export function render() {}"\n'
    assert list(scripts_in_strings(planted)) == ["A"]


def test_every_file_is_used_and_packaged():
    named = set().union(*map(files_named, MODULES))
    there = {path for suffix in ("js", "css") for path in (ROOT / "app").rglob(f"*.{suffix}")}
    patches = {path for path in there if path.parent.name == "patches" and path.with_suffix(".py").is_file()}
    assert named == there - patches and len(named) > 20
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    for path in there:
        assert (path.parent / "__init__.py").is_file(), "only files of packages are installed"
        package = ".".join(path.parent.relative_to(ROOT).parts)
        assert any(path.match(pattern) for pattern in (*data.get("*", ()), *data.get(package, ()))), path


def test_a_file_that_is_missing_is_seen_when_the_module_is_imported():
    with pytest.raises(FileNotFoundError):
        text_beside(__file__, "missing.js")


KNOWN = """
from panel.custom import JSComponent

def of_the_app():
    kinds, found = [JSComponent], set()
    while kinds:
        kinds += kinds.pop().__subclasses__()
        found |= {kind.__name__ for kind in kinds if kind.__module__.startswith("app.")}
    return found

from app.window.shell import Shell
before = of_the_app()
from app.pages import load_pages
load_pages()
print(len(before), sorted(of_the_app() - before))
"""


@pytest.mark.slow
def test_every_component_is_known_before_the_pages_are_loaded():
    """The first visitor of a fresh server gets the document before that; what is registered later he never sees."""
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run([sys.executable, "-c", KNOWN], capture_output=True, text=True, cwd=root, check=True)
    count, late = done.stdout.strip().split(" ", 1)
    assert late == "[]" and int(count) >= 12
