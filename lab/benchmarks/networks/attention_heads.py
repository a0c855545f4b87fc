"""λ̂ of every attention head while a small transformer learns, by SGLD and by RMSProp-SGLD.

    python -m lab.benchmarks.networks.attention_heads          # writes lab/results/attention_heads.json after each head
    python -m lab.benchmarks.networks.attention_heads --layers 4 --heads 8      # the paper's numbers of layers and heads

An attention-only transformer learns pairs of tokens first and then to copy from its context (`synthetic_text`). One head
moves at a time, the rest of the network stays. n counts the ROWS sequences that λ̂ is measured on, which are among those
that were trained on.

Adaptive samplers have steps of their own length, so ε alone says little: each RMSProp-SGLD gets the ε at which a parameter
whose squared gradient is TYPICAL_SQUARE moves as it does under SGLD. With a = 0.1, far above the squared gradients (they are
between 2e-7 and 6e-5 here), the metric is the constant 1/√a; with a = 1e-6 it follows them. Its memory is β = 0.85, since
v starts at 1 and with β = 0.99 would not have come down to the squared gradients within the run.

After that come the step sizes of Hitchcock & Hoogland, appendix D.4, at the trained network, for the head with the largest
λ̂.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from lab.benchmarks.machine import machine
from lab.benchmarks.smoke import parse
from llc_core import SGLD, RMSPropSGLD, estimate
from llc_core.networks import Adam, Split, build_model, head_masks, potential_at, synthetic_text, train

OUTPUT = Path(__file__).resolve().parents[2] / "results" / "attention_heads.json"
LENGTH, VOCABULARY, SEQUENCES, DIM = 24, 12, 4096, 32
CHECKPOINTS, STEPS = (100, 500), 1250
ROWS, BATCH = 128, 32
GAMMA, CHAINS, DRAWS, BURN_IN = 100.0, 2, 230, 110
STEP_SIZE = 1e-3
GRID = (1e-4, 3e-4, 1e-3, 3e-3)
TYPICAL_SQUARE = 5e-6


def rmsprop(stability: float) -> tuple[RMSPropSGLD, float]:
    """The sampler, and its ε for each ε of SGLD."""
    scale = (TYPICAL_SQUARE + stability) ** 0.5
    return RMSPropSGLD(step_size=STEP_SIZE * scale, beta=0.85, stability=stability), scale


SAMPLERS: dict[str, tuple[Any, float]] = {
    "SGLD": (SGLD(step_size=STEP_SIZE), 1.0),
    "RMSProp-SGLD, a = 1e-6": rmsprop(1e-6),
    "RMSProp-SGLD, a = 0.1": rmsprop(0.1),
}
OVER_TRAINING = ("SGLD", "RMSProp-SGLD, a = 1e-6")


def head_llc(
    model: Any, state: Any, data: Split, layer: int, head: int, name: str, lengths: Sequence[float]
) -> list[dict[str, Any]]:
    """λ̂ of one head by one sampler, for each of the `lengths`: step sizes of SGLD, translated for the others."""
    some = Split(data.name, data.inputs[:ROWS], data.targets[:ROWS], data.test_inputs, data.test_targets)
    sampler, scale = SAMPLERS[name]
    found = estimate(
        potential_at(model, state, some, parameters=head_masks(model, layer, head), batch_size=BATCH),
        sampler,
        gradient="minibatch",
        localization=GAMMA,
        chains=CHAINS,
        steps=DRAWS,
        burn_in=BURN_IN,
        grid={"step_size": [scale * length for length in lengths]},
        progress=False,
    )
    return [
        {
            "layer": layer,
            "head": head,
            "sampler": name,
            "length": length,
            "llc": r.llc,
            "se": r.llc_se,
            "r_hat": r.r_hat,
            "dead": r.diverged,
            "limit": r.diagnostics["stability_limit"] / scale,
        }
        for length, r in zip(lengths, found, strict=True)
    ]


def show(row: dict[str, Any]) -> None:
    print(
        f"step {row['step']:5d} layer {row['layer']} head {row['head']} {row['sampler']:23s} ε = {row['length']:g} "
        f"{row['llc']:7.2f} ± {row['se']:.2f}, R-hat {row['r_hat']:.3f}, dead {row['dead']}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--heads", type=int, default=2)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    arguments = parse(
        parser,
        globals(),
        layers=1,
        heads=1,
        SEQUENCES=256,
        CHECKPOINTS=(10,),
        STEPS=20,
        ROWS=32,
        DRAWS=6,
        BURN_IN=3,
        GRID=(1e-3,),
    )
    torch.set_num_threads(1)
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
    report: dict[str, Any] = {
        "machine": machine(),
        "model": description,
        "data": {"sequences": SEQUENCES, "length": LENGTH, "vocabulary": VOCABULARY, "rows": ROWS, "batch": BATCH},
        "gamma": GAMMA,
        "chains": CHAINS,
        "draws": DRAWS,
        "burn_in": BURN_IN,
        "samplers": {name: {**sampler.to_dict(), "scale": scale} for name, (sampler, scale) in SAMPLERS.items()},
        "checkpoints": [
            {"step": c.step, "train_loss": c.train_loss, "test_loss": c.test_loss, "test_accuracy": c.test_accuracy}
            for c in training.checkpoints
        ],
        "rows": [],
        "step_sizes": [],
    }

    def keep(part: str, step: int, rows: list[dict[str, Any]]) -> None:
        for row in rows:
            report[part].append({"step": step, **row})
            show(report[part][-1])

    def save() -> None:
        report["seconds"] = round(time.perf_counter() - started)
        arguments.output.write_text(json.dumps(report, indent=1) + "\n")

    places = [(layer, head) for layer in range(arguments.layers) for head in range(arguments.heads)]
    for name in OVER_TRAINING:
        for checkpoint in training.checkpoints:
            for place in places:
                keep("rows", checkpoint.step, head_llc(model, checkpoint, data, *place, name, [STEP_SIZE]))
                save()
    last = training.last
    largest = max((r for r in report["rows"] if r["step"] == last.step), key=lambda row: row["llc"])
    for name in SAMPLERS:
        keep("step_sizes", last.step, head_llc(model, last, data, largest["layer"], largest["head"], name, GRID))
        save()


if __name__ == "__main__":
    main()
