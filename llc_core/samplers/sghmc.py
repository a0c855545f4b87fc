"""Stochastic gradient Hamiltonian Monte Carlo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from llc_core.fields import hyper
from llc_core.samplers.base import SMALL_BIAS, Sampler, step_size_field
from llc_core.samplers.forms import Cell, Law
from llc_core.samplers.registry import register
from llc_core.types import Energy, Hp, State


@register
@dataclass(frozen=True)
class SGHMC(Sampler):
    """w ← w + p;  p ← p − εF(w) − αp + √(2αε)·N(0, 1), both right sides with the old w and p; p starts as N(0, ε).

    F = ∇U for dynamics="corrected" and ∇U/2 for "printed". Corrected, the state keeps p/√ε, which has unit variance at every
    step size: the same chain, but a step size that is adapted does not change the temperature of the momentum. Printed, it
    keeps p, and every line is the paper's to the last bit; under an automatic step size p starts at 0.

    Distribution: corrected exp(−U), printed exp(−U/2), as ε → 0. On a quadratic of curvature c, with κ = εc (printed: εc/2),
    the variance is exactly αε(2 − α + κ)/(κ(α − κ)(2 − α + κ/2)): corrected about (1/c)(1 + κ/α).
    Source: Chen, Fox & Guestrin 2014; Hitchcock & Hoogland, Algorithm 4, whose drift has a factor ½ too much.
    """

    step_size: float | None = step_size_field()
    friction: float = hyper(
        0.1,
        0.0,
        1.0,
        open_low=True,
        symbol=r"\alpha",
        help="Share of the momentum lost in every step; the largest stable step size is proportional to it.",
    )
    dynamics: str = hyper(
        "corrected",
        choices=("corrected", "printed"),
        help="Corrected samples the posterior; printed is Algorithm 4 as published, with half the force.",
    )

    label: ClassVar[str] = "SGHMC"
    formula: ClassVar[str] = (
        r"w\leftarrow w+p,\quad p\leftarrow(1-\alpha)\,p-\epsilon\,\nabla U(w)+\sqrt{2\alpha\epsilon}\,\xi"
    )
    about: ClassVar[str] = (
        "Stochastic gradient Hamiltonian Monte Carlo: momentum with friction and matching noise. It converges "
        "to the local posterior as the step size goes to 0. Its step is the simplest one (explicit Euler). It "
        "is stable only while ε times the curvature stays below the friction, and minibatch noise heats the "
        "momentum. The published version halves the force and so samples exp(−U/2): the estimate is twice too "
        "large."
    )
    source: ClassVar[str] = "Chen, Fox & Guestrin 2014; Hitchcock & Hoogland, Algorithm 4"
    elementwise: ClassVar[bool] = True
    safety: ClassVar[float] = SMALL_BIAS

    def init(self, delta: Tensor, noise: Tensor, hp: Hp) -> State:
        return {"delta": delta, "momentum": first_momentum(noise, hp)}

    def update(self, state: State, energy: Energy, noise: Tensor, hp: Hp) -> State:
        if hp.dynamics == "printed":
            return printed_lines(state, energy.force, noise[0], hp.friction, hp)
        root, keep, against, spread = hp.once(_constants)
        momentum = (keep * state["momentum"]).addcmul_(energy.force, against).addcmul_(spread, noise[0])
        return {"delta": torch.addcmul(state["delta"], root, state["momentum"]), "momentum": momentum}

    def cell(self) -> Cell:
        if self.dynamics == "printed":
            return Cell(printed_cell, _printed_numbers, memories=("momentum",))
        return Cell(_step, _numbers, memories=("momentum",))

    def stable_step(self, curvature: Tensor, hp: Hp) -> Tensor:
        return hp.friction / (force_share(hp) * curvature)

    def noise_factor(self, hp: Hp) -> Tensor:
        return force_share(hp) * hp.step_size / (4 * hp.friction)

    def law(self) -> Law:
        return Law(temperature=2.0 if self.dynamics == "printed" else 1.0)

    def caveat(self) -> str:
        if self.dynamics == "corrected":
            return ""
        return (
            "Printed SGHMC applies half the force: it samples exp(−U/2), so the estimate comes out twice too large. "
            "Use dynamics='corrected'."
        )


def force_share(hp: Hp) -> float:
    """Of the force, what the momentum gets: ½ as printed in Algorithms 4 and 5 of Hitchcock & Hoogland."""
    return 0.5 if hp.dynamics == "printed" else 1.0


def first_momentum(noise: Tensor, hp: Hp) -> Tensor:
    """What the state keeps of p_0, [C, D]: p_0 itself as printed, else p_0/√ε."""
    if hp.dynamics != "printed":
        return noise
    return (hp.step_size.sqrt() * noise).nan_to_num(0.0)  # an automatic step size is not known yet


def printed_lines(state: State, force: Tensor, noise: Tensor, friction: Tensor, hp: Hp) -> State:
    """What Algorithms 4 and 5 of Hitchcock & Hoogland have in common, line by line: nothing is fused or put in another order.

    force, noise: [C, D].  friction: [C, 1], α of this step.
    """
    p, step = state["momentum"], hp.step_size
    change = -(step / 2) * force - friction * p + (2 * friction * step).sqrt() * noise
    return {"delta": state["delta"] + p, "momentum": p + change}


def printed_cell(d: Any, a: Any, b: Any, g: Any, z: Any, p: Any) -> Any:
    """`printed_lines` for one parameter; p: `printed_numbers`."""
    return d + a, a + (-p[0] * (p[3] * g + p[4] * d) - p[1] * a + p[2] * z), b


def printed_numbers(friction: Tensor, n_beta: Tensor, localization: Tensor, hp: Hp) -> tuple[Tensor, ...]:
    return hp.step_size / 2, friction, (2 * friction * hp.step_size).sqrt(), n_beta, localization


def _printed_numbers(state: State, n_beta: Tensor, localization: Tensor, hp: Hp) -> tuple[Tensor, ...]:
    return printed_numbers(hp.friction, n_beta, localization, hp)


def _constants(hp: Hp) -> tuple[Tensor, ...]:
    """√ε, 1 − friction, −√ε, and √(2·friction)."""
    root = hp.step_size.sqrt()
    return root, 1 - hp.friction, -root, (2 * hp.friction).sqrt()


def _numbers(state: State, n_beta: Tensor, localization: Tensor, hp: Hp) -> tuple[Tensor, ...]:
    root, keep, against, spread = _constants(hp)
    return root, keep, against, n_beta, localization, spread


def _step(d: Any, a: Any, b: Any, g: Any, z: Any, p: Any) -> Any:
    return d + p[0] * a, p[1] * a + p[2] * (p[3] * g + p[4] * d) + p[5] * z, b
