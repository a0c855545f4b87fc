"""What a visitor can take away from the page "Many modes", and bring back to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from app.pages.many_modes.config import CELLS, FINE, SIDES, ModesConfig
from app.pages.many_modes.figures import COLUMNS
from app.pages.many_modes.job import ModesProgress
from app.pages.many_modes.scene import POINTS, Scene
from app.sharing.desk import TakeawayDesk
from app.sharing.exports import config_json, literal
from app.sharing.reading import read_settings
from llc_core.interactions import SteinVariational
from llc_core.sweeps.csv_tables import table_csv

NAME = "many_modes"
FILES = {"curves": "KL against gradients (CSV)", "cells": "Cells and exact masses (CSV)"}
FIGURES = {
    "plane_left": "Left chains",
    "plane_right": "Right chains",
    "cells_left": "Left cells",
    "cells_right": "Right cells",
    "kl_curves": "KL against gradients",
    "basin_curve": "Weight of the line",
    "theta_figure_left": "Left θ",
    "multiplier_figure_left": "Left multiplier",
    "index_figure_left": "Left index process",
    "refused_figure_left": "Left refused swaps",
    "theta_figure_right": "Right θ",
    "multiplier_figure_right": "Right multiplier",
    "index_figure_right": "Right index process",
    "refused_figure_right": "Right refused swaps",
}


def python_code(config: ModesConfig) -> str:
    """A script that runs as pasted and gives the KL of every trial of this configuration."""
    lines = [
        "import numpy as np",
        "",
        "from llc_core import SGLD, surface",
        "from llc_core.plane import ParticleRun, PlaneRun, kl_of_cells, plane_law",
        "",
        f"target = surface({literal(config.surface, 100, 8)})",
        f"exact = plane_law(target, points={POINTS}).cells({CELLS})",
        "sides = {",
    ]
    for side in SIDES:
        own = getattr(config, side)
        lines += [
            f"    {side!r}: dict(",
            f"        kind={'ParticleRun' if isinstance(config.made(side), SteinVariational) else 'PlaneRun'},",
            f"        sampler=SGLD(step_size={own['step_size']!r}),",
            f"        interaction={literal(own['interaction'], 100, 8)},",
            f"        chains={own['chains']}, steps={config.steps(side)}, count_from={config.first_counted(side)},",
            f"        starts={config.starts(side)!r},",
            "    ),",
        ]
    each = FINE // CELLS
    lines += [
        "}",
        "for side, own in sides.items():",
        f"    run = own.pop('kind')(target=target, trials={config.trials}, cells={FINE}, seed={config.seed}, **own)",
        "    counts = run.advance(run.total_steps).counts",
        f"    counts = counts.reshape(-1, {CELLS}, {each}, {CELLS}, {each}).sum(axis=(2, 4))",
        "    kl = kl_of_cells(exact, counts / counts.sum(axis=(1, 2), keepdims=True))",
        '    print(f"{side}: median KL {np.median(kl):.8f} of {len(kl)} trials, {run.steps_done * run.chains:,} gradients each")',
    ]
    return "\n".join(lines) + "\n"


def curves_csv(rows: np.ndarray) -> str:
    """rows: [T, 7], see `KlLog`."""
    return table_csv(["gradients", *(f"{name}_kl" for name in COLUMNS)], rows.tolist())


def cells_csv(scene: Scene, seen: ModesProgress) -> str:
    """One row per cell: its middle, its exact mass, and what the watched trial of each side found."""
    middle = scene.half * ((np.arange(CELLS) + 0.5) * 2 / CELLS - 1)
    x, y = np.meshgrid(middle, middle, indexing="ij")
    columns = [x, y, scene.masses, seen.left.masses(), seen.right.masses()]
    return table_csv(["x", "y", "exact", *SIDES], zip(*(column.ravel().tolist() for column in columns), strict=True))


class ModesTakeaway(TakeawayDesk):
    """apply: called with the configuration in a file; see `TakeawayDesk`."""

    def __init__(self, apply: Callable[[ModesConfig], str]):
        super().__init__(NAME, FILES, FIGURES, partial(read_settings, ModesConfig), apply)
        self._scene: Scene | None = None
        self._seen: ModesProgress | None = None
        self._rows: list[np.ndarray] = []

    def show(self, config: ModesConfig, scene: Scene) -> None:
        """The page runs this now."""
        self._scene, self._seen, self._rows = scene, None, []
        self.begin(python_code(config), config_json(config))

    def stream(self, rows: np.ndarray) -> None:
        self._rows.append(rows)

    def update(self, seen: ModesProgress | None) -> None:
        self._seen = seen

    def own(self, key: str) -> tuple[str, str]:
        self.refuse_answers()
        if self._scene is None or self._seen is None or not self._rows:
            raise ValueError("There is nothing to save yet; wait for the first counts.")
        content = curves_csv(np.concatenate(self._rows)) if key == "curves" else cells_csv(self._scene, self._seen)
        return f"{NAME}_{key}.csv", content
