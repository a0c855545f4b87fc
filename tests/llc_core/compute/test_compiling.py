"""A compilation does not fail because another thread's start or end was counted with its own."""

from __future__ import annotations

from pathlib import Path

import pytest

import llc_core
from llc_core.compute.compiling import compiled

pytest.importorskip("numba")


def test_a_timer_that_missed_its_start_does_not_fail():
    from numba.core.event import TimingListener, end_event, install_listener

    import llc_core.compute.compiling  # noqa: F401

    compiled()
    listener = TimingListener()
    listener._depth = 1  # as two threads leave it whose counts mixed
    with install_listener("numba:compiler_lock", listener):
        end_event("numba:compiler_lock")
    assert listener.done


def test_every_kernel_is_compiled_through_it():
    root = Path(llc_core.__file__).parent
    past = [str(p.relative_to(root)) for p in root.rglob("*.py") if "njit" in p.read_text()]
    assert past == ["compute/compiling.py"]
