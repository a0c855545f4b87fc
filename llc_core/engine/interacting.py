"""Whether the chains of a configuration can interact, and what that adds to it."""

from __future__ import annotations

from llc_core.config import RunConfig
from llc_core.interactions import Interaction
from llc_core.potentials.base import Potential
from llc_core.samplers import MetropolisSampler, Sampler


def with_interaction(
    config: RunConfig, interaction: Interaction, problem: Potential, sampler: Sampler, automatic: bool
) -> RunConfig:
    """The configuration with the interaction's own grid; ValueError where chains cannot interact. automatic: the step size."""
    check_sampler(sampler)
    if problem.by_chain:
        raise ValueError(
            "This network is so wide that a CPU steps chain by chain, and such chains cannot interact; use a GPU."
        )
    if automatic and interaction.largest_heat() is None:
        raise ValueError(
            f"step_size is automatic, but {interaction.name} has no bound on what it multiplies the force by; give step_size, or clip."
        )
    grid = dict(config.grid)
    ladder = getattr(interaction, "ladder", None)
    if ladder is not None:
        assert config.n_beta is not None
        levels = ladder(config.n_beta)
        if grid.get("n_beta", levels) != levels:
            raise ValueError("grid has n_beta, which are the levels of ReplicaExchange; leave it out.")
        grid.pop("n_beta", None)
        grid["n_beta"] = levels  # levels vary fastest
    complete = config.replace(grid=grid, interaction=interaction.to_dict())
    settings = 1
    for values in complete.grid.values():
        settings *= len(values)
    interaction.members_of(config.chains, settings)
    return complete


def check_sampler(sampler: Sampler) -> None:
    """ValueError where its chains cannot interact."""
    if isinstance(sampler, MetropolisSampler) or sampler.needs_conditionals:
        raise ValueError(
            f"{sampler.name} takes its own decisions within a step, so its chains cannot interact; use SGLD or UnderdampedLangevin."
        )
    if sampler.adapts_coordinates:
        raise ValueError(
            f"{sampler.name} adapts its coordinates, in which chains cannot interact; turn that off, or use SGLD."
        )


def check_walls(problem: Potential, sampler: Sampler) -> None:
    if isinstance(sampler, MetropolisSampler) or sampler.needs_conditionals:
        raise ValueError(f"{sampler.name} does not know of this problem's walls; use SGLD or UnderdampedLangevin.")
