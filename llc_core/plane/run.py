"""Groups of interacting chains on a surface over the plane, as fast as a compiled loop goes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from llc_core.config import RunConfig
from llc_core.engine.resolve import resolve
from llc_core.fields import number, short, whole
from llc_core.groups import Groups
from llc_core.interactions import Interaction, build
from llc_core.plane.columns import columns
from llc_core.plane.group import PlaneGroup
from llc_core.plane.kernel import alone, kernel
from llc_core.potentials.plane.surfaces import Surface, surface
from llc_core.samplers import Sampler

MAX_STEPS = 1_000_000_000
CELLS = 5


@dataclass(frozen=True)
class PlaneSnapshot:
    """A copy of what happened since the last one, of R trials of P chains.

    steps: done so far.  gradients: evaluations of all chains of one trial.  counts: [R, n, n] weights in the cells so far.
    trail: [R, T, P, 2] places before each of the last T steps, T ≤ 512.  heat: [R, T, P] their multipliers.
    loss: [R, T, P], U − U(w0) as the chains saw it.  weights: [R, T, P].  order: [R, T, P] from which place each chain's state came.
    shared: [R, ·] what each group shares, see `Twin`.
    seconds: of the whole run.
    """

    steps: int
    total_steps: int
    gradients: int
    counts: np.ndarray
    trail: np.ndarray
    heat: np.ndarray
    loss: np.ndarray
    weights: np.ndarray
    order: np.ndarray
    shared: np.ndarray
    seconds: float

    @property
    def finished(self) -> bool:
        return self.steps >= self.total_steps

    def masses(self) -> np.ndarray:
        """[R, n, n], normalised; nan before anything was counted."""
        total = self.counts.sum(axis=(1, 2), keepdims=True)
        with np.errstate(invalid="ignore"):
            return self.counts / total


class PlaneRun:
    """R independent trials of a group of P interacting chains; `advance` by hand.

    sampler: one with a `cell` and a number for step_size.  target: what `surface` takes.
    interaction: one with a scalar twin, or Cyclical; None: chains do not interact.
    chains: P; of a ladder the levels are the chains.  trials: R.  starts: [P, 2] places w; None: w0.
    burn_in: steps until which interactions learn.  count_from: step from which places are counted; None: burn_in.
    cells: n of the n × n cells over the surface's box, or over [−2.5, 2.5]² without one. Of a ladder the first level counts.

    Numbers depend neither on the other trials nor on how many steps are done at a time. ValueError says what does not fit.
    """

    def __init__(
        self,
        sampler: Sampler | Mapping[str, Any] | str,
        target: Surface | Mapping[str, Any] | str,
        interaction: Interaction | Mapping[str, Any] | str | None = None,
        *,
        chains: int = 5,
        trials: int = 1,
        steps: int,
        burn_in: int = 0,
        count_from: int | None = None,
        starts: Any = None,
        cells: int = CELLS,
        seed: int = 0,
    ):
        self.target = target if isinstance(target, Surface) else surface(target)
        built = None if interaction is None else build(interaction)
        self.total_steps = whole("steps", steps, 1, MAX_STEPS)
        self.burn_in = whole("burn_in", burn_in, 0, self.total_steps)
        self.count_from = self.burn_in if count_from is None else whole("count_from", count_from, 0, self.total_steps)
        described = sampler.to_dict() if isinstance(sampler, Sampler) else sampler
        # The same checks, ladder and layout as in a run of the engine.
        resolved = resolve(
            RunConfig(
                problem=self.target.to_dict(),
                sampler={"name": described} if isinstance(described, str) else described,
                interaction=None if built is None else built.to_dict(),
                chains=1 if built is not None and built.across == "levels" else chains,
                steps=self.total_steps,
                burn_in=min(self.burn_in, self.total_steps - 1),
            )
        )
        self.sampler, self.interaction = resolved.sampler, built
        self._set_up(resolved.config, built or Interaction())
        self.trials = whole("trials", trials, 1, 100_000)
        self.cells = whole("cells", cells, 1, 1000)
        self.steps_done, self.seconds = 0, 0.0
        self._groups = [PlaneGroup(self, seed, trial, self._places(starts)) for trial in range(self.trials)]

    def _set_up(self, config: RunConfig, interaction: Interaction) -> None:
        assert config.n_beta is not None and config.localization is not None
        levels = config.grid.get("n_beta", (config.n_beta,))
        n_beta = torch.tensor(levels, dtype=torch.float64).repeat(config.chains).unsqueeze(1)
        layout = interaction.layout(Groups(1, config.chains, len(levels)), n_beta, self.burn_in)
        self.n_beta = n_beta.squeeze(1).numpy().copy()
        self.chains = len(self.n_beta)
        twin = interaction.twin(self.n_beta, self.burn_in)
        if twin is None and (interaction.reads == "states" or (self.interaction and interaction.period == 1)):
            raise ValueError(f"{interaction.name} has no form in the plane's compiled loop; use `estimate`.")
        if twin is not None and layout.shape != (1, self.chains):
            raise ValueError(
                f"chains is {self.chains}, and groups have {layout.shape[1]} members; on the plane all chains are one group."
            )
        if twin is None:  # every chain is a group of its own: for the loop they lie side by side
            layout = type(layout)(layout.index.reshape(1, -1), layout.n_beta.reshape(1, -1), layout.burn_in)
        self.layout, self.localization = layout, config.localization
        self.twin = twin
        self.by_levels = interaction.across == "levels"
        cell = self.sampler.cell()
        self.columns = columns(self.sampler, interaction, layout, config.localization)
        assert cell is not None
        self.kernel = kernel(cell.step, self.target.shape, alone if twin is None else twin.step)

    def _places(self, starts: Any) -> np.ndarray:
        if starts is None:
            return np.zeros((self.chains, 2))
        try:
            places = np.array([[number("starts", v) for v in row] for row in starts])
        except TypeError:
            places = np.zeros(0)
        if places.shape != (self.chains, 2):
            raise ValueError(f"starts is {short(starts)}; give one place (x, y) for each of {self.chains} chains.")
        return places - self.target.w0

    @property
    def finished(self) -> bool:
        return self.steps_done >= self.total_steps

    def advance(self, steps: int) -> PlaneSnapshot:
        """Do up to `steps` more steps of every trial and report them."""
        started = time.perf_counter()
        steps = min(whole("steps", steps, 0), self.total_steps - self.steps_done)
        for group in self._groups:
            group.advance(self.steps_done, steps)
        self.steps_done += steps
        self.seconds += time.perf_counter() - started
        return self.snapshot()

    def snapshot(self) -> PlaneSnapshot:
        """What there is to see now, copied."""
        names = ("counts", "trail", "heat", "loss", "weights", "order", "vector")
        counts, trail, heat, loss, weights, order, shared = (
            np.stack([getattr(group, n) for group in self._groups]) for n in names
        )
        return PlaneSnapshot(
            self.steps_done,
            self.total_steps,
            self.steps_done * self.chains,
            counts,
            trail,
            heat,
            loss,
            weights,
            order,
            shared,
            self.seconds,
        )
