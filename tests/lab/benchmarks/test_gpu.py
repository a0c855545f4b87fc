"""The script for a borrowed GPU, as far as a processor can try it: what is compared with what, and by which way to step."""

import os
from types import SimpleNamespace

import pytest
import torch

from lab.benchmarks import gpu
from lab.benchmarks.gpu import beside, check_llc, side_by_side, slower
from llc_core.compute.gpu import VARIABLE, WAYS


def test_speeds_are_compared_on_one_kind_of_device_alone():
    assert beside(600.0, "cuda", 200.0, "blackjax", "cuda") == "blackjax on cuda: 200; the engine is 3 times as fast"
    assert beside(600.0, "cuda", 200.0, "blackjax", "cpu") == "blackjax on cpu: 200; no ratio: the engine ran on cuda"


@pytest.mark.parametrize(
    "graphs, fused, late",
    [(2.8, 0.6, "graphs"), (0.9, 0.6, "none"), (1.5, 1.1, "graphs and fused"), (0.8, 1.2, "fused")],
)
def test_ways_that_take_longer_than_plain_steps_are_named(graphs, fused, late):
    assert slower({"plain": 0.002, "graphs": 0.002 * graphs, "fused": 0.002 * fused}) == (
        f"graphs takes {graphs:.2f} times as long as plain, fused takes {fused:.2f} times as long as plain; "
        f"slower than plain: {late}"
    )


def test_every_way_is_timed_on_a_gpu_and_none_elsewhere(monkeypatch):
    """A table of times stands for a card: each is taken in the way that the environment asks for, and that is put back."""
    took = {"plain": 0.001, "graphs": 0.003, "fused": 0.0005}
    monkeypatch.setenv(VARIABLE, "auto")
    monkeypatch.setattr(gpu, "unit_of", lambda *given: given)
    monkeypatch.setattr(
        gpu, "measure", lambda unit, *rest: SimpleNamespace(seconds=took[os.environ[VARIABLE]], first=1.0)
    )
    options = SimpleNamespace(device="cuda", settings=10, steps=20, rounds=3)
    *each, last = side_by_side("100K", options)
    assert [line.split(":")[0] for line in each] == list(WAYS) and last.endswith("slower than plain: graphs")
    assert os.environ[VARIABLE] == "auto"
    options.device = "cpu"
    assert [line.split(":")[0] for line in side_by_side("100K", options)] == ["not asked"]


def test_estimates_are_checked_by_the_way_that_long_runs_take(monkeypatch):
    """The kernel that a card has is planted, and the estimates."""
    asked = []

    def planted(*given, device, **more):
        asked.append((device, os.environ[VARIABLE]))
        return SimpleNamespace(llc=10.0 + len(asked), llc_se=1.0, expected=11.0)

    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr("llc_core.compute.gpu.makes_normals", lambda like: True)
    monkeypatch.setattr(gpu, "estimate", planted)
    (line,) = check_llc("SGLD", torch.device("cpu"), 300)
    assert asked == [("cpu", "plain"), ("cpu", "fused")] and VARIABLE not in os.environ
    assert line.startswith("12 ± 1 by fused steps, a processor 11 ± 1: 0.7 errors apart")
