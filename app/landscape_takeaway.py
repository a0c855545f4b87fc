"""What a visitor can take away from the page "Landscapes", and bring back to it."""

from __future__ import annotations

from collections.abc import Callable

from app.exports import config_json, netcdf, python_code, result_csv, trace_csv
from app.landscape_config import read_file
from app.landscape_points import PointsProgress, points_csv
from app.landscape_volume import volume_csv
from app.takeaway_desk import TakeawayDesk
from app.takeaway_menu import TakeawayMenu
from app.takeaway_read import PageConfig
from llc_core import Estimate, RunConfig, VolumeScaling

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


class LandscapeTakeaway(TakeawayDesk):
    """apply: called with a configuration that has been checked as a whole.  volume, points: what the panels show."""

    def __init__(
        self,
        apply: Callable[[PageConfig], None],
        volume: Callable[[], VolumeScaling | None],
        points: Callable[[], PointsProgress | None],
    ):
        super().__init__(TakeawayMenu(files=FILES, figures=FIGURES, margin=0), read_file, apply)
        self._volume, self._points = volume, points
        self._estimate: Estimate | None = None

    def show(self, config: RunConfig) -> None:
        """The page runs this now."""
        self._estimate = None
        self.menu.param.update(code=python_code(config), configuration=config_json(config))

    def update(self, estimate: Estimate | None) -> None:
        if estimate is not None:
            self._estimate = estimate

    def content(self, key: str) -> tuple[str, str | bytes]:
        """(file name, content) of a file of FILES; ValueError where there is nothing to put into it yet."""
        if key in ("config", "python"):
            return (f"{NAME}.json", self.menu.configuration) if key == "config" else (f"{NAME}.py", self.menu.code)
        if key == "volume":
            curve = self._volume()
            if curve is None:
                raise ValueError("The volumes are still being worked out; try again in a moment.")
            return f"{NAME}_volume.csv", volume_csv(curve)
        if key == "points":
            found = self._points()
            if found is None:
                raise ValueError("U and V have not been compared yet; press “Run U and V” first.")
            return f"{NAME}_points.csv", points_csv(found)
        if self._estimate is None:
            raise ValueError("There is nothing to save yet; wait for the first estimate.")
        if key == "netcdf":
            return f"{NAME}.nc", netcdf(self._estimate)
        makers = {"traces": trace_csv, "results": result_csv}
        return f"{NAME}_{key}.csv", makers[key](self._estimate)
