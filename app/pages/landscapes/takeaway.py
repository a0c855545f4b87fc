"""What a visitor can take away from the page "Landscapes", and bring back to it."""

from __future__ import annotations

from collections.abc import Callable

from app.pages.landscapes.config import described, get_landscape
from app.pages.landscapes.panels.points import PointsProgress, points_csv
from app.pages.landscapes.panels.volume import volume_csv
from app.sharing.desk import EstimateDesk
from app.sharing.exports import config_json, python_code
from app.sharing.reading import MAX_CHARACTERS, PageConfig, page_config, refuse_unoffered
from app.sharing.takeaway_menu import TakeawayMenu
from llc_core import RunConfig, VolumeScaling

NAME = "landscape"
FILES = [
    {"key": "traces", "label": "Traces (CSV)"},
    {"key": "results", "label": "Results (CSV)"},
    {"key": "netcdf", "label": "Everything (NetCDF)"},
    {"key": "volume", "label": "Volume scaling (CSV)"},
    {"key": "points", "label": "U against V (CSV)"},
    {"key": "config", "label": "Configuration (JSON)"},
    {"key": "python", "label": "Python script"},
]
FIGURES = [
    {"name": "plane", "label": "The plane"},
    {"name": "estimates", "label": "Running estimate"},
    {"name": "losses", "label": "Loss traces"},
    {"name": "volume_figure", "label": "Volume scaling"},
    {"name": "points_figure", "label": "U against V"},
]


class LandscapeTakeaway(EstimateDesk):
    """apply: called with a configuration that has been checked as a whole.  volume, points: what the panels show."""

    def __init__(
        self,
        apply: Callable[[PageConfig], None],
        volume: Callable[[], VolumeScaling | None],
        points: Callable[[], PointsProgress | None],
    ):
        super().__init__(NAME, TakeawayMenu(files=FILES, figures=FIGURES, margin=0), read_file, apply)
        self._volume, self._points = volume, points

    def show(self, config: RunConfig) -> None:
        """The page runs this now."""
        self.begin(python_code(config), config_json(config))

    def own(self, key: str) -> tuple[str, str]:
        if key == "volume":
            curve = self._volume()
            if curve is None:
                raise ValueError("The volumes are still being worked out; try again in a moment.")
            return f"{NAME}_volume.csv", volume_csv(curve)
        found = self._points()
        if found is None:
            raise ValueError("U and V have not been compared yet; press “Run U and V” first.")
        return f"{NAME}_points.csv", points_csv(found)


def read_config(config: RunConfig) -> PageConfig:
    """What the page has to show for `config`; ValueError with one sentence for anything that cannot be run here."""
    kind = config.problem.get("kind")
    if kind != "planar":
        named = "missing" if kind is None else f"of kind {kind!r}"
        raise ValueError(f"problem is {named}; this page runs planar landscapes, kind 'planar'.")
    refuse_unoffered(config)
    if config.gradient not in (None, "full"):
        raise ValueError(f"gradient is {config.gradient!r}; planar landscapes have full gradients only.")
    settings = page_config(config, get_landscape(config.problem)).settings
    return PageConfig(described(config.problem), settings)


def read_file(text: str) -> PageConfig:
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"This file has {len(text):,} characters; a run configuration has at most {MAX_CHARACTERS:,}.")
    return read_config(RunConfig.from_json(text))
