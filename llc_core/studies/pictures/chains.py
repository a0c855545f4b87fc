"""Classifiers that a sampler moves from random starts, all numbers of each as one row. Long, since it is one class: target, steps and draws."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from llc_core.compute.precision import full_precision
from llc_core.compute.streams import torch_stream
from llc_core.groups import Groups
from llc_core.interactions import Cyclical, Seen
from llc_core.networks.bookmarks import Bookmark
from llc_core.networks.models import build_model
from llc_core.networks.published import PictureSettings
from llc_core.samplers.registry import hyperparameters
from llc_core.studies.pictures.augmenting import erased, shifted_and_mirrored
from llc_core.studies.pictures.methods import Method
from llc_core.studies.pictures.task import PictureTask
from llc_core.types import Energy, Hp

ENDLESS = 10**18
TINY = 1e-20
"""Slopes of outputs that are smaller count as 0."""
Draw = dict[str, Tensor]
"""A state dict of a network, with the running means of its norms."""


class ClassifierChains:
    """C networks under exp(−U/T), U(w) = N·L(w) + (decay/2)‖w‖², L the mean cross entropy, from C random starts.

    Inside, the target is U/T and the step size ε·T, which is the same move; energies of the interaction are N·L/T of a batch.
    Norms are in training mode, as each network of its own would be trained; their running means belong to a draw. Under replica
    exchange the levels share their batches, so that most of the batches' noise cancels in a swap. From `reduced_from` on an energy is
    L_B(w) − L_B(ŵ) + L(ŵ), ŵ a copy that is renewed every few epochs (equation 18 of the paper): slopes are those of the batch alone.
    epochs_done: so far.  losses, heats: of each step of the last epoch, mean cross entropy of the batch and what multiplied its slope, [C].
    """

    def __init__(
        self, task: PictureTask, settings: PictureSettings, method: Method, *, seed: int = 0, device: str | None = None
    ) -> None:
        self.settings, self.method, self.split = settings, method, task.split
        self.device = torch.device(device or "cpu")
        self.count, self.epochs = method.networks(settings), method.epochs(settings)
        pixels = task.split.inputs[0].numel()
        described: Mapping[str, Any] = (
            {"kind": "mlp", "widths": [pixels, task.classes]} if method.linear else settings.model(task.classes)
        )
        self._flat = method.linear
        self.batch_size = min(settings.batch_size, len(task.split))
        self.steps_an_epoch = len(task.split) // self.batch_size
        total = self.epochs * self.steps_an_epoch
        self.interaction = None if method.interaction is None else method.interaction(settings, total)
        ladder = self.interaction is not None and self.interaction.across == "levels"
        if ladder:
            self.count = self.interaction.members_of(1, self.count)  # type: ignore[union-attr]
        self.models = [build_model(described, 1000 * seed + k).to(self.device) for k in range(self.count)]
        self._random = {
            name: torch_stream(seed, f"pictures {name}") for name in ("order", "noise", "exchange", "shifts")
        }
        start = torch.stack([parameters_to_vector(model.parameters()).detach() for model in self.models])
        self.dim = start.shape[1]
        self.inputs = task.split.inputs.to(self.device)
        self._targets = task.split.targets.to(self.device)
        size = torch.ones(self.count, 1, dtype=torch.float64)
        if ladder:
            size = size / torch.tensor(self.interaction.temperatures, dtype=torch.float64)[:, None]  # type: ignore[union-attr]
        self._shares_batches = ladder
        self._n_beta = (len(task.split) / settings.temperature * size).to(start)
        self._localization = (settings.decay / settings.temperature * size).to(start)
        self.sampler = method.sampler(settings)
        self.hp = hyperparameters(self.sampler, self.count, start)
        self.hp.adapting = torch.zeros_like(self.hp.adapting)
        first = self._normals(1)[0] if method.noise else torch.zeros_like(start)
        self.state = self.sampler.init(start, first, self.hp)
        self.step = self.epochs_done = 0
        self.losses: list[Tensor] = []
        self.heats: list[Tensor] = []
        self._anchors: list[nn.Module] = []
        self._anchored = torch.zeros(0)
        self._orders: list[Tensor] = []  # of the epoch that has begun
        self._batch = 0
        if self.interaction is not None:
            groups = Groups(1, 1, self.count) if ladder else Groups(1, self.count, 1)
            self.layout = self.interaction.layout(groups, self._n_beta.cpu(), ENDLESS)
            self.shared = self.interaction.init(self.layout)

    @property
    def finished(self) -> bool:
        return self.epochs_done >= self.epochs

    @property
    def gradients(self) -> int:
        """Of a batch, by all chains together, so far."""
        return self.step * self.count

    @full_precision()
    def advance(self, after_step: Callable[[], None] = lambda: None) -> None:
        """One epoch, or what is left of it. ValueError with one sentence where a network leaves all bounds.

        after_step: called after every step; `state_dict` may be asked for there.
        """
        for model in self.models:
            model.train()
        if not self._orders:
            self._begin_epoch()
        for rows in self._batches(self._orders)[self._batch :]:
            self._move(rows)
            self._batch += 1
            after_step()
        self._orders = []
        self.epochs_done += 1

    def _begin_epoch(self) -> None:
        self.losses, self.heats, self._batch = [], [], 0
        orders = [
            torch.randperm(len(self.split), generator=self._random["order"])
            for _ in range(1 if self._shares_batches else self.count)
        ]
        since = self.epochs_done - self.settings.reduced_from
        reads = self.interaction is not None and not isinstance(self.interaction, Cyclical)  # cycles look at no energy
        reduces = reads and self.settings.reduced_from > 0 and since >= 0
        if reduces and since % self.settings.reduced_every == 0:
            self._anchor(self._batches(orders))
        self._orders = orders

    def bookmark(self, folder: Path, also: Any, tensors: Iterable[Tensor] = ()) -> Bookmark:
        """Where a run is kept, by all that it depends on. To be asked for before its first step.

        also, tensors: what the caller's own part of the file depends on besides, in JSON and not.
        """
        method = {name: value for name, value in vars(self.method).items() if name != "interaction"}
        words = [repr(each) for each in (self.settings, self.sampler, self.interaction, self.models[0])]
        starts = [random.get_state() for random in self._random.values()]
        data = [self.split.inputs, self.split.targets, self.state["delta"], *starts, *tensors]
        return Bookmark(folder, ["pictures", method, words, self.device.type, also], data)

    def state_dict(self) -> dict[str, Any]:
        """Where the run stands, inside an epoch too, for `load_state_dict`. Nothing is copied: the next step changes it."""
        return {
            "state": self.state, "shared": self.shared if self.interaction is not None else {},
            "norms": [dict(model.named_buffers()) for model in self.models],
            "anchors": [dict(anchor.state_dict()) for anchor in self._anchors], "anchored": self._anchored,
            "random": {name: random.get_state() for name, random in self._random.items()},
            "orders": self._orders, "batch": self._batch, "step": self.step, "epochs_done": self.epochs_done,
            "losses": self.losses, "heats": self.heats,
        }  # fmt: skip

    def load_state_dict(self, found: Mapping[str, Any]) -> None:
        """Go on where another run of the same task, settings, method and seed stood; all that follows is the same bit for bit."""
        self.state = {name: value.to(self.device) for name, value in found["state"].items()}
        if self.interaction is not None:
            self.shared = dict(found["shared"])
        for model, norms in zip(self.models, found["norms"], strict=True):
            for name, buffer in model.named_buffers():
                buffer.copy_(norms[name])
        self._put()
        self._anchors = [copy.deepcopy(model).train() for model, _ in zip(self.models, found["anchors"], strict=False)]
        for anchor, state in zip(self._anchors, found["anchors"], strict=True):
            anchor.load_state_dict(state)
        self._anchored = found["anchored"].to(self.device)
        for name, random in self._random.items():
            random.set_state(found["random"][name])
        self._orders, self._batch = list(found["orders"]), found["batch"]
        self.step, self.epochs_done = found["step"], found["epochs_done"]
        self.losses, self.heats = list(found["losses"]), list(found["heats"])

    def draws(self) -> tuple[nn.Module, list[Draw], Tensor]:
        """A network, the draws [S] that count now, and log weights [S] up to a constant of all epochs. Draws are no copies: the next step
        changes them."""
        self._put()
        logs = torch.zeros(self.count, dtype=torch.float64)
        rows = list(range(self.count))
        if self.interaction is not None:
            if self._shares_batches:
                rows = rows[:1]  # the level at T; the hotter ones have other distributions
            weight = self.interaction.log_weight(max(self.step - 1, 0), self.shared, self.layout)
            if weight is not None:
                logs = self.layout.scatter(weight).double()
        counts = [row for row in rows if bool(torch.isfinite(logs[row]))]
        return self.models[0], [self.models[row].state_dict() for row in counts], logs[counts]

    def report(self) -> dict[str, Any]:
        """What the interaction shows."""
        if self.interaction is None:
            return {}
        return {name: value.numpy() for name, value in self.interaction.report(self.shared).items()}

    def _batches(self, orders: list[Tensor]) -> list[list[Tensor]]:
        """Of the steps of an epoch, the rows of each order."""
        size = self.batch_size
        return [[order[k * size : (k + 1) * size] for order in orders] for k in range(self.steps_an_epoch)]

    def _anchor(self, batches: list[list[Tensor]]) -> None:
        """Copies of the networks, and the mean of their losses over an epoch as steps see it: norms in training mode, varied pictures."""
        self._put()
        self._anchors = copy.deepcopy(self.models)
        self._anchored = torch.stack([self._of_anchors([self._seen(each) for each in rows]) for rows in batches]).mean(
            0
        )

    def _of_anchors(self, seen: list[tuple[Tensor, Tensor]]) -> Tensor:
        """Losses [C] of the copies on what the chains see."""
        with torch.no_grad():
            pairs = [(anchor, *seen[self._place(chain)]) for chain, anchor in enumerate(self._anchors)]
            return torch.stack([functional.cross_entropy(anchor(x), y) for anchor, x, y in pairs])

    def _place(self, chain: int) -> int:
        """Whose batch a chain has."""
        return 0 if self._shares_batches else chain

    def _seen(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs as the network has them now, and targets."""
        inputs = self.inputs[rows.to(self.device)]
        if inputs.dim() == 4:
            if self.settings.augment:
                inputs = shifted_and_mirrored(inputs, self._random["shifts"])
            if self.settings.erase:
                inputs = erased(inputs, self._random["shifts"])
        return inputs.flatten(1) if self._flat else inputs, self._targets[rows.to(self.device)]

    def _put(self) -> None:
        """The parameters of the networks are views of their rows."""
        for model, row in zip(self.models, self.state["delta"], strict=True):
            vector_to_parameters(row, model.parameters())

    def _move(self, rows: list[Tensor]) -> None:
        self._put()
        # each network sees pictures varied for it alone, but for levels of a ladder while their energies are anchored
        if self._anchors:
            seen = [self._seen(each) for each in rows]
            varied = [seen[self._place(chain)] for chain in range(self.count)]
        else:
            varied = [self._seen(rows[self._place(chain)]) for chain in range(self.count)]
        found = [self._loss_and_grad(model, *each) for model, each in zip(self.models, varied, strict=True)]
        losses, grad = torch.stack([loss for loss, _ in found]), torch.stack([each for _, each in found])
        if not bool(torch.isfinite(losses).all()):
            raise ValueError(
                f"A network has left all bounds at step {self.step + 1}; use a smaller step_size or temperature."
            )
        self.losses.append(losses.cpu())
        if self._anchors:
            losses = losses - self._of_anchors(seen) + self._anchored.to(losses)
        energy = Energy(losses, grad, self.state["delta"], self._n_beta, self._localization)
        size, heat_of_noise = (1.0, 1.0) if self.method.steady else (self._share(), 1.0)
        with torch.no_grad():
            if self.interaction is not None:
                energy = self._interact(energy)
                pace, heat_of_noise = self.interaction.pace(self.step, self.layout)  # type: ignore[assignment]
                size = size * pace  # type: ignore[assignment]
            noise = self._normals(self.sampler.noises) if self.method.noise else grad.new_zeros(1, *grad.shape)
            noise = noise * float(heat_of_noise) ** 0.5
            hp = Hp(**{**vars(self.hp), "step_size": self.hp.step_size * size})
            self.state = self.sampler.update(self.state, energy, noise, hp)
        self.step += 1

    def _share(self) -> float:
        """Of the first step size, by the schedule."""
        return self.settings.rate(self.epochs_done) / self.settings.step_size

    def _loss_and_grad(self, model: nn.Module, inputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        with torch.enable_grad():
            outputs = model(inputs)
            outputs.register_hook(_without_tiny)
            loss = functional.cross_entropy(outputs, targets)
            grads = torch.autograd.grad(loss, list(model.parameters()))
        return loss.detach(), torch.cat([grad.reshape(-1) for grad in grads])

    def _interact(self, energy: Energy) -> Energy:
        """The energy with its heat, after those that swap have swapped."""
        assert self.interaction is not None
        loss = energy.excess_loss.double().cpu()
        uniform = 1 - torch.rand(self.count, generator=self._random["exchange"], dtype=torch.float64)
        grouped, alive = self.layout.gather(loss), torch.ones(self.layout.shape, dtype=torch.bool)
        seen = Seen(self.step, grouped, self.layout.n_beta * grouped, alive, self.layout.gather(uniform))
        self.shared, moves = self.interaction.exchange(self.shared, seen, self.layout)
        if moves is not None:
            order = self.layout.scatter(self.layout.index.gather(1, moves))
            self.models = [self.models[row] for row in order.tolist()]  # their norms go with them
            if self._anchors:  # an anchor stays with the network that it is a copy of
                self._anchors = [self._anchors[row] for row in order.tolist()]
                self._anchored = self._anchored[order.to(self._anchored.device)]
            order = order.to(self.device)
            self.state = {**self.state, "delta": self.state["delta"][order]}
            energy = dataclasses.replace(
                energy, excess_loss=energy.excess_loss[order], loss_grad=energy.loss_grad[order], delta=self.state["delta"]
            )  # fmt: skip
        heat = self.interaction.heat(self.shared, self.layout)
        if heat is None:
            return energy
        self.heats.append(self.layout.scatter(heat))
        by_chain = self.heats[-1].unsqueeze(1).to(energy.n_beta)
        decay = energy.localization * (by_chain if self.method.heats_decay else 1.0)
        return dataclasses.replace(energy, n_beta=energy.n_beta * by_chain, localization=decay)

    def _normals(self, fields: int) -> Tensor:
        drawn = torch.randn(fields, self.count, self.dim, generator=self._random["noise"])
        return drawn.to(self.device)


def _without_tiny(slopes: Tensor) -> Tensor:
    """A network that is sure of its pictures has slopes below the smallest normal number, for which CPUs take ten times as long."""
    return slopes * (slopes.abs() > TINY)


def kept(draw: Draw) -> Draw:
    """A copy on the CPU, which later steps leave alone."""
    return {name: value.detach().cpu().clone() for name, value in copy.copy(draw).items()}
