"""The compiler of one precision is made once, and never by two threads at a time: numba takes no second pass of one name."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba")

from llc_core.compute import single_precision


def test_a_compiler_is_made_once_and_under_the_lock(monkeypatch):
    made = []

    def make(real):
        made.append((real, single_precision._LOCK.locked()))
        return object()

    monkeypatch.setattr(single_precision, "_PIPELINES", {})
    monkeypatch.setattr(single_precision, "_make", make)
    assert single_precision.pipeline(np.float32) is single_precision.pipeline(np.float32)
    assert single_precision.pipeline(np.float64) is not single_precision.pipeline(np.float32)
    assert made == [(np.float32, True), (np.float64, True)]


def test_both_precisions_have_a_pass_of_their_own():
    assert single_precision.pipeline(np.float32) is not single_precision.pipeline(np.float64)


def test_numba_itself_widens_what_a_plain_number_meets():
    import numba

    def added(x):
        return x + 1

    for options, kind in (({}, "float64"), ({"pipeline_class": single_precision.pipeline(np.float32)}, "float32")):
        function = numba.njit(**options)(added)
        function(np.float32(1))
        assert str(function.nopython_signatures[0].return_type) == kind
