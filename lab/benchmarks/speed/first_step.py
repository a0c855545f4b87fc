"""How long a small transformer waits for its first steps: from the call of `estimate`, its potential among it.

OMP_NUM_THREADS=1 python -m lab.benchmarks.speed.first_step [--rounds 7]

Two blocks of 16 with 200 rows of 12 tokens, two chains of SGLD by batches of 8. GPT-2 where transformers is installed.
"""

from __future__ import annotations

import statistics
import time
import warnings
from importlib.util import find_spec
from typing import Any

import torch
from torch import nn

from lab.benchmarks.command import read_options
from llc_core import NetworkPotential, estimate
from llc_core.networks import build_model

WORDS, LENGTH, ROWS = 64, 12, 200


class Begun(Exception):
    """The first steps are made."""


def models() -> dict[str, nn.Module]:
    shape = {"kind": "transformer", "vocabulary": WORDS, "length": LENGTH, "dim": 16, "layers": 2, "heads": 2}
    found = {"the project's own": build_model(shape)}
    if find_spec("transformers"):
        from transformers import GPT2Config, GPT2LMHeadModel

        small = {"n_layer": 2, "n_head": 2, "n_embd": 16, "vocab_size": WORDS, "n_positions": 32}
        found["GPT-2"] = GPT2LMHeadModel(GPT2Config(**small, bos_token_id=0, eos_token_id=1)).eval()
    return found


def seconds(model: nn.Module, **settings: Any) -> tuple[float, float]:
    """Wall and processor seconds until the first snapshot, which comes after eight steps."""

    def stop(snapshot: object) -> None:
        raise Begun

    tokens = torch.randint(0, WORDS, (ROWS, LENGTH), generator=torch.Generator().manual_seed(0))
    wall, processor = time.perf_counter(), time.process_time()
    try:
        problem = NetworkPotential(model, "next_token", tokens, batch_size=8)
        estimate(problem, "SGLD", chains=2, steps=200, progress=False, callback=stop, **settings)
    except Begun:
        pass
    return time.perf_counter() - wall, time.process_time() - processor


def main() -> None:
    rounds = read_options(globals(), {"rounds": 1}, rounds=7).rounds
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    for name, model in models().items():
        for said, settings in {"given": {"step_size": 1e-5}, "automatic": {}}.items():
            first, *others = [seconds(model, **settings) for _ in range(rounds + 1)]
            walls, processors = zip(*others, strict=True)
            print(
                f"{name:18s} step {said:10s} {statistics.median(walls):5.2f} s, {statistics.median(processors):5.2f} s of "
                f"processor time ({min(processors):.2f} to {max(processors):.2f}); the first time {first[1]:.2f}"
            )


if __name__ == "__main__":
    main()
