"""The reference: one entry for each public name of llc_core, from its signature, its fields and its docstring."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import llc_core
from lab.site.prose import cell, markdown
from llc_core.fields import hyper_fields

GROUPS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "estimates": (
        "Estimates and verdicts",
        ("estimating", "engine", "results", "verdicts", "config", "diagnostics", "types", "auditing"),
    ),
    "losses": ("Losses with a point w0", ("potentials",)),
    "samplers": ("Samplers", ("samplers",)),
    "interactions": ("Interactions of chains", ("interactions",)),
    "exact": ("Exact answers", ("theory", "references")),
    "studies": ("Several runs, one question", ("studies", "sweeps")),
    "functions": ("Ensembles and predictions", ("ensembles",)),
    "line": ("Chains on the line", ("line", "bins")),
}
"""File → its title, and the parts of llc_core whose names it has."""
REST = ("more", "Names and tables")
INDEX = """# Reference

Every public name of `llc_core`, by subject. `[C, D]` is a tensor of C chains and D parameters.

"""
WIDTH = 88
LONGEST_VALUE = 40
WITHOUT_VALUE = inspect.Parameter.empty


def group(name: str) -> str:
    """The file that a public name belongs to."""
    module = getattr(getattr(llc_core, name), "__module__", None) or ""
    part = module.split(".")[1] if module.startswith("llc_core.") else ""
    return next((file for file, (_, parts) in GROUPS.items() if part in parts), REST[0])


def write(folder: Path) -> list[str]:
    """Write all pages into `folder`. Returns their names, index first."""
    folder.mkdir(parents=True, exist_ok=True)
    titles = {file: title for file, (title, _) in GROUPS.items()} | dict([REST])
    index = [INDEX]
    for file, title in titles.items():
        names = sorted(
            {name for name in llc_core.__all__ if group(name) == file}, key=lambda name: (name.lower(), name)
        )
        text = "\n\n".join([f"# {title}", *(entry(name, getattr(llc_core, name)) for name in names)])
        (folder / f"{file}.md").write_text(text + "\n", encoding="utf-8")
        listed = ", ".join(f"[`{name}`]({file}.md#{place})" for name, place in zip(names, places(names), strict=True))
        index.append(f"**{title}**: {listed}.\n")
    index += ["```{toctree}", ":hidden:", "", *titles, "```", ""]
    (folder / "index.md").write_text("\n".join(index), encoding="utf-8")
    return ["index", *titles]


def places(names: list[str]) -> list[str]:
    """The anchors of headings in this order: a name that differs from another in its capitals alone gets a number."""
    plain = [name.lower().strip("_") for name in names]
    counts = [plain[:number].count(name) for number, name in enumerate(plain)]
    return [f"{name}-{count}" if count else name for name, count in zip(plain, counts, strict=True)]


def entry(name: str, value: Any) -> str:
    """Markdown of one public name."""
    if isinstance(value, type):
        return "\n\n".join([f"## {name}", *class_parts(name, value)])
    if callable(value):
        return "\n\n".join([f"## {name}", *function_parts(name, value)])
    said = {"__version__": "The version of this package."}.get(name) or f"A {type(value).__name__}"
    listed = ", ".join(f"`{key}`" for key in value) if isinstance(value, Mapping) else ""
    return f"## {name.strip('_')}\n\n{said}{' of ' + listed if listed else ''}".rstrip(".") + "."


def function_parts(name: str, function: Callable[..., Any]) -> Iterator[str]:
    found = signature(name, function)
    yield f"```python\n{found}\n```"
    yield markdown(inspect.getdoc(function) or "", names(function))


def class_parts(name: str, cls: type[Any]) -> Iterator[str]:
    if not inspect.isabstract(cls):
        yield f"```python\n{signature(name, cls)}\n```"
    yield markdown(inspect.getdoc(cls) or "", {*names(cls), *vars(cls), *getattr(cls, "__annotations__", {})})
    fields = (
        {key: about.help for key, about in hyper_fields(cls).items()} if hasattr(cls, "__dataclass_fields__") else {}
    )
    described = {**{key: words for key, words in fields.items() if words}, **descriptions(cls)}
    if described:
        yield "\n".join(f"- `{key}`: {cell(words)}" for key, words in described.items())
    methods = [line for key, value in vars(cls).items() if not key.startswith("_") for line in method(key, value)]
    if methods:
        yield "\n".join(methods)


def method(name: str, value: Any) -> Iterator[str]:
    """One line for a method or property with a docstring of its own."""
    inner = value.__func__ if isinstance(value, classmethod | staticmethod) else value
    if isinstance(inner, property):
        inner, called = inner.fget, name
    elif hasattr(inner, "func") and not inspect.isfunction(inner):  # a property that is kept
        inner, called = inner.func, name
    elif inspect.isfunction(inner):
        called = " ".join(signature(name, inner, own=not isinstance(value, staticmethod)).split())
    else:
        return
    said = inspect.getdoc(inner) if inner.__doc__ else ""
    if said:
        yield f"- **`{called}`** {cell(said)}"


def names(value: Any) -> list[str]:
    try:
        return list(inspect.signature(value).parameters)
    except (TypeError, ValueError):
        return []


def signature(name: str, value: Any, own: bool = False) -> str:
    """How it is called, in one line or with a line for each parameter.

    own: whether the first parameter, the instance or the class, is left out.
    """
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):  # some classes of other libraries have none
        return name
    parameters = list(found.parameters.values())[1 if own else 0 :]
    parts, keyword = [], False
    for each in parameters:
        if each.kind is each.KEYWORD_ONLY and not keyword:
            parts.append("*")
        keyword = keyword or each.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL)
        parts.append(parameter(each))
    returned = "" if isinstance(value, type) or found.return_annotation is WITHOUT_VALUE else annotated(found)
    line = f"{name}({', '.join(parts)}){returned}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"{name}(", *(f"    {part}," for part in parts), f"){returned}"])


def annotated(found: inspect.Signature) -> str:
    return f" -> {words(found.return_annotation)}"


def parameter(each: inspect.Parameter) -> str:
    stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
    kind = "" if each.annotation is WITHOUT_VALUE else f": {words(each.annotation)}"
    if each.default is WITHOUT_VALUE:
        return f"{stars}{each.name}{kind}"
    value = repr(each.default)
    short = value if len(value) <= LONGEST_VALUE and not value.startswith("<") else "..."
    return f"{stars}{each.name}{kind}{' = ' if kind else '='}{short}"


def words(annotation: Any) -> str:
    """An annotation as it is written."""
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def descriptions(cls: type[Any]) -> dict[str, str]:
    """Name → the string that stands right below it in the class."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError):
        return {}
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    found: dict[str, str] = {}
    for before, node in zip(body, body[1:], strict=False):
        said = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        names = [before.target] if isinstance(before, ast.AnnAssign) else getattr(before, "targets", [])
        if said and isinstance(before, ast.Assign | ast.AnnAssign):
            found |= {each.id: node.value.value for each in names if isinstance(each, ast.Name)}
    return {name: text for name, text in found.items() if not name.startswith("_")}
