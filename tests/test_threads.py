"""What belongs to the whole process is used by one thread at a time: visitors of the app share one."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from llc_core.caught import caught
from llc_core.networks import build_model
from llc_core.networks.models import MODELS

MEANWHILE = 0.2
"""Seconds in which a second thread would have done its part if it were let in."""


Work = Callable[[Callable[[], None]], Any]


def beside(work: Work, other: Work) -> tuple[Any, Any]:
    """What two pieces of work return that call their argument halfway: the first then lets the second, in another thread, come to
    its half if it can, and the second waits there for the first to end."""
    found: list[Any] = []
    halfway, ended = threading.Event(), threading.Event()

    def wait() -> None:
        halfway.set()
        ended.wait(30)

    thread = threading.Thread(target=lambda: found.append(other(wait)))

    def meanwhile() -> None:
        thread.start()
        halfway.wait(MEANWHILE)

    mine = work(meanwhile)
    ended.set()
    thread.join(30)
    return mine, found[0]


def alone(work: Work) -> Any:
    return work(lambda: None)


def test_first_weights_do_not_depend_on_who_else_makes_some(monkeypatch):
    def built(seed: int) -> Work:
        def work(halfway: Callable[[], None]) -> torch.Tensor:
            def two() -> nn.Module:
                first = nn.Linear(3, 3)
                halfway()
                return nn.Sequential(first, nn.Linear(3, 3))

            monkeypatch.setitem(MODELS, f"two {seed}", two)
            return torch.cat([p.detach().flatten() for p in build_model(f"two {seed}", seed).parameters()])

        return work

    state = torch.get_rng_state()
    mine, theirs = beside(built(1), built(2))
    assert torch.equal(mine, alone(built(1))) and torch.equal(theirs, alone(built(2)))
    assert torch.equal(torch.get_rng_state(), state)


def test_a_warning_is_caught_in_the_thread_that_raised_it():
    def heard(name: str) -> Work:
        def work(halfway: Callable[[], None]) -> list[str]:
            with caught() as found:
                warnings.warn(f"{name} begins", stacklevel=1)
                halfway()
                warnings.warn(f"{name} ends", stacklevel=1)
            return [str(w.message) for w in found]

        return work

    with warnings.catch_warnings():
        shown, filters = warnings.showwarning, warnings.filters
        assert beside(heard("one"), heard("two")) == (["one begins", "one ends"], ["two begins", "two ends"])
        assert warnings.showwarning is shown and warnings.filters is filters
