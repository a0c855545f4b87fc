"""How flat is flat, how much do chains that share θ save, and are barriers and round trips what theory says? (Paper 002 and ladders.)

    python -m lab.benchmarks.accuracy.modes.flattening
    python -m lab.benchmarks.accuracy.modes.flattening --seeds 5 --steps 20000

Flatness: at ζ = 1 bins of energy are visited alike, on the 25 modes without noise on the energy. θ is that at which learning stands
still, or the masses of the bins; with these, bins in which a minimum or a maximum of the surface lies are not visited alike, since the
density of states jumps there (in the plane a new minimum adds a step). Figure 7: variance of θ learned by ten chains and by one of ten times the
steps, on 0.4·N(−6, 1) + 0.6·N(4, 1) over the line. Barrier: the sum of refused swaps of a Gaussian's ladder against an integral.
Round trips: of a ladder whose swaps are all accepted, against kept steps/2.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import stats
from scipy.integrate import quad

from lab.benchmarks.command import option, read_options
from llc_core import SGLD, Contour, DeepLinearNetwork, free_energy, surface
from llc_core.plane import PlaneRun, plane_law
from llc_core.studies.papers.contour_sampling.contours import LINE, learned, line_loop

BARRIER_STEPS, TRIP_STEPS = 2000, 4000
STEP = 2.5e-4
"""Of the chains whose visits are counted: at 1e-3 those at the θ that learning ends at are off by 33%, since that θ is no smooth one."""


def flatness(steps: int, bins: int = 25, fixed: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Visits of each bin over their mean, [bins], and what the distribution of these bins says of them.

    Chains of multiplier 1 + ζ·d log θ/dE draw from mass/Ψ^ζ, log Ψ linear from θ at the upper edge of each bin to the next.
    fixed: θ is the fixed point of chains that move so (`fixed_point`); else the masses of the bins.
    """
    target = surface(noise=0.0)
    law = plane_law(target, points=2000)
    theta = np.maximum(law.bins(np.linspace(0, 10, bins + 1)), 1e-12)
    energy, mass = law.energy.ravel(), law.mass.ravel()
    own = Contour(low=0.0, high=10.0, bins=bins, zeta=1.0, rate=0.0)
    if fixed:
        theta = fixed_point(theta, energy, mass, own)
    own = dataclasses.replace(own, theta=tuple(theta / theta.sum()))
    run = PlaneRun(SGLD(step_size=STEP), target, own, chains=5, trials=20, steps=steps, seed=0)
    visits = np.zeros(bins)
    while not run.finished:
        loss = run.advance(500).loss
        if run.steps_done > steps // 10:
            visits += np.bincount(place(loss.ravel(), own), minlength=bins)
    return visits / visits.mean(), wanted(theta, energy, mass, own)


def wanted(theta: np.ndarray, energy: np.ndarray, mass: np.ndarray, own: Contour) -> np.ndarray:
    """Visits over their mean under mass/Ψ, [bins]; the last bin's slope goes on beyond it."""
    logs = np.log(np.concatenate([theta[:1], theta, theta[-1:] ** 2 / theta[-2:-1]]))
    psi = np.interp(energy, [*own.edges, own.high + own.width], logs)
    found = np.bincount(place(energy, own), mass * np.exp(-psi), minlength=own.bins)
    return found / found.mean()


def fixed_point(theta: np.ndarray, energy: np.ndarray, mass: np.ndarray, own: Contour, rounds: int = 400) -> np.ndarray:
    """The θ at which learning stands still: E[θ(J)(e_J − θ)] = 0 where all bins are visited alike, under the distribution of these very bins.
    It is the masses of the bins only where the density of states is smooth within them."""
    for _ in range(rounds):
        theta = theta * wanted(theta, energy, mass, own) ** 0.5
    return theta


def place(energy: np.ndarray, own: Contour) -> np.ndarray:
    return np.clip(np.ceil((energy - own.low) / own.width) - 1, 0, own.bins - 1).astype(int)


def figure_seven(seeds: int, steps: int) -> None:
    loop = line_loop()
    many = np.array([learned(loop, LINE, 10, [steps], seed)[0, 0] for seed in range(seeds)])
    one = np.array([learned(loop, LINE, 1, [10 * steps], 1000 + seed)[0, 0] for seed in range(seeds)])
    shown = slice(1, 11)
    spread = [each[:, shown].var(axis=0, ddof=1).sum() for each in (many, one)]
    print(
        f"Figure 7, {seeds} seeds: ten chains of {steps:,} steps {spread[0]:.2e}, one of {10 * steps:,} {spread[1]:.2e}, ratio {spread[1] / spread[0]:.2f}"
    )
    errors = many.std(axis=0, ddof=1) / np.sqrt(seeds)
    print("  first bins, ten chains: " + ", ".join(f"{many.mean(0)[k]:.4f} ± {errors[k]:.4f}" for k in range(1, 6)))


def gaussian_barrier() -> tuple[float, float]:
    """Λ measured and by quadrature for four Gaussian parameters: nβ·ΔL has a Gamma distribution of shape 2 at every level far from the prior."""
    problem = DeepLinearNetwork([np.zeros((1, 4))], noise_std=0)
    levels = np.geomspace(1.0, 1e4, 25)
    found = free_energy(problem, levels, chains=32, steps=BARRIER_STEPS, seed=1)
    ratio = levels[1] / levels[0]
    low, high = stats.gamma(2.0), stats.gamma(2.0, scale=1 / ratio)  # of nβ_1·ΔL
    refused = quad(
        lambda e: low.pdf(e) * quad(lambda f: high.pdf(f) * -np.expm1(min(0.0, (ratio - 1) * (f - e))), 0, e)[0], 0, 40
    )[0]
    return float(found.rejection[1:].sum()), refused * (len(levels) - 1)


def free_trips() -> tuple[int, float]:
    """Round trips of ladders on which every swap is accepted, and kept steps/2 of each."""
    found = free_energy(surface("sum"), np.arange(1, 11) * 1e-9, chains=8, steps=TRIP_STEPS)
    return found.round_trips, 8 * 0.6 * TRIP_STEPS / 2


def main() -> None:
    options = read_options(
        globals(),
        {"seeds": 2, "steps": 1000, "BARRIER_STEPS": 200, "TRIP_STEPS": 400},
        seeds=30,
        steps=option(100_000, "of the short chains of figure 7"),
    )
    print("Round trips when all swaps are accepted: {:,}; kept steps/2: {:,.0f}".format(*free_trips()))
    measured, exact = gaussian_barrier()
    print(f"Barrier of a Gaussian's ladder: {measured:.4f}, quadrature {exact:.4f} ({measured / exact - 1:+.1%})")
    for fixed, name in ((True, "θ that learning ends at"), (False, "θ = masses of the bins")):
        visits, law = flatness(3 * options.steps, fixed=fixed)
        off = [f"{k + 1}" for k in np.flatnonzero(np.abs(visits - 1) > 0.15)]
        print(
            f"Visits at ζ = 1, {name}, {len(visits)} bins: all within {np.abs(visits - 1).max():.0%} of even; further than 15%: bins "
            f"{', '.join(off) or 'none'}; within {np.abs(visits / law - 1).max():.0%} of what their law says",
            flush=True,
        )
    figure_seven(options.seeds, options.steps)


if __name__ == "__main__":
    main()
