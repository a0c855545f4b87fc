"""A small training loop: fixed seeds, checkpoints on the way, and a frozen record of what happened."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from llc_core.compute.precision import full_precision
from llc_core.compute.streams import torch_stream
from llc_core.fields import whole
from llc_core.networks.bookmarks import Bookmark
from llc_core.networks.data.splits import Split
from llc_core.networks.optimizers import Optimizer, build_optimizer
from llc_core.potentials.module.losses import Loss, as_loss, hits, settled

ROWS = 2048
"""Rows of one pass when the loss over a whole data set is measured."""
BATCH = 64

StateDict = dict[str, Tensor]


@dataclass(frozen=True)
class Checkpoint:
    """The network after `step` steps.

    state: its state_dict.  train_loss: L_n, mean over the training rows.  train_accuracy: nan if targets are no classes.
    test_loss, test_accuracy: on the rows held out.
    """

    step: int
    state: StateDict
    train_loss: float
    train_accuracy: float
    test_loss: float
    test_accuracy: float


@dataclass(frozen=True)
class Training:
    """What a training did. losses: [steps], of each step's first minibatch.  evaluations: gradients of a minibatch."""

    optimizer: dict[str, Any]
    steps: int
    batch_size: int
    seed: int
    evaluations: int
    losses: np.ndarray
    checkpoints: tuple[Checkpoint, ...]

    @property
    def last(self) -> Checkpoint:
        return self.checkpoints[-1]

    def __repr__(self) -> str:
        c = self.last
        return (
            f"Training({self.optimizer['name']}, {self.steps:,} steps, {self.evaluations:,} gradients: "
            f"loss {c.train_loss:.3g} / held out {c.test_loss:.3g}, accuracy {c.train_accuracy:.1%} / {c.test_accuracy:.1%})"
        )


