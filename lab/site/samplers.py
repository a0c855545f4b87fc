"""The page of samplers and interactions, made from their registries: what a step is, where it converges to, source, caveat."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from lab.site.prose import cell, plain
from llc_core.fields import Hyper, default_of, hyper_fields
from llc_core.interactions import interactions
from llc_core.samplers import samplers

DISTRIBUTION = re.compile(r"^Distribution: (.*?)(?=\n\s*\n|\nSource|\Z)", re.S | re.M)
HEAD = """# Samplers

This page is made from the samplers themselves. U is the energy nβ·L(w) + (γ/2)‖w − w0‖², ε the step size, and ξ are
standard normals. The [ideas](ideas.md) say what the words mean.

"""


def page() -> str:
    """Markdown: a table of all samplers, then one section each, then the interactions."""
    every = samplers(conditionals=True, priors=True)
    chosen = interactions()
    rows = [
        f"| [{plain(cls.label)}](#{name.lower()}) | {target(cls())} | {cell(cls.source)} |"
        for name, cls in every.items()
    ]
    table = ["| sampler | samples the target as ε → 0 | source |", "|---|---|---|", *rows, ""]
    parts = [HEAD, "\n".join(table), *(section(name, cls) for name, cls in every.items())]
    parts += ["# Interactions\n\nChains that act on one another, and ladders of temperatures.\n"]
    return "\n".join([*parts, *(section(name, cls) for name, cls in chosen.items())])


def target(sampler: Any) -> str:
    if sampler.law() is None:
        return "diverges"
    return "yes" if sampler.exact_law else "**no**"


def section(name: str, cls: type[Any]) -> str:
    """One sampler or interaction: its step, its words, its distribution, the caveats, and what may be set."""
    parts = [f"## {name}", ""]
    formula = getattr(cls, "formula", "")
    if formula:
        parts += [f"$$\n{formula}\n$$", ""]
    parts += [plain(cls.about), ""]
    found = DISTRIBUTION.search(inspect.getdoc(cls) or "")
    if found:
        parts += [f"**It converges to:** {cell(found[1])}", ""]
    parts += [f"**Caveat:** {cell(words)}\n" for words in caveats(cls)]
    if cls.source:
        parts += [f"**Source:** {cell(cls.source)}", ""]
    fields = hyper_fields(cls)
    if fields:
        parts += ["| setting | usual | range | what it does |", "|---|---|---|---|"]
        parts += [row(key, about, default_of(cls, key)) for key, about in fields.items()]
    return "\n".join([*parts, ""])


def caveats(cls: type[Any]) -> list[str]:
    """What is known against the usual settings and against each other choice of a named option, each once."""
    usual = cls()
    kinds = [usual]
    for name, about in hyper_fields(cls).items():
        for option in about.choices:
            with suppress(ValueError):  # what an option asks of other settings is said where it is chosen
                kinds.append(replace(usual, **{name: option}))
    return list(dict.fromkeys(words for kind in kinds if (words := kind.caveat())))


def row(name: str, about: Hyper, default: Any) -> str:
    symbol = f" (${about.symbol}$)" if about.symbol else ""
    usual = "automatic" if default is None else shown(default)
    return f"| `{name}`{symbol} | {usual} | {', '.join(extent(about))} | {cell(about.help)} |"


def extent(about: Hyper) -> Iterator[str]:
    """What may be chosen, as words."""
    if about.choices:
        yield from (f"`{choice}`" for choice in about.choices)
    elif about.kind == "bool":
        yield "`True` or `False`"
    elif math.isfinite(about.low) and math.isfinite(about.high):
        yield f"{about.low:g} to {about.high:g}"
    elif math.isfinite(about.low):
        yield f"{'above' if about.open_low else 'from'} {about.low:g}"
    elif math.isfinite(about.high):
        yield f"{'below' if about.open_high else 'up to'} {about.high:g}"


def shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else f"`{value}`"
