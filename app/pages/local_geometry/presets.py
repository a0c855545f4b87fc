"""One click from an interesting run. Each preset teaches one thing; the sentences state what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.pages.measured import outcomes


@dataclass(frozen=True)
class Preset:
    """widths, ranks, seed: the network.  settings: fields of RunConfig that differ from the page's defaults."""

    name: str
    title: str
    lesson: str
    widths: tuple[int, ...]
    ranks: tuple[int, ...]
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def problem(self) -> dict[str, Any]:
        return {"kind": "dln", "widths": list(self.widths), "layer_ranks": list(self.ranks), "seed": self.seed}

    @property
    def sampler(self) -> str | None:
        sampler = self.settings.get("sampler")
        return sampler["name"] if sampler else None


OUTCOMES: Mapping[str, list[float | None]] = outcomes(__file__)
"""What the tiles draw."""

PRESETS = (
    Preset(
        "tiny",
        "Tiny",
        "Watch the estimate reach the exact value. A regular model of this size would read 12.",
        (4, 3, 4),
        (3, 3),
        seed=1,
        # A fifth is enough here: over 12 seeds λ̂ is 7.2275 ± 0.0045 with it, 7.2265 ± 0.0080 with half, expected 7.2281.
        settings={"steps": 8_000, "burn_in": 0.2},
    ),
    Preset(
        "regular",
        "Regular",
        "One layer is ordinary linear regression. There is a single best point, and λ is half the number of "
        "parameters.",
        (8, 6),
        (6,),
        # A fifth as well: over ten seeds λ̂ is 23.206 ± 0.009 with it, 23.201 ± 0.013 with half, exact 23.215 ± 0.008.
        settings={"steps": 20_000, "burn_in": 0.2},
    ),
    Preset(
        "singular",
        "Deep singular",
        "All layers have lost rank, so the loss is very flat around w0. λ is less than half of d/2.",
        (10, 10, 10),
        (2, 2),
        # Half, since with a fifth the bars shrink and the error does not: λ̂ is 39.907 ± 0.017 over ten seeds, 39.899 ± 0.025 with half,
        # exact 40.192 ± 0.011 (`lab.benchmarks.accuracy.burn_in`).
        settings={"steps": 30_000},
    ),
    Preset(
        "local",
        "Local ≠ global",
        "At w0 λ is 32, elsewhere in the same valley it is 29. Slow SGLD has not left w0 yet: it reads the "
        "local value. Longer chains would read less.",
        (8, 8, 8),
        (8, 3),
        settings={"sampler": {"name": "SGLD"}, "steps": 20_000, "burn_in": 0.25},
    ),
    Preset(
        "wanderer",
        "Wanders off",
        "The same w0 with a faster sampler. The chains leave its neighbourhood for the lower, global value. At "
        "this n λ̂ reads less than either λ.",
        (8, 8, 8),
        (8, 3),
        settings={"sampler": {"name": "UnderdampedLangevin"}, "steps": 20_000},
    ),
    Preset(
        "minibatch",
        "Minibatch",
        "The noise of plain minibatch gradients acts like heat: λ̂ comes out more than half too large. Try “control variate”.",
        (8, 6, 8),
        (6, 6),
        settings={"sampler": {"name": "SGLD"}, "gradient": "minibatch", "steps": 8_000},
    ),
    Preset(
        "step",
        "Step too large",
        "SGLD at four fifths of its stability limit. Nothing diverges and the chains agree, yet λ̂ is over 40% "
        "too large.",
        (8, 6, 8),
        (6, 6),
        settings={"sampler": {"name": "SGLD", "step_size": 1e-7}, "gradient": "full", "steps": 20_000},
    ),
    Preset(
        "small",
        "Step too small",
        "SGLD at a ten-thousandth of its stability limit. The chains have hardly left w0 and λ̂ is 60% too "
        "low. R-hat says so.",
        (8, 6, 8),
        (6, 6),
        settings={"sampler": {"name": "SGLD", "step_size": 1e-11}, "gradient": "full", "steps": 8_000},
    ),
    Preset(
        "rmsprop",
        "RMSProp",
        "RMSProp adapts its step to the gradient, so it samples the wrong distribution: λ̂ is over 10% too "
        "high. Pin this run and switch to SGLD to see 2%.",
        (8, 6, 8),
        (6, 6),
        settings={"sampler": {"name": "RMSPropSGLD", "stability": 1e-4}, "steps": 20_000},
    ),
    Preset(
        "printed",
        "Printed SGHMC",
        "With the factor ½ as printed in the paper the chain samples at twice the temperature: λ̂ doubles.",
        (4, 3, 4),
        (3, 3),
        seed=1,
        settings={"sampler": {"name": "SGHMC", "dynamics": "printed"}, "steps": 30_000},
    ),
)


def available(samplers: Mapping[str, Any]) -> list[Preset]:
    """The presets whose sampler is registered."""
    return [preset for preset in PRESETS if preset.sampler is None or preset.sampler in samplers]
