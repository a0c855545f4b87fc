"""The rules of the house, as functions of a tree of files, so that a test can plant a violation in a tree of its own.

A tree maps paths such as "llc_core/engine/run.py" to their text. Every rule returns one sentence for each violation.
"""

from __future__ import annotations

import ast
import gc
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

Tree = Mapping[str, str]

CORE_FLOORS: Sequence[frozenset[str]] = [
    frozenset({"version", "types", "fields", "extras", "verdicts"}),
    frozenset({"bins", "compute", "theory", "plots"}),
    frozenset({"potentials", "config"}),
    frozenset({"networks", "groups"}),
    frozenset({"samplers", "interactions", "observables", "diagnostics", "results"}),
    frozenset({"engine", "ensembles", "line", "plane", "stationary", "decisions"}),
    frozenset({"estimating", "references", "sweeps"}),
    frozenset({"studies", "auditing", "compat"}),
    frozenset({"cli"}),
    frozenset({"__main__"}),
]
APP_FLOORS: Sequence[frozenset[str]] = [
    frozenset({"patches"}),
    frozenset({"runs", "components"}),
    frozenset({"style"}),
    frozenset({"session", "controls"}),
    frozenset({"estimates", "sharing"}),
    frozenset({"pages"}),
    frozenset({"window"}),
    frozenset({"server"}),
    frozenset({"main", "app_hooks"}),
]
PAGE_FLOORS: Sequence[frozenset[str]] = [
    frozenset({"config"}),
    frozenset({"presets", "cases"}),
    frozenset({"scene"}),
    frozenset({"job", "figures", "pictures", "editor", "controls", "table"}),
    frozenset({"texts"}),
    frozenset({"tour"}),
    frozenset({"panels", "takeaway"}),
    frozenset({"page"}),
]
LARGE = 240
"""Lines of a file that can still be seen at once, more or less."""
FOREIGN = {
    "llc_core": {"app", "lab", "panel", "param"},
    "app": {"lab"},
    "app/runs": {"panel", "panel_material_ui", "bokeh", "holoviews"},
}
"""Folder → packages that nothing in it imports."""


def read(root: Path, *folders: str, ending: str = ".py") -> dict[str, str]:
    """The tree of Python files, or those of another ending, in some folders of the project."""
    files = (path for folder in folders for path in sorted((root / folder).rglob(f"*{ending}")))
    return {path.relative_to(root).as_posix(): path.read_text() for path in files}


