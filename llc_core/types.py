"""The values that modules hand to each other. They are frozen: what was measured cannot be edited afterwards."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np
from torch import Tensor

from llc_core.verdicts import Verdict

Made = TypeVar("Made")


@dataclass(frozen=True)
class LearningCoefficient:
    """An exact learning coefficient λ (a rational number) and its multiplicity m.

    The free energy of a singular model expands as n·L_n(w0) + λ·log n − (m − 1)·log log n.
    `multiplicity` is None where the exact search for it would be too long.
    note: a sentence where the ranks it was made from are a close call, else empty.
    """

    value: Fraction
    multiplicity: int | None = 1
    note: str = field(default="", compare=False)

    def __float__(self) -> float:
        return float(self.value)


@dataclass(frozen=True)
class Polish:
    """How far w0 was moved towards a minimum of L_n, and what that changes.

    distance: ‖w0 after − w0 before‖.  relative: as a share of ‖w0‖ before; nan where that is 0 or not known.
    fall: by how much L_n fell.  llc: nβ times that, by which λ̂ at the new w0 is larger, but for what γ's new centre changes.
    gradient, gradient_before: ‖∇L_n‖ at the new w0 and before.
    gain: how much λ̂ could still rise by, of the quadratic model of L_n at the new w0; nan: not known.
    passes: evaluations on all data.  converged: whether the new w0 is a minimum, to the tolerance asked for.
    sentence: all that in plain words.
    """

    distance: float
    relative: float
    fall: float
    llc: float
    gradient_before: float
    gradient: float
    gain: float
    passes: int
    converged: bool
    sentence: str

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Energy:
    """What a sampler sees of the potential at the current point, for C chains with D parameters.

    U(w) = nβ·L_n(w) + (γ/2)‖w − w0‖² − log φ(w) is the potential whose exp(−U) is the target.

    excess_loss: [C], L(w0 + δ) − L(w0) on the same data.
    loss_grad: [C, D], gradient of the mean loss (no nβ, no prior).
    delta: [C, D], displacement δ = w − w0.
    n_beta, localization: [C, 1], nβ and γ of each chain.
    metric_grad: [C, D], the gradient of the mean loss that feeds a preconditioner's statistics; None: loss_grad.
    hessian_diagonal: [C, D], diagonal of the mean loss's Hessian, for the samplers that ask for it.
    hvp: vector [C, D] ↦ ∇²L·vector of the loss that `statistics_grad` is the gradient of, for the samplers that ask for it.
    prior_energy, prior_grad: −log φ [C] and its gradient [C, D], of a prior beside the localisation; None: φ = 1.
    prior_prox: (y, s) ↦ x with x − s·∇log φ(x) = y, an implicit step of that prior; s is [C, 1].
    pulled_force: ∇U in the sampler's own coordinates where these are adapted (see `llc_core.engine.target`); the other fields
        stay in the coordinates of the parameters.
    """

    excess_loss: Tensor
    loss_grad: Tensor
    delta: Tensor
    n_beta: Tensor
    localization: Tensor
    pulled_force: Tensor | None = None
    metric_grad: Tensor | None = None
    hessian_diagonal: Tensor | None = None
    hvp: Callable[[Tensor], Tensor] | None = None
    prior_energy: Tensor | None = None
    prior_grad: Tensor | None = None
    prior_prox: Callable[[Tensor, Tensor], Tensor] | None = None

    @property
    def statistics_grad(self) -> Tensor:
        """What a preconditioner's running means are made of, [C, D]."""
        return self.loss_grad if self.metric_grad is None else self.metric_grad

    @property
    def force(self) -> Tensor:
        """∇U = nβ·∇L + γ·δ − ∇log φ, [C, D]."""
        if self.pulled_force is not None:
            return self.pulled_force
        return self.prior_force.addcmul_(self.n_beta, self.loss_grad)

    @property
    def prior_force(self) -> Tensor:
        """The part of ∇U that is not the loss's, γ·δ − ∇log φ: a new tensor [C, D]."""
        force = self.localization * self.delta
        return force if self.prior_grad is None else force.add_(self.prior_grad)

    @property
    def potential(self) -> Tensor:
        """U up to a constant, [C, 1]."""
        prior = self.localization / 2 * self.delta.square().sum(dim=1, keepdim=True)
        if self.prior_energy is not None:
            prior = prior + self.prior_energy.unsqueeze(1)
        return self.n_beta * self.excess_loss.unsqueeze(1) + prior


