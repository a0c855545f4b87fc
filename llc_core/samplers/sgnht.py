"""Stochastic gradient Nosé–Hoover thermostat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from llc_core.fields import hyper
from llc_core.samplers.base import SMALL_BIAS, Sampler, step_size_field
from llc_core.samplers.forms import Cell, Law
from llc_core.samplers.registry import register
from llc_core.samplers.sghmc import first_momentum, force_share, printed_cell, printed_lines, printed_numbers
from llc_core.types import Energy, Hp, State


@register
@dataclass(frozen=True)
class SGNHT(Sampler):
    """w ← w + p;  p ← p − ε∇U(w) − αp + √(2Aε)·N(0, 1);  α ← α + (‖p‖²/D − ε)/μ, right sides with the old w, p and α.

    p starts as N(0, ε) and α at A. The state keeps p/√ε, and p as printed, as in SGHMC. One friction α per chain, constant noise A: α
    settles where the mean kinetic energy is right, so that gradient noise of unknown size is absorbed.
    dynamics="printed": half the force (line 6 of Algorithm 5), noise √(2αε) and thermostat ‖p‖/D − ε, by which α grows
    by about √(ε/D) per step for ever.

    Distribution: exp(−U) as ε, A → 0. At finite steps ‖p‖²/D = ε on average, and with realised friction α and κ = εc the
    positions on a quadratic of curvature c, one for all D directions, have variance (1/c)(1 − α/2 + κ/2): too small
    by α/2, however small ε is.
    Without gradient noise α(2 − α) ≈ 2A, so no friction settles for A > ½. The thermostat needs about Aμ/ε steps to
    react: at the tiny step sizes of large data sets it is SGHMC with friction A unless μ is reduced as well. It sets
    the mean temperature only: gradient noise that sits in the stiff directions leaves these too hot and the others
    too cold.
    Source: Ding et al. 2014 (μ = 1; the thermal mass μ: Jones & Leimkuhler 2011); Hitchcock & Hoogland, Algorithm 5.
    """

    step_size: float | None = step_size_field()
    friction: float = hyper(
        0.01,
        0.0,
        0.4,
        open_low=True,
        symbol="A",
        help="Noise level and starting friction, as a share of the momentum per step; half of it is the estimate's bias.",
    )
    thermal_mass: float = hyper(
        1.0,
        1e-15,
        1e3,
        log=True,
        symbol=r"\mu",
        help="Inertia of the thermostat, which reacts within about Aμ/ε steps; 1 in the papers.",
    )
    dynamics: str = hyper(
        "corrected",
        choices=("corrected", "printed"),
        help="Corrected follows Ding et al.; printed is Algorithm 5 as published: half the force, and it diverges.",
    )

    label: ClassVar[str] = "SGNHT"
    formula: ClassVar[str] = (
        r"w\leftarrow w+p,\quad p\leftarrow(1-\alpha)\,p-\epsilon\,\nabla U(w)+\sqrt{2A\epsilon}\,\xi,\quad "
        r"\alpha\leftarrow\alpha+\tfrac1\mu\big(\tfrac1D\|p\|^2-\epsilon\big)"
    )
    about: ClassVar[str] = (
        "The stochastic gradient Nosé–Hoover thermostat: SGHMC whose friction adapts until the momentum has "
        "the right temperature. That absorbs minibatch noise of unknown size. The noise must be about the same "
        "in all directions, and the run long enough for the thermostat to react. The published version halves "
        "the force and does not square the momentum in the thermostat. Then the friction grows without bound "
        "and the chain overflows."
    )
    source: ClassVar[str] = "Ding et al. 2014; Hitchcock & Hoogland, Algorithm 5"
    safety: ClassVar[float] = SMALL_BIAS

    def init(self, delta: Tensor, noise: Tensor, hp: Hp) -> State:
        return {"delta": delta, "momentum": first_momentum(noise, hp), "friction": hp.friction.clone()}

    def update(self, state: State, energy: Energy, noise: Tensor, hp: Hp) -> State:
        if hp.dynamics == "printed":
            moved = printed_lines(state, energy.force, noise[0], state["friction"], hp)
            return {**moved, **_thermostat(state, hp)}
        momentum, (root, against) = state["momentum"], hp.once(_constants)
        kept = ((1 - state["friction"]) * momentum).addcmul_(energy.force, against)
        return {
            "delta": torch.addcmul(state["delta"], root, momentum),
            "momentum": kept.addcmul_((2 * hp.friction).sqrt(), noise[0]),
            **_thermostat(state, hp),
        }

    def cell(self) -> Cell:
        step, numbers = (printed_cell, _printed_numbers) if self.dynamics == "printed" else (_step, _numbers)
        return Cell(step, numbers, memories=("momentum",), scalars=_thermostat)

    def stable_step(self, curvature: Tensor, hp: Hp) -> Tensor:
        """The limit if the friction were held at A. A thermostat raises its friction and survives larger steps, but samples another distribution."""
        return hp.friction / (force_share(hp) * curvature)

    def noise_factor(self, hp: Hp) -> Tensor:
        """That of SGHMC: the value before the thermostat reacts. Afterwards it is smaller, and 0 for isotropic noise."""
        return force_share(hp) * hp.step_size / (4 * hp.friction)

    def law(self) -> Law | None:
        return None if self.dynamics == "printed" else Law()

    def caveat(self) -> str:
        if self.dynamics == "corrected":
            return ""
        return (
            "Printed SGNHT applies half the force and does not square the momentum in its thermostat. So the "
            "friction grows at every step until the chain diverges. Use dynamics='corrected'."
        )


def _constants(hp: Hp) -> tuple[Tensor, Tensor]:
    """√ε and −√ε."""
    root = hp.step_size.sqrt()
    return root, -root


def _thermostat(state: State, hp: Hp) -> State:
    step, momentum = hp.step_size, state["momentum"]
    if hp.dynamics == "printed":
        excess = momentum.square().sum(dim=1, keepdim=True).sqrt() / momentum.shape[1] - step
    else:
        excess = step * (momentum.square().mean(dim=1, keepdim=True) - 1)
    return {"friction": state["friction"] + excess / hp.thermal_mass}


def _numbers(state: State, n_beta: Tensor, localization: Tensor, hp: Hp) -> tuple[Tensor, ...]:
    (root, against), friction = _constants(hp), state["friction"].double()
    return root, 1 - friction, against, n_beta, localization, (2 * hp.friction.double()).sqrt()


def _printed_numbers(state: State, n_beta: Tensor, localization: Tensor, hp: Hp) -> tuple[Tensor, ...]:
    return printed_numbers(state["friction"].double(), n_beta, localization, hp)


def _step(d: Any, a: Any, b: Any, g: Any, z: Any, p: Any) -> Any:
    return d + p[0] * a, p[1] * a + p[2] * (p[3] * g + p[4] * d) + p[5] * z, b
