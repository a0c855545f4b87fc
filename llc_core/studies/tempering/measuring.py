"""`free_energy`: replica exchange in nβ from exact prior draws, and what it measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from torch import Tensor

from llc_core.compute.streams import torch_stream
from llc_core.fields import number, whole
from llc_core.potentials.base import Potential
from llc_core.studies.tempering.answers import FreeEnergy, basin_of, jackknife, log_z_of, spline_error, volume_of
from llc_core.studies.tempering.energies import Energies, Levels
from llc_core.studies.tempering.fitting import Fit, fit
from llc_core.studies.tempering.ladder import equal_rejection, geometric, given_levels
from llc_core.studies.tempering.prior import prior_of
from llc_core.studies.tempering.replicas import Replicas

COLDEST = 1e6
"""nβ of the coldest level where the loss is not of data."""
BURN_IN, BURN_IN_OF_SWEEPS = 0.4, 0.25
"""Share of the steps. Sweeps draw whole layers anew and need fewer."""
ROUNDS = 5
MOST_NUMBERS = 100_000_000
FIRST = 16
DRIFT = 6e-5
"""How likely a run without drift is said to have one: 4.0 standard errors with many ladders, 4.6 with 32, 33 with four."""


def free_energy(
    problem: Potential,
    ladder: int | Sequence[float] | None = None,
    *,
    chains: int = 32,
    steps: int = 2500,
    n_beta: float | None = None,
    localization: float | None = None,
    box: float | None = None,
    multiplicity: int | None = None,
    basins: Mapping[str, Callable[[Tensor], Tensor]] | None = None,
    seed: int = 0,
) -> FreeEnergy:
    """λ, its multiplicity and log Z of `problem` near w0, from a ladder of temperatures that begins at the prior.

    ladder: levels of nβ above 0, or how many; None: as many as keep swaps likely. Unless they are given they are placed at equal
        rates of rejection during burn-in, the first 2/5 of the steps (1/4 where layers are swept).
    chains: independent ladders, at least 4; errors are over them.  steps: of each.
    n_beta: nβ of the coldest level; None: the problem's, or 10⁶ for a surface.
    localization, box: the prior N(w0, 1/γ) or the box |w_i − w0_i| < box; None: the problem's own.
    multiplicity: m where it is known; None: it is fitted up to 3, and named only where the levels tell it and no larger one could be. On
        networks that takes a long ladder, nβ down to 10¹⁰ … 10²⁴ by their widths.
    basins: {name: δ [N, D] ↦ bool [N]}, whose weight and λ̂ are followed at each level.
    Raises ValueError with one sentence for arguments that cannot be.
    """
    if not isinstance(problem, Potential):
        raise ValueError(f"problem must be a potential, not a {type(problem).__name__}.")
    if problem.problems > 1 or problem.data_sets > 1:
        raise ValueError("free_energy takes one problem with one data set; give them one after the other.")
    chains, steps = whole("chains", chains, 4, 10_000), whole("steps", steps, 200, 10_000_000)
    if multiplicity is not None:
        multiplicity = whole("multiplicity", multiplicity, 1, problem.dim)
    wanted = given_levels(ladder)
    fixed = wanted if isinstance(wanted, np.ndarray) else None
    count = wanted if isinstance(wanted, int) else None
    if fixed is not None and n_beta is not None:
        raise ValueError("ladder and n_beta are both given; the ladder's last level is the coldest.")
    coldest = problem.n_beta if problem.n > 1 else COLDEST
    coldest = (
        float(fixed[-1]) if fixed is not None else number("n_beta", coldest if n_beta is None else n_beta, above=0)
    )
    prior = prior_of(problem, localization, box)
    generator = torch_stream(whole("seed", seed, 0, 2**63 - 1), "tempering")
    typical = _typical(problem, prior.draw(1000, generator))
    first = min(0.3 / typical, coldest / 10)
    begin = geometric(first, coldest, count or FIRST) if fixed is None else fixed
    replicas = Replicas(problem, prior, begin, chains, generator)
    burn_in = int((BURN_IN_OF_SWEEPS if replicas.sweeps else BURN_IN) * steps)
    spent = _adapt(replicas, burn_in, None if fixed is not None else count or 0)
    kept, levels = steps - burn_in, replicas.n_beta
    if kept * len(levels) * chains > MOST_NUMBERS:
        raise ValueError(f"steps × levels × chains is {kept * len(levels) * chains:,}; at most {MOST_NUMBERS:,} fit.")
    loss = np.empty((kept, len(levels), chains))
    inside = {name: np.empty(loss.shape, dtype=bool) for name in basins or {}}

    energies = Energies(replicas, kept)

    def look(step: int, now: Replicas) -> None:
        loss[step] = now.loss.numpy()
        energies.look(step, now)
        for name, within in (basins or {}).items():
            inside[name][step] = within(now.delta.flatten(0, 1)).view(now.loss.shape).numpy()

    replicas.run(kept, look)
    gradients = (spent + kept * len(levels)) * chains * replicas.price
    return _read(problem, replicas, loss, energies.read(), inside, multiplicity, typical, gradients)


def _typical(problem: Potential, draws: Tensor) -> float:
    """The scale of the loss under the prior."""
    value = float(problem.excess_loss_and_grad(draws)[0].abs().median())
    if not 0 < value < np.inf:
        raise ValueError(f"The loss under the prior is {value:g}; choose a smaller box or a larger localization.")
    return value


def _adapt(replicas: Replicas, steps: int, levels: int | None) -> int:
    """Burn-in in rounds of doubling length; levels: None where they stay, 0 where their number is free. Returns steps × levels."""
    lengths = [max(steps * 2**k // (2**ROUNDS - 1), 10) for k in range(ROUNDS)]
    spent = 0
    for k, length in enumerate(lengths):
        replicas.run(length, adapt=True)
        spent += length * len(replicas.n_beta)
        if levels is not None and k < ROUNDS - 1:
            rate = replicas.rejected / np.maximum(replicas.tried, 1)
            replicas.place(equal_rejection(replicas.n_beta, rate, levels or None))
    replicas.forget()
    return spent


def _read(
    problem: Potential,
    replicas: Replicas,
    loss: np.ndarray,
    seen: Levels,
    inside: Mapping[str, np.ndarray],
    multiplicity: int | None,
    typical: float,
    gradients: int,
) -> FreeEnergy:
    levels, chains = replicas.n_beta, replicas.chains
    fitted = fit(levels[1:] * typical, seen.llc[1:], seen.se[1:], problem.dim, multiplicity, seen.near)
    log_z = log_z_of(loss, levels, seen.each)
    over_ladders = jackknife(np.stack([log_z_of(loss, levels, seen.each, c) for c in range(chains)]))
    log_z_se = np.hypot(over_ladders, spline_error(levels, seen.llc))
    rate = replicas.rejected / np.maximum(replicas.tried, 1)
    with np.errstate(divide="ignore"):
        local = np.where(levels[:-1] > 0, rate / np.diff(np.log(levels)), np.nan)
    epsilon, volume = volume_of(loss, levels, log_z)
    trips = int(replicas.round_trips.sum())
    return FreeEnergy(
        llc=fitted.llc, llc_se=fitted.se, multiplicity=fitted.multiplicity,
        evidence=fitted.evidence,
        log_z=float(log_z[-1]), log_z_se=float(log_z_se[-1]),
        levels=levels, level_llc=seen.llc, level_llc_se=seen.se, level_log_z=log_z, level_log_z_se=log_z_se,
        rejection=rate, round_trips=trips, barrier=float(rate.sum()), local_barrier=local,
        epsilon=epsilon, volume=volume,
        basins={name: basin_of(loss, within, levels) for name, within in inside.items()},
        gradients=gradients, reason=_reason(trips, replicas, rate, fitted, seen.drift),
    )  # fmt: skip


def _reason(trips: int, replicas: Replicas, rate: np.ndarray, fitted: Fit, drift: float) -> str:
    """A sweep draws whole layers anew, so that levels need no round trips to come to their distributions; Langevin steps do."""
    if not np.isfinite(fitted.llc):
        return "No fit of λ lies between 0 and D/2: the levels are too few or the run is too short."
    if rate.max() > 0.9:
        return f"Two neighbouring levels refuse {rate.max():.0%} of their swaps: use more levels."
    from scipy.stats import t as student

    if abs(drift) > student.isf(DRIFT / 2, replicas.chains - 1):
        return f"The losses still {'rose' if drift > 0 else 'fell'} while they were averaged ({abs(drift):.0f} standard errors): use more steps."
    if not replicas.sweeps and trips < 2 * replicas.chains:
        return f"{trips} round trips on {replicas.chains} ladders are too few: use more steps."
    if fitted.multiplicity is None:
        return "These levels do not show the multiplicity; λ and its error are over all that are possible. Use a colder ladder or more steps."
    return ""
