"""The kernel of normals without a GPU: its numbers by triton's interpreter, and its code for cards by triton's compiler."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

triton = pytest.importorskip("triton")

NORMALS = """
import math, torch
from llc_core.compute.philox import normals
from llc_core.compute.philox_triton import fill_normals

for seed, step, shape in [(5, 3, (2, 3, 5000)), (2**63 - 5, 2**33 + 7, (1, 4, 4096)), (2**31, 2**31, (1, 1, 17))]:
    made = fill_normals(torch.full(shape, math.nan), seed, torch.tensor(step))
    print(float((made - normals(seed, torch.tensor(step), shape, torch.float64)).abs().max()))
"""

PATHS = """
import numpy as np
from llc_core import DeepLinearNetwork, RunConfig, run
from llc_core.engine.stepping import recorded

network = DeepLinearNetwork.random(widths=[7, 5, 6, 4], n=20_000, seed=3)
for name in ("SGLD", "SGHMC"):
    ends = []
    for kernel in (False, True):
        recorded.makes_normals = lambda delta: kernel
        sampler = {"name": name, "step_size": 2e-9}
        current = run(RunConfig(sampler=sampler, gradient="full", steps=60, dtype="float32"), network)
        current.advance(60)
        ends.append(current.displacements)
    print(float(np.abs(ends[1] - ends[0]).max() / np.abs(ends[0]).max()))
"""


def interpreted(script: str) -> list[float]:
    """What it prints, in a process of its own: triton decides while it is imported whether it interprets."""
    around = {**os.environ, "TRITON_INTERPRET": "1", "LLC_LAB_GPU": "graphs"}
    done = subprocess.run([sys.executable, "-c", script], env=around, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [float(word) for word in done.stdout.split()]


def test_its_numbers_are_those_of_the_processor():
    """The bound is that by which `llc_core.compute.gpu` takes the kernel."""
    found = interpreted(NORMALS)
    assert len(found) == 3 and max(found) < 1e-5


def test_recorded_steps_take_them_as_they_do_torch_s():
    """One number of 60 that is another step's would show by some 10%."""
    found = interpreted(PATHS)
    assert len(found) == 2 and max(found) < 1e-5


@pytest.mark.parametrize("card", [75, 80, 90, 100], ids=["T4", "A100", "H100", "B200"])
def test_it_is_compiled_for_cards_of_several_years(card):
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from llc_core.compute import philox_triton as kernel

    arguments = {"out": "*fp32", "step": "*i64", **dict.fromkeys(("low", "high", "chains", "dim"), "i32")}
    constants = {"LANE": kernel.LANE, "ROUNDS": kernel.ROUNDS}
    source = ASTSource(kernel._fill, {**arguments, **dict.fromkeys(constants, "constexpr")}, constants)
    made = triton.compile(source, target=GPUTarget("cuda", card, 32), options={"num_warps": kernel.WARPS})
    assert len(made.asm["cubin"]) > 0
    # Four counters a thread make sixteen numbers, and nothing on its way to them leaves the registers.
    assert made.asm["ptx"].count("st.global") == 4 * kernel.LANE // (32 * kernel.WARPS) == 16
    assert "ld.local" not in made.asm["ptx"]
