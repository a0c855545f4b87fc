"""What every page's menu "Export" does: hands out files of what is on the page, takes a configuration back."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

from app.session.errors import report
from app.sharing.exports import netcdf, result_csv, trace_csv
from app.sharing.reading import parse_file
from app.sharing.takeaway_menu import TakeawayMenu
from llc_core import Estimate

OF_ALL = {"config": "Configuration (JSON)", "python": "Python script"}
OF_ESTIMATES = {"traces": "Traces (CSV)", "results": "Results (CSV)", "netcdf": "Everything (NetCDF)"}
"""Files of every page, and of those that estimate λ̂."""
WITHHELD = "The exact answers are hidden, and this file has them; press Reveal first."


class TakeawayDesk:
    """withheld: whether exact answers are hidden; `refuse_answers` then keeps a file back that has them.

    name: how its files begin.  files: label of each that only this page has, by key.  figures: of Bokeh figures by their name, of
    drawings by the first words of their description.  read: a file's text → a configuration, checked as a whole.  apply: shows and
    runs it, and returns what to say of it where that is not done yet. Both may raise ValueError."""

    def __init__(
        self,
        name: str,
        files: Mapping[str, str],
        figures: Mapping[str, str],
        read: Callable[[str], Any],
        apply: Callable[[Any], str],
    ):
        self._name, self._read, self._apply = name, read, apply
        self.menu = TakeawayMenu(
            files=[{"key": key, "label": label} for key, label in {**files, **OF_ALL}.items()],
            figures=[{"name": each, "label": label} for each, label in figures.items()],
            margin=0,
        )
        self.withheld = False
        self.menu.on_want, self.menu.on_upload = self._on_want, self._on_upload

    def begin(self, code: str, configuration: str) -> None:
        """The page runs something else now: Python that repeats it, and its configuration as JSON."""
        self.menu.param.update(code=code, configuration=configuration)

    def own(self, key: str) -> tuple[str, str]:
        """(file name, CSV) of a file that only this page has; ValueError where there is nothing to put into it yet."""
        raise NotImplementedError

    def content(self, key: str) -> tuple[str, str | bytes]:
        """(file name, content) of one of the menu's files; ValueError where there is nothing to put into it yet."""
        if key == "config":
            return f"{self._name}.json", self.menu.configuration
        if key == "python":
            return f"{self._name}.py", self.menu.code
        return self.own(key)

    def refuse_answers(self) -> None:
        """ValueError while exact answers are hidden."""
        if self.withheld:
            raise ValueError(WITHHELD)

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
            said = self._apply(self._read(text))
        except ValueError as error:
            self.menu.say(str(error), bad=True)
        else:
            self.menu.say(said or "The configuration is set.")


class EstimateDesk(TakeawayDesk):
    """The desk of a page that estimates λ̂: the files that every such page has, and those of `own`."""

    def __init__(self, name: str, files: Mapping[str, str], figures: Mapping[str, str], apply: Callable[[Any], str]):
        super().__init__(name, {**OF_ESTIMATES, **files}, figures, parse_file, apply)
        self._estimate: Estimate | None = None

    def begin(self, code: str, configuration: str) -> None:
        self._estimate = None
        super().begin(code, configuration)

    def update(self, estimate: Estimate | None) -> None:
        """The page's run has this estimate now."""
        if estimate is not None:
            self._estimate = estimate

    def content(self, key: str) -> tuple[str, str | bytes]:
        if key in ("config", "python"):
            return super().content(key)
        if key != "traces":
            self.refuse_answers()
        if key not in ("traces", "results", "netcdf"):
            return self.own(key)
        if self._estimate is None:
            raise ValueError("There is nothing to save yet; wait for the first estimate.")
        if key == "netcdf":
            return f"{self._name}.nc", netcdf(self._estimate)
        make = trace_csv if key == "traces" else result_csv
        return f"{self._name}_{key}.csv", make(self._estimate)
