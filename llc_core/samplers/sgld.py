"""Stochastic gradient Langevin dynamics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from llc_core.samplers.base import SMALL_BIAS, OverdampedSampler, step_size_field
from llc_core.samplers.forms import Cell, Line
from llc_core.samplers.registry import register
from llc_core.types import Energy, Hp, State


@register
@dataclass(frozen=True)
class SGLD(OverdampedSampler):
    """w ← w − (ε/2)∇U + √ε·N(0, 1).

    Distribution: exp(−U) as ε → 0; at step ε, on a quadratic of curvature c, exactly normal with variance 1/(c(1 − εc/4)).
    Source: Welling & Teh 2011; Lau, Murfet & Wei, Algorithm 1; Hitchcock & Hoogland, Algorithm 1.
    """

    step_size: float | None = step_size_field()

    label: ClassVar[str] = "SGLD"
    formula: ClassVar[str] = r"w \leftarrow w-\tfrac{\epsilon}{2}\,\nabla U(w)+\sqrt{\epsilon}\,\xi"
    about: ClassVar[str] = (
        "Stochastic gradient Langevin dynamics: gradient descent on U plus noise of matching size. It converges to "
        "the local posterior as the step size goes to 0. Too large a step inflates the estimate; too small a step "
        "leaves the chain near w0 and deflates it."
    )
    source: ClassVar[str] = "Welling & Teh 2011; Lau, Murfet & Wei, Algorithm 1"
    elementwise: ClassVar[bool] = True
    safety: ClassVar[float] = SMALL_BIAS

    def update(self, state: State, energy: Energy, noise: Tensor, hp: Hp) -> State:
        moved = torch.addcmul(state["delta"], hp.step_size, energy.force, value=-0.5)
        return {"delta": moved.addcmul_(hp.once(root_of_step), noise[0])}

    def line(self) -> Line:
        return Line(_nothing, _move)

    def cell(self) -> Cell:
        return Cell(_step, _numbers)


def root_of_step(hp: Hp) -> Tensor:
    """√ε, [C, 1]."""
    root: Tensor = hp.step_size.sqrt()
    return root


def _nothing(a: Any, b: Any, g: Any, p: Any) -> Any:
    return a, b


def _move(a: Any, b: Any, g: Any, h: Any, p: Any) -> Any:
    return -g, 1.0


def _numbers(state: State, n_beta: Tensor, localization: Tensor, hp: Hp) -> tuple[Tensor, ...]:
    return -hp.step_size / 2, n_beta, localization, hp.step_size.sqrt()


def _step(d: Any, a: Any, b: Any, g: Any, z: Any, p: Any) -> Any:
    # The force is summed first: 1 − εγ/2 would be 1 in single precision.
    return d + p[0] * (p[1] * g + p[2] * d) + p[3] * z, a, b
