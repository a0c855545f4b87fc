"""One chain after the other, in place: for networks whose every copy of the parameters counts.

The driver's usual step holds, beside the state of all chains, their gradients, noise and new state; here there is one
chain's gradient, and update and noise are done in blocks of the parameters. The law is the same; the random numbers
are others (those of `llc_core.compute.philox`, which need no order), so a potential always asks for the same of the two ways.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import torch
from torch import Tensor

from llc_core.compute.cores import PerThread, over_chains
from llc_core.compute.philox import fill
from llc_core.engine.curvature import top_curvature
from llc_core.engine.stepping.compiled import OneLoop, row_of
from llc_core.engine.target import Target
from llc_core.potentials.base import Batch
from llc_core.samplers.base import Sampler
from llc_core.types import Energy, Hp, State

BLOCK = 1 << 15
"""Parameters that are updated at once: few enough for a processor's cache. A multiple of `philox.GROUP`."""
DEVICE_BLOCK = 1 << 22
"""The same on a GPU, where each block costs the starts of its kernels."""


class ByChain:
    """The driver's work on `target` with `sampler`, chain by chain. States are changed in place. seed: of the noise."""

    def __init__(self, target: Target, sampler: Sampler, seed: int):
        self.target, self.sampler, self.seed = target, sampler, seed
        self.steps = 0
        self._one_loop = OneLoop(sampler, seed)
        # Before there is any large tensor: what the compiler leaves behind would keep those alive that its callers hold.
        self._one_loop.compile()
        self._local = PerThread()

    def start(self, delta: Tensor, hp: Hp) -> State:
        """The sampler's state at the start δ [C, D]."""
        state: State = {}
        for chain in range(len(delta)):
            row = slice(chain, chain + 1)
            noise = torch.empty_like(delta[row])
            fill(noise[0], self.seed, 0, chain)
            for name, value in self.sampler.init(delta[row], noise, row_of(hp, row)).items():
                if name == "delta":
                    state[name] = delta
                else:
                    whole = state.setdefault(name, value.new_empty(len(delta), *value.shape[1:]))
                    whole[row] = value
        return state

    def step(
        self,
        state: State,
        hp: Hp,
        batch: Batch | None,
        metric_batch: Batch | Literal["full"] | None,
        probe: torch.Generator | None,
        watch: Callable[[Energy, slice], None],
    ) -> Tensor:
        """One step of every chain; returns ΔL [C] before it. watch: shown the energy of each chain before its step."""
        self.steps += 1
        count = len(state["delta"])
        losses = state["delta"].new_empty(count)

        def work(chains: Sequence[int]) -> None:
            with torch.no_grad():  # every thread has its own
                for chain in chains:
                    row = slice(chain, chain + 1)
                    mine = {name: value[row] for name, value in state.items()}
                    on = batch if batch is None else batch.of(chain, count)
                    metric_on = metric_batch.of(chain, count) if isinstance(metric_batch, Batch) else metric_batch
                    energy = self.target.of(row).evaluate(mine["delta"], on, metric_on, probe)
                    losses[row] = energy.excess_loss
                    watch(energy, row)
                    self._update(mine, energy, row_of(hp, row), chain)
                    del energy  # one gradient at a time

        if self.target.potential.spreads_chains and probe is None:
            over_chains(count, work)
        else:
            work(range(count))
        return losses

    def _update(self, mine: State, energy: Energy, hp: Hp, chain: int) -> None:
        if self._one_loop.serves(energy):
            before = dict(mine)
            self._one_loop.step(mine, energy, hp, self.steps, chain)
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
            noise = self._normals(old["delta"], chain, start)
            new = self.sampler.update(old, _columns(energy, part), noise, hp)
            for name, value in new.items():
                if value.shape[1:] == old["delta"].shape[1:]:
                    mine[name][:, part] = value
        for name, value in new.items():
            if mine[name].shape[1] != dim:
                mine[name].copy_(value)

    def _normals(self, like: Tensor, chain: int, start: int) -> Tensor:
        """[noises, 1, D'] of this step for the parameters from `start` on; valid until the next call."""
        shape = (self.sampler.noises, *like.shape)
        noise: Tensor | None = getattr(self._local, "noise", None)
        if noise is None or noise.shape != shape:
            noise = self._local.noise = like.new_empty(shape)
        for field, row in enumerate(noise):
            fill(row[0], self.seed, self.steps, chain, field, start)
        return noise

    def curvature(self, state: State, vector: Tensor, hp: Hp, iterations: int) -> Tensor:
        """Top curvature at every chain, [C, 1]. vector [1, D]: where the iteration starts; it is left where it ends,
        and one chain's top direction is a good start for the next."""
        sizes = []
        for chain in range(len(state["delta"])):
            row = slice(chain, chain + 1)
            mine = {name: value[row] for name, value in state.items()}
            metric = self.sampler.metric(mine, row_of(hp, row))
            size, _ = top_curvature(self.target.of(row), mine["delta"], vector, metric, iterations, in_place=True)
            sizes.append(size)
        return torch.cat(sizes)

    def noise_square(self, state: State, hp: Hp, draw: Callable[[], Batch]) -> Tensor:
        """Σ over parameters of G·Var(nβ·gradient) between batches, [C, 1], from one pair of batches."""
        first, second = draw(), draw()
        count, sums = len(state["delta"]), []
        for chain in range(count):
            row = slice(chain, chain + 1)
            delta = state["delta"][row]
            grad = self.target.potential.excess_loss_and_grad(delta, first.of(chain, count))[1]
            grad.sub_(self.target.potential.excess_loss_and_grad(delta, second.of(chain, count))[1])
            sums.append(self._weighed(grad.mul_(self.target.n_beta[row]).square_(), state, hp, row) / 2)
            del grad
        return torch.cat(sums)

    def loss_force(self, state: State, hp: Hp) -> Tensor:
        """nβ∇Lᵀ G ∇U of every chain, [C, 1]."""
        sums = []
        for chain in range(len(state["delta"])):
            row = slice(chain, chain + 1)
            delta = state["delta"][row]
            force = self.target.potential.excess_loss_and_grad(delta, None)[1].mul_(self.target.n_beta[row])
            metric = self.sampler.metric({name: value[row] for name, value in state.items()}, row_of(hp, row))
            weighed = (force if metric is None else metric.mul_(force)).squeeze(0)
            # Two dot products, for which no further copy of the parameters is made.
            total = torch.dot(weighed, force.squeeze(0))
            total = total + self.target.localization[row].squeeze() * torch.dot(weighed, delta.squeeze(0))
            sums.append(total.view(1, 1))
            del force, weighed, metric
        return torch.cat(sums)

    def _weighed(self, square: Tensor, state: State, hp: Hp, row: slice) -> Tensor:
        metric = self.sampler.metric({name: value[row] for name, value in state.items()}, row_of(hp, row))
        return (square if metric is None else square.mul_(metric)).sum(dim=1, keepdim=True)

    def park_dead(self, state: State, spared: Tensor) -> None:
        """Put chains that are no longer finite back to w0, but for those `spared` [C]."""
        for chain in range(len(state["delta"])):
            if not bool(spared[chain]) and not bool(torch.isfinite(state["delta"][chain]).all()):
                for value in state.values():
                    value[chain].zero_()


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
