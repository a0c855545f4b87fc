"""A sampler's update and its noise in one compiled loop, for chains whose parameters are many.

torch's operations go through memory once for every term of the formula, and its normals cost twice what those of
`llc_core.compute.philox` do. The loop makes these where they are used, and reads and writes every parameter once. Compiling it
takes a second or two in every process; `worth_compiling` says for which runs that is repaid.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.cores import over_chains
from llc_core.compute.philox import fill, words_of
from llc_core.compute.philox_layout import GROUP
from llc_core.compute.precision import SINGLE
from llc_core.samplers.base import Sampler
from llc_core.samplers.forms import Cell
from llc_core.samplers.registry import hyperparameters
from llc_core.types import Energy, Hp, State

WORTH = 1 << 29
"""Normals of a run, over all its chains and steps, from which on they are made by `llc_core.compute.philox`: about where the time to
import numba and to compile the loop is repaid."""

ENOUGH_FOR_THREADS = 1 << 18
"""Parameters of one chain whose update takes half a millisecond, of which to begin with a second thread is a tenth."""


def worth_compiling(like: Tensor, dim: int, chains: int, steps: int) -> bool:
    """Whether a run takes its normals from `llc_core.compute.philox`: where numba is installed, by the run's shape alone, so that the
    same run always has the same numbers."""
    if like.device.type != "cpu" or like.dtype != torch.float32 or dim < GROUP or chains * dim * steps < WORTH:
        return False
    try:
        import llc_core.compute.philox_kernel  # noqa: F401
    except ImportError:
        return False
    return True


class CompiledUpdate:
    """The updates of `sampler` by its `Cell`, on states that are changed in place. seed: of the noise.

    `serves` says whether it can do a step. Samplers without a cell, and energies with forces of which a cell knows nothing,
    need `Sampler.update`.
    """

    def __init__(self, sampler: Sampler, seed: int):
        self.sampler, self.seed = sampler, seed
        self._cell = sampler.cell()
        self._update = None if self._cell is None else _kernel()
        self._known: tuple[tuple[Any, ...], np.ndarray] = (), np.empty((0, 0))

    def compile(self) -> None:
        """Now, and not at the first step."""
        one = torch.zeros(1, 1, **SINGLE)
        fill(torch.empty(1, **SINGLE), self.seed, 0, 0)
        if self._update is not None:
            hp = hyperparameters(self.sampler, 1, one)
            state = dict(self.sampler.init(torch.zeros(1, 1, **SINGLE), torch.zeros(1, 1, **SINGLE), hp))
            self.step(state, Energy(one[0], one, one, one, one), hp, 0)

    def serves(self, energy: Energy) -> bool:
        """Whether the loop can do it: single precision on a CPU, no force but the loss's and the localisation's.

        In adapted coordinates the force comes as a whole, which only a sampler that adapts them is known to be content with.
        """
        grad = energy.loss_grad
        extra = [energy.metric_grad, energy.hessian_diagonal, energy.prior_grad]
        if not self.sampler.adapts_coordinates:
            extra.append(energy.pulled_force)
        plain = grad.device.type == "cpu" and grad.dtype == torch.float32 and all(x is None for x in extra)
        return plain and self._update is not None

    def step(self, state: State, energy: Energy, hp: Hp, step: int, first: int = 0) -> None:
        """Step number `step` of the chains of `state`, which are numbers `first`, `first` + 1, … of the run."""
        cell = self._cell
        assert cell is not None and self._update is not None
        count = len(state["delta"])
        grad = energy.loss_grad if energy.pulled_force is None else energy.pulled_force
        numbers = self._numbers(cell, state, energy, hp)
        compiled = self._update(cell, numbers.shape[1])
        after = cell.scalars(state, hp) if cell.scalars is not None else {}
        delta, gradient = state["delta"].numpy(), grad.contiguous().numpy()
        memories = [state[name].numpy() for name in cell.memories]
        a, b = [*memories, delta, delta][:2]

        def work(chains: Sequence[int], begin: int = 0, end: int | None = None) -> None:
            rows = slice(chains[0], chains[-1] + 1)
            part, words = (rows, slice(begin, end)), words_of(self.seed, step, first + chains[0])
            compiled(delta[part], a[part], b[part], gradient[part], numbers[rows], begin // GROUP, *words)

        cuts = _cuts(delta.shape[1]) if count == 1 else []
        if cuts:
            over_chains(len(cuts) - 1, lambda parts: work([0], cuts[parts[0]], cuts[parts[-1] + 1]))
        else:
            over_chains(count, work)
        state.update(after)

    def _numbers(self, cell: Cell, state: State, energy: Energy, hp: Hp) -> np.ndarray:
        """`cell.numbers` in single precision, [C, numbers]. What they are made of is replaced and never changed in place, so that
        those of the last step are taken again while it is the same."""
        made_of = (energy.n_beta, energy.localization, energy.pulled_force is None, *vars(hp).values())
        before, numbers = self._known
        if cell.scalars is None and len(made_of) == len(before) and all(map(is_, made_of, before)):
            return numbers
        n_beta, localization = energy.n_beta.double(), energy.localization.double()
        if energy.pulled_force is not None:
            n_beta, localization = torch.ones_like(n_beta), torch.zeros_like(n_beta)
        exact = Hp(**{name: value.double() if isinstance(value, Tensor) else value for name, value in vars(hp).items()})
        columns = cell.numbers(state, n_beta, localization, exact)
        count = len(state["delta"])
        numbers = torch.cat([column.expand(count, 1) for column in columns], dim=1).float().numpy()
        self._known = made_of, numbers
        return numbers


def _cuts(dim: int) -> list[int]:
    """Where the parameters of one chain are cut, a part for each of torch's threads; empty where one thread is faster."""
    threads = torch.get_num_threads()
    if threads == 1 or dim < ENOUGH_FOR_THREADS:
        return []
    return [*(dim // GROUP * i // threads * GROUP for i in range(threads)), dim]


def _kernel() -> Callable[[Cell, int], Callable[..., None]] | None:
    """`compiled_kernel.update`; None without numba."""
    try:
        from llc_core.engine.stepping.compiled_kernel import update
    except ImportError:
        return None
    return update
