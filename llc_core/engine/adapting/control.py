"""What is adapted during burn-in and frozen after it: step sizes that follow the curvature, and the coordinates."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from llc_core.engine.curvature import top_curvature
from llc_core.engine.stepping.chain_by_chain import ByChain
from llc_core.engine.target import Target
from llc_core.potentials.base import Factors
from llc_core.samplers.base import Sampler
from llc_core.types import Hp, State

GROWTH = 1.5
"""Largest growth of an automatic step per check: at a singular point the curvature starts near 0 and rises as the
chain moves away, so the first limit must not be believed."""
FIRST_ITERATIONS, ITERATIONS = 12, 3
COORDINATE_CHANGES = (0.05, 0.1, 0.2, 0.4, 0.7)
"""Fractions of the burn-in at which the coordinates are made anew, from the curvature seen since the last change."""
CAUTION = 0.3
"""After a change of coordinates the step starts at this share of the usual one, since the chain now moves into new
directions, and grows back as the curvature there is seen."""
REFUSED, TAKEN = 0.2, 0.9
"""Acceptance below which an automatic step is halved, and above which it may grow back. Where the loss is nearly flat at
w0 the curvature there allows trajectories that end on a wall; all are rejected, and the chain would never see another place."""
SHORTEST_ADAPTATION = 50
"""Coordinates are not adapted in a burn-in shorter than this many steps."""
WATCH_EVERY = 10
"""Steps between looks for overflow during burn-in."""


def is_due(age: int) -> bool:
    """Whether the curvature is measured so many steps after the start or the last change of coordinates."""
    return age % (10 if age < 100 else 50 if age < 1000 else 100) == 0


def coordinate_looks(burn_in: int) -> tuple[int, int]:
    """How often the curvature is measured until the coordinates are adapted for good, and how many changes there are."""
    wanted = [f * burn_in for f in COORDINATE_CHANGES]
    looks = changes = origin = 0
    for step in range(WATCH_EVERY, burn_in, WATCH_EVERY):
        if not wanted:
            break
        if is_due(step - origin):
            looks += 1
            if step >= wanted[0]:
                wanted, origin, changes = [c for c in wanted if c > step], step, changes + 1
    return looks, changes


class Control:
    """Measures the stability limit; adapts `hp.step_size` and the target's coordinates during burn-in, if asked to.

    Blocks that blew up while the step is automatic are started again with half the step: from the last check, at rest, and
    from where the chain began if that fails too. What was saved may itself be of a chain on its way out, and would be so at
    every step.
    Chains are ordered chain-major, settings varying fastest and problems slowest; all chains of one problem and setting
    share one step size.
    """

    def __init__(
        self,
        target: Target,
        sampler: Sampler,
        hp: Hp,
        settings: int,
        burn_in: int,
        auto_step: bool,
        adapt_coordinates: bool,
        probe: torch.Generator,
        by_chain: ByChain | None = None,
    ):
        """by_chain: for potentials that ask for it. The state is then changed in place and never copied: a block that
        blew up is started again from w0, and one vector serves all chains."""
        self.by_chain = by_chain
        self.target, self.sampler, self.hp = target, sampler, hp
        self.settings, self.burn_in, self.probe = settings, burn_in, probe
        self.limit = torch.full_like(target.n_beta, math.inf)
        self.late_limit = torch.full_like(target.n_beta, math.inf)
        self.backoff = torch.ones_like(target.n_beta)
        self.notes: list[str] = []
        self._began: Tensor | None = None
        self._origin = 0
        adapt_coordinates = adapt_coordinates and burn_in >= SHORTEST_ADAPTATION
        self._changes = [f * burn_in for f in COORDINATE_CHANGES] if adapt_coordinates else []
        # A step size given by hand is meant for the adapted coordinates: until they are there the step is automatic.
        self._given_step = hp.step_size if adapt_coordinates and not auto_step else None
        self.auto_step = auto_step or self._given_step is not None
        self._factors: list[Factors] | None = None
        self._factor_count = 0
        self._vector = torch.empty(0)
        self.rescues_until = burn_in if self.auto_step else 0
        """Steps before this one are taken again where they blow up."""
        self._saved: State | None = None
        self._first: State | None = None
        self._failures = torch.zeros_like(target.n_beta)
        self._tried: tuple[Tensor, Tensor] | None = None

    def start(self, state: State) -> None:
        """Measure at w0 and at a point a typical distance away; set the first automatic step."""
        z = state["delta"]
        self._vector = self._random_like(z if self.by_chain is None else z[:1])
        self._measure(state, FIRST_ITERATIONS)
        if not self.auto_step:
            return
        if self.by_chain is not None:  # the state is still at w0, so its memory can serve
            z.add_(self.target.potential.typical_scale(z))
            for row in z:
                row.mul_(self._random_like(row))
            size = self.by_chain.curvature(state, self._vector, self.hp, FIRST_ITERATIONS)
            z.zero_()
        else:
            away = self._random_like(z) * self.target.potential.typical_scale(z)
            metric = self.sampler.metric(state, self.hp)
            size, _ = top_curvature(self.target, away, self._vector, metric, FIRST_ITERATIONS)
        first = torch.minimum(self._over_chains(self.sampler.stable_step(size, self.hp)), self.limit)
        self.hp.step_size = self.sampler.safety * first
        self._save(state)
        self._first = self._saved

    def check(self, step: int, state: State, loss: Tensor) -> State:
        """Before step number `step`: measure and adapt when it is time to. Returns the state to go on from.

        What is done depends on step numbers alone, never on how the run is cut into blocks.
        """
        if self._began is None:
            self._began = (self.target.n_beta.squeeze(1) * loss).abs().nan_to_num(0.0, 0.0, 0.0)
        if step == 0 or step > self.burn_in or (step % WATCH_EVERY and step != self.burn_in):
            return state
        if self.auto_step:
            state = self._restart_if_blown_up(step, state, loss)
        if not is_due(step - self._origin) and step != self.burn_in:
            return state
        changed = False
        if self._changes and step < self._changes[-1]:
            self._watch(state)
        if self._changes and step >= self._changes[0]:
            before, state = state, self._change_coordinates(step, state)
            changed = state is not before
        if self.auto_step or step == self.burn_in:
            self._measure(state, FIRST_ITERATIONS if changed or not self.auto_step else ITERATIONS)
        if step == self.burn_in and self.by_chain is not None:
            self._vector = torch.empty(0)  # nothing is adapted after this
        late = step >= COORDINATE_CHANGES[-1] * self.burn_in
        if late:
            self.late_limit = torch.minimum(self.late_limit, self.limit)
        if self.auto_step:
            grown = self._growth(state) * self.hp.step_size
            wished = self.sampler.safety * self.backoff * (self.late_limit if late else self.limit)
            self.hp.step_size = CAUTION * wished if changed else torch.minimum(wished, grown)
            self._save(state)
            if self._given_step is not None and not self._changes:
                self.hp.step_size, self.auto_step, self.rescues_until = self._given_step, False, step
        if step == self.burn_in:
            self._saved = self._first = None
        return state

    def refresh(self, state: State) -> None:
        """Measure the limit where the chains are now, for a step size that was given and does not follow it."""
        if not self.auto_step:  # what is seen must not depend on how often it was looked at
            vector, stream = self._vector, self.probe.get_state()
            self._measure(state, FIRST_ITERATIONS)
            self._vector = vector
            self.probe.set_state(stream)

    def stable_step(self) -> Tensor:
        """The smallest limit known for the part of the run that is averaged over, [C, 1]."""
        return torch.minimum(self.late_limit, self.limit)

    # -- coordinates --------------------------------------------------------------------------------------------------

    def _watch(self, state: State) -> None:
        new = self.target.potential.kronecker_factors(self.target.delta(state["delta"]))
        old = self._factors
        fine = [torch.isfinite(f.flatten(1)).all(dim=1) for pair in new for f in pair]
        good = torch.stack(fine).all(dim=0)[:, None, None]
        if not bool(good.all()):
            # A chain that overflowed keeps what was seen of it before; the others must not suffer for it.
            last = old if old is not None else [(torch.ones_like(b), torch.ones_like(a)) for b, a in new]
            count = max(self._factor_count, 1)
            new = [
                (torch.where(good, b, d / count), torch.where(good, a, c / count))
                for (b, a), (d, c) in zip(new, last, strict=True)
            ]
        if bool(good.any()):
            self._factors = new if old is None else [(b + d, a + c) for (b, a), (d, c) in zip(old, new, strict=True)]
            self._factor_count += 1

    def _change_coordinates(self, step: int, state: State) -> State:
        self._changes = [c for c in self._changes if c > step]
        if self._factors is None:
            return state
        mean = [(b / self._factor_count, a / self._factor_count) for b, a in self._factors]
        self._factors, self._factor_count = None, 0
        self._vector = self._random_like(state["delta"])
        self._origin = step
        return {**state, "delta": self.target.recoordinate(state["delta"], mean)}

    # -- step size ----------------------------------------------------------------------------------------------------

    def _random_like(self, z: Tensor) -> Tensor:
        return torch.randn(z.shape, generator=self.probe, device=z.device, dtype=z.dtype)

    def _measure(self, state: State, iterations: int) -> None:
        # An exactly flat point (w0 = 0, γ = 0) maps every vector to 0, from where no iteration would come back.
        if self.by_chain is not None:
            length = float(self._vector.norm())
            if length == 0 or not math.isfinite(length):
                self._vector = self._random_like(state["delta"][:1])
            size = self.by_chain.curvature(state, self._vector, self.hp, iterations)
            fine = torch.isfinite(size)
            if not self.auto_step:  # it will not be needed for long
                self._vector = torch.empty(0)
        else:
            metric = self.sampler.metric(state, self.hp)
            size, vector = top_curvature(self.target, state["delta"], self._vector, metric, iterations)
            fine = torch.isfinite(size)
            lost = vector.norm(dim=1, keepdim=True) == 0
            self._vector = torch.where(lost, self._random_like(vector), torch.where(fine, vector, self._vector))
        limit = self.sampler.stable_step(size.clamp_min(1e-30), self.hp)
        self.limit = self._over_chains(torch.where(fine, limit, torch.full_like(limit, math.inf)))

    def _growth(self, state: State) -> Tensor | float:
        """By what the step may grow at most, from the acceptance since the last check where the sampler has one."""
        accepted, trials = state.get("accepted"), state.get("trials")
        if accepted is None or trials is None:
            return GROWTH
        before, self._tried = self._tried, (accepted * trials, trials)
        if before is None:
            return GROWTH
        tried = trials - before[1]
        # Not tried since, where the block was started again: neither refused nor taken.
        rate = torch.where(tried > 0, (accepted * trials - before[0]) / tried.clamp_min(1), (REFUSED + TAKEN) / 2)
        least = self._over_chains(rate)
        refused = least < REFUSED
        self.backoff = torch.where(refused, self.backoff / 2, self.backoff)
        self.backoff = torch.where(least > TAKEN, (GROWTH * self.backoff).clamp_max(1.0), self.backoff)
        return torch.where(refused, 0.5, GROWTH)

    def _over_chains(self, values: Tensor) -> Tensor:
        """The smallest value over the chains of each problem and setting, for every chain."""
        grouped = self._grouped(values)
        return grouped.amin(dim=1, keepdim=True).expand(grouped.shape).reshape(values.shape)

    def _grouped(self, values: Tensor) -> Tensor:
        """[problems, chains of each, settings] of numbers of all chains."""
        return values.view(self.target.potential.problems, -1, self.settings)

    def _save(self, state: State) -> None:
        if self.by_chain is None:
            self._saved = {name: value.clone() for name, value in state.items()}

    def _restart_if_blown_up(self, step: int, state: State, loss: Tensor) -> State:
        # At equilibrium nβ·ΔL is about λ ≤ D/2; far above that, and above where the chains began, the integrator has left its
        # stable region.
        assert self._began is not None
        ceiling = 20.0 * state["delta"].shape[1] + 1000.0 + 2.0 * self._began
        bad = ~(self.target.n_beta.squeeze(1) * loss.abs() < ceiling)
        if (self._saved is None and self.by_chain is None) or not bool(bad.any()):
            self._failures = torch.zeros_like(self._failures)
            return state
        grouped = self._grouped(bad)
        together = grouped.any(dim=1, keepdim=True).expand(grouped.shape).reshape(-1, 1)
        self._failures = torch.where(together, self._failures + 1, torch.zeros_like(self._failures))
        self.backoff = torch.where(together, self.backoff / 2, self.backoff)
        self.hp.step_size = torch.where(together, self.hp.step_size / 2, self.hp.step_size)
        self.notes.append(f"Step {step}: the chain overflowed; step size halved and the block started again.")
        if self._saved is None or self._first is None:
            for value in state.values():
                value[together.squeeze(1)] = 0
            return dict(state)
        result = {}
        for name, value in state.items():
            saved, first = self._saved[name], self._first[name]
            if name == "momentum":
                saved = torch.zeros_like(saved)
            if name == "delta" and self.target.coordinates is not None:
                first = torch.zeros_like(first)
            again, lost = (rows.view(-1, *[1] * (value.dim() - 1)) for rows in (together, self._failures > 1))
            result[name] = torch.where(again, torch.where(lost, first, saved), value)
        return result