@dataclass(frozen=True)
class Snapshot:
    """A copy of what happened since the last snapshot: safe to keep, never changed later.

    steps: number of steps done so far.           burn_in: step at which averaging starts.
    recorded: [T] step numbers of the new rows.   excess_loss: [T, C] ΔL of every chain (NaN once a chain is dead).
    llc: [C] running λ̂ of every chain (NaN during burn-in).   alive: [C].
    rms_displacement: [C], ‖w − w0‖ / √D.          step_size: [C], the step size in use (adapted during burn-in).
    steps_per_second: steps of all chains together per second of wall time, over the whole run so far.
    notes: sentences for the user (for example "step size halved at step 300").
    observables: "histogram": [S, count + 2] weighted counts since burn-in, one row per setting, where asked for.
    """

    steps: int
    total_steps: int
    burn_in: int
    recorded: np.ndarray
    excess_loss: np.ndarray
    llc: np.ndarray
    alive: np.ndarray
    rms_displacement: np.ndarray
    step_size: np.ndarray
    n_beta: np.ndarray
    steps_per_second: float
    notes: tuple[str, ...] = ()
    observables: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def finished(self) -> bool:
        return self.steps >= self.total_steps or not bool(self.alive.any())


@dataclass(frozen=True)
class FromTemperatures:
    """λ̂ as the slope of the mean loss over the temperatures of one run, which the loss at w0 does not enter.

    llc, llc_se: the slope and its error, nan where there is none.  verdict: whether it can be trusted: its own, no other's.
    temperatures: T_1 = 1, T_2, …: the run's nβ and γ were divided by them.
    means, means_se: nβ·E[L(w) − L(w0)] at each, with the nβ of the first.
    above: nβ·L(w0) less what the line through these means is at T = 0: by how much w0 lies above the minimum.
    change, change_se: by how much the slope changes from the lowest temperature to the highest; nan for two of them.
    """

    llc: float
    llc_se: float
    verdict: Verdict
    temperatures: tuple[float, ...]
    means: tuple[float, ...]
    means_se: tuple[float, ...]
    above: float
    change: float = math.nan
    change_se: float = math.nan

    def __str__(self) -> str:
        names = ", ".join(f"{each:g}" for each in self.temperatures)
        return f"from temperatures {names}: λ̂ = {self.llc:.4g} ± {self.llc_se:.2g}. {self.verdict}"


State = dict[str, Tensor]
"""Tensors with the chain as first dimension; state["delta"] is the displacement [C, D]."""


class Hp(SimpleNamespace):
    """One attribute per hyperparameter: a [C, 1] tensor for numbers, the plain text for named options.

    The engine adds two more: `adapting` [C, 1], which is 1 in the first ADAPTING_SHARE of the burn-in and 0 after it, and `layers`,
    the shapes of the blocks that the D parameters consist of, in their order.

    A tensor is replaced by another one and never changed in place, since `once` keeps what was made of it.
    """

    __slots__ = ("_kept",)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__("_kept", {})
        super().__setattr__(name, value)

    def once(self, work: Callable[[Hp], Made]) -> Made:
        """work(self), done again after a hyperparameter was replaced: for what is the same in many steps. work: a module's function."""
        if not hasattr(self, "_kept"):
            super().__setattr__("_kept", {})
        if work not in self._kept:
            self._kept[work] = work(self)
        made: Made = self._kept[work]
        return made


class HpInPlace(Hp):
    """Hyperparameters whose tensors are changed in place, as a step that is recorded needs them."""

    def once(self, work: Callable[[Hp], Made]) -> Made:
        return work(self)
