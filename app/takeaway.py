"""What the menu "Take away" does: files of what is on the page, and a configuration brought back."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Callable

from app.errors import report
from app.exports import config_json, netcdf, python_code, result_csv, trace_csv
from app.sweep import SweepPoints
from app.takeaway_menu import TakeawayMenu
from app.takeaway_read import PageConfig, read_file
from llc_core import Estimate, RunConfig

NAME = "llc_run"


class Takeaway:
    """apply: called with a `PageConfig` that has been checked as a whole, and may raise ValueError.

    sweep: the points of the page's sweep, or None.
    """

    def __init__(self, apply: Callable[[PageConfig], None], sweep: Callable[[], SweepPoints | None]):
        self._apply, self._sweep = apply, sweep
        self._config: RunConfig | None = None
        self._estimate: Estimate | None = None
        self.menu = TakeawayMenu(margin=0)
        self.menu.on_want, self.menu.on_upload = self._on_want, self._on_upload

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
        if self._estimate is None:
            raise ValueError("There is nothing to save yet; wait for the first estimate.")
        if key == "netcdf":
            return f"{NAME}.nc", netcdf(self._estimate)
        makers = {"traces": trace_csv, "results": result_csv}
        return f"{NAME}_{key}.csv", makers[key](self._estimate)

    def _on_want(self, key: str) -> None:
        try:
            name, content = self.content(key)
        except ValueError as error:
            self.menu.say(str(error), bad=True)
        except Exception as error:
            self.menu.say("The file could not be made.", bad=True)
            report(error)
        else:
            is_text = isinstance(content, str)
            self.menu.save(name, {"text": content} if is_text else {"base64": base64.b64encode(content).decode()})

    def _on_upload(self, text: str) -> None:
        try:
            self._apply(read_file(text))
        except ValueError as error:
            self.menu.say(str(error), bad=True)
        else:
            self.menu.say("The configuration is set.")


def sweep_csv(found: SweepPoints) -> str:
    """One row for each value of the swept field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([found.field, "llc", "llc_se", "expected_llc", "relative_error", "dead_share", "verdict"])
    columns = (found.values, found.llc, found.se, found.expected, found.error, found.dead)
    for row in zip(*(column.tolist() for column in columns), found.verdicts, strict=True):
        writer.writerow(row)
    return text.getvalue()
