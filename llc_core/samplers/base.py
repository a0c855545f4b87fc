"""What a sampler is: hyperparameters, a state, and one pure update.

A new sampler is one new file in this folder: a frozen dataclass derived from `Sampler`, registered with `@register`.
The engine (`llc_core.engine.run`) owns evaluation, random streams, diverged chains, recording and step-size adaptation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from llc_core.fields import Named, hyper
from llc_core.samplers.forms import Cell, Law, Line
from llc_core.types import Energy, Hp, State

ADAPTING_SHARE = 0.5
"""Share of the burn-in in which a metric adapts before it is frozen. While it adapts, the chain follows another distribution, and the
rest of the burn-in must forget it. With a burn-in of 750 steps, second moments were 9% too large if the metric was frozen at
its end, and 3% if it was frozen after half."""


SMALL_BIAS = 0.03
"""Default share of the largest stable step where the distribution is the target as the step falls, but for a term of first order: it widens a
stiff direction by 3.1%, and adds 1 to 2% to λ̂ of a network, most of whose directions are less stiff. A tenth of the limit adds 11%
and 4 to 7%, which the verdict refuses (lab/benchmarks/verdicts/automatic_steps.py). Samplers with another distribution keep their tenth:
smaller steps take some of them further from the target."""


@dataclass(frozen=True)
class Sampler(Named):
    """Base of all samplers.

    label: name for people.  formula: LaTeX of one step.  about: one paragraph: what it is, the distribution it converges to.
    noises: independent standard normal fields [C, D] that one update consumes.
    order: weak order of the stationary distribution's error in step_size (1: bias ∝ ε).
    """

    label: ClassVar[str] = ""
    formula: ClassVar[str] = ""
    about: ClassVar[str] = ""
    source: ClassVar[str] = ""
    noises: ClassVar[int] = 1
    order: ClassVar[int] = 1
    elementwise: ClassVar[bool] = False
    """Whether `update` treats every parameter by itself, so that it may be done on some of them at a time."""
    heats_by_noise: ClassVar[bool] = True
    """Whether normals of variance τ in place of 1 are all that another temperature of the noise takes."""
    needs_conditionals: ClassVar[bool] = False
    """Whether only potentials with `exact_samplers` will do; it has no step size then, and the potential makes the draws."""
    needs_prior: ClassVar[bool] = False
    """Whether it makes sense only beside a Gaussian prior, and needs one that is proper (localization > 0 will do)."""
    target_acceptance: ClassVar[float | None] = None
    """Mean acceptance at which an automatic step is held; None: the step follows the curvature."""
    largest_step: ClassVar[float] = float("inf")
    """What an automatic step may grow to."""
    bias_expected: ClassVar[bool] = True
    """Whether `step_bias_factor` and `noise_factor` say what is added at steps of usual size, where the distribution is the target."""
    safety: ClassVar[float] = 0.25
    """Default step size as a fraction of the largest stable one."""

    @property
    def adapts_coordinates(self) -> bool:
        """Whether the engine should adapt a constant metric during burn-in (see `llc_core.engine.target`)."""
        return False

    @property
    def in_prior_coordinates(self) -> bool:
        """Whether it moves in coordinates in which the Gaussian prior, the localisation among it, is N(0, I)."""
        return False

    @property
    def needs_hessian_diagonal(self) -> bool:
        """Whether `update` reads `energy.hessian_diagonal`."""
        return False

    @property
    def needs_hvp(self) -> bool:
        """Whether `update` calls `energy.hvp`."""
        return False

    def complete(self, factors: bool) -> Sampler:
        """This sampler with its automatic options settled, except step_size.

        factors: whether the potential has a model of its curvature, so that coordinates can be adapted.
        """
        return self

    def init(self, delta: Tensor, noise: Tensor, hp: Hp) -> State:
        """State at the start. noise: [C, D] standard normals (for momenta)."""
        return {"delta": delta}

    def update(self, state: State, energy: Energy, noise: Tensor, hp: Hp) -> State:
        """One step from `state`, at which `energy` was evaluated. noise: [noises, C, D] standard normals."""
        raise NotImplementedError

    def metric(self, state: State, hp: Hp) -> Tensor | None:
        """Diagonal G [C, D] that multiplies step_size in the drift, or None for the identity."""
        return None

    def stable_step(self, curvature: Tensor, hp: Hp) -> Tensor:
        """Largest stable step_size, [C, 1], where `curvature` [C, 1] is the top eigenvalue of G^½(nβ∇²L + γ)G^½."""
        raise NotImplementedError

    def noise_factor(self, hp: Hp) -> Tensor | None:
        """k [C, 1] such that gradient noise of variance Σ adds about k·nβ²·tr(GΣ) to λ̂, or None where not known."""
        return None

    def largest_force(self, hp: Hp) -> Tensor | None:
        """|∂U/∂wᵢ| [C, 1] beyond which a step does not grow with the gradient, or None where it always does."""
        return None

    def step_bias_factor(self, hp: Hp) -> Tensor | None:
        """k [C, 1] such that step_size alone adds about k·E[nβ∇Lᵀ G ∇U] to λ̂, or None: nothing to first order.

        Only the loss's share of ∇U counts, since the energy of the localisation is no part of λ̂.
        """
        return None

    def weights(self, state: State, hp: Hp) -> Tensor | None:
        """[C] ≥ 0, what each chain's `state` weighs in averages; None, for every state: all the same. 0 leaves it out."""
        return None

    def law(self) -> Law | None:
        """The one-dimensional distribution as step_size → 0; None where there is none (the sampler diverges)."""
        return Law()

    @property
    def exact_law(self) -> bool:
        """Whether the distribution as step_size → 0 is the target."""
        law = self.law()
        if law is None:
            return False
        bent = law.metric is not None and law.gamma_share < 1
        return not bent and law.extra_drift is None and law.temperature == 1

    def line(self) -> Line | None:
        """The sampler as scalar arithmetic on the line; None where it has no such form."""
        return None

    def cell(self) -> Cell | None:
        """`update` as scalar arithmetic; None where it has no such form. A test compares the two."""
        return None

    def caveat(self) -> str:
        """A sentence for users when these hyperparameters are known not to sample the target; else empty."""
        return ""


