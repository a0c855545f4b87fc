"""What the problems and runs of all visitors may take together, of the machine and of its card: many paused visitors would fill them
one by one.

Everything that lives long claims its priced bytes before it is made, and gives them back when it is over. Prices are upper
bounds, see `app.runs.allowance`.
"""

from __future__ import annotations

import contextlib
import gc
import math
import os
import threading
from collections.abc import Callable, Iterator
from functools import cache, partial
from weakref import WeakSet

TOTAL_MEMORY = "LLC_LAB_TOTAL_MEMORY"
"""The megabytes that all runs and problems may take together, in the environment."""
VISITOR_MEMORY = "LLC_LAB_VISITOR_MEMORY"
"""The megabytes that one run of a visitor may take, in the environment: its problem as many, and its chains as many."""
DEFAULT_MEGABYTES = 600.0
"""Room for 32 chains of 200,000 parameters, and in float32 for a sweep of 12 × 4 chains of them."""
SHARE = 0.5
"""Of the machine's memory, where nothing is set: the libraries and the pages' own objects need the rest."""
SMALL = 16 * 2**20
"""What takes less is counted and never refused: a page opens with such a run, and is itself no smaller."""
UNKNOWN_MACHINE = 4096.0
"""Megabytes, where the system does not say how many it has."""


class Claim:
    """Bytes that are taken until `release`, or until nobody holds the claim any more."""

    def __init__(self, size: float):
        self.size = float(size)

    def release(self) -> None:
        self.size = 0.0


class Account:
    """total: the bytes that there are, asked for at every claim."""

    def __init__(self, total: Callable[[], float]):
        self._total = total
        self._lock = threading.Lock()
        self._claims: WeakSet[Claim] = WeakSet()
        self._spare: list[Callable[[], object]] = []

    @property
    def taken(self) -> float:
        return sum(claim.size for claim in list(self._claims))

    def when_short(self, free: Callable[[], object]) -> None:
        """free: called before anybody is refused; lets go of what is kept for convenience alone."""
        self._spare.append(free)

    def claim(self, size: float, what: str, instead_of: Claim | None = None) -> Claim:
        """Take bytes. ValueError, one sentence, where there are not enough; nothing has changed then.

        what: stands in that sentence.  instead_of: a claim that will be released once this one is used; it may be on another account.
        """
        if not self._fits(size, instead_of):
            for free in self._spare:
                free()
            gc.collect()
        with self._lock:
            if not self._fits(size, instead_of):
                raise ValueError(
                    f"{what} needs {size / 2**20:,.0f} MB, and the runs of all visitors have taken {self.taken / 2**20:,.0f} "
                    f"of this server's {self._total() / 2**20:,.0f} MB. Use fewer chains or a smaller problem, or try again "
                    "when another page has been closed."
                )
            made = Claim(size)
            self._claims.add(made)
            return made

    @contextlib.contextmanager
    def room(self, size: float, what: str) -> Iterator[None]:
        """Bytes for as long as something is worked out; ValueError as `claim`."""
        held = self.claim(size, what)
        try:
            yield
        finally:
            held.release()

    def _fits(self, size: float, instead_of: Claim | None) -> bool:
        if size <= SMALL:
            return True
        own = instead_of.size if instead_of is not None and instead_of in self._claims else 0.0
        return self.taken - own + size <= self._total()


def megabytes_of(variable: str, default: float, example: float) -> float:
    """The environment's number, or `default` where it says none; ValueError where it is no number above 0."""
    text = os.environ.get(variable, "")
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise ValueError(f"{variable} is {text!r}; set it to a number of megabytes above 0, such as {example:g}.")
    return value


def total_memory() -> float:
    """Bytes for all runs and problems together; ValueError where the environment says nonsense."""
    return megabytes_of(TOTAL_MEMORY, SHARE * _machine() / 2**20, 4000) * 2**20


def give_everything() -> None:
    """One person uses this server: a run may take what all may take together, if the environment does not say how much."""
    if not os.environ.get(VISITOR_MEMORY):
        os.environ[VISITOR_MEMORY] = f"{max(DEFAULT_MEGABYTES, total_memory() / 2**20):.0f}"


def is_card(device: str | None) -> bool:
    """Whether runs on this device take memory of its own, and not the machine's."""
    return str(device or "").startswith("cuda")


def card_memory(device: str) -> float:
    """Bytes for all runs on a card together."""
    from llc_core.engine.machine import room_for_runs

    return room_for_runs(device)


def account(device: str | None = None) -> Account:
    """The one account of this process for a card, or for the machine."""
    return _account(device if is_card(device) else None)


@cache
def _account(card: str | None) -> Account:
    return Account(total_memory if card is None else partial(card_memory, card))


@cache
def _machine() -> float:
    """Bytes of memory: the machine's, or those that a container may use where these are fewer."""
    found = UNKNOWN_MACHINE * 2**20
    with contextlib.suppress(ValueError, OSError, AttributeError):
        found = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    # Where there is no container there is no such file; one without a limit says "max".
    with contextlib.suppress(OSError, ValueError), open("/sys/fs/cgroup/memory.max", encoding="ascii") as file:
        found = min(found, float(file.read()))
    return found
