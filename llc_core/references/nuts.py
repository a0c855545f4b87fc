"""A reference by other people's hands: the No-U-Turn sampler of Pyro on the same posterior, with exact gradients."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.precision import EXACT
from llc_core.compute.streams import seeded, stream_seed
from llc_core.config import MAX_STEPS, RunConfig
from llc_core.engine.summary import Chains, make_estimate
from llc_core.engine.target import Target
from llc_core.extras import needs
from llc_core.fields import whole
from llc_core.potentials.base import Potential
from llc_core.results import Estimate

START_SPREAD = 1e-2
MAX_DIM = 5_000
"""Pyro runs one chain at a time, each tree of up to 2¹⁰ gradients: larger problems would take hours."""


def nuts_reference(
    problem: Potential,
    *,
    chains: int = 4,
    steps: int = 1000,
    warmup: int = 300,
    n_beta: float | None = None,
    localization: float | None = None,
    seed: int = 0,
) -> Estimate:
    """λ̂ of the localised posterior by NUTS with step size and diagonal mass adapted in `warmup` steps, in float64.

    Returns an `Estimate` whose trace holds nβ·ΔL after each of `steps` steps; `diagnostics["divergences"]` counts
    trajectories that Pyro calls divergent. With several data sets, `chains` is a multiple of their number.
    Needs pyro-ppl (`pip install "llc-lab[reference]"`). Source: Hoffman & Gelman 2014.
    """
    with needs("nuts_reference()", extra="reference"):
        from pyro.infer import MCMC, NUTS
    if not isinstance(problem, Potential):
        raise ValueError(f"problem must be a potential, not a {type(problem).__name__}.")
    if problem.problems > 1:
        raise ValueError(f"problem has {problem.problems} networks side by side; give one, such as problem.member(0).")
    if problem.dim > MAX_DIM:
        raise ValueError(f"problem has {problem.dim:,} parameters; the NUTS reference takes at most {MAX_DIM:,}.")
    steps, warmup = whole("steps", steps, 2, MAX_STEPS), whole("warmup", warmup, 1, MAX_STEPS)
    config = RunConfig(
        problem=problem.to_dict(),
        sampler={"name": "NUTS", "warmup": warmup},
        gradient="full",
        n_beta=problem.n_beta if n_beta is None else n_beta,
        localization=problem.localization if localization is None else localization,
        chains=chains,
        steps=steps,
        burn_in=0,
        seed=seed,
        device="cpu",
        dtype="float64",
    )
    assert config.n_beta is not None and config.localization is not None
    started = time.perf_counter()
    column = torch.ones(config.chains, 1, **EXACT)
    target = Target(problem, config.n_beta * column, config.localization * column)
    trace, divergences = np.empty((steps, config.chains)), 0
    for chain in range(config.chains):
        with seeded(stream_seed(config.seed, f"nuts {chain}")):
            first = torch.as_tensor(problem.start or [0.0] * problem.dim, **EXACT)
            first = first + START_SPREAD * torch.randn(problem.dim, **EXACT)

            def energy(values: dict[str, Tensor], chain: int = chain) -> Tensor:
                return _Energy.apply(values["delta"], target, chain)

            kernel = NUTS(potential_fn=energy)
            sampler = MCMC(kernel, steps, warmup_steps=warmup, initial_params={"delta": first}, disable_progbar=True)
            sampler.run()
            draws = sampler.get_samples()["delta"]
            divergences += sum(len(found) for found in sampler.diagnostics().get("divergences", {}).values())
            trace[:, chain] = _losses(problem, draws, chain, config.chains) * config.n_beta
    seconds = time.perf_counter() - started
    seen = Chains(
        per_chain=trace.mean(axis=0),
        living=np.ones(config.chains, dtype=bool),
        trace=trace,
        trace_steps=np.arange(steps),
        n_beta=config.n_beta,
        localization=config.localization,
        steps=steps,
        burn_in=0,
        seconds=seconds,
        steps_per_second=config.chains * steps / max(seconds, 1e-9),
    )
    return make_estimate(problem, config, seen, measured={"divergences": float(divergences)})


class _Energy(torch.autograd.Function):
    """U of one chain, with the potential's own gradient in place of automatic differentiation."""

    @staticmethod
    def forward(ctx: Any, delta: Tensor, target: Target, chain: int) -> Tensor:
        # all chains' rows are evaluated, so that each keeps its own data set
        energy = target.evaluate(delta.detach().expand(len(target.n_beta), -1), None)
        ctx.save_for_backward(energy.force[chain])
        return energy.potential[chain, 0]

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> Any:
        return upstream * ctx.saved_tensors[0], None, None


def _losses(problem: Potential, draws: Tensor, chain: int, chains: int) -> np.ndarray:
    if problem.data_sets == 1:
        return problem.excess_loss_and_grad(draws)[0].numpy()
    rows = draws.repeat_interleave(problem.data_sets, 0).view(len(draws), problem.data_sets, -1).transpose(0, 1)
    losses = problem.excess_loss_and_grad(rows.reshape(-1, problem.dim))[0].view(problem.data_sets, -1)
    return losses[chain * problem.data_sets // chains].numpy()
