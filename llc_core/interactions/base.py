"""What an interaction is: chains of one group that share what they learned, exchange places, or push each other.

A new interaction is one new file in this folder: a frozen dataclass derived from `Interaction`, registered with `@register`.
A step of the engine is: evaluate, `exchange`, permute places and energies, `heat`, update. An interaction never changes a
sampler: samplers read ∇U through the Energy alone, and there the loss's part of it is multiplied by the heat.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from llc_core.fields import Named
from llc_core.groups import Groups

Shared = dict[str, Tensor]
"""What the chains of all groups share; the first dimension is the group. New tensors at every step, never changed in place."""


@dataclass(frozen=True)
class Layout:
    """Which chains of a run interact: `index` [G, P] has the rows of the P members of each of G groups.

    n_beta: [G, P] in float64.  burn_in: steps of it.
    """

    index: Tensor
    n_beta: Tensor
    burn_in: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.index.shape[0], self.index.shape[1]

    def gather(self, values: Tensor) -> Tensor:
        """[G, P, …] of values [C, …]."""
        return values[self.index]

    def scatter(self, values: Tensor) -> Tensor:
        """[C, …] of values [G, P, …]."""
        result = torch.empty(self.index.numel(), *values.shape[2:], dtype=values.dtype, device=values.device)
        result[self.index.reshape(-1)] = values.reshape(-1, *values.shape[2:])
        return result


class Seen(NamedTuple):
    """What an exchange is shown before step number `step`: ΔL [G, P] and nβ·ΔL, both float64, and who lives.

    A loss that is not finite is 0 here; such members must change nothing for the others.
    """

    step: int
    loss: Tensor
    energy: Tensor
    alive: Tensor
    uniform: Tensor


@dataclass(frozen=True)
class Twin:
    """An interaction as scalar arithmetic for one group, for the compiled kernel of the plane (`llc_core.plane`).

    step: (step, losses [P], n_beta [P], alive [P], uniform [P], q, vector [V], order [P], heat [P], weight [P]). It changes
    `vector`, what the group shares, in place, and writes order, heat and weight. Loops of plain arithmetic, for numba.
    q: an array of numbers.  vector: at the start.
    """

    step: Callable[..., None]
    q: Any
    vector: Any


@dataclass(frozen=True)
class Interaction(Named):
    """Base of all interactions.

    label: name for people.  about: one paragraph: what it is, the distribution it converges to.
    across: "chains" or "levels": whether members are chains of one setting, or of one chain's settings.
    reads: "losses" or "states", what of the other members a chain is moved by.
    """

    label: ClassVar[str] = ""
    about: ClassVar[str] = ""
    source: ClassVar[str] = ""
    across: ClassVar[str] = "chains"
    reads: ClassVar[str] = "losses"

    @property
    def period(self) -> int:
        """After so many steps `pace` repeats itself."""
        return 1

    @property
    def heats_noise(self) -> bool:
        """Whether `pace` has a temperature of the noise other than 1."""
        return False

    # -- what it asks of a run ----------------------------------------------------------------------------------------

    def members_of(self, chains: int, settings: int) -> int:
        """How many members a group has in a run of so many chains per setting; ValueError where it cannot be."""
        return 1

    def largest_heat(self) -> float | None:
        """By what the force of the loss is multiplied at most; None: there is no bound."""
        return 1.0

    def layout(self, groups: Groups, n_beta: Tensor, burn_in: int) -> Layout:
        """n_beta: [C, 1] of the run."""
        rows = groups.split(torch.arange(groups.count, device=n_beta.device))
        if self.across == "levels":
            index = rows.reshape(-1, self.members_of(groups.chains, groups.settings))
        else:
            members = self.members_of(groups.chains, groups.settings)
            index = rows.reshape(groups.problems, -1, members, groups.settings).transpose(2, 3).reshape(-1, members)
        return Layout(index, n_beta.double()[index, 0], burn_in)

    # -- a step -------------------------------------------------------------------------------------------------------

    def init(self, layout: Layout) -> Shared:
        return {}

    def exchange(self, shared: Shared, seen: Seen, layout: Layout) -> tuple[Shared, Tensor | None]:
        """After the evaluation: what is shared now, and the members' new order [G, P]; None: they stay.

        Place i of the new order holds the member whose place and energy move to i.
        """
        return shared, None

    def heat(self, shared: Shared, layout: Layout) -> Tensor | None:
        """[G, P], by which the loss's part of ∇U is multiplied; None: 1."""
        return None

    def pace(self, step: int, layout: Layout) -> tuple[Tensor | float, Tensor | float]:
        """Factor on the step size, and the temperature of the noise; numbers or [G, P]."""
        return 1.0, 1.0

    def force(self, delta: Tensor, force: Tensor) -> Tensor | None:
        """[G, P, D] in place of ∇U, from the members' places and ∇U, both [G, P, D]; None: ∇U. Only where `reads` is "states"."""
        return None

    def log_weight(self, step: int, shared: Shared, layout: Layout) -> Tensor | None:
        """[G, P], of the states in averages; None: all the same. −inf leaves a state out."""
        return None

    # -- what there is to see -----------------------------------------------------------------------------------------

    def report(self, shared: Shared) -> dict[str, Tensor]:
        """What a snapshot shows of it, by name; group first."""
        return {}

    def twin(self, n_beta: Any, burn_in: int) -> Twin | None:
        """The same for the compiled kernel; None where it has no such form. A test compares the two."""
        return None

    def caveat(self) -> str:
        """A sentence where it is known not to sample the target; else empty."""
        return ""
