"""Step sizes: the stability limit along the chain, and automatic step sizes that follow it during burn-in."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from llc_core.curvature import top_curvature
from llc_core.potentials.base import Potential
from llc_core.samplers.base import Hp, Sampler, State

GROWTH = 1.5
"""Largest growth of an automatic step per check: at a singular point the curvature starts near 0 and rises as the
chain moves away, so the first limit must not be believed."""
FIRST_ITERATIONS, ITERATIONS = 12, 3


def is_check(step: int) -> bool:
    """Steps at which the curvature is measured: densely at first, then every 100. Depends on the step number alone."""
    return step % 10 == 0 if step < 100 else step % 50 == 0 if step < 1000 else step % 100 == 0


class StepControl:
    """Measures the stability limit; with `auto` also sets `hp.step_size` during burn-in and restarts blocks that blew up.

    Chains are ordered chain-major, settings varying fastest; all chains of one setting share one step size.
    """

    def __init__(
        self,
        potential: Potential,
        sampler: Sampler,
        hp: Hp,
        n_beta: Tensor,
        localization: Tensor,
        settings: int,
        burn_in: int,
        auto: bool,
        probe: torch.Generator,
    ):
        self.potential, self.sampler, self.hp = potential, sampler, hp
        self.n_beta, self.localization = n_beta, localization
        self.settings, self.burn_in, self.auto, self.probe = settings, burn_in, auto, probe
        self.limit = torch.full_like(n_beta, math.inf)
        self.late_limit = torch.full_like(n_beta, math.inf)
        self.backoff = torch.ones_like(n_beta)
        self.notes: list[str] = []
        self._vector: Tensor | None = None
        self._saved: State | None = None

    def start(self, state: State) -> None:
        """Measure at w0 and at a point a typical distance away; set the first automatic step."""
        delta = state["delta"]
        self._vector = torch.randn(delta.shape, generator=self.probe, device=delta.device, dtype=delta.dtype)
        self._measure(state, FIRST_ITERATIONS)
        if not self.auto:
            return
        away = torch.randn(delta.shape, generator=self.probe, device=delta.device, dtype=delta.dtype)
        size, _ = top_curvature(
            self.potential,
            away * self.potential.typical_scale(delta),
            self.n_beta,
            self.localization,
            self._vector,
            self.sampler.metric(state, self.hp),
            FIRST_ITERATIONS,
        )
        first = torch.minimum(self._over_chains(self.sampler.stable_step(size, self.hp)), self.limit)
        self.hp.step_size = self.sampler.safety * first
        self._save(state)

    def check(self, step: int, state: State, loss: Tensor) -> State:
        """At a check step: measure; with `auto`, adapt during burn-in. Returns the state to go on from."""
        if not self.auto:
            if step >= self.burn_in and not torch.isfinite(self.late_limit).all():
                self._measure(state, FIRST_ITERATIONS)
                self.late_limit = torch.minimum(self.late_limit, self.limit)
            return state
        if step > self.burn_in:
            return state
        state = self._restart_if_blown_up(step, state, loss)
        self._measure(state, ITERATIONS)
        if 2 * step >= self.burn_in:
            self.late_limit = torch.minimum(self.late_limit, self.limit)
        limit = self.late_limit if 2 * step >= self.burn_in else self.limit
        wished = self.sampler.safety * self.backoff * limit
        self.hp.step_size = torch.minimum(wished, GROWTH * self.hp.step_size)
        self._save(state)
        return state

    def stable_step(self) -> Tensor:
        """The smallest limit known for the part of the run that is averaged over, [C, 1]."""
        return torch.minimum(self.late_limit, self.limit) if torch.isfinite(self.late_limit).any() else self.limit

    def _measure(self, state: State, iterations: int) -> None:
        assert self._vector is not None
        metric = self.sampler.metric(state, self.hp)
        size, vector = top_curvature(
            self.potential, state["delta"], self.n_beta, self.localization, self._vector, metric, iterations
        )
        fine = torch.isfinite(size)
        self._vector = torch.where(fine, vector, self._vector)
        limit = self.sampler.stable_step(size.clamp_min(1e-30), self.hp)
        self.limit = self._over_chains(torch.where(fine, limit, torch.full_like(limit, math.inf)))

    def _over_chains(self, values: Tensor) -> Tensor:
        """The smallest value over the chains of each setting, for every chain."""
        least = values.view(-1, self.settings, 1).amin(dim=0, keepdim=True)
        return least.expand(len(values) // self.settings, -1, -1).reshape(values.shape)

    def _save(self, state: State) -> None:
        self._saved = {name: value.clone() for name, value in state.items()}

    def _restart_if_blown_up(self, step: int, state: State, loss: Tensor) -> State:
        # At equilibrium nβ·ΔL is about λ ≤ D/2; far above that the integrator has left its stable region.
        limit = 20.0 * state["delta"].shape[1] + 1000.0
        bad = ~(self.n_beta.squeeze(1) * loss.abs() < limit)
        if self._saved is None or not bool(bad.any()):
            return state
        together = bad.view(-1, self.settings).any(dim=0).repeat(len(bad) // self.settings).unsqueeze(1)
        self.backoff = torch.where(together, self.backoff / 2, self.backoff)
        self.hp.step_size = torch.where(together, self.hp.step_size / 2, self.hp.step_size)
        self.notes.append(f"Step {step}: the chain overflowed; step size halved and the block restarted.")
        saved = self._saved
        return {
            name: torch.where(together.view(-1, *[1] * (value.dim() - 1)), saved[name], value)
            for name, value in state.items()
        }
