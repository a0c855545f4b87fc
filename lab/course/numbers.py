"""The numbers that the notes name, each computed by the engine when the notes are written. None is typed into a note."""

from __future__ import annotations

import math
from fractions import Fraction

from scipy.integrate import quad
from scipy.optimize import brentq

from app.pages.landscapes.presets import PRESETS as LANDSCAPES
from app.pages.landscapes.scene import landscape_of, preset_config
from app.pages.local_geometry.presets import PRESETS as NETWORKS
from app.pages.stages.presets import PRESETS as STAIRCASES
from llc_core import DeepLinearNetwork, expected_noise, stages
from llc_core.potentials import build, superposition
from llc_core.potentials.polygons import even_samples

GAMMA = 1.0
"""Localisation of the runs that the notes speak of."""


def numbers() -> dict[str, str]:
    """What stands in braces in moments.toml."""
    return {
        **_coefficients(),
        **_landscapes(),
        **_rivals(),
        **_stages(),
        **_polygons(),
        "noise_share": f"{expected_noise(400).shares[0]:.0%}",
    }


def _fraction(value: Fraction | float) -> str:
    found = Fraction(value).limit_denominator(1000)
    return {Fraction(1, 2): "½", Fraction(15, 2): "7.5"}.get(found, f"{float(found):g}")


def _coefficients() -> dict[str, str]:
    networks = {preset.name: _network(preset.problem) for preset in NETWORKS}
    wide = next(preset for preset in STAIRCASES if preset.name == "wide").config
    local = networks["local"]
    return {
        "half_log_million": f"{0.5 * math.log(1e6):.1f}",
        "tiny": _fraction(networks["tiny"].local_learning_coefficient.value),
        "local_888": _fraction(local.local_learning_coefficient.value),
        "global_888": _fraction(local.learning_coefficient.value),
        "regular_low": f"{networks['regular'].expected_llc_of_data(1e3, GAMMA):.1f}",
        "regular_high": f"{networks['regular'].expected_llc_of_data(1e6, GAMMA):.0f}",
        "wide": _fraction(Fraction(wide.widths[0] * wide.widths[-1], 2)),
    }


def _network(description: dict[str, object]) -> DeepLinearNetwork:
    found = build(description)
    assert isinstance(found, DeepLinearNetwork)
    return found


def _landscapes() -> dict[str, str]:
    found = {}
    for preset, key in (("crossing", "crossing_thousand"), ("many", "crossing_hundred_thousand")):
        config = preset_config(next(each for each in LANDSCAPES if each.name == preset))
        complete = config.complete
        found[key] = f"{landscape_of(config).expected_llc_at(complete.n_beta, complete.localization):.2f}"
    shapes = [next(each for each in LANDSCAPES if each.name == name) for name in ("regular", "line")]
    bowl, floor = (landscape_of(preset_config(preset)) for preset in shapes)
    return {
        **found,
        "bowl": _fraction(bowl.local_learning_coefficient.value),
        "flat": _fraction(floor.local_learning_coefficient.value),
    }


WORSE = 10**-2.3
"""The loss of B that the card on the page "Start" opens with."""


def _rivals() -> dict[str, str]:
    """What app/components/drawings/rivals_math.js says, by another quadrature."""

    def ahead(log_n: float) -> float:
        n = 10**log_n
        perfect = quad(lambda u: math.exp(-n * u * u), 0, 1, points=[min(0.5, 3 / n**0.5)])[0]
        broad = quad(lambda u: math.exp(-n * (1 - WORSE) * u**6), 0, 1)[0]
        return math.log(broad / perfect) - n * WORSE

    turn = 10 ** brentq(ahead, 2, 5)
    return {"share_hundred": f"{1 / (1 + math.exp(-ahead(2))):.0%}", "turn": f"{float(f'{turn:.2g}'):,.0f}"}


def _stages() -> dict[str, str]:
    two = next(preset for preset in STAIRCASES if preset.name == "two").config
    found = stages(two.widths, two.singular_values, seed=two.seed)
    return {"staircase": ", ".join(_fraction(stage.coefficient.value) for stage in found)}


def _polygons() -> dict[str, str]:
    five, six = superposition(5), superposition(6)
    turn = even_samples(five, six)
    assert turn is not None
    return {
        "pentagon": _fraction(five.local_learning_coefficient.value),
        "hexagon": _fraction(six.local_learning_coefficient.value),
        "corners": f"{turn:.0f}",
    }
