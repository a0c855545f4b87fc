"""What is there before a chain moves: the energy, its exact masses by quadrature, and the exact θ of contour sampling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from json import dumps, loads

import numpy as np

from app.pages.many_modes.config import CELLS, SIDES, TWO_BASINS, ModesConfig
from app.runs.account import account
from app.runs.apart import only_unhurried
from app.runs.kept import Kept
from llc_core.interactions import Contour
from llc_core.plane import PlaneLaw, plane_law
from llc_core.potentials.plane.surfaces import surface

BYTES = 10 * 8 * 1000**2
"""A few arrays of the quadrature at a time."""
POINTS = 1000
"""Of the quadrature along each axis: masses of the 25 cells are right to 1e-7 of themselves."""
BETWEEN = 0.5
"""x between the point at the origin and the line at x = 1."""
LEVELS = 24
GROUND = 120
"""Points of the picture of the energy along each axis."""


@dataclass(frozen=True)
class Scene:
    """half: of the box's side.  masses: [5, 5] exact, first index along x.  ground: [120, 120] nβ·(U − min U), rows along y.

    line: on the surface of two basins nβ [N] and the exact mass of x > ½ at each, [2, N]; else empty.
    theta: of each side that samples contours the exact θ* [bins], without noise of the energy.
    """

    half: float
    masses: np.ndarray
    ground: np.ndarray
    theta: Mapping[str, np.ndarray]
    line: np.ndarray


def get_scene(config: ModesConfig) -> Scene:
    """On the event loop it may be `TakesLong`, see `app.runs.apart`."""
    text = dumps([config.surface, [_bins(config, side) for side in SIDES]], sort_keys=True)
    only_unhurried(text not in _scenes)
    return _scenes.get(text, partial(_made, config))


_scenes: Kept[Scene] = Kept(64)
_laws: Kept[PlaneLaw] = Kept(2)
_lines: Kept[np.ndarray] = Kept(16)


def _bins(config: ModesConfig, side: str) -> list[float | str] | None:
    made = config.made(side)
    return [made.low, made.high, made.bins, made.scale, made.zeta] if isinstance(made, Contour) else None


def _law(text: str) -> PlaneLaw:
    return plane_law(surface(loads(text)), points=POINTS)


def _made(config: ModesConfig) -> Scene:
    with account().room(BYTES, "This surface"):
        return _scene(config)


def _scene(config: ModesConfig) -> Scene:
    text = dumps(config.surface, sort_keys=True)
    law = _laws.get(text, partial(_law, text))
    target = config.target
    assert target.box is not None
    axis = target.box * ((np.arange(GROUND) + 0.5) * 2 / GROUND - 1)
    ground = target.n_beta * target.energy(axis[None, :], axis[:, None])
    theta = {}
    for side in SIDES:
        made = config.made(side)
        if isinstance(made, Contour) and made.zeta > 0:
            theta[side] = law.theta(made.edges, made.zeta)
    line = np.zeros((2, 0))
    if target.name == TWO_BASINS:
        line = _lines.get(text, partial(_line, law, target.n_beta))
    return Scene(target.box, law.cells(CELLS), ground - ground.min(), theta, line)


def _line(law: PlaneLaw, n_beta: float) -> np.ndarray:
    """The exact mass of x > ½ from 1/2,000 of n_beta up to n_beta."""
    levels = n_beta * np.geomspace(1 / 2000, 1, LEVELS)
    inside = law.axis > BETWEEN
    shares = []
    for level in levels:
        mass = np.exp(-law.energy * (level / n_beta))
        shares.append(mass[inside].sum() / mass.sum())
    return np.array([levels, shares])
