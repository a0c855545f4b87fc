"""One chain after the other, in place: for networks whose every copy of the parameters counts.

The usual step holds the gradients, the noise and the new state of all chains, beside their state. Here there is only one
chain's gradient, and update and noise are done in blocks of the parameters. The distribution is the same, but the random numbers are
others (those of `llc_core.compute.philox`, which need no order). So a potential always asks for the same stepper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from llc_core.compute.cores import PerThread, over_chains
from llc_core.compute.philox import fill
from llc_core.engine.curvature import CurvatureInTurn
from llc_core.engine.stepping.base import Step, Stepper, Watch
from llc_core.engine.stepping.batches import Batches
from llc_core.engine.stepping.compiled import CompiledUpdate
from llc_core.engine.stepping.noise import START, Noise, noise_number
from llc_core.engine.target import Target, hp_of
from llc_core.potentials.base import Batch
from llc_core.samplers.base import Sampler
from llc_core.types import Energy, Hp, State

BLOCK = 1 << 15
"""Parameters that are updated at once: few enough for a processor's cache. A multiple of `philox.GROUP`."""
DEVICE_BLOCK = 1 << 22
"""The same on a GPU, where each block costs the starts of its kernels."""


class ChainByChain(Stepper):
    """States are changed in place and never copied: a chain that blew up starts again from w0.

    seed: of the noise.
    """

    in_place = True

    def __init__(self, target: Target, sampler: Sampler, batches: Batches, noise: Noise, seed: int):
        super().__init__(target, sampler, batches, noise)
        self.seed = seed
        self._compiled = CompiledUpdate(sampler, seed)
        # Before there is any large tensor: what the compiler leaves behind would keep those alive that its callers hold.
        self._compiled.compile()
        self._local = PerThread()

    def start(self, home: Tensor, hp: Hp) -> State:
        state: State = {}
        for chain, row in _rows(home):
            noise = torch.empty_like(home[row])
            fill(noise[0], self.seed, noise_number(START), chain)
            for name, value in self.sampler.init(home[row], noise, hp_of(hp, row)).items():
                if name == "delta":
                    state[name] = home
                else:
                    whole = state.setdefault(name, value.new_empty(len(home), *value.shape[1:]))
                    whole[row] = value
        return state

    def step(self, state: State, hp: Hp, step: int, watch: Watch | None) -> Step:
        batch, metric_batch, probe = self.batches.draw(), self.batches.for_metric(), self.batches.probe
        delta = state["delta"]
        count = len(delta)
        losses, weights = delta.new_empty(count), self.weights(state, hp)
        if watch is not None:
            watch.places(delta, weights)

        def work(chains: Sequence[int]) -> None:
            with torch.no_grad():  # every thread has its own
                for chain in chains:
                    row = slice(chain, chain + 1)
                    mine = {name: value[row] for name, value in state.items()}
                    on = batch if batch is None else batch.of(chain, count)
                    metric_on = metric_batch.of(chain, count) if isinstance(metric_batch, Batch) else metric_batch
                    here = self.target.of(row)
                    energy = here.evaluate(mine["delta"], on, metric_on, probe, self.batches.hvp)
                    losses[row] = energy.excess_loss
                    if watch is not None:
                        watch.energy(energy, row)
                    self._update(mine, energy, hp_of(hp, row), chain, noise_number(step))
                    del energy  # one gradient at a time

        if self.target.potential.spreads_chains and probe is None:
            over_chains(count, work)
        else:
            work(range(count))
        return Step(state, losses, None if batch is None else batch.baseline_loss, weights)

    def _update(self, mine: State, energy: Energy, hp: Hp, chain: int, number: int) -> None:
        """One chain's state, changed in place. number: of the step's noise."""
        if self._compiled.serves(energy):
            before = dict(mine)
            self._compiled.step(mine, energy, hp, number, chain)
            for name, value in before.items():
                if mine[name] is not value:
                    value.copy_(mine[name])
            return
        dim = mine["delta"].shape[1]
        block = BLOCK if mine["delta"].device.type == "cpu" else DEVICE_BLOCK
        size = block if self.sampler.elementwise else dim
        new: State = {}
        for start in range(0, dim, size):
            part = slice(start, min(dim, start + size))
            old = {name: value[:, part] if value.shape[1] == dim else value for name, value in mine.items()}
            noise = self._normals(old["delta"], chain, number, start)
            new = self.sampler.update(old, _columns(energy, part), noise, hp)
            for name, value in new.items():
                if value.shape[1:] == old["delta"].shape[1:]:
                    mine[name][:, part] = value
        for name, value in new.items():
            if mine[name].shape[1] != dim:
                mine[name].copy_(value)

    def _normals(self, like: Tensor, chain: int, number: int, start: int) -> Tensor:
        """[noises, 1, D'] of this step for the parameters from `start` on; valid until the next call."""
        shape = (self.sampler.noises, *like.shape)
        noise: Tensor | None = getattr(self._local, "noise", None)
        if noise is None or noise.shape != shape:
            noise = self._local.noise = like.new_empty(shape)
        for field, row in enumerate(noise):
            fill(row[0], self.seed, number, chain, field, start)
        return noise

    def save(self, state: State) -> State | None:
        return None

    def restart(self, state: State, again: Tensor, lost: Tensor, saved: State | None, first: State | None) -> State:
        for value in state.values():
            value[again.squeeze(1)] = 0
        return dict(state)

    def park_dead(self, state: State, loss: Tensor) -> State:
        seen = torch.isfinite(loss)
        for chain in range(len(loss)):
            if not bool(seen[chain]) and not bool(torch.isfinite(state["delta"][chain]).all()):
                for value in state.values():
                    value[chain].zero_()
        return state

    def curvature(self, random: torch.Generator) -> CurvatureInTurn:
        return CurvatureInTurn(self.target, self.sampler, random)

    def gradient_variance(self, state: State, hp: Hp, draw: Callable[[], Batch]) -> Tensor:
        first, second = draw(), draw()
        count, sums = len(state["delta"]), []
        for chain, row in _rows(state["delta"]):
            delta = state["delta"][row]
            grad = self.target.potential.excess_loss_and_grad(delta, first.of(chain, count))[1]
            grad.sub_(self.target.potential.excess_loss_and_grad(delta, second.of(chain, count))[1])
            square, metric = grad.mul_(self.target.n_beta[row]).square_(), self._metric(state, hp, row)
            square = square if metric is None else square.mul_(metric)
            sums.append(square.sum(dim=1, keepdim=True) / 2)
            del grad, square, metric
        return torch.cat(sums)

    def beyond(self, state: State, draw: Callable[[], Batch], limit: Tensor) -> Tensor:
        batch, count, shares = draw(), len(state["delta"]), []
        for chain, row in _rows(state["delta"]):
            force = self.target.potential.excess_loss_and_grad(state["delta"][row], batch.of(chain, count))[1]
            force.mul_(self.target.n_beta[row]).addcmul_(self.target.localization[row], state["delta"][row])
            shares.append((force.abs_() > limit[row]).double().mean(dim=1, keepdim=True))
            del force
        return torch.cat(shares)

    def loss_times_force(self, state: State, hp: Hp) -> Tensor:
        sums = []
        for _, row in _rows(state["delta"]):
            delta = state["delta"][row]
            force = self.target.potential.excess_loss_and_grad(delta, None)[1].mul_(self.target.n_beta[row])
            metric = self._metric(state, hp, row)
            weighed = (force if metric is None else metric.mul_(force)).squeeze(0)
            # Two dot products, for which no further copy of the parameters is made.
            total = torch.dot(weighed, force.squeeze(0))
            total = total + self.target.localization[row].squeeze() * torch.dot(weighed, delta.squeeze(0))
            sums.append(total.view(1, 1))
            del force, weighed, metric
        return torch.cat(sums)

    def _metric(self, state: State, hp: Hp, row: slice) -> Tensor | None:
        return self.sampler.metric({name: value[row] for name, value in state.items()}, hp_of(hp, row))


def _rows(delta: Tensor) -> list[tuple[int, slice]]:
    """Every chain of δ [C, D], as a number and as a slice."""
    return [(chain, slice(chain, chain + 1)) for chain in range(len(delta))]


def _columns(energy: Energy, part: slice) -> Energy:
    def cut(x: Tensor | None) -> Tensor | None:
        return None if x is None else x[:, part]

    return replace(
        energy,
        loss_grad=energy.loss_grad[:, part],
        delta=energy.delta[:, part],
        metric_grad=cut(energy.metric_grad),
        hessian_diagonal=cut(energy.hessian_diagonal),
    )
