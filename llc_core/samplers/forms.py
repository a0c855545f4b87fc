"""Other forms of a sampler: its limit distribution, its step on the line, and its update for single numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from llc_core.types import Hp, State


@dataclass(frozen=True)
class Law:
    """The one-dimensional distribution a sampler tends to as step_size → 0 (Rensmeyer & Niggemann 2025, eqs. 27 and 35).

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
    signs: the last is x ← x ± √(εG) instead, upwards with probability ½ + (ε/4)·drift/√(εG), kept between 0 and 1. With a
        constant G and no memory it has an exact distribution.

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
    signs: bool = False


@dataclass(frozen=True)
class Cell:
    """A step of one parameter as scalar arithmetic. It becomes one compiled loop over many parameters, noise included.

    step: (δ, a, b, gradient of the mean loss g, standard normal z, p) ↦ (δ, a, b); plain arithmetic and numpy functions.
        A sampler that adapts its coordinates must read g only as nβ·g + γ·δ.
    numbers: (state before the step, nβ, γ, hp) ↦ p, a tuple of columns [C, 1] in double precision. Where `scalars` is None it
        must not read the state: its result is then kept while nβ, γ and hp are the same.
    memories: names of a and b, other tensors of the state that have the parameters' shape; two at most.
    scalars: (state, hp) ↦ the rest of the state after the step, from the state before it; None: there is no rest.
    """

    step: Callable[..., Any]
    numbers: Callable[[State, Tensor, Tensor, Hp], tuple[Tensor, ...]]
    memories: tuple[str, ...] = ()
    scalars: Callable[[State, Hp], State] | None = None