@dataclass(frozen=True)
class OverdampedSampler(Sampler):
    """A sampler that moves by −(ε/2)·G·∇U and noise √(εG)·N(0, 1), with further terms that are small beside these.

    On a quadratic with curvature h (G included) the variance is 1/(h(1 − εh/4)): stable below ε = 4/h, and each direction
    adds εh/8 to λ̂ to first order; gradient noise of variance Σ adds (ε/8)·nβ²·tr(GΣ) in the same way.
    """

    def stable_step(self, curvature: Tensor, hp: Hp) -> Tensor:
        return 4 / curvature

    def step_bias_factor(self, hp: Hp) -> Tensor | None:
        return hp.step_size / 8

    def noise_factor(self, hp: Hp) -> Tensor | None:
        return hp.step_size / 8


@dataclass(frozen=True)
class MetropolisSampler(Sampler):
    """A sampler that evaluates the energy itself and may reject: `step` in place of `update`.

    All evaluations of one step see the same batch; exact only with full gradients. Of a state, `accepted` is each chain's running mean
    of the acceptance probability over `trials`, [C, 1].
    """

    def init(self, delta: Tensor, noise: Tensor, hp: Hp) -> State:
        nothing = delta.new_zeros(len(delta), 1)
        return {"delta": delta, "accepted": nothing, "trials": nothing.clone()}

    def step(
        self, state: State, energy: Energy, evaluate: Callable[[Tensor], Energy], noise: Tensor, uniform: Tensor, hp: Hp
    ) -> tuple[State, Energy]:
        """One step; returns the new state and the energy there. uniform: [C, 1] in (0, 1]."""
        raise NotImplementedError


def step_size_field(help: str = "", low: float = 1e-14, high: float = 10.0) -> Any:
    """The step_size of a sampler: automatic by default."""
    text = help or "Size of one step; automatic: a fixed fraction of the largest stable step, following the curvature."
    return hyper(None, low, high, log=True, auto=True, symbol=r"\epsilon", help=text)
