"""Modules and commands that are named in texts: in Markdown, in docstrings, in the strings of programs."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

OURS = ("llc_core", "app", "lab")
MADE = re.compile(r"(?<![\w./-])((?:llc_core|app|lab)(?:\.[A-Za-z_]\w*)*\.)\0")
"""The beginning of a name of which the rest is put in as the program runs."""
DOTTED = re.compile(r"(?<![\w./-])((?:llc_core|app|lab)(?:\.[A-Za-z_]\w*)+)(?![\w(]|/)")
COMMAND = re.compile(r"python -m (lab\.benchmarks(?:\.\w+)+)((?:[ \t]+[^\s`|;)]+)*)")
IMPORT = """
import importlib, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except Exception as error:
        lacks = isinstance(error, ModuleNotFoundError) and error.name.split(".")[0] not in {ours}
        print("" if lacks else f"{{name}}: {{error!r}}\\n", end="")
"""
ENDINGS = ("sqlite", "json", "jsonl", "toml", "js", "css", "py", "md", "html", "webp")
"""A name with one of these is a file."""


def documents(root: Path) -> list[Path]:
    """The Markdown of the project."""
    top = [root / name for name in ("README.md", "CONTRIBUTING.md", "lab/benchmarks/RESULTS.md")]
    return [*top, *sorted((root / "lab/benchmarks/results").glob("*.md")), *sorted((root / "docs").glob("**/*.md"))]


def strings(source: str) -> Iterator[str]:
    """The texts of a program, docstrings too; what is put into an f-string is \\0."""
    nodes = list(ast.walk(ast.parse(source)))
    joined = [node for node in nodes if isinstance(node, ast.JoinedStr)]
    parts = {id(part) for node in joined for part in node.values}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.value
    for node in joined:
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "\0" for part in node.values)


def dead_names(text: str) -> list[str]:
    """Names of modules of the project, and of what is in them, that a text has and the project has not."""
    found = []
    for name in dict.fromkeys(DOTTED.findall(text)):
        if name.split(".")[-1] not in ENDINGS and not is_there(name):
            found.append(name)
    return found


def is_there(name: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    module = module_of(name)
    rest = name.removeprefix(module).split(".")[1:]
    return bool(module) and (not rest or _holds(module, rest))


def module_of(name: str) -> str:
    """The longest beginning of a dotted name that is a module; empty: none is."""
    parts = name.split(".")
    beginnings = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next(filter(_spec, beginnings), "")


def broken(modules: list[str], root: Path) -> str:
    """Which of the modules fail as they are imported, and why, a line for each. In a process of their own, since one may change what
    others see. Packages of others that are not installed are no fault."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORT.format(ours=OURS), *modules],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout if done.returncode == 0 else done.stdout + done.stderr


def _spec(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its parent is no package
        return False


def _holds(module: str, names: list[str]) -> bool:
    """Whether a module defines the first of the names; the others may be made as it runs."""
    spec = find_spec(module)
    assert spec is not None
    if spec.origin is None:  # a folder without __init__
        return False
    text = Path(spec.origin).read_text()
    return re.search(rf"\b{re.escape(names[0])}\b", text) is not None


def commands(text: str) -> list[tuple[str, ...]]:
    """(module, words …) of every `python -m lab.benchmarks…` of a document; a command may go on in the next line of its paragraph."""
    found = []
    alone = re.sub(r"^```", "", text, flags=re.M)  # of which a part would pair with the next mark
    for code in re.findall(r"`([^`]+)`", alone) + re.findall(r"^ {4}(.+)$", text, re.M):
        for module, words in COMMAND.findall(" ".join(code.split())):
            asked = [word for word in shlex.split(words.partition("#")[0]) if word != "…"]
            found.append((module, *asked))
    return list(dict.fromkeys(found))
