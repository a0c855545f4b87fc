"""What the engine asks of a potential. Long, since every question is explained where it is asked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from llc_core.potentials.conditionals import Conditionals
from llc_core.types import LearningCoefficient

Factors = tuple[Tensor, Tensor]
"""Kronecker factors (B [C, H, H], A [C, H', H']) of a layer's curvature at each chain: ∇²L in its weights is near B ⊗ A."""

EXACT_DIAGONAL = 64
"""Up to this many parameters the Hessian's diagonal is computed exactly by default."""


@dataclass(frozen=True)
class Batch:
    """One minibatch per chain. `data` belongs to the potential; baseline_loss [b] is L_m(w0) of each batch."""

    data: Mapping[str, Tensor]
    baseline_loss: Tensor

    def of(self, chain: int, chains: int) -> Batch:
        """The batch of one of `chains` chains, a multiple of the batches."""
        at = chain // (chains // len(self.baseline_loss))
        return Batch({name: data[at : at + 1] for name, data in self.data.items()}, self.baseline_loss[at : at + 1])


class Potential:
    """A loss with a point w0, seen through displacements δ = w − w0.

    dim: number of parameters D.  n: number of samples that nβ counts.
    gradients: the gradient kinds this potential offers, best first.
    baseline_loss: L_n(w0) where known.
    """

    kind = "potential"
    dim: int
    n: int
    gradients: tuple[str, ...] = ("full",)
    baseline_loss: float = 0.0
    batch_size: int = 500  # rows of a minibatch where no number is asked for
    localization: float = 1.0  # γ where none is asked for
    mode: float = 0.0
    """w0 itself, for potentials with one parameter: the chain's position on the line is mode + δ."""
    by_chain = False
    """Whether the engine steps one chain after the other, in place (`llc_core.engine.stepping.chain_by_chain`): this needs the least
    memory and costs more per call."""
    spreads_chains = False
    """Whether the potential itself spreads chains over the cores (`llc_core.compute.cores`); torch's own threads would then disturb."""
    own_gradients = False
    """Whether everything it computes, gradients too, is written out and leaves autograd alone, so that runs may step in torch's
    inference mode."""
    samples: int = 0
    """Number of distinct samples from which minibatches are drawn, and which `per_sample_loss` knows."""
    data_sets: int = 1
    """Data sets side by side: chain c of C uses data set c // (C / data_sets)."""
    problems: int = 1
    """Problems side by side, each with its own w0, data and answer: chain c of C belongs to problem c // (C / problems)."""
    start: Sequence[float] | None = None
    """Displacement at which chains begin, D numbers; None: at w0. The baseline and the localisation stay at w0."""
    walls = False
    """Whether there are places that chains may not go to, see `inside`."""
    costly_curvature = False
    """Whether a product with the Hessian costs as much as many steps, so that a first look at the curvature ends early."""
    has_factors = False
    """Whether `kronecker_factors` gives a model of the curvature."""
    exact_samplers: tuple[str, ...] = ()
    """Names of the samplers for which `conditionals` makes the draws."""
    starts_at_prior = False
    """Whether chains begin at draws of the Gaussian prior; else at w0, or at `start`."""
    w0_is_minimum = False
    """Whether w0 is a minimum of the loss by how it was made, so that nobody need look for a lower place."""
    endless: bool | None = None
    """Whether the loss is of a form that may fall for ever as the weights grow, such as a cross entropy; False: of one that comes to rest,
    such as a squared error; None: not known."""
    learning_coefficient: LearningCoefficient | None = None
    local_learning_coefficient: LearningCoefficient | None = None

    @property
    def n_beta(self) -> float:
        """The usual inverse temperature, n / log n (Watanabe 2013)."""
        return self.n / math.log(self.n)

    def expected_llc(self, n_beta: float | None = None) -> float | None:
        """What λ̂ is expected to be at finite n, or None where it is not known."""
        return None

    def expected_llc_at(self, n_beta: float, localization: float) -> float | None:
        """The same for a given γ, where that is known."""
        return self.expected_llc(n_beta)

    def prior_energy_and_grad(self, delta: Tensor) -> tuple[Tensor, Tensor] | None:
        """−log φ [C] and its gradient [C, D], of a prior φ(w) beside the Gaussian localisation; None: there is none.

        It is part of the target and not of the loss. Stability limits leave it out: −log|w| has no largest curvature.
        """
        return None

    def inside(self, delta: Tensor) -> Tensor | None:
        """Whether δ [C, D] lies within the `walls`, [C]; None: there are none."""
        return None

    def prior_precision(self, like: Tensor) -> Tensor | None:
        """Precisions [D] of an independent Gaussian prior around w0, in the precision of `like`; None: there is none.

        Where there is one, `prior_energy_and_grad` is its energy. The localisation γ comes on top.
        """
        return None

    def prior_prox(self, before: Tensor, moved: Tensor, size: Tensor) -> Tensor:
        """δ with δ − size·∇log φ(δ) = `moved` [C, D]. Of several solutions it is the one on the same side of the prior's zeros as `before`.

        size: [C, 1]. Asked for by `ProximalSGLD` alone, and only where there is a prior.
        """
        raise NotImplementedError(f"{self.kind} has no implicit step for its prior.")

    def member(self, index: int) -> Potential:
        """One of the `problems`."""
        return self

    def origin(self, like: Tensor) -> Tensor | None:
        """w0 itself, [D], on the device and in the precision of `like`; None where it is not known."""
        return None

    def moved(self, delta: Tensor) -> Potential:
        """The same loss on the same data with w0 + δ in place of w0, δ [D]; ValueError where w0 cannot move.

        What it says of exact answers is of the new w0, or it says nothing.
        """
        raise ValueError(
            f"w0 of a problem of kind {self.kind} cannot be moved; give one whose w0 is of its own choice."
        )

    def prepare(self, like: Tensor) -> None:
        """Called before a run, which will evaluate on the device and in the precision of `like`."""

    def draw(
        self, generator: torch.Generator, chains: int, batch_size: int, gradient: str, dtype: torch.dtype
    ) -> Batch:
        """Independent batches for `chains` chains, on the generator's device."""
        raise NotImplementedError(f"{self.kind} has only full gradients.")

    def excess_loss_and_grad(self, delta: Tensor, batch: Batch | None = None) -> tuple[Tensor, Tensor]:
        """ΔL [C] and its gradient [C, D] at δ [C, D]; on all data when `batch` is None.

        C is a multiple of the batch's chains b; chain c uses batch c // (C/b).
        """
        raise NotImplementedError

    def excess_loss(self, delta: Tensor) -> Tensor:
        """ΔL [C] on all data at δ [C, D], where the gradient is not wanted: potentials that save it override this."""
        return self.excess_loss_and_grad(delta)[0]

    def step_bytes(self, chains: int, gradient: str, batch_size: int, size: int) -> int:
        """Bytes that an evaluation for so many chains holds at once on a CPU, beside displacements and gradients [C, D].

        An upper bound; 0 where it is little beside those. size: bytes of a number in the precision of the run.
        """
        return 0

    def rounding(self, delta: Tensor) -> Tensor | None:
        """|ΔL in the precision of δ − ΔL in float64| at δ [C, D], [C]; None where it is not known."""
        return None

    def per_sample_loss(self, delta: Tensor, start: int, stop: int) -> Tensor:
        """Losses [C, stop − start], not excess ones, of samples start … stop of all data at δ [C, D]."""
        raise NotImplementedError(f"{self.kind} gives no losses of single samples.")

    def for_proposals(self) -> Potential:
        """The same losses, with the gradients that samplers which accept or reject follow: those of a smoother loss, where this one
        has kinks. Their test asks the losses alone, so that their distribution stays exact."""
        return self

    def hvp(self, delta: Tensor, vector: Tensor) -> Tensor:
        """Hessian of the full-data loss at δ times `vector`, both [C, D]. By default from a central difference."""
        return self.hvp_by_difference(delta, None, vector)

    def rough_hvp(self, delta: Tensor, vector: Tensor) -> Tensor:
        """The same on no more rows than a step size needs, where others would cost much."""
        return self.hvp(delta, vector)

    def hvp_by_difference(self, delta: Tensor, batch: Batch | None, vector: Tensor) -> Tensor:
        """The same by a central difference of gradients on `batch`. Kinks of the loss are in it."""
        scale = 1e-3 * (1 + delta.norm(dim=1, keepdim=True)) / vector.norm(dim=1, keepdim=True).clamp_min(1e-30)
        _, above = self.excess_loss_and_grad(delta + scale * vector, batch)
        _, below = self.excess_loss_and_grad(delta - scale * vector, batch)
        return (above - below) / (2 * scale)

    def hvp_on(self, delta: Tensor, batch: Batch | None, vector: Tensor) -> Tensor:
        """Hessian of the very loss whose gradient a step sees, times `vector` [C, D]: of the rows of `batch`, or of all data."""
        return self.hvp(delta, vector) if batch is None else self.hvp_by_difference(delta, batch, vector)

    @property
    def layers(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of the blocks that the D parameters consist of, in their order."""
        return ((self.dim,),)

    def hessian_diagonal(self, delta: Tensor, batch: Batch | None, generator: torch.Generator) -> Tensor:
        """Diagonal of the loss's Hessian at δ, [C, D]; on all data.

        By default it is exact up to EXACT_DIAGONAL parameters, from D Hessian products. Above that it is z ⊙ Hz for one
        Rademacher probe z, which is unbiased (Hutchinson). Potentials that know more override this.
        """
        if self.dim <= EXACT_DIAGONAL:
            columns = [
                self.hvp(delta, unit.expand_as(delta).contiguous())[:, i]
                for i, unit in enumerate(torch.eye(self.dim, dtype=delta.dtype, device=delta.device))
            ]
            return torch.stack(columns, dim=1)
        probe = (
            torch.randint(0, 2, delta.shape, generator=generator, device=delta.device).to(delta.dtype).mul_(2).sub_(1)
        )
        return probe * self.hvp(delta, probe)

    def kronecker_factors(self, delta: Tensor) -> list[Factors]:
        """Factors of each layer's curvature at each chain of δ [C, D]."""
        raise NotImplementedError(f"{self.kind} has no model of its curvature.")

    def conditionals(self, n_beta: Tensor, localization: Tensor, seed: int, symmetries: bool) -> Conditionals:
        """Chains for one of `exact_samplers`, one for each row of n_beta and localization [C, 1]; float64, on all data.

        symmetries: whether they also move along the symmetries of the loss.
        """
        raise NotImplementedError(f"{self.kind} has no exact conditional distributions.")

    def check_conditionals(self, localization: float | None) -> None:
        """ValueError, one sentence, where `conditionals` could not be made with this localisation (None: the problem's own)."""

    def typical_scale(self, like: Tensor) -> Tensor | float:
        """Typical size of a parameter, with which displacements are compared: a number, or one per parameter [D]."""
        return 0.1

    def default_sampler(self, gradient: str) -> str:
        """Name of the sampler the engine uses when none is asked for."""
        return "UnderdampedLangevin" if gradient == "full" else "SGLD"

    def default_steps(self, gradient: str, sampler: str) -> int:
        """Steps when none are asked for: more for large networks, whose slowest directions are slower."""
        return 8_000 if self.dim < 5_000 else 12_000

    def to_dict(self) -> dict[str, Any]:
        """JSON description from which `llc_core.potentials.build` makes the same potential."""
        raise NotImplementedError


@dataclass(frozen=True)
class Workload:
    """What the costs of a run depend on, beside its problem.

    gradient, batch_size, dtype: as in RunConfig.  chains: of each problem and setting.  settings: step sizes and the like
    that run side by side and share their batches.  on_gpu: whether the run is on a GPU.
    """

    gradient: str
    steps: int
    chains: int
    settings: int
    batch_size: int | None = None
    dtype: str | None = None
    on_gpu: bool = False


class ProblemClass(Protocol):
    """Random problems of one kind and size, of which a sweep takes some. What it says needs none of them to be made.

    name: how the class is written in results and keys; two spellings of one class have one name.
    of_one_shape: whether all problems have the same layers, so that several can be one batch.
    """

    name: str
    of_one_shape: bool

    def description(self, seeds: Sequence[int]) -> dict[str, Any]:
        """JSON for `llc_core.potentials.build`: the problem of one seed, or those of several side by side."""
        ...

    def layers(self, seed: int) -> tuple[tuple[int, int], ...]:
        """`Potential.layers` of the problem."""
        ...

    def step_operations(self, seed: int, work: Workload) -> float:
        """Floating-point operations of one loss and its gradient, for one chain."""
        ...

    def batch_operations(self, seeds: Sequence[int], work: Workload) -> float:
        """Floating-point operations that go into the batches of a whole run on these problems."""
        ...

    def most_side_by_side(self, work: Workload) -> int:
        """How many problems of the class should be one batch, at least 1: more would fill the device or its memory."""
        ...
