"""The estimates of a run so far, one for each problem and setting. Long, since all that a run has seen is gathered in
one place, with the biases that are expected in λ̂ beside the answer and chance: minibatch noise, the step's size, rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from llc_core.compute.streams import torch_stream
from llc_core.config import RunConfig
from llc_core.diagnostics.confirmation import draw_together
from llc_core.diagnostics.convergence import standard_error
from llc_core.diagnostics.evidence import Evidence
from llc_core.diagnostics.minimum import (
    INTERACTING,
    LOST,
    OF_A_PRIOR,
    OF_BATCHES,
    UNSEEN,
    WEIGHTED,
    FromVariance,
    Looks,
    from_variance,
)
from llc_core.diagnostics.verdict import worth_an_answer
from llc_core.engine.above_minimum import above_minimum
from llc_core.engine.adapting.control import Control
from llc_core.engine.law import BiasAndSpread, has_no_law, on_the_plane, result
from llc_core.engine.record import Record
from llc_core.engine.resolve import has_prior
from llc_core.engine.setup import Setup, can_be_asked
from llc_core.engine.spreading import Idle, idle, spreading
from llc_core.engine.stepping.base import Stepper
from llc_core.engine.stepping.bursts import UNDONE_STEPS
from llc_core.engine.summary import Chains, Weighed, make_estimate, weigh
from llc_core.engine.temperatures import Level, with_slopes
from llc_core.interactions import build as build_interaction
from llc_core.observables.data_noise import Influences
from llc_core.observables.look import Group
from llc_core.potentials.base import Batch, Potential
from llc_core.results import Estimate
from llc_core.samplers.registry import at_setting
from llc_core.types import Hp, State


@dataclass(frozen=True)
class Biases:
    """Of every chain, [C]; 0 where it is not known.

    noise, step: what minibatch noise and the step's size are expected to add to λ̂, to first order in step_size.
    rounding: how far nβ·ΔL is off where the chain is now, by the precision it is evaluated in.
    """

    noise: np.ndarray
    step: np.ndarray
    rounding: np.ndarray

    @classmethod
    def nothing(cls, chains: int) -> Biases:
        return cls(*np.zeros((3, chains)))


def measure(stepper: Stepper, state: State, hp: Hp, draw: Callable[[], Batch] | None) -> Biases:
    """The biases where the chains are now. draw: makes a new batch; None: the chains see all data."""
    sampler, target = stepper.sampler, stepper.target
    noise = step = rounding = None
    factor = None if draw is None else sampler.noise_factor(hp)
    if draw is not None and factor is not None:
        noise = factor * stepper.gradient_variance(state, hp, draw)
    limit = None if draw is None else sampler.largest_force(hp)
    if draw is not None and limit is not None:
        # What is cut off weakens the pull by its share; each direction then adds as much of its half, at most.
        share = stepper.beyond(state, draw, limit).clamp_max(0.99)
        noise = target.potential.dim / 2 * share / (1 - share)
    factor = sampler.step_bias_factor(hp)
    if factor is not None:
        step = factor * stepper.loss_times_force(state, hp)
    error = target.potential.rounding(target.delta(state["delta"]))
    if error is not None:
        rounding = target.n_beta.double() * error.unsqueeze(1)
    return Biases(*(_per_chain(part, len(state["delta"])) for part in (noise, step, rounding)))


def _per_chain(values: Tensor | None, chains: int) -> np.ndarray:
    return np.zeros(chains) if values is None else values.squeeze(1).double().cpu().numpy()


class OneSetting(NamedTuple):
    """One problem at one setting: its chains, the rows `mine` of all, and what speaks for their estimate and against it."""

    problem: Potential
    config: RunConfig
    setting: Mapping[str, Any]
    mine: slice
    chains: Chains
    weighed: Weighed
    influences: Influences | None

    @property
    def evidence(self) -> Evidence:
        return self.weighed[0]


def _draw_what_is_asked(seen: list[OneSetting], largest: int) -> None:
    """Exact draws of a problem at all settings where they would decide, at once; of a single one `make_estimate` makes them."""
    asked: dict[int, list[OneSetting]] = {}
    for each in seen:
        if math.isnan(each.evidence.reference) and worth_an_answer(each.evidence):
            asked.setdefault(id(each.problem), []).append(each)
    for found in asked.values():
        if len(found) > 1:
            draw_together(found[0].problem, [(e.chains.n_beta, e.chains.localization) for e in found], largest)


class Estimates:
    """Gathers from a run's parts what `llc_core.engine.summary` makes estimates of.

    Made for one look, at `state`, after `steps` steps that took `seconds`. config: what was done.
    """

    def __init__(
        self,
        setup: Setup,
        stepper: Stepper,
        control: Control,
        record: Record,
        config: RunConfig,
        state: State,
        steps: int,
    ):
        self.setup, self.stepper, self.control, self.record = setup, stepper, control, record
        self.config, self.state, self.steps = config, state, steps
        self._interaction = None if config.interaction is None else build_interaction(config.interaction)

    def all(self, seconds: float, largest_drawn: int) -> list[Estimate]:
        """Those of the first problem, setting by setting, then of the next. largest_drawn: see `make_estimate`."""
        setup, config = self.setup, self.config
        # At the end of a run only, since they may take seconds; a run of exact draws needs no others.
        unfinished = self.steps < (config.steps or 0)
        largest_drawn = 0 if unfinished or setup.sampler.needs_conditionals else largest_drawn
        self.control.refresh(self.state)
        biases = self._biases()
        above = None if unfinished else self._above_minimum()
        losses = self.record.losses
        per_chain, (trace, trace_steps) = losses.llc(), losses.trace()
        weights = losses.trace_weights()
        shares = None if weights is None else losses.effective_share()
        shared = self._interaction is not None and self._interaction.across == "chains"
        members = self._interaction.members_of(config.chains, 1) if self._interaction and shared else 1
        seen = []
        for number in range(setup.groups.problems):
            problem = setup.problem.member(number)
            # Of several problems each gets an estimate that can stand alone.
            own = config if setup.groups.problems == 1 else config.replace(problem=problem.to_dict())
            for index, setting in enumerate(setup.settings):
                mine = setup.groups.rows(number, index)
                n_beta = float(losses.n_beta[mine][0])
                with np.errstate(over="ignore"):  # a chain on its way to infinity
                    scaled = trace[:, mine] * n_beta
                chains = Chains(
                    per_chain=per_chain[mine],
                    living=losses.alive[mine],
                    trace=scaled,
                    trace_steps=trace_steps,
                    n_beta=n_beta,
                    localization=float(setup.target.localization[mine][0]),
                    steps=self.steps,
                    burn_in=self.record.burn_in,
                    seconds=seconds,
                    steps_per_second=setup.groups.count * self.steps / max(seconds, 1e-9),
                    weights=None if weights is None else weights[:, mine],
                    effective_share=None if shares is None else shares[mine],
                    total_weight=losses.total_weight()[mine],
                    members=members,
                )
                found = self._found(mine, chains, biases, setting)
                if setup.polish is not None:
                    found = replace(found, polished=setup.polish.converged, endless=problem.endless)
                if above is not None and not math.isnan(above[number, index]):
                    found = replace(found, above=float(above[number, index]))
                elif can_be_asked(setup) and not has_no_law(setup) and not problem.w0_is_minimum:
                    found = replace(found, unlooked=True, unfinished=unfinished)
                influences = None
                if self.record.law is not None and chains.usable and not unfinished:
                    influences = self.record.law.influences(Group(mine, chains.living, n_beta))
                if influences is not None:
                    noise = influences.noise()
                    found = replace(found, data_variance=noise.square, data_variance_se=noise.square_se)
                seen.append(OneSetting(problem, own, setting, mine, chains, weigh(problem, chains, found), influences))
        if largest_drawn:
            _draw_what_is_asked(seen, largest_drawn)
        estimates = [self._estimate(each, largest_drawn, unfinished) for each in seen]
        if "temperature" in config.grid:
            levels = [Level(id(e.problem), e.setting, e.chains, e.evidence, e.influences) for e in seen]
            idle = None if unfinished else lambda row, llc: self._idle(seen[row], llc)
            estimates = with_slopes(estimates, levels, idle)
        return estimates

    def _estimate(self, seen: OneSetting, largest_drawn: int, unfinished: bool) -> Estimate:
        chains = seen.chains
        observers, usable = self.record.observers, chains.usable
        step_size = seen.evidence.step_size if self.setup.target.coordinates is None else math.nan
        group = Group(seen.mine, chains.living, chains.n_beta, step_size)
        return make_estimate(
            seen.problem,
            seen.config,
            chains,
            setting=seen.setting,
            measured={**observers.term_sizes(group), **observers.travel.in_use(group)},
            fluctuation=observers.fluctuation(group) if usable else None,
            observed=observers.observed(group) if usable else None,
            observables=observers.read(group) if usable else None,
            largest_drawn=largest_drawn,
            idle=None if unfinished else partial(self._idle, seen),
            weighed=seen.weighed,
        )

    def _biases(self) -> Biases:
        if self.steps == 0:
            return Biases.nothing(self.setup.groups.count)
        # A stream of its own, made anew at every look: estimates do not depend on how often they were asked for.
        stream = torch_stream(self.config.seed, "inflation", self.setup.like.device)

        def draw() -> Batch:
            batch = self.stepper.batches.draw_from(stream)
            assert batch is not None
            return batch

        noisy = draw if self.setup.gradient != "full" else None
        return measure(self.stepper, self.state, self.control.step_size.hp_at(self.steps), noisy)

    def _found(self, mine: slice, chains: Chains, biases: Biases, setting: Mapping[str, Any]) -> Evidence:
        """What is known beside the chains' losses."""
        accepted = self.state.get("accepted")
        noise, step = _finite_mean(biases.noise[mine]), _finite_mean(biases.step[mine])
        law = self._law(mine, chains, noise + step) if chains.usable else BiasAndSpread()
        if self.record.spread is not None and chains.usable and not self._judged_elsewhere:
            llc = _finite_mean(chains.per_chain)
            counted = spreading(self.record.spread, Group(mine, chains.living, chains.n_beta), noise + step, llc)
            law = law._replace(unspread=counted.unspread, unspread_se=counted.se, pull=counted.pull)
        heat, heat_se = (law.bias, law.se) if math.isfinite(law.bias) else (noise + step, math.nan)
        beside = self._from_variance(mine, chains, heat, heat_se) if chains.usable else FromVariance(unknown=LOST)
        bursts = int(self.stepper.bursts[mine].sum())
        return Evidence(
            step_size=float(self.control.step_size.current[mine][0]),
            stable_step=float(self.control.stable_step()[mine][0]),
            noise_inflation=noise,
            step_bias=step,
            rounding=_finite_mean(biases.rounding[mine][chains.living]),
            law_bias=law.bias,
            law_bias_se=law.se,
            law_rest_se=law.rest_se,
            unspread=law.unspread,
            unspread_se=law.unspread_se,
            pull=law.pull,
            exact_law=self.setup.sampler.exact_law and self.setup.sampler.bias_expected,
            exact_losses=self.setup.gradient == "full" and accepted is None,
            bursts=bursts,
            undone=bursts * UNDONE_STEPS / max(chains.kept_steps * len(chains.living), 1),
            acceptance=math.nan if accepted is None else _finite_mean(accepted[mine].double().cpu().numpy()),
            caveat=self.setup.sampler.caveat() or (self._interaction.caveat() if self._interaction else ""),
            parameters=0 if self.setup.problem.starts_at_prior else self.setup.problem.dim,
            of_a_posterior=self.setup.problem.starts_at_prior,
            sampler=at_setting(self.setup.sampler, setting),
            from_variance=beside.llc,
            from_variance_se=beside.se,
            variance_unknown=beside.unknown,
            gap=beside.gap,
            gap_se=beside.gap_se,
            of_gamma=beside.of_gamma,
            of_gamma_se=beside.of_gamma_se,
        )

    def _from_variance(self, mine: slice, chains: Chains, heat: float, heat_se: float) -> FromVariance:
        """λ̂ from the variance; nothing where states weigh differently or chains interact, since no looks are taken there."""
        group, full = Group(mine, chains.living, chains.n_beta), self.setup.gradient == "full"
        if chains.weights is not None:
            return FromVariance(unknown=WEIGHTED)
        if self.record.law is not None and self.record.law.looks:
            at = self.record.law.seen(group)
            along = (
                None
                if has_prior(self.setup.problem, self.setup.like.device)
                else self.setup.problem.dim - at.unspread - at.pull
            )
            looks = Looks(at.loss, at.pull, along)
        elif self.record.spread is not None and full:  # whose losses are those of the step's batch
            seen = self.record.spread.seen(group)
            looks = Looks(seen.loss, seen.pull)
        else:
            return FromVariance(unknown=self._why_unseen())
        found = from_variance(chains.kept_trace if full else None, looks, heat, heat_se)
        if on_the_plane(self.setup):
            return FromVariance(found.llc, found.se, unknown=found.unknown)
        # Exact draws have the right mean, whatever the variance says.
        return found._replace(gap=math.nan, gap_se=math.nan) if self._judged_elsewhere else found

    @property
    def _judged_elsewhere(self) -> bool:
        """Whether nothing that is seen along the chains counts against λ̂: they are exact draws, or quadrature has the answer."""
        return self.setup.sampler.needs_conditionals or on_the_plane(self.setup)

    def _why_unseen(self) -> str:
        """Why nothing was seen of the chains that tells γ's part in the variance."""
        if self.setup.config.interaction is not None:
            return INTERACTING
        if self.setup.problem.starts_at_prior:
            return OF_A_PRIOR
        return UNSEEN if self.setup.gradient == "full" else OF_BATCHES

    def _above_minimum(self) -> np.ndarray | None:
        """Looked for once at a step: an estimate may be asked for again."""
        kept = self.record.above
        if kept is None or kept[0] != self.steps:
            place, alive = self.setup.target.delta(self.state["delta"]), self.record.losses.alive
            self.record.above = kept = self.steps, above_minimum(self.setup, place, alive)
        return kept[1]

    def _idle(self, seen: OneSetting, llc: float) -> Idle:
        group = Group(seen.mine, seen.chains.living, seen.chains.n_beta)
        return idle(self.setup, self.record.law, group, llc, seen.evidence.noise_inflation + seen.evidence.step_bias)

    def _law(self, mine: slice, chains: Chains, heat: float) -> BiasAndSpread:
        """What the chains' distribution adds to λ̂. heat: what formulas expect of it."""
        # Against the same batches' losses: other baselines add what is no matter of the distribution.
        known = self.record.losses.llc("same_batch")[mine]
        error = standard_error(known[np.isfinite(known)], chains.kept_trace, chains.kept_weights)
        return result(self.record.law, Group(mine, chains.living, chains.n_beta), known, error, heat)


def _finite_mean(values: np.ndarray) -> float:
    return float(values[np.isfinite(values)].mean()) if np.isfinite(values).any() else 0.0
