"""The exact reference for deep linear networks: blocked Gibbs sampling of the localised posterior, no step size.

With full data U(w) = nβ·ΔL(w) + (γ/2)‖w − w0‖² is quadratic in each layer, so each layer given the others is normal and
can be drawn exactly. What λ̂ this sampler shows is what any correct sampler must converge to at the same nβ and γ: it tells
a sampler's error from what finite n and the localisation do.
"""

from __future__ import annotations

import time

import numpy as np
import torch

from llc_core.config import MAX_STEPS, RunConfig
from llc_core.engine.record import LossAccumulator
from llc_core.engine.summary import Chains, make_estimate
from llc_core.fields import number, whole
from llc_core.potentials.deep_linear.blocked_gibbs import BlockedGibbs
from llc_core.potentials.deep_linear.network import DeepLinearNetwork
from llc_core.results import Estimate


def gibbs_reference(
    problem: DeepLinearNetwork,
    *,
    chains: int = 4,
    sweeps: int = 2000,
    burn_in: int | float = 0.5,
    n_beta: float | None = None,
    localization: float = 1.0,
    seed: int = 0,
    gauge_moves: bool = True,
) -> Estimate:
    """λ̂ of the localised posterior of a deep linear network by blocked Gibbs sampling, in float64 on full data.

    One sweep draws every layer once from its exact normal conditional (`BlockedGibbs.conditional`), then, with
    `gauge_moves`, moves along the orbits W_l → G W_l, W_{l+1} → W_{l+1} G⁻¹ that leave the product unchanged
    (`BlockedGibbs.gauge_move`): those are long where nβ is large, and draws alone, which keep all other layers where
    they are, cross them in steps of size 1/√nβ. All chains start at w0.

    burn_in: an int counts sweeps, a float is a fraction.  n_beta: None: n / log n.  localization: γ > 0.
    Returns an `Estimate` whose trace holds nβ·ΔL after every sweep; `diagnostics` has the acceptance of the gauge moves.

    Source: own derivation (the conditional is a Bayesian linear regression); moves along a group orbit as in Liu &
    Sabatti 2000. Raises ValueError with one sentence for arguments that cannot be.
    """
    if not isinstance(problem, DeepLinearNetwork):
        raise ValueError(f"problem must be a DeepLinearNetwork, not a {type(problem).__name__}.")
    sweeps = whole("sweeps", sweeps, 2, MAX_STEPS)
    localization = number("localization", localization)
    if localization <= 0:
        raise ValueError(
            f"localization is {localization:g}; each layer's distribution is normal only with a precision above 0."
        )
    config = RunConfig(
        problem=problem.to_dict(),
        sampler={"name": "Gibbs", "gauge_moves": bool(gauge_moves)},
        gradient="full",
        n_beta=problem.n_beta if n_beta is None else n_beta,
        localization=localization,
        chains=chains,
        steps=sweeps,
        burn_in=burn_in,
        seed=seed,
        device="cpu",
        dtype="float64",
    )
    assert config.n_beta is not None and config.localization is not None
    started = time.perf_counter()
    first = config.burn_in_steps(sweeps)
    losses = LossAccumulator(config.chains, sweeps, first, np.full(config.chains, config.n_beta), "same_batch", 0.0)
    try:
        sampler = BlockedGibbs(problem, config.chains, config.n_beta, localization, config.seed)
        with torch.inference_mode():  # nothing here wants autograd, and sweeps take a tenth less time
            for sweep in range(sweeps):
                losses.add(sampler.sweep().numpy()[None], None)
                if gauge_moves:
                    sampler.gauge_moves(adapt=sweep < first)
    except torch.linalg.LinAlgError:
        raise ValueError("Products of these weights overflow in float64; give smaller weights or n_beta.") from None
    seconds = time.perf_counter() - started
    trace, trace_steps = losses.trace()
    seen = Chains(
        per_chain=losses.llc(),
        living=losses.alive,
        trace=trace * config.n_beta,
        trace_steps=trace_steps,
        n_beta=config.n_beta,
        localization=config.localization,
        steps=sweeps,
        burn_in=first,
        seconds=seconds,
        steps_per_second=config.chains * sweeps / max(seconds, 1e-9),
    )
    return make_estimate(problem, config, seen, measured={"gauge_acceptance": sampler.gauge_acceptance()})
