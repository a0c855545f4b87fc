"""The configuration of the page "Benchmark": which runs of a store are shown, and what they are judged by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.fields import FieldError, Settings, choice, hyper, short
from llc_core.sweeps.judging import selected
from llc_core.sweeps.series import ESTIMATORS, GRADIENTS, PAPER, TRUTHS, Row, present
from llc_core.sweeps.table import Table

EVERY = "all"
"""Stands for no filter; in links it is written “all”."""
FILTERS = ("size_class", "ranks", "gradient")
MEASURES = ("relative_error", "mean_against_sd", "order_preservation", "nan_share")
"""What the charts can show."""


LATER = {"measure": MEASURES[0], "nan_filter": True, "cut": True}
"""Settings that links and files of before them do not have, and what they then are."""


def _text(label: str, value: Any) -> str:
    if not isinstance(value, str):
        raise FieldError(label, f"is {short(value)}; give a name.")
    return value


def _hidden(label: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise ValueError(f"{label} is {short(value)}; give a list of samplers.")
    return tuple(dict.fromkeys(value))


@dataclass(frozen=True)
class BenchmarkConfig(Settings):
    """store: by name, "" for none.  size_class, ranks, gradient: one value of the store, or "all".

    hidden: samplers that are not shown.  estimator, truth: keys of ESTIMATORS and TRUTHS.  spread: whether bands are drawn.
    measure: one of MEASURES, which the charts show.  nan_filter: whether mean against sd leaves out step sizes at which a
    tenth of the problems or more have no estimate.  cut: whether an estimate above 100 times half the parameters is none.
    """

    store: str = hyper("", read=_text)
    size_class: str = hyper(EVERY, read=_text)
    ranks: str = hyper(EVERY, read=_text)
    gradient: str = hyper(EVERY, read=_text)
    hidden: tuple[str, ...] = hyper((), read=_hidden)
    estimator: str = hyper("same_batch", choices=tuple(ESTIMATORS))
    truth: str = hyper("expected", choices=tuple(TRUTHS))
    spread: bool = hyper(True)
    measure: str = hyper(MEASURES[0], choices=MEASURES)
    nan_filter: bool = hyper(True)
    cut: bool = hyper(True)

    def to_dict(self) -> dict[str, Any]:
        """Without what came later where it is as it was before: links and files of then stay the same."""
        return {name: value for name, value in super().to_dict().items() if LATER.get(name) != value}

    def rows(self, rows: Sequence[Row]) -> Table:
        """Those that are chosen, hidden samplers included."""
        return selected(Table.of(rows), {n: {getattr(self, n)} for n in FILTERS if getattr(self, n) != EVERY})


def options(rows: Sequence[Row]) -> dict[str, list[str]]:
    """What can be chosen of these rows."""
    sizes = sorted(present(rows, "size_class"), key=lambda name: (_size(name), name))
    return {
        "size_class": sizes,
        "ranks": present(rows, "ranks", ("equal", "paper", "full")),
        "gradient": present(rows, "gradient", GRADIENTS),
        "sampler": present(rows, "sampler", PAPER),
    }


def read_config(values: Mapping[str, Any], rows: Sequence[Row]) -> BenchmarkConfig:
    """The configuration in a link or file for a store with these rows; ValueError, one sentence, for anything else."""
    found, there = BenchmarkConfig.from_dict(values), options(rows)
    for name in FILTERS:
        choice(name, getattr(found, name), (EVERY, *there[name]))
    if any(name not in there["sampler"] for name in found.hidden):
        raise ValueError(f"hidden must list samplers of this store: {', '.join(there['sampler']) or 'it has none'}.")
    return found


def fitting(wanted: BenchmarkConfig, rows: Sequence[Row]) -> BenchmarkConfig:
    """The same configuration where another store has what it names; where it has not, all."""
    there = options(rows)
    kept = {name: getattr(wanted, name) if getattr(wanted, name) in there[name] else EVERY for name in FILTERS}
    hidden = tuple(name for name in wanted.hidden if name in there["sampler"])
    return wanted.replace(**kept, hidden=hidden)


def same_ranks(rows: Sequence[Row]) -> bool:
    """Whether all samplers with all their gradients ran on networks of the same kinds of ranks.

    How many networks of a kind each has run does not count: while a sweep runs these numbers always differ.
    """
    table = Table.of(rows)
    sizes, ranks, samplers, gradients = (table.names[n] for n in ("size_class", "ranks", "sampler", "gradient"))
    shape = tuple(len(column.values) or 1 for column in (sizes, samplers, gradients, ranks))
    there = np.zeros(shape, dtype=bool)
    there[sizes.codes, samplers.codes, gradients.codes, ranks.codes] = True
    of_size = there.any(axis=(1, 2), keepdims=True)  # [size, 1, 1, ranks]
    ran = there.any(axis=3, keepdims=True)
    return bool((there == of_size)[np.broadcast_to(ran, shape)].all())


def comparable(wanted: BenchmarkConfig, rows: Sequence[Row]) -> BenchmarkConfig:
    """The same configuration, with one kind of ranks where samplers ran on different networks: the kind of most runs."""
    if wanted.ranks != EVERY or same_ranks(chosen := wanted.rows(rows)):
        return wanted
    ranks = chosen.names["ranks"]
    counts = ranks.counts()
    most = np.flatnonzero(counts[ranks.codes] == counts.max())[0]  # of several the one that comes first
    return wanted.replace(ranks=ranks.values[ranks.codes[most]])


def nearest(wanted: BenchmarkConfig, rows: Sequence[Row], ranks_chosen: bool) -> BenchmarkConfig:
    """The nearest configuration that a store with these rows has.

    Until somebody has chosen the ranks it has all of them, or one kind where samplers ran on different networks.
    """
    if ranks_chosen:
        return fitting(wanted, rows)
    return comparable(fitting(wanted.replace(ranks=EVERY), rows), rows)


def _size(name: str) -> float:
    """1K before 10K before 1M; widths by the parameters they make."""
    widths = name.split("-")
    if len(widths) > 1 and all(part.isdigit() for part in widths):
        return float(sum(int(a) * int(b) for a, b in zip(widths, widths[1:], strict=False)))
    units = {"K": 1e3, "M": 1e6, "B": 1e9}
    try:
        return float(name[:-1]) * units[name[-1:]]
    except (KeyError, ValueError):
        return float("inf")
