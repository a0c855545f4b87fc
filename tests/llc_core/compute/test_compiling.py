"""A compilation does not fail because another thread's start or end was counted with its own."""

from __future__ import annotations

from pathlib import Path

import pytest

import llc_core
from llc_core.compute.compiling import compiled

pytest.importorskip("numba")


def end_without_a_start() -> bool:
    """Whether a timer is done whose count is as two threads leave it that mixed."""
    from numba.core.event import TimingListener, end_event, install_listener

    listener = TimingListener()
    listener._depth = 1
    with install_listener("numba:compiler_lock", listener):
        end_event("numba:compiler_lock")
    return bool(listener.done)


def test_a_timer_that_missed_its_start_does_not_fail():
    compiled()
    assert end_without_a_start()


def test_numba_itself_fails(monkeypatch):
    from numba.core.event import TimingListener

    compiled()
    monkeypatch.delattr(TimingListener, "_ts")
    with pytest.raises(AttributeError, match="_ts"):
        end_without_a_start()


def test_every_kernel_is_compiled_through_it():
    root = Path(llc_core.__file__).parent
    past = [str(p.relative_to(root)) for p in root.rglob("*.py") if "njit" in p.read_text()]
    assert past == ["compute/compiling.py"]
