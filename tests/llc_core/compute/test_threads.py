"""What belongs to the whole process is used by one thread at a time: visitors of the app share one."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from llc_core import DeepLinearNetwork, NetworkPotential
from llc_core.compute import precision as products
from llc_core.compute.quiet import catching_warnings
from llc_core.networks import build_model
from llc_core.networks.models import MODELS
from llc_core.potentials.deep_linear.data import KeptBatches

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
            with catching_warnings() as found:
                warnings.warn(f"{name} begins", stacklevel=1)
                halfway()
                warnings.warn(f"{name} ends", stacklevel=1)
            return [str(w.message) for w in found]

        return work

    with warnings.catch_warnings():
        shown, filters = warnings.showwarning, warnings.filters
        assert beside(heard("one"), heard("two")) == (["one begins", "one ends"], ["two begins", "two ends"])
        assert warnings.showwarning is shown and warnings.filters is filters


def test_a_warning_of_another_thread_is_its_own():
    def mine(halfway: Callable[[], None]) -> list[str]:
        with catching_warnings() as found:
            halfway()
        return [str(w.message) for w in found]

    def other(halfway: Callable[[], None]) -> None:
        warnings.warn("of the other", stacklevel=1)
        halfway()

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        assert beside(mine, other)[0] == []
    assert [str(w.message) for w in heard] == ["of the other"]


class Stops(nn.Module):
    """Calls back between its two layers, in the thread and pass in which it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = nn.Linear(3, 4), nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.tanh(self.one(x))
        call = HALFWAY.pop(threading.get_ident(), None)
        if call is not None:
            call()
        return self.two(x)


HALFWAY: dict[int, Callable[[], None]] = {}


@pytest.mark.parametrize("method", ["vmap", "loop"])
def test_two_runs_may_share_a_potential(method):
    data = torch.randn(12, 3), torch.randn(12, 2)
    shared = NetworkPotential(Stops(), "mse", data, method=method)
    shared.excess_loss_and_grad(torch.zeros(2, shared.dim))  # the losses at w0 are taken once

    def at(scale: float) -> Work:
        def work(halfway: Callable[[], None]) -> list[torch.Tensor]:
            HALFWAY[threading.get_ident()] = halfway
            return list(shared.excess_loss_and_grad(torch.full((2, shared.dim), scale)))

        return work

    found = beside(at(0.1), at(0.2))
    for each, scale in zip(found, (0.1, 0.2), strict=True):
        assert all(torch.equal(a, b) for a, b in zip(each, alone(at(scale)), strict=True))


def test_a_batch_that_two_threads_learn_is_right(monkeypatch):
    problem = DeepLinearNetwork.random("1K", seed=3, n=10**4)
    product, calls = torch.mm, {}

    def slow(*args: Any, **kwargs: Any) -> torch.Tensor:
        result = product(*args, **kwargs)
        call = calls.pop(threading.get_ident(), None)
        if call is not None:
            call()
        return result

    def learns(kept: KeptBatches) -> Work:
        def work(halfway: Callable[[], None]) -> torch.Tensor:
            calls[threading.get_ident()] = halfway
            kept.draw(torch.Generator().manual_seed(0), 1)
            return kept.draw(torch.Generator().manual_seed(0), 1)[0]

        return work

    monkeypatch.setattr(torch, "mm", slow)
    both, single = (KeptBatches(problem.data, 20, 500, torch.device("cpu"), torch.float32) for _ in range(2))
    mine, theirs = beside(learns(both), learns(both))
    truth = alone(learns(single))
    assert torch.equal(mine, truth) and torch.equal(theirs, truth)


def test_short_products_are_allowed_until_the_last_run_is_through(monkeypatch):
    monkeypatch.setenv(products.VARIABLE, "tf32")

    def run(halfway: Callable[[], None]) -> list[str]:
        seen = []
        with products.tf32_if_asked():
            halfway()
            seen.append(torch.get_float32_matmul_precision())
        return [*seen, torch.get_float32_matmul_precision()]

    before = torch.get_float32_matmul_precision()
    assert beside(run, run) == (["high", "high"], ["high", before])
