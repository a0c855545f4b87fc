"""A step of all chains on memory that never moves: recorded once as a CUDA graph and replayed, its update one kernel.

A step of a small network is some thirty short kernels, and starting each from Python takes longer than the work it does.
A replay starts them all at once. The sampler's `update` is compiled into a single kernel, which reads and writes every
parameter's state once; its normals are those of `llc_core.compute.philox`. That kernel makes them itself, or, where triton is at
hand, one that makes four at once does so beside the matrix products, on a second stream.

LLC_LAB_GPU chooses: "plain": step by step, as on a CPU; "graphs": recorded; "fused": recorded, with the compiled update; "auto"
(the default): fused for long runs of linear networks, else plain (`llc_core.compute.gpu.way_of`). The recorded ones have
other random numbers than the plain ones. On a CPU they run the same code without recording it, which is what the tests compare.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from llc_core.compute.gpu import Beside, CompiledIfPossible, makes_normals
from llc_core.compute.philox import normals
from llc_core.engine.stepping.base import Step, Stepper, Watch
from llc_core.engine.stepping.batches import Batches
from llc_core.engine.stepping.noise import NoiseByPlace, noise_number
from llc_core.engine.target import Coordinates, Target
from llc_core.samplers.base import Sampler
from llc_core.types import Energy, Hp, HpInPlace, State

WARM_UP = 3
"""Steps before a recording: libraries make their workspaces in the first ones, which a recording must not."""


class Recorded(Stepper):
    """Draw a batch, evaluate, update. The state lies in fixed memory and is changed in place.

    noise: gives the start its numbers and the steps its seed, so that whole trajectories are the same on every device.
    fused: whether the update is compiled.
    """

    in_place = True

    def __init__(self, target: Target, sampler: Sampler, batches: Batches, noise: NoiseByPlace, fused: bool):
        super().__init__(target, sampler, batches, noise)
        like = target.n_beta
        self.update = UpdateInPlace(sampler, noise.seed, fused)
        self.count = torch.full((), noise_number(0), dtype=torch.int64, device=like.device)
        self.loss = torch.zeros(len(like), dtype=like.dtype, device=like.device)
        self.baseline: Tensor | None = None
        self._state: State = {}
        self._hp = HpInPlace()
        self._seen: dict[str, Any] = {}
        self._graph: Any = None
        self._coordinates: Coordinates | None = None
        self._warm = 0
        self._refused = like.device.type != "cuda"

    def start(self, home: Tensor, hp: Hp) -> State:
        state = super().start(home, hp)
        self.noise.release()
        return state

    def step(self, state: State, hp: Hp, step: int, watch: Watch | None) -> Step:
        """A step that is watched is not replayed."""
        self._take(state, hp)
        weights = self.weights(self._state, hp)
        if self.target.coordinates is not self._coordinates:
            self._coordinates, self._graph, self._warm = self.target.coordinates, None, 0
        if watch is None and self._graph is None and not self._refused and self._warm >= WARM_UP:
            self._graph = self._record()
        if watch is None and self._graph is not None:
            self._graph.replay()
        else:
            self._body(watch, weights)
            self._warm += 1
        baseline = None if self.baseline is None else self.baseline.clone()
        return Step(self._state, self.loss.clone(), baseline, weights)

    def _body(self, watch: Watch | None = None, weights: Tensor | None = None) -> None:
        self.update.begin(self._state["delta"], self.count)
        batch = self.batches.draw()
        energy = self.evaluate(self._state["delta"], batch)
        if watch is not None:
            watch.places(energy.delta, weights)
            watch.energy(energy)
        if batch is not None:
            if self.baseline is None:
                self.baseline = batch.baseline_loss.clone()
            self.baseline.copy_(batch.baseline_loss)
        self.loss.copy_(energy.excess_loss)
        self.update(self._state, energy, self.count, self._hp)
        self.count.add_(1)

    def _take(self, state: State, hp: Hp) -> None:
        """Bring what was changed since the last step into the fixed memory."""
        if not self._state:
            self._state = {name: value.clone() for name, value in state.items()}
        elif state is not self._state:
            for name, value in state.items():
                self._state[name].copy_(value)
        for name, value in vars(hp).items():
            if self._seen.get(name) is value:
                continue
            self._seen[name] = value
            if isinstance(value, Tensor) and hasattr(self._hp, name):
                getattr(self._hp, name).copy_(value)
            else:
                setattr(self._hp, name, value.clone() if isinstance(value, Tensor) else value)

    def _record(self) -> Any:
        graph = torch.cuda.CUDAGraph()
        try:
            for generator in self.batches.generators:
                graph.register_generator_state(generator)
            with torch.cuda.graph(graph):
                self._body()
        except RuntimeError as error:
            self._refused = True
            torch.cuda.synchronize()
            warnings.warn(
                f"This step cannot be recorded ({str(error).splitlines()[0]}); it goes on unrecorded.", stacklevel=2
            )
            return None
        return graph


class UpdateInPlace:
    """A sampler's `update`, written over the state; `fused`: compiled into one kernel.

    Where triton is at hand the noise of a step that was begun is made beside what comes before the update, else in it.
    """

    def __init__(self, sampler: Sampler, seed: int, fused: bool):
        self.sampler, self.seed = sampler, seed
        write = self._update
        self._write: Callable[..., None] = CompiledIfPossible("The update", write) if fused else write
        self._noise: Tensor | None = None
        self._beside: Beside | None = None

    def begin(self, delta: Tensor, count: Tensor) -> None:
        """Of the step with this number, which `count` must keep until the update."""
        if not (self.sampler.noises and makes_normals(delta)):
            return
        from llc_core.compute.philox_triton import fill_normals

        if self._noise is None or self._beside is None:
            self._noise, self._beside = delta.new_empty(self.sampler.noises, *delta.shape), Beside(delta.device)
        self._beside.begin(partial(fill_normals, self._noise, self.seed, count))

    def __call__(self, state: State, energy: Energy, count: Tensor, hp: Hp) -> None:
        if self._beside is not None:
            self._beside.wait()
        self._write(state, energy, self._noise, count, hp)

    def _update(self, state: State, energy: Energy, noise: Tensor | None, count: Tensor, hp: Hp) -> None:
        delta = state["delta"]
        if noise is None:
            noise = normals(self.seed, count, (self.sampler.noises, *delta.shape), delta.dtype)
        for name, value in self.sampler.update(dict(state), energy, noise, hp).items():
            state[name].copy_(value)
