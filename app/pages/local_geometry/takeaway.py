"""What the menu "Take away" does: files of what is on the page, and a configuration brought back."""

from __future__ import annotations

from collections.abc import Callable

from app.pages.local_geometry.config import get_problem
from app.pages.local_geometry.panels.sweep.job import SweepPoints
from app.sharing.desk import EstimateDesk
from app.sharing.exports import config_json, python_code
from app.sharing.reading import MAX_CHARACTERS, PageConfig, page_config, refuse_unoffered
from app.sharing.takeaway_menu import TakeawayMenu
from llc_core import RunConfig
from llc_core.studies.explain.parts import Explanation
from llc_core.sweeps.csv_tables import table_csv

NAME = "llc_run"


class Takeaway(EstimateDesk):
    """apply: called with a `PageConfig` that has been checked as a whole, and may raise ValueError.

    sweep, why: the points of the page's sweep and its split of the error, or None.
    """

    def __init__(
        self,
        apply: Callable[[PageConfig], None],
        sweep: Callable[[], SweepPoints | None],
        why: Callable[[], Explanation | None],
    ):
        super().__init__(NAME, TakeawayMenu(files=FILES, figures=FIGURES, margin=0), read_file, apply)
        self._sweep, self._why = sweep, why

    def show(self, config: RunConfig) -> None:
        """The page runs this now."""
        self.begin(python_code(config), config_json(config))

    def own(self, key: str) -> tuple[str, str]:
        if key == "sweep":
            found = self._sweep()
            if found is None or not len(found.values):
                raise ValueError("There is no sweep yet; press “Sweep” first.")
            return f"llc_sweep_{found.field}.csv", sweep_csv(found)
        split = self._why()
        if split is None or not split.parts:
            raise ValueError("The error has not been split yet; press “Explain” first.")
        return "llc_error_split.csv", why_csv(split)


def sweep_csv(found: SweepPoints) -> str:
    """One row for each value of the swept field."""
    columns = (found.values, found.llc, found.se, found.expected, found.error, found.dead)
    return table_csv(
        [found.field, "llc", "llc_se", "expected_llc", "relative_error", "dead_share", "verdict"],
        zip(*(column.tolist() for column in columns), found.verdicts, strict=True),
    )


def why_csv(found: Explanation) -> str:
    """One row for each measured part of the error; they add up to the last row."""
    rows = [(" + ".join(part.causes), part.value, part.se, part.sentence, part.how) for part in found.parts]
    told = f"llc {found.llc} minus {found.truth_label} {found.truth}"
    return table_csv(
        ["part", "value", "se", "sentence", "how"], [*rows, ("sum", found.total, found.total_se, told, "")]
    )


FILES = [
    {"key": "traces", "label": "Traces (CSV)"},
    {"key": "results", "label": "Results (CSV)"},
    {"key": "netcdf", "label": "Everything (NetCDF)"},
    {"key": "sweep", "label": "Sweep (CSV)"},
    {"key": "why", "label": "Error split (CSV)"},
    {"key": "config", "label": "Configuration (JSON)"},
    {"key": "python", "label": "Python script"},
]


FIGURES = [
    {"name": "losses", "label": "Loss traces"},
    {"name": "estimates", "label": "Running estimate"},
    {"name": "sweep_figure", "label": "Sweep"},
    {"name": "sweep_dead", "label": "Sweep: dead chains"},
    {"name": "Error split", "label": "Error split"},
    {"name": "Number line", "label": "Number line"},
    {"name": "Network of", "label": "Network"},
]
"""Bokeh figures by their name; drawings by the first words of their description."""


def read_file(text: str) -> PageConfig:
    """The content of a configuration file; ValueError with one sentence for anything that cannot be run here."""
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"This file has {len(text):,} characters; a run configuration has at most {MAX_CHARACTERS:,}.")
    return read_config(RunConfig.from_json(text))


def read_config(config: RunConfig) -> PageConfig:
    """What the page has to show for `config`; ValueError as `read_file`."""
    kind = config.problem.get("kind")
    if kind is None:
        raise ValueError('problem is missing; name a network such as {"kind": "dln", "widths": [4, 3, 4]}.')
    if kind != "dln":
        raise ValueError(f"problem is of kind {kind!r}; this page runs deep linear networks, kind 'dln'.")
    refuse_unoffered(config)
    return page_config(config, get_problem(config.problem))
