"""The agents of Deng et al. 2022, by name, with the numbers of their README and table; and contour sampling as they use it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from llc_core.decisions.network_agent import SampledNets
from llc_core.fields import number
from llc_core.interactions import Layout, Seen, Shared
from llc_core.interactions.base import Twin
from llc_core.interactions.contour import Contour
from llc_core.samplers import Sampler
from llc_core.samplers.psgld import PSGLD
from llc_core.samplers.sgld import SGLD


@dataclass(frozen=True)
class OpenContour(Contour):
    """Contour sampling that counts no energy above `high`: such a chain has heat exactly 1, does not move θ, and weighs nothing
    where others weigh something. θ never stops learning unless asked to.

    While a bandit's memory is full of unlucky rewards every energy is there, and the chains then are those without interaction.
    Source: released code of Deng et al. 2022 (contextual_bandits/samplers.py), where the outermost bin is that place. There the
    multiplier is that of the step before; here it is of the present energy.
    """

    freeze: str = "never"

    def init(self, layout: Layout) -> Shared:
        shared = super().init(layout)
        return {**shared, "counts": torch.zeros_like(shared["bin"], dtype=torch.bool)}

    def exchange(self, shared: Shared, seen: Seen, layout: Layout) -> tuple[Shared, Tensor | None]:
        counts = seen.alive & (seen.energy <= self.high)
        changed, order = super().exchange(shared, seen._replace(alive=counts), layout)
        return {**changed, "counts": counts}, order

    def heat(self, shared: Shared, layout: Layout) -> Tensor | None:
        heat = super().heat(shared, layout)
        assert heat is not None
        return torch.where(shared["counts"], heat, torch.ones_like(heat))

    def log_weight(self, step: int, shared: Shared, layout: Layout) -> Tensor | None:
        weight = super().log_weight(step, shared, layout)
        assert weight is not None
        return torch.where(shared["counts"], weight, torch.full_like(weight, -torch.inf))

    def twin(self, n_beta: Any, burn_in: int) -> Twin | None:
        return None


STEP, STEP_ONE = 3e-7, 5e-8
"""Of four chains and of the single one, in the paper's full convention w ← w − ε∇U."""
TEMPERATURE, WIDTH, BINS, PRINTED_BINS = 0.3, 10.0, 200, 100
"""τ; of an energy bin in units of N·L, and how many there are in the released README and in print."""
ZETA, RATE, RATE_ONE = 20.0, 0.03, 0.006
CAPACITY, BATCH = 4096, 512
STEP_SGD, STEP_RMSPROP = 1e-6, 5e-7
"""Of the agents without noise: that of the released README, and the printed one."""
PLAIN: Mapping[str, Any] = {"temperature": 0.0, "first_square": None, "statistics_scale": 1.0}
"""What SGD has in place of a noise and a metric."""


def paper_sampler(step_size: float = STEP) -> Sampler:
    """PSGLD with V ← .99V + .01g², G = 1/(.001 + √V), without Γ. step_size: the paper's; ours is twice that."""
    return PSGLD(step_size=2 * step_size, alpha=0.99, stability=0.001, gamma_term="dropped")


def paper_contour(rate: float = RATE, temperature: float = TEMPERATURE, bins: int = BINS) -> OpenContour:
    """Bins of width 10 in U, so of 10/τ in U/τ, and a constant step of θ."""
    number("temperature", temperature, above=0)
    return OpenContour(
        low=0.0, high=bins * WIDTH / temperature, bins=bins, zeta=ZETA, rate=rate, rate_power=0.0, rate_offset=1.0
    )  # fmt: skip


def psgld(step_size: float = STEP, **changes: Any) -> SampledNets:
    """Four nets by preconditioned SGLD, all with the same weight."""
    return SampledNets(paper_sampler(step_size), **_given(changes, name="pSGLD × 4"))


def picsgld(step_size: float = STEP, bins: int = BINS, **changes: Any) -> SampledNets:
    """The same with contour sampling from the tenth part of the rounds on: the four share θ."""
    given = _given(changes, name="pICSGLD × 4", begin_share=0.1)
    return SampledNets(paper_sampler(step_size), paper_contour(RATE, given["temperature"], bins), **given)


def pcsgld(step_size: float = STEP_ONE, bins: int = BINS, **changes: Any) -> SampledNets:
    """One net with four times the steps and its own θ."""
    given = _given(changes, name="pCSGLD × T4", begin_share=0.1, chains=1, steps=64)
    return SampledNets(paper_sampler(step_size), paper_contour(RATE_ONE, given["temperature"], bins), **given)


def const_sgd(step_size: float = STEP_SGD, **changes: Any) -> SampledNets:
    """Four nets by SGD at a constant rate: SGLD at τ = 0."""
    return SampledNets(SGLD(step_size=2 * step_size), **_given(changes, name="ConstSGD × 4", **PLAIN))


def dropout(step_size: float = STEP_SGD, **changes: Any) -> SampledNets:
    """The same, and half of the units before the last layer are left out, in learning and in deciding: means of five.

    The released command for it also names the agent without dropout, so that its rate and samples act on nothing; here they act.
    """
    given = _given(changes, name="Dropout × 4", dropout=0.5, samples=5, **PLAIN)
    return SampledNets(SGLD(step_size=2 * step_size), **given)


def eps_greedy(step_size: float = STEP_RMSPROP, **changes: Any) -> SampledNets:
    """Four nets by RMSProp, pSGLD at τ = 0, whose rate falls by .999 a step. With the policy `EpsilonGreedy()`.

    As printed, where a step is taken to be one of RMSProp: all steps to come are together as long as a thousand of the first. The
    released code has SGD at 1e-6 for it, whose rate falls by .999 a round: `const_sgd(round_factor=0.999)`.
    """
    given = _given(changes, name="EpsGreedy × 4", temperature=0.0, step_factor=0.999)
    return SampledNets(paper_sampler(step_size), **given)


def _given(changes: dict[str, Any], **own: Any) -> dict[str, Any]:
    """The paper's numbers, an agent's own, and what a caller changes. Squares are of N·∇L over the rows of a batch."""
    given = {
        "temperature": TEMPERATURE,
        "capacity": CAPACITY,
        "batch_size": BATCH,
        "first_square": 1.0,
        "weight_floor": 1e-3,
        **own,
        **changes,
    }
    if "statistics_scale" not in given and given["batch_size"]:
        given["statistics_scale"] = given["capacity"] / given["batch_size"]
    return given
