"""The agents of Deng et al. 2022, by name, with the numbers of their README and table."""

from __future__ import annotations

from typing import Any

from llc_core.decisions.network_agent import SampledNets
from llc_core.decisions.open_contour import OpenContour
from llc_core.fields import number
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
    number("temperature", temperature, above=0)
    return OpenContour(
        low=0.0, high=BINS * WIDTH / temperature, bins=BINS, zeta=ZETA, rate=rate, rate_power=0.0, rate_offset=1.0
    )  # fmt: skip


def psgld(**changes: Any) -> SampledNets:
    """Four nets by preconditioned SGLD, all with the same weight."""
    return SampledNets(paper_sampler(), **_given(changes, name="pSGLD × 4"))


def picsgld(**changes: Any) -> SampledNets:
    """The same with contour sampling from the tenth part of the rounds on: the four share θ."""
    given = _given(changes, name="pICSGLD × 4", begin_share=0.1)
    return SampledNets(paper_sampler(), paper_contour(RATE, given["temperature"]), **given)


def pcsgld(**changes: Any) -> SampledNets:
    """One net with four times the steps and its own θ."""
    given = _given(changes, name="pCSGLD × T4", begin_share=0.1, chains=1, steps=64)
    return SampledNets(paper_sampler(STEP_ONE), paper_contour(RATE_ONE, given["temperature"]), **given)


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
