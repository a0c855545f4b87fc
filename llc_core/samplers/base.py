"""What a sampler is: hyperparameters, a state, and one pure update.

A new sampler is one new file in this folder: a frozen dataclass derived from `Sampler`, registered with `@register`.
The driver (`llc_core.engine.run`) owns evaluation, random streams, dead chains, recording and step-size adaptation.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from llc_core.fields import Hyper, check_hyper, hyper_fields
from llc_core.types import Energy

State = dict[str, Tensor]
"""Tensors with the chain as first dimension; state["delta"] is the displacement [C, D]."""

Hp = SimpleNamespace
"""One attribute per hyperparameter: a [C, 1] tensor for numbers, the plain text for named options.

Two more are the driver's: `adapting` [C, 1], 1 in the first ADAPTING_SHARE of the burn-in and 0 after it, and `layers`,
the shapes of the blocks that the D parameters consist of, in their order.
"""


ADAPTING_SHARE = 0.5
"""Part of the burn-in in which a metric that is to be frozen adapts. While it does the chain follows another law, which
the rest of the burn-in must forget: frozen only at the end of 750 steps, second moments were 9% too large, at half 3%."""


@dataclass(frozen=True)
class Law:
    """The one-dimensional law a sampler tends to as step_size → 0 (Rensmeyer & Niggemann 2025, eqs. 27 and 35).

    The limit is the diffusion dx = ½(−G·U′ + c·G′ + extra)dt + √(τG)dW, where G and extra depend on the slope U′. Its
    stationary density is ∝ exp(−U/τ)·G^{−(1−c)}·exp(∫extra/G dx), with τ = 1 wherever c or extra matter.

    metric: slope [N] ↦ G [N]; None: constant.  gamma_share: c, the part of the true ∇·G that the drift contains.
    extra_drift: slope [N] ↦ extra [N]; None: no such term.  temperature: τ.
    """

    metric: Callable[[np.ndarray], np.ndarray] | None = None
    gamma_share: float = 1.0
    extra_drift: Callable[[np.ndarray], np.ndarray] | None = None
    temperature: float = 1.0


@dataclass(frozen=True)
class Line:
    """A sampler on the line, as scalar arithmetic that serves the compiled kernel, the exact operator and numpy alike.

    One step at x, with slope g = U′(x) and curvature h = U″(x), and two numbers (a, b) of memory:
        a, b ← memory(a, b, g, p);   drift, G ← move(a, b, g, h, p);   x ← x + (ε/2)·drift + √(εG)·N(0, 1).

    memory, move: plain functions of floats or arrays, made of arithmetic and numpy functions only, so that numba can
        compile them.  p: `parameters`, a tuple of floats.
    start: (a, b) at the start.  remembered: how many of the two are used.
    uses_curvature: whether `move` reads h.  freezes: memory is held after ADAPTING_SHARE of the burn-in.
    """

    memory: Callable[..., Any]
    move: Callable[..., Any]
    parameters: tuple[float, ...] = ()
    start: tuple[float, float] = (0.0, 0.0)
    remembered: int = 0
    uses_curvature: bool = False
    freezes: bool = False


@dataclass(frozen=True)
class Cell:
    """A step of one parameter as scalar arithmetic: made into one compiled loop, noise and all, over long rows of them.

    step: (δ, a, b, gradient of the mean loss g, standard normal z, p) ↦ (δ, a, b); plain arithmetic and numpy functions.
        A sampler that adapts its coordinates must read g only as nβ·g + γ·δ.
    numbers: (state, nβ, γ, hp) ↦ p, some columns [C, 1] in double precision, from the chains' state before the step.
    memories: names of a and b, other tensors of the state that have the parameters' shape; two at most.
    scalars: (state, hp) ↦ all else of the state, after the step, from what it was before; None: there is nothing else.
    """

    step: Callable[..., Any]
    numbers: Callable[[State, Tensor, Tensor, Hp], tuple[Tensor, ...]]
    memories: tuple[str, ...] = ()
    scalars: Callable[[State, Hp], State] | None = None


@dataclass(frozen=True)
class Sampler:
    """Base of all samplers.

    label: name for people.  formula: LaTeX of one step.  about: one paragraph: what it is, the law it converges to.
    noises: independent standard normal fields [C, D] that one update consumes.
    order: weak order of the stationary law's error in step_size (1: bias ∝ ε).
    """

    label: ClassVar[str] = ""
    formula: ClassVar[str] = ""
    about: ClassVar[str] = ""
    source: ClassVar[str] = ""
    noises: ClassVar[int] = 1
    order: ClassVar[int] = 1
    elementwise: ClassVar[bool] = False
    """Whether `update` may be done on some of the parameters at a time: none of them reads another."""
    safety: ClassVar[float] = 0.25
    """Default step size as a fraction of the largest stable one."""

    def __post_init__(self) -> None:
        for name, about in hyper_fields(self).items():
            object.__setattr__(self, name, check_hyper(self.name, name, getattr(self, name), about))

    @property
    def name(self) -> str:
        return type(self).__name__

    @property
    def adapts_coordinates(self) -> bool:
        """Whether the driver should adapt a constant metric during burn-in (see `llc_core.engine.target`)."""
        return False

    @property
    def needs_hessian_diagonal(self) -> bool:
        """Whether `update` reads `energy.hessian_diagonal`."""
        return False

    def complete(self, factors: bool) -> Sampler:
        """This sampler with its automatic options settled, step_size excepted; `factors`: the potential has a model of
        its curvature, so that coordinates can be adapted."""
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

    def step_bias_factor(self, hp: Hp) -> Tensor | None:
        """k [C, 1] such that step_size alone adds about k·E[nβ∇Lᵀ G ∇U] to λ̂, or None: nothing to first order.

        The loss's own share of ∇U counts, not the localisation's: that one's energy is no part of λ̂.
        """
        return None

    def law(self) -> Law | None:
        """The one-dimensional law as step_size → 0; None where there is none (the sampler diverges)."""
        return Law()

    def line(self) -> Line | None:
        """The sampler as scalar arithmetic on the line; None where it has no such form."""
        return None

    def cell(self) -> Cell | None:
        """`update` as scalar arithmetic, which a test compares with it; None where it has no such form."""
        return None

    def caveat(self) -> str:
        """A sentence for users when these hyperparameters are known not to sample the target; else empty."""
        return ""

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, **{f.name: getattr(self, f.name) for f in dataclasses.fields(self)}}

    def replace(self, **changes: Any) -> Sampler:
        return dataclasses.replace(self, **changes)


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

    All evaluations of one step see the same batch; exact only with full gradients.
    """

    def step(
        self, state: State, energy: Energy, evaluate: Callable[[Tensor], Energy], noise: Tensor, uniform: Tensor, hp: Hp
    ) -> tuple[State, Energy]:
        """One step; returns the new state and the energy there. uniform: [C, 1] in (0, 1]."""
        raise NotImplementedError


