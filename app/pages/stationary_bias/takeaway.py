"""What a visitor can take away from the page "Stationary bias", and bring back to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

from app.pages.stationary_bias.config import SIDES, BiasConfig
from app.pages.stationary_bias.job import RECORD_EVERY, BiasEstimate, BiasProgress
from app.pages.stationary_bias.scene import Scene, get_scene
from app.sharing.desk import TakeawayDesk
from app.sharing.exports import config_json, literal
from app.sharing.reading import read_settings
from llc_core.sweeps.csv_tables import table_csv

NAME = "stationary_bias"
FILES = {"histogram": "Histograms and distributions (CSV)", "results": "Results (CSV)"}
FIGURES = {
    "law_left": "Left histogram",
    "law_right": "Right histogram",
    "metric_figure_left": "Left metric",
    "metric_figure_right": "Right metric",
    "distances": "Distances",
    "bias_curves": "Bias against ε",
    "llc_error_figure": "Errors of λ̂",
}


def python_code(config: BiasConfig) -> str:
    """A script that runs as pasted and gives the histograms of this configuration."""
    bins = get_scene(config).bins
    lines = [
        "from llc_core import Bins, simulate, stationary",
        "",
        f"target = {literal(dict(config.target))}",
        f"bins = Bins({bins.low!r}, {bins.high!r}, {bins.count})",
        "samplers = {",
        *(f"    {side!r}: {literal(dict(getattr(config, side)))}," for side in SIDES),
        "}",
        "for side, sampler in samplers.items():",
        "    found = simulate(",
        f"        sampler, target, chains={config.chains}, steps={config.steps}, burn_in={config.burn_in_steps},",
        f"        bins=bins, seed={config.seed}, step_decay={config.step_decay!r}, record_every={RECORD_EVERY},",
        "    )",
        "    to_target = stationary.total_variation(found.counts, stationary.target_masses(target, bins))",
        "    to_limit = stationary.total_variation(found.counts, stationary.masses(sampler, target, bins))",
        '    print(f"{side}: total variation to the target {to_target:.6f}, to the limit distribution {to_limit:.6f}")',
    ]
    return "\n".join(lines) + "\n"


def histogram_csv(scene: Scene, progress: BiasProgress) -> str:
    """One row per bin: its edges, and for both samplers the histogram, the target and the predicted distribution as densities."""
    bins = scene.bins
    columns: dict[str, Any] = {"low": bins.edges[:-1], "high": bins.edges[1:], "target": bins.density(scene.masses)}
    for side in SIDES:
        columns[f"{side}_histogram"] = progress.side(side).density()
        columns[f"{side}_predicted"] = bins.density(scene.side(side).masses)
    return table_csv(list(columns), zip(*(column.tolist() for column in columns.values()), strict=True))


def result_csv(estimate: BiasEstimate) -> str:
    left, right = asdict(estimate.left), asdict(estimate.right)
    return table_csv(["name", *SIDES], [(name, left[name], right[name]) for name in left])


class BiasTakeaway(TakeawayDesk):
    """apply: called with the configuration in a file; see `TakeawayDesk`."""

    def __init__(self, apply: Callable[[BiasConfig], str]):
        super().__init__(NAME, FILES, FIGURES, partial(read_settings, BiasConfig), apply)
        self._scene: Scene | None = None
        self._progress: BiasProgress | None = None
        self._estimate: BiasEstimate | None = None

    def show(self, config: BiasConfig, scene: Scene) -> None:
        """The page runs this now."""
        self._scene, self._progress, self._estimate = scene, None, None
        self.begin(python_code(config), config_json(config))

    def update(self, progress: BiasProgress | None, estimate: BiasEstimate | None) -> None:
        self._progress, self._estimate = progress, estimate

    def own(self, key: str) -> tuple[str, str]:
        self.refuse_answers()
        if self._scene is None or self._progress is None or self._estimate is None:
            raise ValueError("There is nothing to save yet; wait for the first counts.")
        content = histogram_csv(self._scene, self._progress) if key == "histogram" else result_csv(self._estimate)
        return f"{NAME}_{key}.csv", content
