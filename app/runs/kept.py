"""Results that sessions share, by the text of what was asked for; those that were used least recently go first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Kept(Generic[T]):
    """At most `most` results, and as many as `room` bytes hold, of which each takes what `get` was told."""

    def __init__(self, most: int, room: Callable[[], float] = lambda: float("inf")):
        self._most, self._room = most, room
        self._lock = threading.Lock()
        self._results: OrderedDict[str, tuple[T, float]] = OrderedDict()

    def __contains__(self, key: str) -> bool:
        with self._lock:
            return key in self._results

    @property
    def held(self) -> float:
        """Bytes of all results."""
        with self._lock:
            return sum(size for _, size in self._results.values())

    def get(self, key: str, make: Callable[[], T], size: float = 0.0) -> T:
        """The result, made where it is not there. size: its bytes; where they have grown since it was made, they count."""
        with self._lock:
            found = self._results.get(key)
        made = make() if found is None else found[0]
        with self._lock:
            known = self._results.pop(key, (made, 0.0))
            if size <= self._room():  # what is larger is not kept, and drives nothing else out
                self._results[key] = known[0], max(size, known[1])
            while self._results and (len(self._results) > self._most or self._sum() > self._room()):
                self._results.popitem(last=False)
        return known[0]

    def forget(self) -> None:
        with self._lock:
            self._results.clear()

    def _sum(self) -> float:
        return sum(size for _, size in self._results.values())
