"""A kernel is taken where its numbers are the processor's, and nowhere else. What runs on a GPU: tests/llc_core/engine/test_gpu.py."""

import sys
from types import SimpleNamespace

import pytest
import torch

from llc_core.compute import gpu
from llc_core.compute.philox import normals


def right(out, seed, step):
    return out.copy_(normals(seed, step, tuple(out.shape), torch.float64))


def wrong_in_one_place(out, seed, step):
    right(out, seed, step)[1, 2, 4999] += 1e-3
    return out


def unfilled(out, seed, step):
    return out


def without_a_compiler(out, seed, step):
    raise RuntimeError("no C compiler")


@pytest.mark.parametrize(
    "kernel, taken", [(right, True), (wrong_in_one_place, False), (unfilled, False), (without_a_compiler, False)]
)
def test_a_kernel_is_taken_only_where_it_gives_the_same_numbers(monkeypatch, kernel, taken):
    monkeypatch.setattr(gpu.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setitem(sys.modules, "llc_core.compute.philox_triton", SimpleNamespace(fill_normals=kernel))
    gpu.kernel_agrees.cache_clear()
    assert gpu.kernel_agrees(torch.device("cpu")) is taken
    gpu.kernel_agrees.cache_clear()


def test_a_processor_makes_its_own_normals():
    assert not gpu.makes_normals(torch.zeros(1, 2, 3))


@pytest.mark.parametrize(
    "asked, numbers, steps, known, kernel, way",
    [
        (None, 2 * 10**7, 10_000, True, True, "fused"),
        (None, 2 * 10**6, 10_000, True, True, "plain"),
        (None, 640, 40_000, True, True, "fused"),
        (None, 640, 39_999, True, True, "plain"),
        (None, 2 * 10**7, 50_000, False, True, "plain"),
        (None, 2 * 10**7, 50_000, True, False, "plain"),
        ("graphs", 1, 1, False, False, "graphs"),
        ("plain", 2 * 10**7, 50_000, True, True, "plain"),
    ],
)
def test_the_work_decides_where_nobody_asks(monkeypatch, asked, numbers, steps, known, kernel, way):
    monkeypatch.delenv(gpu.VARIABLE, raising=False)
    if asked:
        monkeypatch.setenv(gpu.VARIABLE, asked)
    monkeypatch.setattr(gpu, "makes_normals", lambda like: kernel)
    assert gpu.way_of(torch.zeros(1), numbers, steps, known) == way
