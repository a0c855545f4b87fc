"""What one comparison on the page "Many modes" is made of: an energy, two ways to move chains, and how many gradients each gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llc_core.config import json_table
from llc_core.fields import Settings, check_hyper, hyper, hyper_fields, known_keys, short, whole
from llc_core.interactions import Contour, Interaction, ReplicaExchange, SteinVariational
from llc_core.interactions.registry import build, interactions
from llc_core.potentials.plane.surfaces import Surface, surface

SIDES = ("left", "right")
MAX_PARTICLES, MAX_PAIRS = 200, 400_000
"""Of one trial, and pairs of them in all trials: each pair takes time and memory at every step."""
MAX_GRADIENTS, MAX_TRIALS, MAX_CHAINS, MAX_LEVELS, MAX_BINS, MAX_PERIOD = 20_000_000, 64, 20, 12, 1000, 200_000
CELLS, FINE = 5, 50
"""Cells along each axis: of the comparison with the exact masses, and of the picture of the density."""
FIRST_STEPS = 1000
"""Steps that do not count, after the pilot where there is one; as in `lab.benchmarks.accuracy.modes.many_modes`."""
TWO_BASINS = "two_basins"
"""The surface whose line of minima (λ = ½) competes with a point (λ = ¼)."""
CROSS = ((0.0, -1.0), (0.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (1.0, 0.0))
CORNER = (2.0, 2.0)
"""Starts of several chains, and of a single one (Deng et al. 2022); a ladder begins at the deepest mode."""


def contour(**more: Any) -> dict[str, Any]:
    """ICSGLD as in Deng et al. 2022, section 5.2: five chains, θ from a pilot of 4,000 steps, and it goes on learning."""
    own = {"name": "Contour", "low": -1.0, "high": 11.4945, "pilot": 4000, "freeze": "never", **more}
    return {"interaction": own, "step_size": 6e-3, "chains": 5}


def ladder(temperatures: tuple[float, ...] = (1.0, 3.46, 12.0), step_size: float = 4e-3, **more: Any) -> dict[str, Any]:
    """Replica exchange whose steps grow with T²: hot levels cross the barriers in few of them."""
    own = {"name": "ReplicaExchange", "temperatures": list(temperatures), "step_power": 2.0, **more}
    return {"interaction": own, "step_size": step_size, "chains": len(temperatures)}


def alone(chains: int = 5, step_size: float = 6e-3) -> dict[str, Any]:
    return {"interaction": None, "step_size": step_size, "chains": chains}


def cyclical(length: int = 40_000, step_size: float = 2e-2) -> dict[str, Any]:
    return {"interaction": {"name": "Cyclical", "length": length}, "step_size": step_size, "chains": 1}


def particles(temperature: float = 0.0, chains: int = 100, step_size: float = 0.05) -> dict[str, Any]:
    """Particles that push each other apart: SVGD without noise, SPOS with it."""
    own = {"name": "SteinVariational", "temperature": temperature, "spread": 2.0}
    return {"interaction": own, "step_size": step_size, "chains": chains}


OFFERED = ("Contour", "ReplicaExchange", "Cyclical", "SteinVariational")


@dataclass(frozen=True)
class OneSide(Settings):
    """What one side takes beside its interaction."""

    step_size: float = hyper(
        6e-3, 1e-8, 1.0, log=True, help="Size of one step; of the coldest level, and of a cycle its largest."
    )
    chains: int = hyper(5, 1, MAX_CHAINS, help="Chains of one trial. Each costs a gradient at every step.")


def _side(side: str, given: Any) -> dict[str, Any]:
    """One side, complete and checked."""
    given = json_table(side, given)
    known_keys(side, given, ("interaction", "step_size", "chains"))
    usual = OneSide()
    step_size = check_hyper(
        side, "step_size", given.get("step_size", usual.step_size), hyper_fields(OneSide)["step_size"]
    )
    own = given.get("interaction")
    if own is not None:
        _priced(side, own)
    made = None if own is None else build(own)
    stein = isinstance(made, SteinVariational)
    least, most = (2, MAX_PARTICLES) if stein else (1, MAX_CHAINS)
    chains = whole(f"{side}.chains", given.get("chains", 100 if stein else usual.chains), least, most)
    if made is None:
        return {"interaction": None, "step_size": step_size, "chains": chains}
    if made.name not in OFFERED:
        raise ValueError(
            f"{side}.interaction is {made.label}, which this page does not run; choose one of {', '.join(OFFERED)}."
        )
    if isinstance(made, Contour | SteinVariational) and made.members not in (0, chains):
        raise ValueError(
            f"{side}.interaction.members is {made.members}; here all {chains} chains are one group: use 0."
        )
    described = made.to_dict()
    if isinstance(made, ReplicaExchange):
        chains = len(made.temperatures)
        described["hottest"] = made.temperatures[-1]  # what it was made from is no part of it
    return {"interaction": described, "step_size": step_size, "chains": chains}


def _surface(label: str, given: Any) -> dict[str, Any]:
    made = surface(json_table(label, given))
    if made.box is None:
        raise ValueError("surface.box is null; this page counts cells within a box: give a number such as 2.5.")
    return {key: value for key, value in made.to_dict().items() if key != "kind"}


def _priced(side: str, own: Any) -> None:
    """Refuse what would take long or much memory, before it is made."""
    if not isinstance(own, Mapping):
        raise ValueError(f"{side}.interaction is {short(own)}; give a table with a name, or null.")
    name = own.get("name")
    if not isinstance(name, str) or name not in interactions():
        raise ValueError(f"Unknown interaction {short(name)}; choose one of {', '.join(OFFERED)}.")
    for key, most in (("bins", MAX_BINS), ("levels", MAX_LEVELS), ("length", MAX_PERIOD), ("pilot", MAX_GRADIENTS)):
        if key in own:
            whole(f"{side}.interaction.{key}", own[key], 0, most)
    rungs = own.get("temperatures", ())
    if not isinstance(rungs, str) and hasattr(rungs, "__len__") and len(rungs) > MAX_LEVELS:
        raise ValueError(
            f"{side}.interaction.temperatures has {len(rungs)} entries; this page takes up to {MAX_LEVELS}."
        )
    if not isinstance(own.get("theta", []), list | tuple) or len(own.get("theta", [])) > MAX_BINS:
        raise ValueError(f"{side}.interaction.theta must be a list of at most {MAX_BINS} numbers.")


@dataclass(frozen=True)
class ModesConfig(Settings):
    """JSON-able; equal configurations give equal numbers.

    surface: what `llc_core.surface` takes, within a box.  left, right: {"interaction": a description or None, "step_size", "chains"};
    all are moved by SGLD.  gradients: of one trial on each side.  trials: independent repetitions of each side.
    Raises ValueError with a sentence for the user.
    """

    what = "comparison"

    surface: Mapping[str, Any] = hyper(lambda: {"name": "modes25", "noise": 0.25}, read=_surface)
    left: Mapping[str, Any] = hyper(contour, read=_side)
    right: Mapping[str, Any] = hyper(ladder, read=_side)
    gradients: int = hyper(
        400_000, 20_000, MAX_GRADIENTS, log=True, help="Of one trial on each side, all its chains together."
    )
    trials: int = hyper(
        16,
        1,
        MAX_TRIALS,
        help="Independent repetitions of each side; the first one is watched, the curves are medians of all.",
    )
    seed: int = hyper(0, 0, 10**9, help="Seed of the chains' noise.")

    def agree(self) -> None:
        for side in SIDES:
            own = getattr(self, side)
            pairs = self.trials * own["chains"] ** 2
            if (own["interaction"] or {}).get("name") == "SteinVariational" and pairs > MAX_PAIRS:
                raise ValueError(
                    f"{self.trials} trials of {own['chains']} particles are {pairs:,} pairs; this page takes up to {MAX_PAIRS:,}: "
                    "use fewer trials or particles."
                )

    def made(self, side: str) -> Interaction | None:
        """The interaction of one side; None: its chains do not see each other."""
        own = getattr(self, side)["interaction"]
        return None if own is None else build(own)

    @property
    def target(self) -> Surface:
        return surface(self.surface)

    def chains(self, side: str) -> int:
        """Of one trial; the levels of a ladder are its chains."""
        return int(getattr(self, side)["chains"])

    def steps(self, side: str) -> int:
        """Of each chain: so many that both sides spend the same number of gradients, but for less than one step."""
        return self.gradients // self.chains(side)

    def first_counted(self, side: str) -> int:
        """The step from which places count."""
        pilot = int(getattr(self.made(side), "pilot", 0))
        return min(pilot + FIRST_STEPS, self.steps(side) // 2)

    def starts(self, side: str) -> list[tuple[float, float]] | None:
        """Where the chains begin; None: all at w0."""
        made, chains = self.made(side), self.chains(side)
        if self.surface["name"] != "modes25" or isinstance(made, ReplicaExchange | SteinVariational):
            return None
        return [CORNER] if chains == 1 else [CROSS[k % len(CROSS)] for k in range(chains)]

    @property
    def memory(self) -> float:
        """Bytes that the run takes, with the copies of what is shown."""
        total = 0.0
        for side in SIDES:
            made, chains = self.made(side), self.chains(side)
            shared = 2 * getattr(made, "bins", 0) + 8 * chains
            drawn = 512 * chains * (2 + 3 + 1 + 2 * (2 + 1 + 1 + 1))
            total += self.trials * (2 * FINE**2 + 3 * shared + drawn)
            if isinstance(made, SteinVariational):
                total += 14 * self.trials * chains**2
            total += 10 * chains * (made.period if made is not None else 1)
        return 8 * total
