"""λ̂ of every attention head while a small transformer learns, by SGLD and by RMSProp-SGLD.

    python -m lab.benchmarks.attention_heads          # writes lab/results/attention_heads.json after each checkpoint
    python -m lab.benchmarks.attention_heads --layers 4 --heads 8      # the paper's numbers of layers and heads

An attention-only transformer learns pairs of tokens first and then to copy from its context (`synthetic_text`). One head
moves at a time, the rest of the network stays. RMSProp-SGLD has a = 0.1, far above the squared gradients here, so its
metric is nearly the constant 1/√a; its ε is chosen so that the two samplers take steps of the same length.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from lab.benchmarks.machine import machine
from llc_core import SGLD, RMSPropSGLD, estimate
from llc_core.networks import Adam, Split, build_model, head_masks, potential_at, synthetic_text, train

OUTPUT = Path(__file__).resolve().parents[1] / "results" / "attention_heads.json"
LENGTH, VOCABULARY, SEQUENCES, DIM = 24, 12, 4096, 32
CHECKPOINTS, STEPS = (100, 500), 1500
ROWS, BATCH = 512, 64
"""Sequences that λ̂ is measured on, of those trained on; n counts all of them."""
GAMMA, CHAINS, DRAWS, BURN_IN = 100.0, 2, 160, 60
STEP_SIZE, STABILITY = 1e-3, 0.1
SAMPLERS = {
    "SGLD": SGLD(step_size=STEP_SIZE),
    "RMSProp-SGLD": RMSPropSGLD(step_size=STEP_SIZE * STABILITY**0.5, stability=STABILITY),
}


def head_llc(model: Any, state: Any, data: Split, layer: int, head: int, sampler: Any) -> dict[str, Any]:
    some = Split(data.name, data.inputs[:ROWS], data.targets[:ROWS], data.test_inputs, data.test_targets)
    masks = head_masks(model, layer, head)
    problem = potential_at(model, state, some, parameters=masks, batch_size=BATCH, n=len(data))
    result = estimate(
        problem,
        sampler,
        gradient="minibatch",
        localization=GAMMA,
        chains=CHAINS,
        steps=DRAWS,
        burn_in=BURN_IN,
        progress=False,
    )
    return {"llc": result.llc, "se": result.llc_se, "r_hat": result.r_hat, "dead": result.diverged}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    arguments = parser.parse_args()
    started = time.perf_counter()
    data = synthetic_text(SEQUENCES, LENGTH, VOCABULARY)
    description = {
        "kind": "transformer",
        "vocabulary": VOCABULARY,
        "length": LENGTH,
        "dim": DIM,
        "layers": arguments.layers,
        "heads": arguments.heads,
    }
    model = build_model(description)
    training = train(model, data, Adam(learning_rate=5e-3), steps=STEPS, checkpoints=CHECKPOINTS)
    print(training, f"{time.perf_counter() - started:.0f} s", flush=True)
    rows: list[dict[str, Any]] = []
    kept = [
        {"step": c.step, "train_loss": c.train_loss, "test_loss": c.test_loss, "test_accuracy": c.test_accuracy}
        for c in training.checkpoints
    ]
    for checkpoint in training.checkpoints:
        for layer in range(arguments.layers):
            for head in range(arguments.heads):
                for name, sampler in SAMPLERS.items():
                    found = head_llc(model, checkpoint, data, layer, head, sampler)
                    rows.append({"step": checkpoint.step, "layer": layer, "head": head, "sampler": name, **found})
                    print(
                        f"step {checkpoint.step:5d} layer {layer} head {head} {name:12s} {found['llc']:7.2f} "
                        f"± {found['se']:.2f}, R-hat {found['r_hat']:.3f}, dead {found['dead']}",
                        flush=True,
                    )
        report = {
            "machine": machine(),
            "seconds": round(time.perf_counter() - started),
            "model": description,
            "data": {"sequences": SEQUENCES, "length": LENGTH, "vocabulary": VOCABULARY, "rows": ROWS},
            "gamma": GAMMA,
            "chains": CHAINS,
            "draws": DRAWS,
            "checkpoints": kept,
            "samplers": {name: sampler.to_dict() for name, sampler in SAMPLERS.items()},
            "rows": rows,
        }
        arguments.output.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
