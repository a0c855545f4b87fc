"""Optimisers as frozen descriptions: each moves a list of parameters in place, by gradients that it asks for.

They are written out as samplers are, so that one can read here what exactly was run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from llc_core.fields import Family, Named, hyper

Gradients = Callable[[], tuple[Tensor, list[Tensor]]]
"""The loss on the next minibatch at the parameters as they are now, and its gradients."""


@dataclass(frozen=True)
class Optimizer(Named):
    """State is kept in `memory`, a dictionary of its own for each training."""

    def step(
        self, parameters: list[Tensor], gradients: Gradients, memory: dict[str, Any], noise: torch.Generator
    ) -> Tensor:
        """One step; returns the first loss it saw."""
        raise NotImplementedError

    @property
    def evaluations_per_step(self) -> int:
        """Gradients of a minibatch that one step takes."""
        return 1


@dataclass(frozen=True)
class MomentumSGD(Optimizer):
    """b ← μb + g;  w ← w − η(g + μb) with Nesterov's momentum, w ← w − ηb without: the same as torch.optim.SGD."""

    learning_rate: float = hyper(0.01, 0.0, 1e3, open_low=True, log=True, symbol=r"\eta", help="Length of a step.")
    momentum: float = hyper(0.9, 0.0, 0.9999, symbol=r"\mu", help="Share of the last velocity that is kept.")
    nesterov: bool = hyper(True)

    def step(
        self, parameters: list[Tensor], gradients: Gradients, memory: dict[str, Any], noise: torch.Generator
    ) -> Tensor:
        loss, grads = gradients()
        _move(parameters, grads, self.learning_rate, self.momentum, self.nesterov, memory)
        return loss


@dataclass(frozen=True)
class Adam(Optimizer):
    """Kingma & Ba 2015, the same as torch.optim.Adam."""

    learning_rate: float = hyper(1e-3, 0.0, 1e3, open_low=True, log=True, symbol=r"\eta", help="Length of a step.")
    beta1: float = hyper(0.9, 0.0, 0.9999, symbol=r"\beta_1", help="Memory of the gradients.")
    beta2: float = hyper(0.999, 0.0, 0.999999, symbol=r"\beta_2", help="Memory of the squared gradients.")
    stability: float = hyper(1e-8, 1e-16, 1.0, log=True, symbol=r"\epsilon", help="Added to the root.")

    @property
    def shrink(self) -> float:
        """What every step takes of the weights, as a share of them."""
        return 0.0

    def step(
        self, parameters: list[Tensor], gradients: Gradients, memory: dict[str, Any], noise: torch.Generator
    ) -> Tensor:
        loss, grads = gradients()
        first = memory.setdefault("first", [torch.zeros_like(p) for p in parameters])
        second = memory.setdefault("second", [torch.zeros_like(p) for p in parameters])
        t = memory["count"] = memory.get("count", 0) + 1
        for w, g, m, v in zip(parameters, grads, first, second, strict=True):
            m.lerp_(g, 1 - self.beta1)
            v.mul_(self.beta2).addcmul_(g, g, value=1 - self.beta2)
            root = (v / (1 - self.beta2**t)).sqrt_().add_(self.stability)
            if self.shrink:
                w.mul_(1 - self.shrink)
            w.addcdiv_(m, root, value=-self.learning_rate / (1 - self.beta1**t))
        return loss


@dataclass(frozen=True)
class AdamW(Adam):
    """Loshchilov & Hutter 2019, the same as torch.optim.AdamW: w ← (1 − ηλ)w beside the step of Adam."""

    weight_decay: float = hyper(0.01, 0.0, 1e3, symbol=r"\lambda", help="Pull to 0, by η times it in every step.")

    @property
    def shrink(self) -> float:
        return self.learning_rate * self.weight_decay


@dataclass(frozen=True)
class EntropySGD(Optimizer):
    """Descends the local free energy: from w, L Langevin steps that are held near w, and w moves to their running mean.

    w' = μ = w;  L times: w' ← w' − η'(g(w') − γ(w − w')) + σ√η'·N(0, 1),  μ ← αμ + (1 − α)w';
    then b ← mb + (w − μ),  w ← w − ηb.  γ = γ0·(1 + γ1)^t at step t = 0, 1, …; every g is of a fresh minibatch.

    Source: Chaudhari et al. 2017, Algorithm 1, with the constants and the plain momentum that Lau, Murfet & Wei 2023 ran.
    """

    learning_rate: float = hyper(0.01, 0.0, 1e3, open_low=True, log=True, symbol=r"\eta", help="Share of w − μ moved.")
    momentum: float = hyper(0.9, 0.0, 0.9999, symbol="m", help="Share of the last velocity that is kept.")
    inner_steps: int = hyper(5, 1, 10_000, symbol="L", help="Langevin steps between moves of w.")
    inner_rate: float = hyper(
        0.1, 0.0, 1e3, open_low=True, log=True, symbol=r"\eta'", help="Length of a Langevin step."
    )
    noise: float = hyper(1e-4, 0.0, 1e3, symbol=r"\sigma", help="Size of the Langevin noise.")
    scope: float = hyper(1e-4, 0.0, 1e9, symbol=r"\gamma_0", help="Pull of w on the Langevin steps at the start.")
    scoping: float = hyper(1e-3, 0.0, 1.0, symbol=r"\gamma_1", help="Growth of that pull per step.")
    memory: float = hyper(0.75, 0.0, 0.9999, symbol=r"\alpha", help="Memory of the running mean.")

    @property
    def evaluations_per_step(self) -> int:
        return self.inner_steps

    def step(
        self, parameters: list[Tensor], gradients: Gradients, memory: dict[str, Any], noise: torch.Generator
    ) -> Tensor:
        t = memory["count"] = memory.get("count", -1) + 1
        pull = self.scope * (1 + self.scoping) ** t
        anchors, means = [p.clone() for p in parameters], [p.clone() for p in parameters]
        first = None
        for _ in range(self.inner_steps):
            loss, grads = gradients()
            first = loss if first is None else first
            for w, g, anchor, mean in zip(parameters, grads, anchors, means, strict=True):
                normal = torch.empty_like(w).normal_(generator=noise)
                w.sub_(g - pull * (anchor - w), alpha=self.inner_rate)
                w.add_(normal, alpha=self.noise * self.inner_rate**0.5)
                mean.lerp_(w, 1 - self.memory)
        away = []
        for w, anchor, mean in zip(parameters, anchors, means, strict=True):
            w.copy_(anchor)
            away.append(anchor.sub_(mean))
        _move(parameters, away, self.learning_rate, self.momentum, False, memory)
        assert first is not None
        return first


def _move(
    parameters: list[Tensor], grads: list[Tensor], rate: float, momentum: float, nesterov: bool, memory: dict[str, Any]
) -> None:
    velocity = memory.setdefault("velocity", [torch.zeros_like(p) for p in parameters])
    for w, g, b in zip(parameters, grads, velocity, strict=True):
        b.mul_(momentum).add_(g)
        w.sub_(g + momentum * b if nesterov else b, alpha=rate)


OPTIMIZERS: Family[Optimizer] = Family(Optimizer, "optimizer", "Adam()")
for _kind in (MomentumSGD, Adam, AdamW, EntropySGD):
    OPTIMIZERS.register(_kind)
build_optimizer = OPTIMIZERS.build
