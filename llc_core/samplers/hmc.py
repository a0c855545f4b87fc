"""Hamiltonian Monte Carlo: leapfrog trajectories with a Metropolis test, exact at every step size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from llc_core.fields import hyper
from llc_core.samplers.base import MetropolisSampler, step_size_field
from llc_core.samplers.registry import register
from llc_core.samplers.rejecting import decide, jittered_step
from llc_core.types import Energy, Hp, State


@register
@dataclass(frozen=True)
class HMC(MetropolisSampler):
    """Hamiltonian dynamics from a fresh momentum p ~ N(0, I), in L = leapfrog_steps steps of size h = step_size:

        p ← p − (h/2)∇U(w);  w ← w + h·p;  p ← p − (h/2)∇U(w),   L times,

    then the end point is accepted with probability min(1, e^{−ΔH}), H = U(w) + ‖p‖²/2; otherwise w stays. Each trajectory
    uses h times a factor drawn evenly from 1 ± 0.2, the same for all its steps. Otherwise the length of a trajectory could be
    the period of some direction, which would then never move.

    Distribution: exactly exp(−U) at every step size; a step that is too large shows as a low acceptance and not as a bias.
    Evaluations per step: L, all on the full data. Source: Duane et al. 1987; Neal 2011.

    The state keeps `accepted`, each chain's running mean of the acceptance probability, [C, 1].
    mass="adapted" runs the same in coordinates in which the curvature is near 1 (`llc_core.engine.target`): the same distribution.
    """

    step_size: float | None = step_size_field(
        "Leapfrog step h; automatic: a fixed fraction of the largest stable one, 2/√curvature, followed during burn-in.",
        low=1e-9,
        high=10.0,
    )
    leapfrog_steps: float = hyper(
        10.0,
        1.0,
        1000.0,
        log=True,
        symbol="L",
        help="Leapfrog steps, and so gradients, per step of the chain (rounded); more carry the chain further at once.",
    )
    mass: str = hyper(
        "adapted",
        choices=("adapted", "unit"),
        symbol="M",
        help="Mass matrix. 'adapted' follows a Kronecker model of the curvature during burn-in, where the potential "
        "has one, and is then frozen. 'unit' is the identity.",
    )

    label: ClassVar[str] = "Hamiltonian Monte Carlo"
    formula: ClassVar[str] = (
        r"p\leftarrow p-\tfrac h2\nabla U,\quad w\leftarrow w+h\,p,\quad p\leftarrow p-\tfrac h2\nabla U"
        r"\quad(L\times),\qquad\text{accept with }\min(1,e^{-\Delta H})"
    )
    about: ClassVar[str] = (
        "Hamiltonian Monte Carlo runs along the energy surface from a fresh momentum. Then a test accepts or "
        "rejects, which makes the distribution exact at any step size. The reference among gradient samplers; "
        "every step costs several gradients, and it needs the full data."
    )
    source: ClassVar[str] = "Duane et al. 1987; Neal 2011"
    safety: ClassVar[float] = 0.4

    @property
    def adapts_coordinates(self) -> bool:
        return self.mass == "adapted"

    def complete(self, factors: bool) -> HMC:
        return HMC(self.step_size, self.leapfrog_steps, self.mass if factors else "unit")

    def step(
        self, state: State, energy: Energy, evaluate: Callable[[Tensor], Energy], noise: Tensor, uniform: Tensor, hp: Hp
    ) -> tuple[State, Energy]:
        jittered, test = jittered_step(hp.step_size, uniform)
        count = hp.leapfrog_steps.round()
        position, momentum, end = state["delta"], noise[0], energy
        for index in range(int(count.max())):
            # A chain that has done its steps waits for the longest trajectory with steps of size 0, which change nothing.
            h = torch.where(index < count, jittered, 0.0)
            momentum = torch.addcmul(momentum, end.force, -h / 2)
            position = torch.addcmul(position, momentum, h)
            end = evaluate(position)
            momentum = torch.addcmul(momentum, end.force, -h / 2)
        gain = _hamiltonian(energy, noise[0]) - _hamiltonian(end, momentum)
        return decide(state, energy, position, end, gain, test)

    def stable_step(self, curvature: Tensor, hp: Hp) -> Tensor:
        return 2 / curvature.sqrt()


def _hamiltonian(energy: Energy, momentum: Tensor) -> Tensor:
    """U + ‖p‖²/2, [C, 1]."""
    return energy.potential + momentum.square().sum(dim=1, keepdim=True) / 2