def step_size_field(help: str = "", low: float = 1e-14, high: float = 10.0) -> Any:
    """The step_size of a sampler: automatic by default."""
    text = help or "Size of one step; automatic: a fixed fraction of the largest stable step, following the curvature."
    from llc_core.fields import hyper

    return hyper(None, low, high, log=True, auto=True, symbol=r"\epsilon", help=text)


_REGISTRY: dict[str, type[Sampler]] = {}


def register(cls: type[Sampler]) -> type[Sampler]:
    _REGISTRY[cls.__name__] = cls
    return cls


def samplers() -> Mapping[str, type[Sampler]]:
    """All registered samplers by name."""
    return dict(_REGISTRY)


def build(description: Sampler | Mapping[str, Any] | str) -> Sampler:
    """A sampler from itself, its name, or {"name": …, fields…}; ValueError names what is wrong."""
    if isinstance(description, Sampler):
        return description
    if isinstance(description, type) and issubclass(description, Sampler):
        return description()
    if isinstance(description, str):
        description = {"name": description}
    if not isinstance(description, Mapping):
        raise ValueError(
            f"sampler is {description!r:.60}; give a sampler such as SGLD(), its name, or a table with a name."
        )
    values = dict(description)
    if "name" not in values:
        raise ValueError(f"sampler {values!r:.60} has no name; add one of {', '.join(_REGISTRY)}.")
    name = values.pop("name")
    if name not in _REGISTRY:
        raise ValueError(f"Unknown sampler {name!r}; choose one of {', '.join(_REGISTRY)}.")
    cls = _REGISTRY[name]
    known = {f.name for f in dataclasses.fields(cls)}
    for key in values:
        if key not in known:
            raise ValueError(f"{name} has no field {key!r}; its fields are {', '.join(sorted(known))}.")
    return cls(**values)


def numeric_fields(sampler: Sampler | type[Sampler]) -> dict[str, Hyper]:
    return {k: h for k, h in hyper_fields(sampler).items() if not h.choices}


def hyperparameters(sampler: Sampler, chains: int, like: Tensor, layers: Sequence[tuple[int, ...]] | None = None) -> Hp:
    """The sampler's fields as [C, 1] tensors (a step_size of None becomes 0, to be set by the driver).

    layers: shapes of the potential's blocks of parameters; None: one vector.
    """
    values: dict[str, Any] = {
        "adapting": torch.ones(chains, 1, dtype=like.dtype, device=like.device),
        "layers": None if layers is None else tuple(layers),
    }
    for name, about in hyper_fields(sampler).items():
        value = getattr(sampler, name)
        values[name] = (
            value if about.choices else torch.full((chains, 1), value or 0.0, dtype=like.dtype, device=like.device)
        )
    return Hp(**values)
