"""The kernel of normals without a GPU: its numbers by triton's interpreter, and its code for cards by triton's compiler."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

triton = pytest.importorskip("triton")

WRITTEN = """
import math, torch
from llc_core.compute.philox import normals
from llc_core.compute.philox_triton import fill_normals

for seed, step, shape in [(5, 3, (2, 3, 5000)), (2**63 - 5, 2**33 + 7, (1, 4, 4096)), (2**31, 2**31, (1, 1, 17))]:
    made = fill_normals(torch.full(shape, math.nan), seed, torch.tensor(step))
    print(float((made - normals(seed, torch.tensor(step), shape, torch.float64)).abs().max()))
"""


def test_its_numbers_are_those_of_the_processor():
    """In a process of its own: triton decides while it is imported whether it interprets. The bound is that of `test_gpu`."""
    done = subprocess.run(
        [sys.executable, "-c", WRITTEN],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 3 and all(float(error) < 1e-5 for error in done.stdout.split())


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
