"""One click from a comparison that teaches one thing. The sentences state medians of 60 trials, of particles 20,
measured by this page's own runs."""

from __future__ import annotations

from app.pages.many_modes.config import ModesConfig, alone, contour, cyclical, ladder, particles
from app.pages.preset import Preset

NOISE = 0.25
FIVE = (1.0, 2.0, 3.0, 4.0, 5.0)
TRUE = {"correction": NOISE**2, "energy_variance": NOISE**2}
LOG_BINS = {"scale": "log", "low": 0.01, "high": 6.0, "bins": 16, "pilot": 0, "rate_offset": 1000.0}
PRINTED = {"correction": 30.0, "energy_variance": NOISE**2}


class ModesPreset(Preset):
    of = ModesConfig


PRESETS = (
    ModesPreset(
        "modes",
        "25 modes",
        "Two ways over the hills: contour sampling levels them and reweights; replica exchange lets hot copies "
        "climb and swap. Here swapping is nine times more accurate. Another ladder may change that.",
    ),
    ModesPreset(
        "hotter",
        "Hotter is better",
        "The same levels and steps. Temperatures up to 3 leave KL 0.0043 in 60 trials, up to 12 only 0.0012. "
        "Barriers here are about 4 high, and the hot level must cross them.",
        {"left": ladder((1.0, 1.73, 3.0))},
    ),
    ModesPreset(
        "seldom",
        "Swap seldom",
        "One ladder, with swaps at every 20th step or at each: KL 0.0139 against 0.0012 in 60 trials. A swap "
        "costs no gradient. Nothing else moves the cold chain between modes.",
        {"left": ladder(interval=20)},
    ),
    ModesPreset(
        "trap",
        "An empty bin traps it",
        "If the next bin above is empty, a forward difference drives the multiplier to −100 and below. It "
        "traps all chains on a ridge: KL 2.5 without noise, 0.027 with backward differences (60 trials).",
        {"surface": {"name": "modes25", "noise": 0.0}, "left": contour(difference="forward"), "right": contour()},
    ),
    ModesPreset(
        "printed",
        "Correction 30",
        "Swaps are corrected for a noise variance of 30 at first, as printed, or for the true 0.0625. KL is "
        "0.0153 against 0.0035 in 60 trials. What is added to be safe refuses good swaps.",
        {"left": ladder(FIVE, 2e-3, **PRINTED), "right": ladder(FIVE, 2e-3, **TRUE)},
    ),
    ModesPreset(
        "cyclical",
        "Cyclical",
        "One chain in ten cycles of 40,000 steps, against five plain chains: KL 0.093 against 0.042 in 60 "
        "trials. A cycle leaves its basin by large steps only, so it sees few modes per gradient.",
        {"left": cyclical(), "right": alone()},
    ),
    ModesPreset(
        "particles",
        "SVGD spreads",
        "100 particles push each other apart. Without noise (SVGD) they stay in the basins where they began: "
        "KL 0.26 in 20 trials. With noise (SPOS, τ = 0.3) they cross barriers: 0.045.",
        {"left": particles(), "right": particles(0.3), "gradients": 200_000, "trials": 4},
    ),
    ModesPreset(
        "basins",
        "Two basins",
        "A line of minima (λ = ½) and a point (λ = ¼). The colder it is, the more mass the point has. The "
        "ladder's levels show it at each nβ, beside the exact curve. Plain chains stay where they began.",
        {
            "surface": {"name": "two_basins", "box": 1.5, "n_beta": 660.0},
            "left": alone(6, 1e-5),
            "right": ladder(tuple(660.0 ** (k / 5) for k in range(6)), 1e-5, step_power=1.0),
        },
    ),
    ModesPreset(
        "lambda",
        "λ from the multiplier",
        "In bins of equal width in log E, E times the multiplier is λ(E), a learning coefficient at each "
        "scale. In the middle it is 0.73 here, 0.79 with the exact θ. At the minimum λ = ¾.",
        {
            "surface": {"name": "sum", "exponents": [2, 4]},
            "left": {**contour(**LOG_BINS), "step_size": 3e-4},
            "right": alone(5, 3e-4),
        },
    ),
)
