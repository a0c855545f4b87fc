"""What the menu "Take away" does: files of what is on the page, and a configuration brought back."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

from app.exports import config_json, netcdf, python_code, result_csv, trace_csv
from app.sweep import SweepPoints
from app.takeaway_desk import TakeawayDesk
from app.takeaway_menu import TakeawayMenu
from app.takeaway_read import PageConfig, read_file
from llc_core import Estimate, RunConfig
from llc_core.explain import Explanation

NAME = "llc_run"


class Takeaway(TakeawayDesk):
    """apply: called with a `PageConfig` that has been checked as a whole, and may raise ValueError.

    sweep, why: the points of the page's sweep and its split of the error, or None.
    """

    def __init__(
        self,
        apply: Callable[[PageConfig], None],
        sweep: Callable[[], SweepPoints | None],
        why: Callable[[], Explanation | None],
    ):
        super().__init__(TakeawayMenu(margin=0), read_file, apply)
        self._sweep, self._why = sweep, why
        self._config: RunConfig | None = None
        self._estimate: Estimate | None = None

    def show(self, config: RunConfig) -> None:
        """The page runs this now."""
        self._config, self._estimate = config, None
        self.menu.param.update(code=python_code(config), configuration=config_json(config))

    def update(self, estimate: Estimate | None) -> None:
        if estimate is not None:
            self._estimate = estimate

    def content(self, key: str) -> tuple[str, str | bytes]:
        """(file name, content) of a file of FILES; ValueError where there is nothing to put into it yet."""
        if self._config is not None and key in ("config", "python"):
            return (f"{NAME}.json", self.menu.configuration) if key == "config" else (f"{NAME}.py", self.menu.code)
        if key == "sweep":
            found = self._sweep()
            if found is None or not len(found.values):
                raise ValueError("There is no sweep yet; press “Sweep” first.")
            return f"llc_sweep_{found.field}.csv", sweep_csv(found)
        if key == "why":
            split = self._why()
            if split is None or not split.parts:
                raise ValueError("The error has not been split yet; press “Explain” first.")
            return "llc_error_split.csv", why_csv(split)
        if self._estimate is None:
            raise ValueError("There is nothing to save yet; wait for the first estimate.")
        if key == "netcdf":
            return f"{NAME}.nc", netcdf(self._estimate)
        makers = {"traces": trace_csv, "results": result_csv}
        return f"{NAME}_{key}.csv", makers[key](self._estimate)


def sweep_csv(found: SweepPoints) -> str:
    """One row for each value of the swept field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([found.field, "llc", "llc_se", "expected_llc", "relative_error", "dead_share", "verdict"])
    columns = (found.values, found.llc, found.se, found.expected, found.error, found.dead)
    for row in zip(*(column.tolist() for column in columns), found.verdicts, strict=True):
        writer.writerow(row)
    return text.getvalue()


def why_csv(found: Explanation) -> str:
    """One row for each measured part of the error; they add up to the last row."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["part", "value", "se", "sentence", "how"])
    for part in found.parts:
        writer.writerow([" + ".join(part.causes), part.value, part.se, part.sentence, part.how])
    writer.writerow(
        ["sum", found.total, found.total_se, f"llc {found.llc} minus {found.truth_label} {found.truth}", ""]
    )
    return text.getvalue()
