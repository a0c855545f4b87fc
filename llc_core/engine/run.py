"""The driver: steps all chains of all settings at once and yields snapshots; `llc_core.estimating` runs it to the end."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.cores import chains_on_cores, over_chains
from llc_core.compute.gpu import way
from llc_core.compute.philox import fill
from llc_core.compute.precision import allowed
from llc_core.compute.streams import stream_seed, torch_stream
from llc_core.config import RunConfig
from llc_core.diagnostics import convergence as diagnostics
from llc_core.diagnostics.verdict import judge
from llc_core.engine.adapting.control import Control
from llc_core.engine.averages import LossAccumulator
from llc_core.engine.biases import Added, measure
from llc_core.engine.resolve import Resolved, is_auto_step, resolve
from llc_core.engine.stepping.bursts import SHORTEST, UNDONE_STEPS, WINDOW, Bursts
from llc_core.engine.stepping.chain_by_chain import ByChain
from llc_core.engine.stepping.compiled import OneLoop, pays
from llc_core.engine.stepping.recorded import Recorded
from llc_core.engine.target import Target
from llc_core.groups import settings
from llc_core.observables.base import Mean
from llc_core.observables.look import Group, Moment
from llc_core.observables.observers import Observers
from llc_core.potentials.base import Batch, Potential
from llc_core.results import Estimate
from llc_core.samplers import MetropolisSampler, hyperparameters
from llc_core.samplers.base import ADAPTING_SHARE
from llc_core.types import Energy, Hp, Snapshot

NOISE_NUMBERS = 1 << 18
"""Normals drawn at once: few calls for small networks, bounded memory for large ones."""
BLOCK_SECONDS = 0.04
MAX_BLOCK = 4096
PARK_EVERY = 100


class Run:
    """A run in progress: iterate for snapshots, or `advance` by hand; `estimates()` at any time.

    Chains are stacked chain-major: row c·S + s is chain c of setting s, S settings; of several problems side by side
    (`DeepLinearFamily`) those of the first come first, and each has config.chains. Numbers do not depend on how the run is
    cut into blocks.
    """

    def __init__(
        self, config: RunConfig | Resolved, problem: Potential | None = None, observable: Potential | None = None
    ):
        """config: what to run; what is resolved already is taken as it is, and then nothing may stand beside it."""
        resolved = config if isinstance(config, Resolved) else resolve(config, problem, observable)
        if resolved is config and (problem is not None or observable is not None):
            raise ValueError("A resolved configuration brings its problem and observable; pass nothing beside it.")
        self.config, self.problem, self.sampler = resolved.config, resolved.problem, resolved.sampler
        config, observable = resolved.config, resolved.observable
        assert config.steps is not None and config.n_beta is not None and config.gradient is not None
        assert config.localization is not None and config.batch_size is not None
        self.batch_size = config.batch_size
        self.settings = settings(config)
        self.problems = self.problem.problems
        if self.problems > 1 and config.histogram is not None:
            raise ValueError("histogram counts the visits of one problem; run the networks of a family one by one.")
        self.chains = config.chains * self.problems
        self.total_steps, self.gradient = config.steps, config.gradient
        self.metric_gradient = config.metric_gradient or config.gradient
        self.burn_in = config.burn_in_steps(self.total_steps)
        self._plan = dict(config.continued_from or {"steps": self.total_steps, "burn_in": self.burn_in})
        self._adapted = self._plan["burn_in"]
        self.count = self.chains * len(self.settings)
        self.device = torch.device(str(config.device))
        self.dtype = torch.float64 if config.dtype == "float64" else torch.float32
        self.steps_done = 0
        self.seconds = 0.0
        self._started = False

        like = torch.empty(0, dtype=self.dtype, device=self.device)
        self._hp = hyperparameters(self.sampler, self.count, like, self.problem.layers)
        n_beta = torch.full((self.count, 1), config.n_beta, dtype=self.dtype, device=self.device)
        localization = torch.full_like(n_beta, config.localization)
        for name in config.grid:
            values = torch.tensor([float(s[name]) for s in self.settings], dtype=self.dtype, device=self.device)
            column = values.repeat(self.chains).unsqueeze(1)
            if name == "n_beta":
                n_beta = column
            elif name == "localization":
                localization = column
            else:
                setattr(self._hp, name, column)
        self._target = Target(self.problem, n_beta, localization, len(self.settings))

        self._streams = {
            name: torch_stream(config.seed, name, self.device)
            for name in ("noise", "batch", "probe", "metric", "hessian")
        }
        # Metropolis samplers hold several states at once anyway.
        chainwise = self.problem.by_chain and not isinstance(self.sampler, MetropolisSampler)
        noise_seed = stream_seed(config.seed, "noise")
        self._by_chain = ByChain(self._target, self.sampler, noise_seed) if chainwise else None
        self._recorded = self._recorder(like, noise_seed) if way() != "plain" and not chainwise else None
        self._noise: Tensor | None = None
        self._noise_at = 0
        usual = self._by_chain is None and self._recorded is None
        self._noise_seed = (
            noise_seed if usual and pays(like, self.problem.dim, self.count, self._plan["steps"]) else None
        )
        self._one_loop: OneLoop | None = None
        if self._noise_seed is not None and self.sampler.cell() is not None and config.histogram is None:
            self._one_loop = OneLoop(self.sampler, noise_seed)
            self._one_loop.compile()
        self._control = Control(
            self._target,
            self.sampler,
            self._hp,
            len(self.settings),
            self._adapted,
            is_auto_step(self.sampler, config),
            self.sampler.adapts_coordinates,
            self._streams["probe"],
            self._by_chain,
        )
        self._bursts = self._guard() if usual else None
        self._losses = LossAccumulator(
            self.count,
            self.total_steps,
            self.burn_in,
            n_beta.squeeze(1).double().cpu().numpy(),
            config.baseline,
            self._baseline_losses() if self.gradient != "full" else 0.0,
            forgiving=self._control.rescues_until,
        )
        self._energy: Energy | None = None
        self._last_loss: Tensor | None = None
        self._block = 8
        self._notes_sent = 0
        home = torch.zeros(self.count, self.problem.dim, dtype=self.dtype, device=self.device)
        if self.problem.start is not None:
            home += torch.as_tensor(self.problem.start).to(home)
        self._observers = Observers(config, self.problem, observable, home, len(self.settings))
        self._home: Tensor | None = None
        if self._by_chain is not None:  # in place: a copy of where it began would be a copy of the parameters per chain
            self._state = self._by_chain.start(home, self._hp)
        else:
            self._home = home
            self._state = self.sampler.init(home.clone(), self._normals(1)[0].clone(), self._hp)
            if self._one_loop is not None:
                self._noise = None  # the loop makes its own

    # -- stepping -----------------------------------------------------------------------------------------------------

    @property
    def finished(self) -> bool:
        return self.steps_done >= self.total_steps or not self._losses.alive.any()

    def __iter__(self) -> Iterator[Snapshot]:
        """Snapshots of about 40 ms each until the run is finished."""
        while not self.finished:
            before = time.perf_counter()
            snapshot = self.advance(self._block)
            spent = time.perf_counter() - before
            wished = self._block * min(2.0, max(0.5, BLOCK_SECONDS / max(spent, 1e-6)))
            self._block = min(MAX_BLOCK, max(1, int(wished)))
            yield snapshot

    def go_on(self, steps: int | None = None) -> None:
        """Let a finished run go on for `steps` more steps; None: for as many as it has.

        Where at least half of the steps were burn-in, all that were done become burn-in, so that the estimate is made from
        the new steps alone; else burn-in ends where it did. Nothing is adapted again. `config` says what was done: a run
        that is begun with it has the same numbers. Raises ValueError where the run is not finished or has no living chain.
        """
        if not self._losses.alive.any():
            raise ValueError("All chains diverged, and more steps cannot help; reduce step_size.")
        if self.steps_done < self.total_steps:
            raise ValueError(f"The run has {self.total_steps - self.steps_done} steps left; let it finish first.")
        self.config = self.config.longer(steps)
        assert self.config.steps is not None
        total, burn_in = self.config.steps, self.config.burn_in_steps(self.config.steps)
        self._losses.go_on(total, burn_in)
        if burn_in != self.burn_in:
            self._observers.fresh()
            if self._bursts is not None:
                self._bursts.count_from(burn_in)
        self.total_steps, self.burn_in = total, burn_in

    def advance(self, steps: int) -> Snapshot:
        """Do up to `steps` more steps of every chain and report them."""
        started = time.perf_counter()
        steps = min(steps, self.total_steps - self.steps_done)
        losses: list[Tensor] = []
        baselines: list[Tensor] = []
        weights: list[Tensor] = []
        with torch.no_grad(), allowed(), chains_on_cores() if self.problem.spreads_chains else nullcontext():
            if not self._started:
                self._control.start(self._state)
                self._started = True
            for _ in range(steps):
                loss, baseline, weight = self._step()
                losses.append(loss)
                if weight is not None:
                    weights.append(weight)
                if baseline is not None:
                    baselines.append(baseline)
        rows = torch.stack(losses).double().cpu().numpy() if losses else np.zeros((0, self.count))
        base = torch.stack(baselines).double().cpu().numpy() if baselines else None
        if base is not None:
            base = np.repeat(base, self.count // base.shape[1], axis=1)
        shares = self._share(np.arange(self.steps_done - len(rows), self.steps_done))
        weighed = torch.stack(weights).double().cpu().numpy() if weights else None
        self._losses.forgiving = self._control.rescues_until
        kept, kept_steps = (
            self._losses.add(rows, base, weighed, shares) if len(rows) else (rows, np.zeros(0, dtype=int))
        )
        self.seconds += time.perf_counter() - started
        notes = tuple(self._control.notes[self._notes_sent :])
        self._notes_sent += len(notes)
        return Snapshot(
            steps=self.steps_done,
            total_steps=self.total_steps,
            burn_in=self.burn_in,
            recorded=kept_steps,
            excess_loss=kept,
            llc=self._losses.llc(),
            alive=self._losses.alive.copy(),
            rms_displacement=(self._target.delta(self._state["delta"]).norm(dim=1) / math.sqrt(self.problem.dim))
            .double()
            .cpu()
            .numpy(),
            step_size=self._hp.step_size.squeeze(1).double().cpu().numpy().copy(),
            n_beta=self._losses.n_beta.copy(),
            steps_per_second=self.count * self.steps_done / max(self.seconds, 1e-9),
            notes=notes,
            observables=self._observers.counts(),
        )

    @property
    def state(self) -> Mapping[str, Tensor]:
        """The sampler's state now: tensors with the chain first; state["delta"] is w − w0 in the sampler's coordinates.

        The next `advance` replaces these tensors, it does not change them.
        """
        if self._by_chain is not None or self._recorded is not None or self._one_loop is not None:
            return {name: value.clone() for name, value in self._state.items()}
        return dict(self._state)

    @property
    def displacements(self) -> np.ndarray:
        """w − w0 of every chain now, [C, D], in the coordinates of the parameters: a copy."""
        return self._target.delta(self._state["delta"]).double().cpu().numpy().copy()

    def _step(self) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """ΔL [C] before the step, L_m(w0) [b] of its batch, and what the sampler says each chain weighs [C]."""
        if self._last_loss is not None:
            checked = self._control.check(self.steps_done, self._state, self._last_loss)
            if checked is not self._state:  # started again, or in new coordinates: the energy kept is not of this state
                self._state, self._energy = checked, None
            if self.steps_done % PARK_EVERY == 0:
                self._park_dead()
        if self.steps_done == int(ADAPTING_SHARE * self._adapted):
            self._hp.adapting = torch.zeros_like(self._hp.adapting)
        hp = self._hp_now()
        moment = self._moment(hp)
        if isinstance(self.sampler, MetropolisSampler):
            energy = self._metropolis_step(self.sampler, hp)
            loss, baseline = energy.excess_loss, None
            self._watch(moment, energy)
        elif self._by_chain is not None:
            batch = self._draw(self.gradient, "batch")
            self._observers.look(moment, self._state["delta"])
            watch = partial(self._observers.watch, moment)
            loss = self._by_chain.step(self._state, hp, batch, self._metric_batch(), self._probe(), watch)
            baseline = None if batch is None else batch.baseline_loss
        elif self._recorded is not None:
            seen = partial(self._watch, moment) if self._observers.due(moment.step) else None
            self._state, loss, baseline = self._recorded.step(self._state, hp, seen)
        else:
            batch = self._draw(self.gradient, "batch")
            # A tensor object of its own: the state may be changed in place, and a potential may remember what it was given.
            energy = self._evaluate(self._state["delta"].detach(), batch)
            if self._bursts is not None:
                calm = self._bursts.look(self.steps_done, self._state, energy.excess_loss)
                if calm is not self._state:
                    self._state = calm
                    moment = self._moment(hp)
                    energy = self._evaluate(self._state["delta"].detach(), batch)
            baseline = None if batch is None else batch.baseline_loss
            loss = energy.excess_loss
            self._watch(moment, energy)
            if self._one_loop is not None and self._one_loop.serves(energy):
                self._one_loop.step(self._state, energy, hp, self.steps_done + 1)
            else:
                self._state = self.sampler.update(self._state, energy, self._normals(self.sampler.noises), hp)
        self._last_loss = loss
        self.steps_done += 1
        return loss, baseline, moment.weights

    def _moment(self, hp: Hp) -> Moment:
        share = float(self._share(self.steps_done)) if self.config.step_decay else 1.0
        settled = self.steps_done >= self._adapted or not self._control.auto_step
        weights = self.sampler.weights(self._state, hp)
        if weights is not None:
            weights = weights.clone()  # it may be a part of the state, which may be changed in place
        return Moment(self.steps_done - self.burn_in, share, weights, settled)

    def _watch(self, moment: Moment, energy: Energy) -> None:
        self._observers.look(moment, energy.delta)
        self._observers.watch(moment, energy)

    def _guard(self) -> Bursts | None:
        """For steps that were chosen here, where losses are exact; not on a GPU, where a look at every step would wait for it."""
        auto = self._control.auto_step and is_auto_step(self.sampler, self.config)
        if not auto or self.gradient != "full" or self.device.type != "cpu" or self._adapted < SHORTEST:
            return None
        if isinstance(self.sampler, MetropolisSampler):
            return None
        return Bursts(self._target.n_beta, self.problem.dim, self._adapted - WINDOW, self.burn_in, self._control.notes)

    def _recorder(self, like: Tensor, noise_seed: int) -> Recorded | None:
        """The step as one recording, for those kinds of runs whose steps are all alike."""
        if isinstance(self.sampler, MetropolisSampler) or self.config.histogram is not None:
            return None
        return Recorded(
            self._target,
            self.sampler,
            lambda: self._draw(self.gradient, "batch"),
            self._evaluate,
            [self._streams[name] for name in ("batch", "metric", "hessian")],
            noise_seed,
            like.new_empty(self.count, 0),
            fused=way() == "fused",
        )

    def _share(self, step: Any) -> np.ndarray:
        """Size of step number `step` in units of step_size, which is also its weight in averages."""
        return (np.asarray(step) + 1.0) ** -self.config.step_decay

    def _hp_now(self) -> Hp:
        if not self.config.step_decay:
            return self._hp
        hp = copy.copy(self._hp)
        hp.step_size = hp.step_size * float(self._share(self.steps_done))
        return hp

    def _metropolis_step(self, sampler: MetropolisSampler, hp: Hp) -> Energy:
        """One step; returns the energy before it."""
        energy = self._energy if self._energy is not None else self._evaluate(self._state["delta"], None)
        uniform = torch.rand(self.count, 1, generator=self._streams["noise"], dtype=self.dtype, device=self.device)
        self._state, self._energy = sampler.step(
            self._state,
            energy,
            lambda delta: self._evaluate(delta, None),
            self._normals(sampler.noises),
            1 - uniform,
            hp,
        )
        return energy

    def _evaluate(self, z: Tensor, batch: Batch | None) -> Energy:
        return self._target.evaluate(z, batch, self._metric_batch(), self._probe())

    def _metric_batch(self) -> Batch | Literal["full"] | None:
        if self.metric_gradient == self.gradient:
            return None
        return self._draw(self.metric_gradient, "metric") or "full"

    def _probe(self) -> torch.Generator | None:
        return self._streams["hessian"] if self.sampler.needs_hessian_diagonal else None

    def _draw(self, gradient: str, stream: str) -> Batch | None:
        if gradient == "full":
            return None
        return self.problem.draw(self._streams[stream], self.chains, self.batch_size, gradient, self.dtype)

    def _normals(self, fields: int) -> Tensor:
        """[fields, C, D] standard normals, valid until the next call: cut from blocks sized by the shapes alone, or, in long
        runs of many parameters, those that belong to this step (to number 0 before the first)."""
        shape = (self.count, self.problem.dim)
        if self._noise_seed is not None:
            if self._noise is None or self._noise.shape[0] != fields:
                self._noise = torch.empty(fields, *shape, dtype=self.dtype, device=self.device)
            self._fill(self._noise, self._noise_seed, self.steps_done + self._started)
            return self._noise
        steps = max(1, NOISE_NUMBERS // (fields * self.count * self.problem.dim))
        if self._noise is None or self._noise.shape[1] != fields:
            self._noise = torch.empty(steps, fields, *shape, dtype=self.dtype, device=self.device)
            self._noise_at = steps
        if self._noise_at >= steps:
            self._noise.normal_(generator=self._streams["noise"])  # in place: fresh memory would cost more than it
            self._noise_at = 0
        self._noise_at += 1
        return self._noise[self._noise_at - 1]

    @staticmethod
    def _fill(noise: Tensor, seed: int, step: int) -> None:
        def work(chains: Sequence[int]) -> None:
            for field, rows in enumerate(noise):
                for chain in chains:
                    fill(rows[chain], seed, step, chain, field)

        over_chains(noise.shape[1], work)

    def _park_dead(self) -> None:
        """Put chains that are no longer finite back to the start: they are out of every result, and nan slows some devices.

        Only those whose loss has been seen not to be finite: else one that was lost in the last step would live on unseen.
        """
        assert self._last_loss is not None
        seen = torch.isfinite(self._last_loss)
        if self._by_chain is not None:
            self._by_chain.park_dead(self._state, seen)
            return
        assert self._home is not None
        finite = torch.isfinite(self._state["delta"]).all(dim=1) | seen
        if not bool(finite.all()):
            self._state = {
                name: torch.where(
                    finite.view(-1, *[1] * (value.dim() - 1)),
                    value,
                    self._home if name == "delta" and self._target.coordinates is None else torch.zeros_like(value),
                )
                for name, value in self._state.items()
            }
            self._energy = None

    # -- results ------------------------------------------------------------------------------------------------------

    def estimates(self) -> list[Estimate]:
        """One Estimate per setting, from the steps done so far; of the first problem, then of the next, where there are
        several side by side."""
        with torch.no_grad(), allowed():
            self._control.refresh(self._state)
            added = self._added()
        configs = [self.config]
        if self.problems > 1:  # each is then an estimate of its own problem, like any other
            members = (self.problem.member(index).to_dict() for index in range(self.problems))
            configs = [self.config.replace(problem=member) for member in members]
        seen = _Seen(added, self._losses.llc(), *self._losses.trace(), self._losses.trace_weights())
        return [
            self._estimate(number, index, setting, config, seen)
            for number, config in enumerate(configs)
            for index, setting in enumerate(self.settings)
        ]

    def rows_of(self, problem: int, index: int) -> slice:
        """The chains of one problem and setting."""
        each = self.count // self.problems
        return slice(problem * each + index, (problem + 1) * each, len(self.settings))

    def _added(self) -> Added:
        if self.steps_done == 0:
            return Added.nothing(self.count)
        stream = torch_stream(self.config.seed, "inflation", self.device)

        def draw() -> Batch:
            return self.problem.draw(stream, self.chains, self.batch_size, self.gradient, self.dtype)

        noisy = draw if self.gradient != "full" else None
        return measure(self._target, self.sampler, self._state, self._hp_now(), noisy, self._by_chain)

    def _baseline_losses(self) -> np.ndarray:
        """L_n(w0) for every chain, [C]."""
        values = [self.problem.member(index).baseline_loss for index in range(self.problems)]
        return np.repeat(values, self.count // self.problems)

    def llc_per_chain(self, baseline: str | None = None) -> np.ndarray:
        """λ̂ of every chain so far, [C], by any baseline of `RunConfig`; nan during burn-in and for dead chains."""
        return self._losses.llc(baseline)

    def _estimate(
        self, number: int, index: int, setting: Mapping[str, Any], config: RunConfig, seen: _Seen
    ) -> Estimate:
        mine, problem = self.rows_of(number, index), self.problem.member(number)
        per_chain = seen.llc[mine]
        alive = np.isfinite(per_chain)
        kept = max(0, self.steps_done - self.burn_in)
        dead = int((~self._losses.alive[mine]).sum())
        n_beta = float(self._losses.n_beta[mine][0])
        living = self._losses.alive[mine]
        steps = seen.steps
        with np.errstate(over="ignore"):  # a chain on its way to infinity
            trace = seen.trace[:, mine] * n_beta
        share = None if seen.weights is None else self._losses.effective_share()[mine]
        counted = living if share is None else living & np.isfinite(share)
        kept_trace = trace[steps >= self.burn_in][:, counted]
        usable = dead <= len(living) / 2 and kept > 0 and bool(alive.any())
        llc = float(per_chain[alive].mean()) if usable else math.nan
        weights = None if seen.weights is None else seen.weights[:, mine][steps >= self.burn_in][:, counted]
        se = diagnostics.standard_error(per_chain[alive], kept_trace, weights) if usable else math.nan
        r_hat, ess = (diagnostics.r_hat(kept_trace), diagnostics.ess(kept_trace)) if usable else (math.nan, math.nan)
        if share is not None and usable:
            ess *= float(share[counted].mean())
        drift, drift_se = diagnostics.plateau_drift(kept_trace)
        step_size = float(self._hp.step_size[mine][0])
        stable = float(self._control.stable_step()[mine][0])
        inflated, step_bias = _finite_mean(seen.added.noise[mine]), _finite_mean(seen.added.step[mine])
        rounding = _finite_mean(seen.added.rounding[mine][living])
        accepted = self._state.get("accepted")
        acceptance = math.nan if accepted is None else _finite_mean(accepted[mine].double().cpu().numpy())
        observers = self._observers
        group = Group(mine, living, n_beta, step_size if self._target.coordinates is None else math.nan)
        fluctuation = observers.fluctuation(group) if usable else Mean()
        observed = observers.observed(group) if usable else Mean()
        bursts = 0 if self._bursts is None else int(self._bursts.count[mine].sum())
        exact = self.gradient == "full" and accepted is None
        verdict = judge(
            llc=llc,
            se=se,
            chains=len(living),
            dead=dead,
            r_hat=r_hat,
            ess=ess,
            drift=drift,
            drift_se=drift_se,
            step_size=step_size,
            stable_step=stable,
            noise_inflation=inflated,
            step_bias=step_bias,
            rounding=rounding,
            spikes=diagnostics.spike_share(kept_trace) if exact else math.nan,
            bursts=bursts,
            undone=bursts * UNDONE_STEPS / max(kept * len(living), 1),
            acceptance=acceptance,
            kept_steps=kept,
            caveat=self.sampler.caveat(),
            parameters=self.problem.dim,
        )
        return Estimate(
            llc=llc,
            llc_se=se,
            per_chain=per_chain,
            r_hat=r_hat,
            ess=ess,
            diverged=dead,
            chains=len(living),
            converged=verdict,
            expected=problem.expected_llc_at(n_beta, float(self._target.localization[mine][0])),
            learning_coefficient=problem.learning_coefficient,
            local_learning_coefficient=problem.local_learning_coefficient,
            trace=trace,
            trace_steps=steps,
            n_beta=n_beta,
            steps=self.steps_done,
            burn_in=self.burn_in,
            seconds=self.seconds,
            steps_per_second=self.count * self.steps_done / max(self.seconds, 1e-9),
            config=config,
            setting=dict(setting),
            diagnostics={
                "step_size": step_size,
                "stability_limit": stable,
                "drift": drift,
                "drift_se": drift_se,
                "noise_inflation": inflated,
                "step_bias": step_bias,
                "rounding": rounding,
                "bursts": float(bursts),
                "acceptance": acceptance,
                **observers.term_sizes(group),
            },
            n=self.problem.n,
            dim=self.problem.dim,
            baseline_loss=problem.baseline_loss,
            singular_fluctuation=fluctuation.value,
            singular_fluctuation_se=fluctuation.se,
            observed_llc=observed.value,
            observed_llc_se=observed.se,
            observed_per_chain=observed.parts,
            observables=observers.read(group) if usable else {},
        )


@dataclass(frozen=True)
class _Seen:
    """What the estimates of all settings are made from: numbers of every chain [C], and ΔL [T, C] with its steps and
    the weights [T, C] of its states, None where all weigh the same."""

    added: Added
    llc: np.ndarray
    trace: np.ndarray
    steps: np.ndarray
    weights: np.ndarray | None


def _finite_mean(values: np.ndarray) -> float:
    return float(values[np.isfinite(values)].mean()) if np.isfinite(values).any() else 0.0
