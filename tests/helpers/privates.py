"""Private names of other libraries: which of them the project uses, and why it may. The rules are those of `house`."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Iterator, Mapping
from functools import reduce

from house import Tree, parsed

OWN = {"llc_core", "app", "lab", "tests"}
OF_TUPLES = {"_replace", "_asdict", "_fields", "_make"}
"""Names of named tuples, which Python's own documentation gives to everybody."""
OF_COMPONENTS = {"_esm", "_stylesheets", "_handle_msg", "_send_msg"}
"""Names that Panel's own documentation gives to whoever writes a component."""
PRIVATE = re.compile(r"_[a-z]\w*")
KEPT = {
    ("llc_core/compute/compiling.py", "_ts"): "a patch, which the engine needs without the app",
    **{
        ("llc_core/compute/kept_kernels.py", name): "a patch, which the engine needs without the app"
        for name in ("_cache", "_cache_path", "_impl", "_index_key", "_load_overload", "_save_overload")
    },
    ("llc_core/decisions/linear_agent.py", "_standard_gamma"): "torch has no other gamma draw that takes a generator",
    (
        "llc_core/potentials/module/passes/layers.py",
        "_forward_hooks",
    ): "torch has no question whether a module has hooks",
    (
        "llc_core/potentials/module/passes/layers.py",
        "_forward_pre_hooks",
    ): "torch has no question whether a module has hooks",
    (
        "llc_core/potentials/module/passes/layers.py",
        "_orig_mod",
    ): "torch.compile has no other name for the module that it was given",
    (
        "llc_core/potentials/module/parameters.py",
        "_orig_mod",
    ): "torch.compile has no other name for the module that it was given",
    ("llc_core/potentials/module/passes/any_module.py", "_scaled_dot_product_attention_math"): (
        "torch's other way to plain products is a setting of the whole thread"
    ),
    (
        "llc_core/potentials/module/passes/operations.py",
        "_python_dispatch",
    ): "torch's documentation has TorchDispatchMode there",
    ("lab/benchmarks/speed/memory.py", "_python_dispatch"): "torch's documentation has TorchDispatchMode there",
    ("lab/benchmarks/speed/memory.py", "_pytree"): "torch has no other name for it yet",
}
"""(file, name) → why it may use this private name of another library outside `app/patches`."""


def foreign_privates(tree: Tree) -> Iterator[str]:
    """Names with an underscore that belong to other libraries: by their import, or since nothing here makes such a name."""
    made = re.compile(r"(?:def |class |\b(?:self|cls)\.|^\s*|\bself, \")(_[a-z]\w*)", re.MULTILINE)
    own = OF_TUPLES.union(*(made.findall(text) for path, text in tree.items() if not path.startswith("tests/")))
    for path, text in tree.items():
        if not path.startswith(("app/patches/", "tests/")) and re.search(r"[.\"]_[a-z]| import _[a-z]", text):
            module = parsed(text)
            for line, name in sorted(privates_taken(module, own) | privates_inherited(module)):
                if (path, name) not in KEPT:
                    yield f"{path}, line {line}: {name} is private to another library; app/patches has what must be."


def privates_taken(module: ast.Module, own: set[str]) -> set[tuple[int, str]]:
    """(line, name) of each.  own: names that are made here, and so are not another library's where it is not known whose.

    Python documents its own names with an underscore.
    """
    found: set[tuple[int, str]] = set()
    foreign: dict[str, bool] = {}
    walked = list(ast.walk(module))
    for node in walked:
        if isinstance(node, ast.Import | ast.ImportFrom):
            given = isinstance(node, ast.ImportFrom)
            for alias in node.names:
                parts = [*(node.module or "").split("."), alias.name] if given else alias.name.split(".")
                bound = alias.asname or (alias.name if given else parts[0])
                foreign[bound] = parts[0] not in OWN and parts[0] not in sys.stdlib_module_names
                if foreign[bound]:
                    found |= {(node.lineno, part) for part in parts if PRIVATE.fullmatch(part)}
    for node in walked:
        if isinstance(node, ast.Attribute) and PRIVATE.fullmatch(node.attr):
            holder, name = node.value, node.attr
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("getattr", "setattr", "hasattr")
        ):
            holder, asked = node.args[:2]
            name = str(asked.value) if isinstance(asked, ast.Constant) else ""
        else:
            continue
        root = first_name(holder)
        theirs = foreign.get(root, root not in ("self", "cls", "super") and name not in own)
        if PRIVATE.fullmatch(name) and theirs:
            found.add((node.lineno, name))
    return found


def privates_inherited(module: ast.Module) -> set[tuple[int, str]]:
    """(line, name) of each that a class shares with a base of another library: what it overrides, sets and calls.

    A base may set names in its methods, which it does not show: what a class uses and does not make is its base's too.
    """
    whence: dict[str, tuple[str, str]] = {}
    walked = list(ast.walk(module))
    for node in walked:
        if isinstance(node, ast.Import):
            whence |= {each.asname or each.name: (each.name, "") for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            whence |= {each.asname or each.name: (node.module, each.name) for each in node.names}
    found: set[tuple[int, str]] = set()
    for node in walked:
        if isinstance(node, ast.ClassDef) and (
            bases := list(filter(None, (foreign_base(b, whence) for b in node.bases)))
        ):
            theirs = {name for base in bases for name in dir(base)}
            used = {(part.lineno, part.attr) for part in ast.walk(node) if of_the_instance(part)}
            made = {
                (part.lineno, name)
                for part in ast.walk(node)
                for name in [getattr(part, "name", "") or getattr(part, "attr", "") or getattr(part, "id", "")]
                if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)
                or isinstance(getattr(part, "ctx", None), ast.Store)
            }
            own = (
                {name for _, name in made} - theirs
                if len(bases) == len(node.bases)
                else {name for _, name in used} - theirs
            )
            found |= {(line, name) for line, name in used | made if PRIVATE.fullmatch(name) and name not in own}
    return {(line, name) for line, name in found if name not in OF_COMPONENTS}


def of_the_instance(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("self", "cls", "super()")


def foreign_base(node: ast.expr, whence: Mapping[str, tuple[str, str]]) -> type | None:
    """The class of another library that a base is; None for all others.  whence: name → module and what is taken from it."""
    first, *rest = ast.unparse(node.value if isinstance(node, ast.Subscript) else node).split(".")
    module, name = whence.get(first, ("", ""))
    if not module or module.split(".")[0] in OWN or module.split(".")[0] in sys.stdlib_module_names:
        return None
    found = reduce(getattr, [*filter(None, [name]), *rest], importlib.import_module(module))
    return found if isinstance(found, type) else None


def first_name(node: ast.AST) -> str:
    """`a` of `a.b[0].c(d)`; empty where it begins with no name."""
    while not isinstance(node, ast.Name):
        inner = getattr(node, "value", None) or getattr(node, "func", None)
        if not isinstance(inner, ast.AST):
            return ""
        node = inner
    return node.id


def foreign_privates_of_scripts(tree: Tree) -> Iterator[str]:
    """The same of scripts, which have no private names of their own."""
    for path, text in tree.items():
        for number, line in enumerate(text.splitlines(), 1):
            if not path.startswith("app/patches/") and re.search(r"\._[a-z]", line):
                yield f"{path}, line {number} takes a name that is private to another library."
