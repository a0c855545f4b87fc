"""One click from a comparison that teaches one thing. The sentences state medians of 60 trials, of particles 20,
measured by this page's own runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.pages.many_modes.config import ModesConfig, alone, contour, cyclical, ladder, particles

NOISE = 0.25
FIVE = (1.0, 2.0, 3.0, 4.0, 5.0)
TRUE = {"correction": NOISE**2, "energy_variance": NOISE**2}
LOG_BINS = {"scale": "log", "low": 0.01, "high": 6.0, "bins": 16, "pilot": 0, "rate_offset": 1000.0}
PRINTED = {"correction": 30.0, "energy_variance": NOISE**2}


@dataclass(frozen=True)
class ModesPreset:
    """settings: fields of `ModesConfig` that differ from its defaults."""

    name: str
    title: str
    lesson: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def config(self) -> ModesConfig:
        return ModesConfig(**self.settings)


PRESETS = (
    ModesPreset(
        "modes",
        "25 modes",
        "Contour chains flatten the energy and pay it back by weights; replica exchange borrows heat from hotter copies. Here heat "
        "wins, KL 0.0012 against 0.0105 in 60 trials; with another ladder it need not.",
    ),
    ModesPreset(
        "hotter",
        "Hotter is better",
        "The same three levels and the same steps: temperatures up to 3 leave KL 0.0043 in 60 trials, up to 12 only 0.0012. Barriers "
        "here are about 4 high, and the hot level must cross them.",
        {"left": ladder((1.0, 1.73, 3.0))},
    ),
    ModesPreset(
        "seldom",
        "Swap seldom",
        "One ladder, swaps at every 20th step or at each: KL 0.0139 against 0.0012 in 60 trials. A swap costs no gradient, and it is "
        "all that moves the cold chain between modes.",
        {"left": ladder(interval=20)},
    ),
    ModesPreset(
        "trap",
        "An empty bin traps it",
        "Where the next bin above is empty, a forward difference turns the multiplier to −100 and below and holds all chains on a "
        "ridge. Without noise KL is 2.5, with backward differences 0.027, in 60 trials.",
        {"surface": {"name": "modes25", "noise": 0.0}, "left": contour(difference="forward"), "right": contour()},
    ),
    ModesPreset(
        "printed",
        "Correction 30",
        "Swaps corrected for a variance of 30 at first, as printed, or for the true 0.0625 of the noise: KL 0.0153 against 0.0035 "
        "in 60 trials. What is added to be safe refuses swaps that were right.",
        {"left": ladder(FIVE, 2e-3, **PRINTED), "right": ladder(FIVE, 2e-3, **TRUE)},
    ),
    ModesPreset(
        "cyclical",
        "Cyclical",
        "One chain in ten cycles of 40,000 steps, against five plain chains: KL 0.093 against 0.042 in 60 trials. Each cycle leaves its "
        "basin in the large steps only, so few modes are seen per gradient.",
        {"left": cyclical(), "right": alone()},
    ),
    ModesPreset(
        "particles",
        "SVGD spreads",
        "100 particles push each other apart. Without noise (SVGD) they spread within the basins where they began, KL 0.26 in 20 trials; "
        "with noise (SPOS, τ = 0.3) they cross barriers, 0.045.",
        {"left": particles(), "right": particles(0.3), "gradients": 200_000, "trials": 4},
    ),
    ModesPreset(
        "basins",
        "Two basins",
        "A line of minima (λ = ½) and a point (λ = ¼): the colder, the more mass has the point. The ladder's levels show it at each nβ, "
        "beside the exact curve; plain chains stay where they began.",
        {
            "surface": {"name": "two_basins", "box": 1.5, "n_beta": 660.0},
            "left": alone(6, 1e-5),
            "right": ladder(tuple(660.0 ** (k / 5) for k in range(6)), 1e-5, step_power=1.0),
        },
    ),
    ModesPreset(
        "lambda",
        "λ from the multiplier",
        "In bins of equal width in log E, E times the multiplier is λ(E), a learning coefficient at each scale. In the middle of them it "
        "is 0.73 here, with the exact θ 0.79; at the minimum λ = ¾.",
        {
            "surface": {"name": "sum", "exponents": [2, 4]},
            "left": {**contour(**LOG_BINS), "step_size": 3e-4},
            "right": alone(5, 3e-4),
        },
    ),
)