@full_precision()
def train(
    model: nn.Module,
    data: Split,
    optimizer: Optimizer | str | dict[str, Any] = "MomentumSGD",
    *,
    steps: int = 1000,
    batch_size: int | None = None,
    loss: Any = "cross_entropy",
    checkpoints: Sequence[int] = (),
    until_loss: float | None = None,
    seed: int = 0,
    device: torch.device | str | None = None,
    kept: Path | None = None,
) -> Training:
    """Train `model` in place and return the record; its last checkpoint is the trained network.

    batch_size: None: 64, or all rows of a smaller data set.
    checkpoints: steps after which the network is kept; 0 is the start, and the last step is always kept.
    until_loss: stop at the end of the first epoch after which L_n is at most this; None: do all steps.
    device: where it is trained; the model and its checkpoints are afterwards where it was. None: where model and data are.
    kept: a folder, in which the same call finds where it was ended and goes on (`Bookmark`); the result is the same bit for bit.
    Minibatches go through the data in a new random order each epoch. Raises ValueError where the loss is no longer finite.
    """
    if not isinstance(data, Split):
        raise ValueError(f"data is a {type(data).__name__}; pass a Split such as digits().")
    chosen, per_sample = build_optimizer(optimizer), as_loss(loss)
    steps = whole("steps", steps, 1, 10**9)
    batch_size = min(BATCH, len(data)) if batch_size is None else whole("batch_size", batch_size, 1)
    if batch_size > len(data):
        raise ValueError(f"batch_size is {batch_size}, but data has only {len(data)} rows; use at most that.")
    wanted = {whole("checkpoints", c, 0, steps) for c in checkpoints}
    home = next((p.device for p in model.parameters() if p.requires_grad), None)
    if home is None:
        raise ValueError("model has no parameter that is trained; set requires_grad on some.")
    place = torch.device(home if device is None else device)
    order, noise = torch_stream(whole("seed", seed), "order"), torch_stream(seed, "optimizer", place)
    mark = None
    if kept is not None:
        if not isinstance(loss, str):
            raise ValueError("loss is a function, by which no training is found again; name one, or leave kept out.")
        names = [name for name, p in model.named_parameters() if p.requires_grad]
        asked = [
            chosen.to_dict(),
            steps,
            batch_size,
            loss,
            sorted(wanted),
            until_loss,
            seed,
            place.type,
            repr(model),
            names,
        ]
        mark = Bookmark(kept, asked, [*data.pair, *model.state_dict().values()])
    if device is not None:
        model, data = model.to(place), data.to(place)
    moving: list[Tensor] = [p for p in model.parameters() if p.requires_grad]
    batches = _batches(len(data), batch_size, order)

    def gradients() -> tuple[Tensor, list[Tensor]]:
        rows = next(batches)
        with torch.enable_grad():
            value = for_training(model(data.inputs[rows]), data.targets[rows]).mean()
            grads = torch.autograd.grad(value, moving, allow_unused=True)
        return value.detach(), [torch.zeros_like(p) if g is None else g for p, g in zip(moving, grads, strict=True)]

    memory: dict[str, Any] = {}
    losses: list[float] = []
    seen: list[Checkpoint] = []
    done = False
    if found := mark and mark.read():
        model.load_state_dict(found["state"])
        memory, done = {name: _at(place, each) for name, each in found["memory"].items()}, found["done"]
        noise.set_state(found["noise"])
        losses, seen = found["losses"].tolist(), [Checkpoint(**each) for each in found["checkpoints"]]
        for _ in range(len(losses) * chosen.evaluations_per_step):
            next(batches)
    elif 0 in wanted:
        seen = [_checkpoint(0, model, data, per_sample, home)]
    model.eval()
    for_training = _of_these(model, data.inputs, data.targets, per_sample)
    epoch = max(1, len(data) // batch_size // chosen.evaluations_per_step)
    model.train()
    while not done:
        step = len(losses) + 1
        with torch.no_grad():
            losses.append(float(chosen.step(moving, gradients, memory, noise)))
        if not math.isfinite(losses[-1]):
            raise ValueError(
                f"The loss is {losses[-1]} at step {step} of {type(chosen).__name__}; use a smaller learning_rate."
            )
        done = step == steps
        if until_loss is not None and step % epoch == 0:
            done = done or loss_and_accuracy(model, data.inputs, data.targets, per_sample)[0] <= until_loss
        if step in wanted or done:
            seen.append(_checkpoint(step, model, data, per_sample, home))
        if mark and (done or mark.due):
            mark.write({
                "state": dict(model.state_dict()), "memory": memory, "noise": noise.get_state(), "done": done,
                "losses": torch.tensor(losses, dtype=torch.float64, device="cpu"), "checkpoints": [vars(each) for each in seen],
            })  # fmt: skip
    model.eval()
    if device is not None:
        model.to(home)
    if not math.isfinite(seen[-1].train_loss):
        raise ValueError(f"The loss is {seen[-1].train_loss} after training; use a smaller learning_rate.")
    return Training(
        optimizer=chosen.to_dict(),
        steps=len(losses),
        batch_size=batch_size,
        seed=seed,
        evaluations=len(losses) * chosen.evaluations_per_step,
        losses=np.array(losses),
        checkpoints=tuple(seen),
    )


def loss_and_accuracy(model: nn.Module, inputs: Tensor, targets: Tensor, loss: Loss) -> tuple[float, float]:
    """Mean loss and share of right classes over all rows, in eval mode."""
    was = model.training
    model.eval()
    total, right, count = 0.0, 0.0, 0
    classes = not targets.is_floating_point()
    loss = _of_these(model, inputs, targets, loss)
    with torch.no_grad():
        for x, y in zip(inputs.split(ROWS), targets.split(ROWS), strict=True):
            output = model(x)
            total += float(loss(output, y).double().sum())
            if classes:
                hit, of = hits(loss, output, y)
                right, count = right + hit, count + of
    model.train(was)
    return total / len(targets), right / count if count else math.nan


def _of_these(model: nn.Module, inputs: Tensor, targets: Tensor, loss: Loss) -> Loss:
    """The loss for one data set (`losses.settled`); the model is in eval mode, so that its running means stay."""
    with torch.no_grad():
        return settled(loss, model(inputs[:1]), targets[:1], [targets])


def _at(place: torch.device, value: Any) -> Any:
    """A number of an optimiser's memory, or its tensors on a device."""
    return [each.to(place) for each in value] if isinstance(value, list) else value


def _checkpoint(step: int, model: nn.Module, data: Split, loss: Loss, home: torch.device) -> Checkpoint:
    state = {name: value.detach().to(home, copy=True) for name, value in model.state_dict().items()}
    on_train = loss_and_accuracy(model, data.inputs, data.targets, loss)
    on_test = loss_and_accuracy(model, data.test_inputs, data.test_targets, loss)
    return Checkpoint(step, state, *on_train, *on_test)


def _batches(size: int, batch_size: int, generator: torch.Generator) -> Iterator[Tensor]:
    """Row numbers of one minibatch after the other. Rows at the end of an epoch that do not fill a batch are left out."""
    while True:
        order = torch.randperm(size, generator=generator, device="cpu")
        for start in range(0, size - batch_size + 1, batch_size):
            yield order[start : start + batch_size]
