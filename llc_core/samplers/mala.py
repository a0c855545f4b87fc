"""Metropolis-adjusted Langevin algorithm: a Langevin step with an accept or reject test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from llc_core.fields import hyper
from llc_core.samplers.base import MetropolisSampler, step_size_field
from llc_core.samplers.registry import register
from llc_core.samplers.rejecting import decide
from llc_core.types import Energy, Hp, State


@register
@dataclass(frozen=True)
class MALA(MetropolisSampler):
    """w′ = w − (ε/2)∇U(w) + √ε·N(0, I), accepted with probability min(1, e^{−U(w′)} q(w′→w) / (e^{−U(w)} q(w→w′))), where
    q(w→w′) ∝ exp(−‖w′ − w + (ε/2)∇U(w)‖²/(2ε)).

    Papers that write w′ = w + h·∇log π + √(2h)·N(0, I) have h = ε/2. It is Hamiltonian Monte Carlo with one leapfrog step of √ε.
    coordinates="prior" moves in coordinates in which the Gaussian prior (or localisation) is N(0, I): the same distribution.
    The automatic step is held at a mean acceptance of 0.574, the best in many dimensions (Roberts & Rosenthal 1998).

    Distribution: exactly exp(−U) at every step size.  Evaluations per step: 1, on all data.  Source: Besag 1994; Roberts & Tweedie 1996.
    The state keeps `accepted`, each chain's running mean of the acceptance probability, [C, 1].
    """

    step_size: float | None = step_size_field(
        "Size ε of one step; automatic: kept at a mean acceptance of 0.574 during burn-in.", low=1e-14, high=100.0
    )
    coordinates: str = hyper(
        "plain",
        choices=("plain", "prior"),
        symbol="R",
        help="Coordinates: 'plain' are the parameters themselves; 'prior' are those in which the Gaussian prior is N(0, I).",
    )

    label: ClassVar[str] = "MALA"
    formula: ClassVar[str] = (
        r"w'=w-\tfrac{\epsilon}{2}\nabla U(w)+\sqrt{\epsilon}\,\xi,\qquad"
        r"\text{accept with }\min\bigl(1,\tfrac{e^{-U(w')}q(w'\to w)}{e^{-U(w)}q(w\to w')}\bigr)"
    )
    about: ClassVar[str] = (
        "Metropolis-adjusted Langevin takes a step of SGLD with the full gradient. Then a test accepts or "
        "rejects, which makes the distribution exact at any step size. It moves like a random walk, so it "
        "needs many more gradients than Hamiltonian Monte Carlo."
    )
    source: ClassVar[str] = "Besag 1994; Roberts & Tweedie 1996"
    target_acceptance: ClassVar[float | None] = 0.574

    @property
    def in_prior_coordinates(self) -> bool:
        return self.coordinates == "prior"

    def step(
        self, state: State, energy: Energy, evaluate: Callable[[Tensor], Energy], noise: Tensor, uniform: Tensor, hp: Hp
    ) -> tuple[State, Energy]:
        step, z = hp.step_size, state["delta"]
        position = z - step / 2 * energy.force + step.sqrt() * noise[0]
        end = evaluate(position)
        gain = energy.potential - end.potential + self.log_ratio(z, energy, position, end, noise[0], step)
        return decide(state, energy, position, end, gain, uniform)

    def log_ratio(
        self, z: Tensor, energy: Energy, position: Tensor, end: Energy, noise: Tensor, step: Tensor
    ) -> Tensor:
        """log q(w′→w) − log q(w→w′), [C, 1]: as a difference of squares, which loses no digits."""
        # The noise that would lead back from w′ to w.
        back = (z - position + step / 2 * end.force) / step.sqrt()
        return ((noise - back) * (noise + back)).sum(dim=1, keepdim=True) / 2

    def stable_step(self, curvature: Tensor, hp: Hp) -> Tensor:
        return 4 / curvature
