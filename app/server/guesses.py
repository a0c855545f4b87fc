"""Wrong passwords make the next ones wait: twice as long each time, by the address they come from and by the name they try."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

FIRST_SECONDS = 1.0
"""The first wait; each further failure doubles it."""
MOST_ENTRIES = 10_000
"""Addresses, and names, that are remembered: a table that guesses fill must not grow."""


@dataclass(frozen=True)
class Patience:
    """free: failures before the first wait.  longest: seconds of the longest wait.  forgiven: seconds that undo one failure."""

    free: int
    longest: float
    forgiven: float


ADDRESS = Patience(free=20, longest=60.0, forgiven=30.0)
"""A class may sit behind one address, and everybody may mistype a password."""
NAME = Patience(free=4, longest=30.0, forgiven=60.0)
"""Short, since whoever knows a name could keep its owner out."""


@dataclass
class _Entry:
    failures: float = 0.0
    seen: float = 0.0
    ready: float = 0.0
    """When the next guess is looked at."""


class _Table:
    def __init__(self, patience: Patience, most: int):
        self._patience, self._most = patience, most
        self._entries: OrderedDict[str, _Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def wait(self, key: str, now: float) -> float:
        entry = self._entries.get(key)
        return max(0.0, entry.ready - now) if entry is not None else 0.0

    def count(self, key: str, now: float) -> None:
        """One more guess, taken for wrong until `forgive` says otherwise: guesses side by side are not free."""
        entry = self._entries.setdefault(key, _Entry(seen=now))
        self._entries.move_to_end(key)
        forgiven = (now - entry.seen) / self._patience.forgiven
        entry.failures, entry.seen = max(0.0, entry.failures - forgiven) + 1, now
        over = entry.failures - self._patience.free
        if over > 0:
            entry.ready = now + min(self._patience.longest, FIRST_SECONDS * 2 ** min(over - 1, 30.0))
        while len(self._entries) > self._most:
            self._entries.popitem(last=False)

    def forgive(self, key: str, everything: bool) -> None:
        entry = self._entries.get(key)
        if entry is not None:
            entry.failures = 0.0 if everything else max(0.0, entry.failures - 1)
            entry.ready = 0.0 if everything else entry.ready


class Guesses:
    """Nothing here waits: a guess that comes too soon is not looked at. clock: seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, most: int = MOST_ENTRIES):
        self._clock = clock
        self._addresses, self._names = _Table(ADDRESS, most), _Table(NAME, most)

    def __len__(self) -> int:
        return len(self._addresses) + len(self._names)

    def begin(self, address: str, name: str) -> float:
        """0 where a guess may be looked at, which is then counted; else the seconds to wait."""
        now, address = self._clock(), network(address)
        wait = max(self._addresses.wait(address, now), self._names.wait(name, now))
        if not wait:
            self._addresses.count(address, now)
            self._names.count(name, now)
        return wait

    def right(self, address: str, name: str) -> None:
        """The guess that was begun is the password. The address keeps its failures: it may have one account and try others."""
        self._addresses.forgive(network(address), everything=False)
        self._names.forgive(name, everything=True)


def network(address: str) -> str:
    """Whose address it is: one customer has 2⁶⁴ of IPv6."""
    try:
        found = ipaddress.ip_address(address.split("%")[0])
    except ValueError:
        return address[:64]
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ipaddress.IPv6Network((int(found), 64), strict=False))
    return str(found)
