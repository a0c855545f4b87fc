"""The compiler of one precision is made once, however many threads ask for it at a time."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

pytest.importorskip("numba")

from llc_core.compute import single_precision


def test_threads_that_ask_at_once_get_one_compiler(monkeypatch):
    made, gate = [], threading.Barrier(4)

    def slow(real):
        made.append(real)
        threading.Event().wait(0.05)
        return object()

    def ask(_):
        gate.wait()
        return single_precision.pipeline(np.float32)

    monkeypatch.setattr(single_precision, "_PIPELINES", {})
    monkeypatch.setattr(single_precision, "_make", slow)
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(ask, range(4)))) == 1
    assert made == [np.float32]