@cache
def parsed(text: str) -> ast.Module:
    """Read once for all rules, which only look at it. The garbage collector waits: it took three quarters of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(text)
    finally:
        if was:
            gc.enable()


LOOKED_FOR = (ast.Import, ast.ImportFrom, ast.ClassDef)


@cache
def nodes(text: str) -> tuple[ast.AST, ...]:
    """The imports and classes of a text, wherever they stand. Walking through everything took longer than reading it,
    and several rules look at the same.
    """
    return tuple(node for node in ast.walk(parsed(text)) if isinstance(node, LOOKED_FOR))


def imports(tree: Tree, path: str) -> set[str]:
    """Modules that a file imports, dotted. `from package import module` counts as the module where that is one."""
    found: set[str] = set()
    for node in nodes(tree[path]):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if file_of(tree, inner) else node.module or ".")
    return found


def file_of(tree: Tree, module: str) -> str | None:
    """The file of a dotted module, if the tree has it."""
    base = module.replace(".", "/")
    return next((path for path in (f"{base}.py", f"{base}/__init__.py") if path in tree), None)


def arrows_up(tree: Tree, folder: str, floors: Sequence[frozenset[str]]) -> Iterator[str]:
    """Modules of `folder` that import from a floor above their own, or that stand on no floor."""
    depth = folder.count("/") + 1
    place = {name: number for number, floor in enumerate(floors) for name in floor}

    def floor_of(path: str) -> int | None:
        parts = path.removesuffix(".py").split("/")
        return place.get(parts[depth])

    for path in tree:
        if not path.startswith(f"{folder}/") or path == f"{folder}/__init__.py":
            continue
        mine = floor_of(path)
        if mine is None:
            yield f"{path} stands on no floor of {folder}."
            continue
        for name in imports(tree, path):
            target = file_of(tree, name)
            if target is None or not target.startswith(f"{folder}/") or target == f"{folder}/__init__.py":
                continue
            other = floor_of(target)
            if other is not None and other > mine:
                yield f"{path} imports {name}, which stands above it."


def circles(tree: Tree) -> Iterator[str]:
    """Modules that import one another in a circle, imports inside functions included."""
    arrows = {path: {file_of(tree, name) for name in imports(tree, path)} - {None, path} for path in tree}
    done: set[str] = set()
    for start in arrows:
        if start in done:
            continue
        way: list[str] = []
        stack: list[tuple[str, Iterator[str | None]]] = [(start, iter(arrows[start]))]
        way.append(start)
        while stack:
            path, rest = stack[-1]
            for target in rest:
                assert target is not None
                if target in way:
                    yield " → ".join([*way[way.index(target) :], target])
                elif target not in done:
                    way.append(target)
                    stack.append((target, iter(arrows[target])))
                    break
            else:
                done.add(path)
                way.pop()
                stack.pop()


def foreign_imports(tree: Tree) -> Iterator[str]:
    for folder, never in FOREIGN.items():
        for path in tree:
            if path.startswith(f"{folder}/"):
                for name in {found.split(".")[0] for found in imports(tree, path)} & never:
                    yield f"{path} imports {name}."


def page_folders(tree: Tree) -> list[str]:
    found = (path.split("/") for path in tree if path.startswith("app/pages/"))
    return sorted({"/".join(parts[:3]) for parts in found if len(parts) > 3})


def pages_that_import_pages(tree: Tree) -> Iterator[str]:
    folders = page_folders(tree)
    for folder in folders:
        for path in tree:
            if not path.startswith(f"{folder}/"):
                continue
            for name in imports(tree, path):
                target = file_of(tree, name) or ""
                if any(target.startswith(f"{other}/") for other in folders if other != folder):
                    yield f"{path} imports {name} of another page."


def page_arrows_up(tree: Tree) -> Iterator[str]:
    for folder in page_folders(tree):
        yield from arrows_up(tree, folder, PAGE_FLOORS)


def tests_without_a_room(tests: Iterable[str], folders: Iterable[str]) -> Iterator[str]:
    """tests: paths of test files.  folders: all folders of the project."""
    known = {*folders, "house", "browser"}
    for path in tests:
        room = path.removeprefix("tests/").rpartition("/")[0]
        if room not in known and not room.startswith("browser/"):
            yield f"{path} tests {room or 'no folder'}, which is not there."


def tests_that_import_tests(tree: Tree) -> Iterator[str]:
    names = {path.rpartition("/")[2].removesuffix(".py") for path in tree if "/test_" in path} | {"conftest"}
    for path in tree:
        for name in imports(tree, path):
            if name.split(".")[0] == "tests" or name.split(".")[-1] in names and name.split(".")[0] in names:
                yield f"{path} imports the test {name}; what tests share lies in tests/helpers."


def names_hidden_by_modules(tree: Tree) -> Iterator[str]:
    """Public names of a package that are names of its modules too: `import package.name` would give the wrong one."""
    for path, text in tree.items():
        if not path.endswith("/__init__.py"):
            continue
        folder = path.removesuffix("/__init__.py")
        for node in nodes(text):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    name = alias.asname or alias.name
                    module = f"{folder}.{name}".replace("/", ".")
                    inner = f"{node.module}.{alias.name}"
                    if file_of(tree, module) and file_of(tree, inner) is None:
                        yield f"{path} gives {name}, which is the name of a module there too."


def large_without_a_reason(tree: Tree) -> Iterator[str]:
    """Files of llc_core and app that cannot be seen at once and whose first words do not say why."""
    for path, text in tree.items():
        if path.startswith(("llc_core/", "app/")) and text.count("\n") > LARGE:
            first = (ast.get_docstring(parsed(text)) or "").split("\n\n")[0]
            if "Long, since" not in first.replace("\n", " "):
                yield f"{path} has {text.count(chr(10))} lines and does not say why: “… Long, since …”."


FULL = 15
"""Modules of a folder that a reader still finds his way among."""
FLAT = {"llc_core/samplers": "one file for each sampler, and nothing else"}
"""Folder → why it may have more."""


def full_folders(tree: Tree) -> Iterator[str]:
    """Folders with more modules than a reader looks through, `__init__.py` aside."""
    rooms = Counter(path.rpartition("/")[0] for path in tree if not path.endswith("/__init__.py"))
    for folder, count in rooms.items():
        if count > FULL and folder not in FLAT:
            yield f"{folder} has {count} modules; put those of one subject into a folder of their own, so that {FULL} are left."


WRAPPED = 150
"""Characters of a line that still shows whole beside another file."""


def stray_descriptions(tree: Tree) -> Iterator[str]:
    """Strings that describe a name and do not stand right below it, of modules and classes."""
    for path, text in tree.items():
        for body in [parsed(text).body, *(node.body for node in nodes(text) if isinstance(node, ast.ClassDef))]:
            for before, node in pairwise(body):
                said = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
                if said and isinstance(node.value.value, str) and not isinstance(before, ast.Assign | ast.AnnAssign):
                    yield f"{path}, line {node.lineno}: a string describes nothing; it belongs right below a name."


def lines_that_are_not_wrapped(tree: Tree) -> Iterator[str]:
    for path, text in tree.items():
        for number, line in enumerate(text.splitlines(), 1):
            if path.startswith("llc_core/") and len(line) > WRAPPED:
                yield f"{path}, line {number} has {len(line)} characters."


def numbers_of_issues(tree: Tree) -> Iterator[str]:
    """A reader of the code has no list of issues: words say it."""
    for path, text in tree.items():
        for number, line in enumerate(text.splitlines(), 1):
            if re.search(r"\bissues? #?\d", line, re.IGNORECASE):
                yield f"{path}, line {number} names an issue by its number."
