"""Which stepper a configuration gets."""

from __future__ import annotations

from llc_core.compute.gpu import way_of
from llc_core.engine.setup import Setup
from llc_core.engine.stepping.all_chains import AllChains
from llc_core.engine.stepping.base import Stepper
from llc_core.engine.stepping.batches import Batches
from llc_core.engine.stepping.bursts import SHORTEST, WINDOW, Bursts
from llc_core.engine.stepping.chain_by_chain import ChainByChain
from llc_core.engine.stepping.compiled import CompiledUpdate, worth_compiling
from llc_core.engine.stepping.exact_draws import ExactDraws
from llc_core.engine.stepping.interacting import Interacting
from llc_core.engine.stepping.metropolis import Metropolis
from llc_core.engine.stepping.noise import NoiseByPlace, NoiseInBlocks
from llc_core.engine.stepping.recorded import Recorded
from llc_core.interactions import Interaction
from llc_core.interactions import build as build_interaction
from llc_core.potentials.deep_linear.evaluation import LinearPotential
from llc_core.samplers import MetropolisSampler


def choose(setup: Setup, notes: list[str]) -> Stepper:
    """notes: sentences for the user are added to it."""
    target, sampler, seed = setup.target, setup.sampler, setup.noise_seed
    shape = setup.groups.count, setup.problem.dim, setup.like
    numbers, known = setup.groups.count * setup.problem.dim, isinstance(setup.problem, LinearPotential)
    way = way_of(setup.like, numbers, setup.planned_steps, known)
    batches = Batches(setup, compiled=way == "fused")
    counts = setup.config.histogram is not None
    blocks = NoiseInBlocks(*shape, setup.streams["noise"])
    if sampler.needs_conditionals:
        symmetries = getattr(sampler, "gauge_moves", "on") == "on"
        conditionals = setup.problem.conditionals(target.n_beta, target.localization, setup.config.seed, symmetries)
        apart = setup.config.chains > 1 and setup.problem.start is None and not setup.problem.starts_at_prior
        return ExactDraws(target, sampler, batches, blocks, conditionals, apart, setup.adapting)
    if setup.config.interaction is not None or setup.problem.walls:
        return interacting(setup, batches, blocks)
    if not isinstance(sampler, MetropolisSampler):  # these hold several states at once in any case
        if setup.problem.by_chain:
            return ChainByChain(target, sampler, batches, blocks, seed)
        if way != "plain" and not counts:
            # A potential's Hessian products are no part of an update that can be compiled.
            fused = way == "fused" and not sampler.needs_hvp
            return Recorded(target, sampler, batches, NoiseByPlace(*shape, seed), fused)
    long = worth_compiling(setup.like, setup.problem.dim, setup.groups.count, setup.planned_steps)
    noise = NoiseByPlace(*shape, seed) if long else blocks
    if isinstance(sampler, MetropolisSampler):
        return Metropolis(target, sampler, batches, noise, setup.streams["noise"])
    compiled = None
    if long and sampler.cell() is not None and not counts:
        compiled = CompiledUpdate(sampler, seed)
        compiled.compile()
    return AllChains(target, sampler, batches, noise, compiled, guard(setup, notes))


def interacting(setup: Setup, batches: Batches, noise: NoiseInBlocks) -> Interacting:
    """The stepper of chains that interact or have walls; on a GPU too it goes step by step."""
    described = setup.config.interaction
    interaction = None if described is None else build_interaction(described)
    layout = (interaction or Interaction()).layout(setup.groups, setup.target.n_beta, setup.burn_in)
    return Interacting(setup.target, setup.sampler, batches, noise, interaction, layout, setup.streams["exchange"])


def guard(setup: Setup, notes: list[str]) -> Bursts | None:
    """What puts chains back after a burst: where the engine chose the step size and losses are exact; else None.

    Not on a GPU: a look at every step would wait for the device.
    """
    if not setup.auto_step or setup.gradient != "full" or setup.like.device.type != "cpu" or setup.adapting < SHORTEST:
        return None
    return Bursts(setup.target.n_beta, setup.problem.dim, setup.adapting - WINDOW, setup.burn_in, notes)
