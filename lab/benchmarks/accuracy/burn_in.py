"""Whether a fifth of burn-in is enough for presets of "Local geometry": λ̂ with it and with half, against the expected value.

    python -m lab.benchmarks.accuracy.burn_in [PRESET …] [--seeds 10] [--first 100]

Seeds are of the chains; the network and its data stay. The exact value is that of exact draws (blocked Gibbs). Each line has, by share
of burn-in, the mean λ̂ over the seeds with its standard error, how many runs lie within two standard errors of the exact value (theirs
and that of the exact one), the root mean square of error over standard error, and how many are trusted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from app.pages.local_geometry.presets import PRESETS, Preset
from app.pages.local_geometry.scene import preset_config, scene_of
from lab.benchmarks.command import option, read_options
from llc_core import Estimate, Run, RunConfig
from llc_core.engine.resolve import resolve
from llc_core.references.gibbs import gibbs_reference

SHARES = (0.2, 0.5)


def estimate(preset: Preset, seed: int, share: float) -> Estimate:
    """A whole run of the preset with another seed of its chains and another share of burn-in."""
    config = preset_config(preset)
    settings = {**config.settings, "seed": seed, "burn_in": share}
    run = Run(resolve(RunConfig(problem=preset.problem, **settings)))
    while not run.finished:
        run.advance(2000)
    return run.estimates()[0]


def exact(preset: Preset) -> Estimate:
    """Exact draws of the distribution that the preset's chains sample."""
    complete, problem = scene_of(preset_config(preset)).config, scene_of(preset_config(preset)).problem
    return gibbs_reference(
        problem,
        chains=128,
        sweeps=4000,
        burn_in=0.2,
        n_beta=complete.n_beta,
        localization=complete.localization or 1.0,
        seed=7,
    )


def line(preset: Preset, share: float, truth: Estimate, found: Iterable[Estimate]) -> str:
    rows = list(found)
    values = np.array([each.llc for each in rows])
    off = np.array([(each.llc - truth.llc) / math.hypot(each.llc_se, truth.llc_se) for each in rows])
    error = values.std(ddof=1) / math.sqrt(len(values))
    return (
        f"{preset.name:10s} burn-in {share:.0%}: λ̂ {values.mean():.4f} ± {error:.4f}, "
        f"exact {truth.llc:.4f} ± {truth.llc_se:.4f}; {int((abs(off) < 2).sum())} of {len(off)} within two standard errors, "
        f"rms {math.sqrt((off**2).mean()):.2f}, bars {np.mean([each.llc_se for each in rows]):.4f}, "
        f"trusted {sum(bool(each.converged) for each in rows)}"
    )


def main() -> None:
    asked = read_options(
        globals(),
        {"presets": ["tiny"], "seeds": 2},
        presets=option(["tiny", "regular", "singular"], nargs="*", place=True),
        seeds=10,
        first=100,
    )
    for preset in PRESETS:
        if preset.name in asked.presets:
            truth = exact(preset)
            for share in SHARES:
                seeds = range(asked.first, asked.first + asked.seeds)
                print(line(preset, share, truth, [estimate(preset, seed, share) for seed in seeds]), flush=True)


if __name__ == "__main__":
    main()
