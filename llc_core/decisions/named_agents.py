"""The agents of Deng et al. 2022, by name, with the numbers of their README and table."""

from __future__ import annotations

from typing import Any

from llc_core.decisions.network_agent import SampledNets
from llc_core.decisions.open_contour import OpenContour
from llc_core.samplers import Sampler
from llc_core.samplers.psgld import PSGLD

STEP, STEP_ONE = 3e-7, 5e-8
"""Of four chains and of the single one, in the paper's full convention w ← w − ε∇U."""
TEMPERATURE, WIDTH, BINS = 0.3, 10.0, 200
"""τ; of an energy bin in units of N·L, and how many there are."""
ZETA, RATE, RATE_ONE = 20.0, 0.03, 0.006
CAPACITY, BATCH = 4096, 512


def paper_sampler(step_size: float = STEP) -> Sampler:
    """PSGLD with V ← .99V + .01g², G = 1/(.001 + √V), without Γ. step_size: the paper's; ours is twice that."""
    return PSGLD(step_size=2 * step_size, alpha=0.99, stability=0.001, gamma_term="dropped")


def paper_contour(rate: float = RATE, temperature: float = TEMPERATURE) -> OpenContour:
    """200 bins of width 10 in U, so of 10/τ in U/τ, and a constant step of θ."""
    return OpenContour(
        low=0.0, high=BINS * WIDTH / temperature, bins=BINS, zeta=ZETA, rate=rate, rate_power=0.0, rate_offset=1.0
    )  # fmt: skip


def psgld(**changes: Any) -> SampledNets:
    """Four nets by preconditioned SGLD, all with the same weight."""
    return SampledNets(paper_sampler(), **{"name": "pSGLD × 4", **_PAPER, **changes})


def picsgld(**changes: Any) -> SampledNets:
    """The same with contour sampling from the tenth part of the rounds on: the four share θ."""
    return SampledNets(
        paper_sampler(), paper_contour(), **{"name": "pICSGLD × 4", "begin_share": 0.1, **_PAPER, **changes}
    )


def pcsgld(**changes: Any) -> SampledNets:
    """One net with four times the steps and its own θ."""
    given = {"name": "pCSGLD × T4", "begin_share": 0.1, "chains": 1, "steps": 64, **_PAPER, **changes}
    return SampledNets(paper_sampler(STEP_ONE), paper_contour(RATE_ONE), **given)


_PAPER: dict[str, Any] = {
    "temperature": TEMPERATURE,
    "capacity": CAPACITY,
    "batch_size": BATCH,
    "first_square": 1.0,
    "statistics_scale": CAPACITY / BATCH,
    "weight_floor": 1e-3,
}
