"""What the extras of pyproject.toml bring, and imports of it that say so."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from house import Tree, parsed


def unguarded_imports(tree: Tree, brought: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """Imports of a library of an extra outside `with needs(…, extra="…")`, or inside one whose extra does not bring it.

    brought: the names of an extra's packages as they are imported. Every library in it is looked for.
    """
    watched = frozenset().union(*brought.values())
    for path, text in tree.items():
        for name, extras in _guarded(parsed(text), ()):
            top = name.split(".")[0]
            if top in watched and not any(top in brought.get(extra, ()) for extra in extras):
                yield f"{path} imports {top} outside needs(…) with an extra that brings it."


def _guarded(node: ast.AST, extras: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every imported module, with the extras of the `with needs(…)` around it."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, extras) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield node.module or ".", extras
    elif isinstance(node, ast.With):
        calls = [item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call)]
        given = [word.value for call in calls for word in call.keywords if word.arg == "extra"]
        extras += tuple(str(value.value) for value in given if isinstance(value, ast.Constant))
    for child in ast.iter_child_nodes(node):
        yield from _guarded(child, extras)


def requirements(project: Mapping[str, Any], *extras: str) -> list[str]:
    """What pip installs for the core and some extras of pyproject.toml; an extra may name others of this project."""
    lines = list(project["dependencies"])
    for extra in extras:
        for line in project["optional-dependencies"][extra]:
            own = re.fullmatch(rf"{re.escape(project['name'])}\[(.*)\]", line)
            lines += requirements(project, *own[1].split(",")) if own else [line]
    return list(dict.fromkeys(lines))


def requirement(text: str) -> tuple[str, str]:
    """Name and range of a line of pyproject.toml, constraints.txt or environment.yml."""
    match = re.fullmatch(r"\s*([A-Za-z0-9_.-]+)\s*(.*?)\s*", text)
    assert match
    name = match[1].lower().replace("_", "-")
    return {"pytorch": "torch"}.get(name, name), match[2]
