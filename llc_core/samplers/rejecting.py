"""What samplers that accept or reject have in common."""

from __future__ import annotations

import torch
from torch import Tensor

from llc_core.types import Energy, State

JITTER = 0.2
JITTER_LEVELS = 256
"""One uniform number serves two purposes. [0, 1] is cut into this many equal parts: the part that it lies in sets the jitter, and
its place within the part is used for the Metropolis test. The two are independent and uniform."""


def jittered_step(step_size: Tensor, uniform: Tensor) -> tuple[Tensor, Tensor]:
    """step_size [C, 1] times a factor from 1 ± JITTER, and a uniform number for the test, both from `uniform` [C, 1]."""
    part = (uniform * JITTER_LEVELS).ceil()
    return step_size * (1 + JITTER * ((2 * part - 1) / JITTER_LEVELS - 1)), uniform * JITTER_LEVELS - (part - 1)


def decide(
    state: State, energy: Energy, position: Tensor, end: Energy, gain: Tensor, test: Tensor
) -> tuple[State, Energy]:
    """Each chain at `position` where it is accepted, with probability min(1, e^gain), and where it was otherwise.

    gain: log of the acceptance ratio, [C, 1]; what is not finite is refused.  test: uniform numbers in (0, 1], [C, 1].
    """
    rate = torch.where(gain.isfinite(), gain, -torch.inf).clamp(max=0).exp()
    accept = test <= rate
    trials = state["trials"] + 1
    moved = {
        "delta": torch.where(accept, position, state["delta"]),
        "accepted": state["accepted"] + (rate - state["accepted"]) / trials,
        "trials": trials,
    }
    return moved, _choose(accept, end, energy)


def _choose(accept: Tensor, new: Energy, old: Energy) -> Energy:
    """The energy of each chain where it now is."""

    def where(a: Tensor | None, b: Tensor | None) -> Tensor | None:
        if a is None or b is None:
            return None
        return torch.where(accept if a.dim() == 2 else accept.squeeze(1), a, b)

    return Energy(
        torch.where(accept.squeeze(1), new.excess_loss, old.excess_loss),
        torch.where(accept, new.loss_grad, old.loss_grad),
        torch.where(accept, new.delta, old.delta),
        new.n_beta,
        new.localization,
        where(new.pulled_force, old.pulled_force),
        prior_energy=where(new.prior_energy, old.prior_energy),
        prior_grad=where(new.prior_grad, old.prior_grad),
    )
