"""What one visitor's run may take of the memory of the server or of its card: everybody shares them."""

from __future__ import annotations

from app.runs.account import DEFAULT_MEGABYTES, VISITOR_MEMORY, card_memory, is_card, megabytes_of
from llc_core import Potential, RunConfig
from llc_core.engine.machine import memory_needed
from llc_core.potentials import Price
from llc_core.potentials.polishing import bytes_needed


def allowance(device: str | None = None) -> float:
    """Megabytes that one run of a visitor may need; ValueError where the environment says nonsense.

    On a card it is all that runs may take there: whoever comes first has it, since a card is there for large runs.
    """
    if is_card(device):
        return card_memory(str(device)) / 2**20
    return megabytes_of(VISITOR_MEMORY, DEFAULT_MEGABYTES, 600)


def check_price(price: Price, remedy: str) -> None:
    """ValueError, one sentence, for a problem whose data and products take more than a visitor may have.

    It is said from the problem's description, before any of it is made. remedy: what makes such a problem smaller.
    """
    if price.peak > allowance() * 2**20:
        raise ValueError(
            f"This problem needs {price.peak / 2**20:,.0f} MB for its data and products, and this server gives each run "
            f"{allowance():,.0f} MB: {remedy}."
        )


def run_memory(config: RunConfig, problem: Potential, second: Potential | None = None) -> tuple[float, int]:
    """Bytes that the chains of a complete configuration take at the peak of a step, and how many chains there are.

    Their states, gradients and what the sampler keeps; what observables keep, of the run's second potential too; and what an
    evaluation of all chains holds. Or what polishing takes.
    """
    need, chains = memory_needed(config, problem, second)
    assert config.gradient is not None and config.batch_size is not None
    polishing = bytes_needed(problem) if config.polish else 0  # and over before the first step
    size = 8 if config.dtype == "float64" else 4
    gradients = {config.gradient, config.metric_gradient or config.gradient}
    need += sum(problem.step_bytes(chains, each, config.batch_size, size) for each in gradients)
    if second is not None:  # its losses alone
        need += second.step_bytes(chains, "full", second.samples, size)
    return max(need, polishing), chains


def check_allowance(config: RunConfig, problem: Potential, second: Potential | None = None) -> float:
    """Bytes that a complete configuration takes; ValueError, one sentence, where a visitor may not have as many."""
    need, chains = run_memory(config, problem, second)
    if need > allowance(config.device) * 2**20:
        narrower = config.dtype == "float64" and (config.sampler or {}).get("name") != "Gibbs"
        raise ValueError(
            f"{chains:,} chains of {problem.dim:,} parameters need {need / 2**20:,.0f} MB, but this server gives each run "
            f"{allowance(config.device):,.0f} MB. Use fewer chains{', float32' if narrower else ''} or a smaller network."
        )
    return need
