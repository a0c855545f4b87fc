"""What the page asks for: a store and a configuration of it. What takes long says so, and is done in a thread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.pages.benchmark.config import BenchmarkConfig, nearest
from app.pages.benchmark.panels.results import Answer, answer_of
from app.pages.benchmark.scene import OpenStore, is_quick, open_store
from app.runs.apart import only_unhurried

QUICK_ROWS = 30_000
"""Up to so many are judged between two frames."""


@dataclass(frozen=True)
class Chosen:
    """ranks_chosen: whether the visitor, a preset or a link has chosen the ranks."""

    store: OpenStore
    config: BenchmarkConfig
    ranks_chosen: bool


def opened(name: str, there: Mapping[str, Path]) -> OpenStore:
    """As `open_store`. On the event loop it may be `TakesLong`, see `app.runs.apart`."""
    only_unhurried(name in there and not is_quick(there[name]), f"Reading “{name}” …")
    return open_store(name, there)


def nearest_of(store: OpenStore, wanted: BenchmarkConfig, ranks_chosen: bool) -> Chosen:
    """The nearest configuration that the store has. On the event loop it may be `TakesLong`."""
    _only_short(store)
    return Chosen(store, nearest(wanted, store.content.rows, ranks_chosen), ranks_chosen)


def judged(found: Chosen) -> Answer:
    """On the event loop it may be `TakesLong`."""
    _only_short(found.store)
    return answer_of(found.config, found.store.content.rows)


def _only_short(store: OpenStore) -> None:
    only_unhurried(len(store.content.rows) > QUICK_ROWS, "Judging the runs …")
