"""The fields of each method on the page "Many modes": what each takes, and what it says of itself."""

from __future__ import annotations

from typing import Any

from app.controls.fields import ChoiceField, Field, NumberField
from app.pages.many_modes.config import MAX_BINS, MAX_CHAINS, MAX_GRADIENTS, MAX_LEVELS, MAX_PARTICLES, MAX_PERIOD
from llc_core.fields import Hyper


def number_field(
    name: str, about: Hyper, value: Any, label: str, span: tuple[float, float] | None = None, whole: bool = False
) -> NumberField:
    return NumberField(name, about, value, label=label, span=span, integer=whole)


def _step_size() -> NumberField:
    about = Hyper(1e-8, 1.0, log=True, help="Size of one step; of the coldest level, and of a cycle its largest.")
    return number_field("step_size", about, 6e-3, "Step size ε", (1e-4, 0.1))


def _chains() -> NumberField:
    about = Hyper(1, MAX_CHAINS, help="Chains of one trial. Each costs a gradient at every step.")
    return number_field("chains", about, 5, "Chains", (1, MAX_CHAINS), whole=True)


def method_fields(method: str) -> tuple[dict[str, Field], dict[str, Field]]:
    """New fields of a method: those that are seen at once, and those that are folded."""
    if method == "Contour":
        zeta = Hyper(0.0, 3.0, help="How flat the energy is made: 0 not at all, 1 so that all bins are visited alike.")
        clip = Hyper(0.0, 1000.0, help="The multiplier stays within ± this; 0: it is not bounded.")
        bins = Hyper(2, MAX_BINS, help="Bins of the energy, each with its own θ.")
        pilot = Hyper(
            0, MAX_GRADIENTS, help="First steps that do not flatten, from whose visits θ begins; 0: uniform θ."
        )
        rate = Hyper(0.0, 0.5, help="Largest step of θ; 0 leaves it as it begins.")
        sign = Hyper(choices=("backward", "forward"), help="Which neighbour the slope of log θ takes.")
        power = Hyper(choices=("new", "old"), help="Weight of an update of θ: θ(J), or θ(J) to the power ζ.")
        return (
            {
                "zeta": number_field("zeta", zeta, 0.75, "Flatness ζ", (0.0, 1.5)),
                "chains": _chains(),
                "step_size": _step_size(),
            },
            {
                "pilot": number_field("pilot", pilot, 4000, "Pilot steps", (0, 20_000), whole=True),
                "bins": number_field("bins", bins, 100, "Bins of the energy", (10, 400), whole=True),
                "clip": number_field("clip", clip, 0.0, "Clip the multiplier", (0.0, 50.0)),
                "rate": number_field("rate", rate, 3e-3, "Step of θ, ω", (0.0, 0.02)),
                "difference": ChoiceField("difference", sign, "backward", label="Difference"),
                "field": ChoiceField("field", power, "new", label="Field"),
            },
        )
    if method == "ReplicaExchange":
        levels = Hyper(
            2, MAX_LEVELS, help="Levels of the ladder, geometric from 1 to the hottest. Each costs a gradient a step."
        )
        hottest = Hyper(1.01, 1e6, log=True, help="Temperature of the last level.")
        interval = Hyper(1, 100_000, log=True, help="Steps between swaps.")
        power = Hyper(0.0, 4.0, help="The step size of a level is ε·T to this power.")
        first = Hyper(
            0.0, 1e9, help="Variance of the energy's noise that swaps are corrected for at first; 0: no correction."
        )
        true = Hyper(0.0, 1e9, help="What the correction tends to.")
        return (
            {
                "levels": number_field("levels", levels, 3, "Levels", (2, MAX_LEVELS), whole=True),
                "hottest": number_field("hottest", hottest, 12.0, "Hottest temperature", (1.5, 100.0)),
                "step_size": _step_size(),
            },
            {
                "interval": number_field("interval", interval, 1, "Steps between swaps", (1, 1000), whole=True),
                "step_power": number_field("step_power", power, 2.0, "Step grows with T to the power", (0.0, 2.0)),
                "correction": number_field("correction", first, 0.0, "Correction at first", (0.0, 40.0)),
                "energy_variance": number_field("energy_variance", true, 0.0, "Correction in the end", (0.0, 1.0)),
            },
        )
    if method == "Cyclical":
        length = Hyper(2, MAX_PERIOD, log=True, help="Steps of a cycle, over which the step size falls to 0.")
        keep = Hyper(0.01, 1.0, help="States count where the step is below this share of the largest.")
        return (
            {
                "length": number_field("length", length, 40_000, "Steps of a cycle", (100, MAX_PERIOD), whole=True),
                "step_size": _step_size(),
            },
            {"keep": number_field("keep", keep, 0.9, "Counted below this share", (0.01, 1.0)), "chains": _chains()},
        )
    if method == "SteinVariational":
        count = Hyper(2, MAX_PARTICLES, help="Particles of one trial. Each costs a gradient at every step.")
        noise = Hyper(0.0, 100.0, help="Temperature of the noise beside the force of all; 0: none, which is SVGD.")
        spread = Hyper(0.01, 100.0, help="Standard deviation of the places where the particles begin.")
        width = Hyper(0.0, 1e6, help="Width h of the kernel; 0: from the median distance.")
        return (
            {
                "chains": number_field("chains", count, 100, "Particles", (2, MAX_PARTICLES), whole=True),
                "temperature": number_field("temperature", noise, 0.0, "Noise τ", (0.0, 1.0)),
                "step_size": _step_size(),
            },
            {
                "spread": number_field("spread", spread, 2.0, "Spread at first", (0.1, 3.0)),
                "bandwidth": number_field("bandwidth", width, 0.0, "Width of the kernel", (0.0, 5.0)),
            },
        )
    return {"chains": _chains(), "step_size": _step_size()}, {}
