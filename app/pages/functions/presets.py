"""One click from an interesting run. Each preset teaches one thing; the sentences state what was measured on this page."""

from __future__ import annotations

from typing import Any

from app.pages.functions.config import ACROSS, DEEP, KIND, LANGEVIN, UNDERDAMPED, FunctionsConfig
from app.pages.preset import Preset


def _network(width: int = 20, **changes: Any) -> dict[str, Any]:
    return {"kind": KIND, "widths": [1, width, width, 1], "data": {"name": "wave", "n": 7, "seed": 0}, **changes}


def _case(kind: str, step_size: float, steps: int) -> dict[str, Any]:
    return {"problem": {"kind": kind}, "sampler": {"name": LANGEVIN, "step_size": step_size}, "steps": steps}


def printed_step(width: int, points: int = 7) -> float:
    """The paper's step is h = 0.025/(nH) with noise √(2h); this engine's is ε = 2h."""
    return 2 * 0.025 / (points * width)


class FunctionsPreset(Preset):
    of = FunctionsConfig


PRESETS = (
    FunctionsPreset(
        "same",
        "Same function, other weights",
        "The networks agree on the curve long before they agree on their weights. Their band is the exact one.",
    ),
    FunctionsPreset(
        "paper",
        "The paper's sampler",
        "MALA with the printed step: after 3,000 iterations its chains agree neither on weights nor on the function.",
        {
            "problem": _network(),
            "sampler": {"name": "MALA", "step_size": printed_step(20)},
            "steps": 3_000,
            "band": ACROSS,
        },
    ),
    FunctionsPreset(
        "figure4",
        "Figure 4: three layers",
        "Three hidden layers, and half of the printed step. After 3,000 iterations R-hat of functions is 1.4, of "
        "weights 2.5. Widths go up to 500, as in the paper.",
        {
            "problem": {**_network(), "widths": [1, 20, 20, 20, 1]},
            "sampler": {"name": "MALA", "step_size": printed_step(20) / 2},
            "steps": 3_000,
            "band": ACROSS,
        },
    ),
    FunctionsPreset(
        "wider",
        "Wider",
        "Eighty neurons a layer: at x = −1 the exact mean is 0.75 sd from the Gaussian process. At twenty "
        "neurons it is 2.5 sd.",
        {"problem": _network(80), "sampler": {"name": "CollapsedPCN"}},
    ),
    FunctionsPreset(
        "printed",
        "Printed step, variance 0.01",
        "The printed step with a noise variance of 0.01: nothing is accepted, and every chain stays where it began.",
        {
            "problem": _network(noise_variance=0.01),
            "sampler": {"name": "MALA", "step_size": printed_step(20)},
            "steps": 1_000,
            "band": ACROSS,
        },
    ),
    FunctionsPreset(
        "torus",
        "Torus",
        "Chains begin in 201 cells and never meet as weights, but as functions they do. Particles that repel collapse.",
        _case("torus", 4e-4, 6_000),
    ),
    FunctionsPreset(
        "sorting",
        "Sorting",
        "Three neurons that can be exchanged: sorted weights are the function, and their own chain takes the very same path.",
        _case("sorting", 0.002, 6_000),
    ),
    FunctionsPreset(
        "linear",
        "Linear",
        "Twelve weights, four values: the chain of the four, which never saw the weights, takes the very same path.",
        _case("linear", 0.004, 2_000),
    ),
    FunctionsPreset(
        "llc",
        "λ̂ does not care",
        "A deep linear network. R-hat of single weights stays near 2.5, while the loss agrees and λ̂ has "
        "settled at 28.4.",
        {"problem": {"kind": DEEP}, "sampler": {"name": UNDERDAMPED}, "chains": 8, "steps": 4_000},
    ),
)
