"""The fields of each method on the page "Many modes": what each takes, and what it says of itself."""

from __future__ import annotations

from functools import partial

from app.controls.fields import Field, NumberField, field_of
from app.pages.many_modes.config import (
    MAX_BINS,
    MAX_CHAINS,
    MAX_GRADIENTS,
    MAX_LEVELS,
    MAX_PARTICLES,
    MAX_PERIOD,
    OneSide,
)
from llc_core.interactions.registry import interactions

FLATNESS = (
    "How flat: 0 is no flattening, 1 visits all bins alike. A larger ζ wants larger energies: llc-lab paper "
    "002/appendix-b.1.3 runs the old and the new field up to ζ = 3,000,000."
)


def _step_size() -> NumberField:
    return field_of(OneSide, "step_size", "Step size ε", (1e-4, 0.1))


def _chains() -> NumberField:
    return field_of(OneSide, "chains", "Chains", (1, MAX_CHAINS))


def method_fields(method: str) -> tuple[dict[str, Field], dict[str, Field]]:
    """New fields of a method: those that are seen at once, and those that are folded."""
    own = partial(field_of, interactions().get(method))
    if method == "Contour":
        return (
            {
                "zeta": own("zeta", "Flatness ζ", (0.0, 1.5), high=3.0, help=FLATNESS),
                "chains": _chains(),
                "step_size": _step_size(),
            },
            {
                "pilot": own("pilot", "Pilot steps", (0, 20_000), high=MAX_GRADIENTS),
                "bins": own("bins", "Bins of the energy", (10, 400), high=MAX_BINS),
                "clip": own("clip", "Clip the multiplier", (0.0, 50.0), high=1000.0),
                "rate": own("rate", "Step of θ, ω", (0.0, 0.02)),
                "difference": own("difference"),
                "field": own("field"),
            },
        )
    if method == "ReplicaExchange":
        return (
            {
                "levels": own("levels", "Levels", (2, MAX_LEVELS), high=MAX_LEVELS),
                "hottest": own("hottest", "Hottest temperature", (1.5, 100.0), low=1.01, high=1e6),
                "step_size": _step_size(),
            },
            {
                "interval": own("interval", "Steps between swaps", (1, 1000), high=100_000),
                "step_power": own("step_power", "Step grows with T to the power", (0.0, 2.0)),
                "correction": own("correction", "Correction at first", (0.0, 40.0)),
                "energy_variance": own("energy_variance", "Correction in the end", (0.0, 1.0)),
            },
        )
    if method == "Cyclical":
        return (
            {
                "length": own("length", "Steps of a cycle", (100, MAX_PERIOD), high=MAX_PERIOD),
                "step_size": _step_size(),
            },
            {"keep": own("keep", "Counted below this share", (0.01, 1.0)), "chains": _chains()},
        )
    if method == "SteinVariational":
        many = {"low": 2, "high": MAX_PARTICLES, "help": "Particles of one trial. Each costs a gradient at every step."}
        return (
            {
                "chains": field_of(OneSide, "chains", "Particles", (2, MAX_PARTICLES), default=100, **many),
                "temperature": own("temperature", "Noise τ", (0.0, 1.0), high=100.0),
                "step_size": _step_size(),
            },
            {
                "spread": own("spread", "Spread at first", (0.1, 3.0), high=100.0),
                "bandwidth": own("bandwidth", "Width of the kernel", (0.0, 5.0), high=1e6),
            },
        )
    return {"chains": _chains(), "step_size": _step_size()}, {}
