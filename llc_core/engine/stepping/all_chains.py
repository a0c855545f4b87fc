"""The usual step: all chains at once."""

from __future__ import annotations

from torch import Tensor

from llc_core.engine.stepping.base import Step, Stepper, Watch
from llc_core.engine.stepping.batches import Batches
from llc_core.engine.stepping.bursts import Bursts
from llc_core.engine.stepping.compiled import CompiledUpdate
from llc_core.engine.stepping.noise import Noise, noise_number
from llc_core.engine.target import Target
from llc_core.samplers.base import Sampler
from llc_core.types import Hp, State


class AllChains(Stepper):
    """Draw, evaluate, update.

    compiled: does update and noise in one loop where it can; None: they are done by torch.
    guard: puts chains back that an automatic step threw out; None: nobody does.
    """

    def __init__(
        self,
        target: Target,
        sampler: Sampler,
        batches: Batches,
        noise: Noise,
        compiled: CompiledUpdate | None = None,
        guard: Bursts | None = None,
    ):
        super().__init__(target, sampler, batches, noise)
        self.compiled, self.guard = compiled, guard
        self.in_place = compiled is not None

    def start(self, home: Tensor, hp: Hp) -> State:
        state = super().start(home, hp)
        if self.compiled is not None:
            self.noise.release()  # the loop makes its own
        return state

    def step(self, state: State, hp: Hp, step: int, watch: Watch | None) -> Step:
        batch = self.batches.draw()
        # A tensor object of its own: the state may be changed in place, and a potential may remember what it was given.
        energy = self.evaluate(state["delta"].detach(), batch)
        if self.guard is not None:
            calm = self.guard.look(step, state, energy.excess_loss)
            if calm is not state:
                state = calm
                energy = self.evaluate(state["delta"].detach(), batch)
        weights = self.weights(state, hp)
        if watch is not None:
            watch.places(energy.delta, weights)
            watch.energy(energy)
        if self.compiled is not None and self.compiled.serves(energy):
            self.compiled.step(state, energy, hp, noise_number(step))
        else:
            state = self.sampler.update(state, energy, self.noise.normals(self.sampler.noises, step), hp)
        return Step(state, energy.excess_loss, None if batch is None else batch.baseline_loss, weights)
