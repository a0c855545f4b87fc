"""The script for a borrowed GPU, as far as a processor can try it: what is compared with what, and by which way to step."""

import os
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from lab.benchmarks import gpu
from lab.benchmarks.gpu import as_printed, beside, check_llc, full, run_tests, side_by_side, slower
from lab.benchmarks.speed.deep_linear.roofline import MAKING, Figure, floors, printed, unit_of
from llc_core import Run
from llc_core.compute.gpu import VARIABLE, WAYS
from llc_core.potentials.deep_linear import data as dln_data
from llc_core.studies.papers.items import find
from llc_core.sweeps.costs import operations


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


@pytest.mark.parametrize("size, item", [("100K", "figure-7"), ("1M", "figure-6"), ("100M", "figure-3")])
def test_what_is_timed_beside_the_paper_is_what_its_item_runs(size, item):
    address, unit = printed(size, "RMSPropSGLD", "cpu")
    assert address == f"000/{item}" and unit.gradient == "minibatch" and unit.virtual
    assert {**unit.settings, "device": None} == dict(unit.settings, device=None, chains=1, batch_size=500, steps=50_000)
    here = {"device": None}
    same = [
        other
        for other in find(address).sizes["paper"].sweep.units()
        if replace(other, settings=here) == replace(unit, settings=here) and other.settings == {**unit.settings, **here}
    ]
    assert len(same) == 1 and len(unit.step_sizes) == 10
    # Their networks have 363,047 to 101,723,382 parameters at the first; the hours are of a hundred.
    mean = {"100K": 459_570, "1M": 3_348_987, "100M": 62_382_474}[size]
    assert sum(a * b for a, b in unit.problem_class.layers(unit.problems[0])) == pytest.approx(mean, rel=0.03)


@pytest.mark.parametrize("batch", [40, 5], ids=["moments", "rows"])
def test_floors_have_the_rows_that_are_made(batch, monkeypatch):
    """Beside the products that a sweep's costs count. Ten step sizes share their batches."""
    _, unit = printed("10-8-6", "RMSPropSGLD", "cpu")
    unit = replace(unit, settings={**unit.settings, "batch_size": batch})
    problem = Run(unit.config).problem
    for most in (0, dln_data.KEPT_NUMBERS):
        monkeypatch.setattr(dln_data, "KEPT_NUMBERS", most)
        made, work, moved = floors(unit, problem)
        state = 24 * 10 * problem.dim
        if batch == 40 and most:  # their moments are kept, and read
            assert made == 0 and moved == state + 4 * 10 * 16 and work < operations(unit) / 50_000
            continue
        assert made == batch * 16 and work - MAKING * made == pytest.approx(operations(unit) / 50_000)
        written_and_read = 8 * (made + 10 * 16 if batch == 40 else made)
        assert moved == state + written_and_read
    plain = unit_of("1K", "SGLD", 3, 4, "cpu")
    problem = Run(plain.config).problem
    assert floors(plain, problem) == (0, operations(plain) / 10**6, 16 * 12 * problem.dim)


def test_the_paper_s_hours_stand_beside_what_the_paper_runs(monkeypatch):
    """Where ten step sizes are too many for the card one is timed, and that is said."""
    asked = []

    def planted(unit, *rest):
        asked.append((unit.gradient, len(unit.step_sizes), unit.workload.chains))
        if len(asked) == 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return Figure(1e12, 1e12, 1e9, 1e9, 1.0, 0.01, len(unit.step_sizes), 10, 100, 3000)

    monkeypatch.setattr(gpu, "measure", planted)
    options = SimpleNamespace(device="cpu", settings=10, steps=20, rounds=3)
    note, line = as_printed("1M", "RMSPropSGLD", options)
    assert note == "10 step sizes as one batch take more memory than there is; one:"
    assert line.startswith("as 000/figure-6, network 27, minibatches, 3,000 numbers of rows made in a step; ")
    # 3.5 hours for 100 networks are 126 s for one; 50,000 steps of .01 s are 500.
    assert line.endswith("; 0.252 × the paper's speed") and " 20% of the roofline" in line
    (line,) = full("1M", "RMSPropSGLD", options)
    assert "paper" not in line
    assert asked == [("minibatch", 10, 1), ("minibatch", 1, 1), ("full", 10, 4)]


def test_a_step_of_the_paper_s_item_runs_here(monkeypatch):
    """With rows that are made, in the smallest class."""
    monkeypatch.setattr(dln_data, "KEPT_NUMBERS", 0)
    (line,) = as_printed("1K", "SGLD", SimpleNamespace(device="cpu", steps=2, rounds=1))
    assert (
        line.startswith("as 000/figure-3, network 47, minibatches, 13,000 numbers of rows made") and "nan" not in line
    )


def test_its_table_is_written_and_names_what_was_left_out(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sys, "argv", ["gpu", "--device", "cpu", "--minutes", "0", "--out", str(tmp_path / "gpu.md")])
    gpu.main()
    header, _, _, _, *rows = (tmp_path / "gpu.md").read_text().splitlines()
    assert header.startswith("Machine: ") and all(row.endswith(" | not asked: 0 minutes were over |") for row in rows)
    names = [row.split(" | ")[0].removeprefix("| ") for row in rows]
    assert names[:2] == ["normals", "tests of a GPU"] and names[4] == "100K RMSPropSGLD, as in the paper"
    assert len(names) == 4 + 2 * 2 * 3 + 1 + 2


def test_a_part_is_asked_by_its_name(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["gpu", "--device", "cpu", "--out", "/nowhere/gpu.md", "--parts", "normals"])
    gpu.main()
    begins, line, *_ = capsys.readouterr().out.splitlines()
    assert begins == "> normals" and line.startswith("| normals | torch's way is off by at most ")


TESTS = """
import pytest
def test_right(): pass
def test_wrong(): assert 1 == 2
def test_elsewhere(): pytest.skip("not here")
"""


def test_tests_are_run_with_pytest_alone_and_counted(monkeypatch, tmp_path):
    """A borrowed machine has none of the plugins that pyproject.toml names. What came before a time-out is counted too."""
    (tmp_path / "test_some.py").write_text(TESTS)
    monkeypatch.setattr(gpu, "TESTS", (str(tmp_path / "test_some.py"),))
    run, printed = subprocess.run, []

    def remembered(*given, **more):
        done = run(*given, **more)
        printed.append(done.stdout)
        return done

    monkeypatch.setattr(gpu.subprocess, "run", remembered)
    wrong, end = run_tests()
    assert wrong.startswith("FAILED") and "test_wrong" in wrong and "assert 1 == 2" in wrong
    assert end == "1 passed, 1 skipped, 1 failed; ended with 1"
    assert not any(word in " ".join(gpu.PYTEST) for word in ("nbmake", "xdist"))
    before = printed[0].partition("short test summary")[0].encode()

    def late(*given, timeout, **more):
        raise subprocess.TimeoutExpired(given[0], timeout, output=before)

    monkeypatch.setattr(gpu.subprocess, "run", late)
    wrong, end = run_tests()
    assert "test_wrong FAILED" in wrong and end == "1 passed, 1 skipped, 1 failed; not over after 150 s"
