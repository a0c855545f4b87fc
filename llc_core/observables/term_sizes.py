"""The sizes of a step's terms, and the distance from w0."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from llc_core.observables.base import Observable, register
from llc_core.observables.look import Group, Look, RunShape
from llc_core.samplers.base import OverdampedSampler, Sampler
from llc_core.samplers.hmc import HMC
from llc_core.samplers.monge_sgld import MongeSGLD
from llc_core.samplers.sghmc import SGHMC
from llc_core.samplers.sglrw import SGLRW
from llc_core.samplers.sgnht import SGNHT
from llc_core.samplers.underdamped import UnderdampedLangevin


@register
@dataclass
class TermSizes(Observable):
    """Root mean squares over steps and living chains: the distance from w0, and the terms of a step, all in units of w.

    Overdamped samplers without a metric: `gradient_term` (ε/2)·nβ‖∇L‖, `localization_term` (ε/2)·γ‖w − w0‖ and
    `noise_term` √(ε·D), which move w itself.
    Samplers with a momentum: `gradient_kick`, `localization_kick` and `noise_kick`, by which a step changes the momentum,
    and `momentum_move` √(E‖p‖²) at equilibrium, by which the momentum moves w in a step. A kick acts on all later moves until
    friction has used it up, so it is not compared with the terms above: see `kicks`.
    A metric multiplies the terms by what only the sampler knows, and adapted coordinates are others than w: the distance alone.

    Steps count alike, however large they are.
    """

    needs_energy = True

    every: int = 50
    """At this distance they cost next to nothing."""

    def begin(self, setup: RunShape) -> None:
        self.setup, self.dim = setup, setup.problem.dim
        self.sizes = setup.zeros(3, setup.chains)
        self.weight = setup.zeros(setup.chains)

    def look(self, seen: Look) -> None:
        energy = seen.energy
        distance, gradient = energy.delta.square().sum(dim=1), energy.loss_grad.square().sum(dim=1)
        distance, gradient = distance.to(self.sizes.dtype), gradient.to(self.sizes.dtype)
        localization, n_beta = energy.localization.squeeze(1), energy.n_beta.squeeze(1)
        sizes = [distance, n_beta * n_beta * gradient, localization * localization * distance]
        self.sizes[:, seen.rows] += torch.stack(sizes) * seen.chain_weights
        self.weight[seen.rows] += seen.chain_weights

    def in_use(self, group: Group) -> dict[str, float]:
        """distance and the terms by name; the distance alone where they are not defined; empty where nothing was seen."""
        weight = self.weight[group.rows]
        good = torch.as_tensor(group.living, device=weight.device) & (weight > 0)
        if not bool(good.any()):
            return {}
        mean = (self.sizes[:, group.rows] / weight)[:, good].mean(dim=1)
        distance, gradient, localization = mean.sqrt().tolist()
        sampler = self.setup.sampler_of(group.rows)
        if not math.isfinite(group.step_size) or sampler is None:
            return {"distance": distance}
        if has_plain_terms(sampler):
            force, noise, unit = group.step_size / 2, math.sqrt(group.step_size * self.dim), "term"
            more = {}
        elif (found := kicks(sampler, group.step_size)) is not None:
            force, unit = found[0], "kick"
            noise, move = (size * math.sqrt(self.dim) for size in found[1:])
            more = {"momentum_move": move}
        else:
            return {"distance": distance}
        return {
            "distance": distance,
            f"gradient_{unit}": force * gradient,
            f"localization_{unit}": force * localization,
            f"noise_{unit}": noise,
            **more,
        }

    def read(self, group: Group) -> dict[str, np.ndarray]:
        return {name: np.array(size) for name, size in self.in_use(group).items()}


def has_plain_terms(sampler: Sampler) -> bool:
    """Whether a step is −(ε/2)∇U and √ε·N(0, 1), with no metric beside them. A step of SGLRW has one length."""
    bent = type(sampler).metric is not Sampler.metric or isinstance(sampler, MongeSGLD | SGLRW)
    return isinstance(sampler, OverdampedSampler) and not bent


def kicks(sampler: Sampler, step_size: float) -> tuple[float, float, float] | None:
    """For one direction, in units of w: the kick for ∇U of size 1, that of the noise, and the move of a momentum at equilibrium.

    SGHMC and SGNHT: p ← p − ε∇U − αp + √(2αε)·N(0, 1), w ← w + p, so ε, √(2αε) and √ε; SGHMC as printed has half the force.
    Underdamped Langevin (BAOAB): w moves by h·p, so h², h·√(1 − e^{−2fh}) and h. HMC: h² for each leapfrog step, and the fresh
    momentum of each trajectory is all noise, h and h. None for other samplers,
    and for SGNHT as printed, whose noise grows with its friction.
    """
    root = math.sqrt(step_size)
    if isinstance(sampler, SGHMC):
        return step_size / (2 if sampler.dynamics == "printed" else 1), math.sqrt(2 * sampler.friction) * root, root
    if isinstance(sampler, SGNHT) and sampler.dynamics == "corrected":
        return step_size, math.sqrt(2 * sampler.friction) * root, root
    if isinstance(sampler, UnderdampedLangevin):
        if sampler.friction is None:
            return None
        return step_size**2, step_size * math.sqrt(-math.expm1(-2 * sampler.friction * step_size)), step_size
    if isinstance(sampler, HMC):
        return step_size**2, step_size, step_size
    return None
