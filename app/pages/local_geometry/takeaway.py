"""What the menu "Export" does: files of what is on the page, and a configuration brought back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.pages.local_geometry.panels.sweep.points import SweepPoints
from app.sharing.desk import EstimateDesk
from app.sharing.exports import config_json, python_code
from app.sharing.reading import PageConfig
from llc_core.studies.explain.parts import Explanation
from llc_core.sweeps.csv_tables import table_csv

NAME = "llc_run"
FILES = {"sweep": "Sweep (CSV)", "why": "Error split (CSV)"}
FIGURES = {
    "losses": "Loss traces",
    "estimates": "Running estimate",
    "sweep_figure": "Sweep",
    "sweep_dead": "Sweep: diverged chains",
    "Error split": "Error split",
    "Number line": "Number line",
    "Network of": "Network",
}
"""Bokeh figures by their name; drawings by the first words of their description."""


class Takeaway(EstimateDesk):
    """apply: called with the content of a configuration file; may raise ValueError.

    sweep, why: the points of the page's sweep and its split of the error, or None.
    """

    def __init__(
        self,
        apply: Callable[[Any], None],
        sweep: Callable[[], SweepPoints | None],
        why: Callable[[], Explanation | None],
    ):
        super().__init__(NAME, FILES, FIGURES, apply)
        self._sweep, self._why = sweep, why

    def show(self, config: PageConfig) -> None:
        self.begin(python_code(config.complete), config_json(config.complete))

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
