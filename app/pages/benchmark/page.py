"""Page "Benchmark": which sampler with which gradient finds the learning coefficient, over whole sweeps of runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any
from weakref import WeakMethod

import panel as pn
import panel_material_ui as pmui

from app.components.readouts import Numbers
from app.components.tiles import Tiles
from app.components.toggles import Toggles
from app.pages.base import PageInfo
from app.pages.benchmark.columns import DASHES, SHORT, TITLES
from app.pages.benchmark.config import ALL as EVERY
from app.pages.benchmark.config import Choice, comparable, fitting, options, read_choice
from app.pages.benchmark.panels.runs import RunsPanel
from app.pages.benchmark.pictures import picture
from app.pages.benchmark.presets import ALL, BenchmarkPreset
from app.pages.benchmark.scene import Content, load, offered, open_upload, progress_of
from app.pages.benchmark.table import SCROLL, TABLE_WORDS, table_html
from app.pages.benchmark.takeaway import BenchmarkTakeaway
from app.pages.benchmark.texts import (
    PROGRESS_SHEET,
    READOUTS,
    dash,
    is_alive,
    progress_html,
    readouts,
    samplers_of,
    verdict,
)
from app.pages.measured import ROOT
from app.session.errors import report
from app.session.ownership import may_stop
from app.style import theme
from app.style.layout import card, page, pair
from app.style.legend import heading, legend
from llc_core.sweeps import ask_to_stop
from llc_core.sweeps.series import ESTIMATOR_WORDS, PAPER, TRUTH_WORDS, accuracy, curves

POLL_MILLISECONDS = 3000
ROWS_LOOKS = 4
"""While a sweep runs, its progress is shown at every look and its rows at every fourth."""
STOP = "Stop the sweep"
FROM_FILE = "\0file"
"""In the list of stores: the file that was opened."""
OWN_CHOICE = "Your own choice of runs and of what they are judged by."
NOTHING = (
    "There is no store of a sweep here yet: write what to run into a TOML file, start `llc-lab sweep FILE.toml --store "
    "NAME.sqlite` in the folder in which this server runs, and open this page again, or open a store from a file."
)
FILTER_LABELS = {"size_class": "Size class", "ranks": "Ranks", "gradient": "Gradient"}


class Benchmark:
    """One session's page. Nothing runs here: it shows what sweeps have stored, and follows one that is running."""

    def __init__(self) -> None:
        from app.pages.benchmark.figures import (
            Shown,  # HoloViews takes seconds to import, which the other pages need not wait for
        )

        self._presets = {preset.name: preset for preset in ALL}
        self._paths = offered()
        self._content, self._file_name = Content(), ""
        self._choice = Choice()
        self._ranks_chosen = False
        self._quiet = False
        self._polling: Any = None
        self._looks = 0

        self.tiles = Tiles(items=[_tile(p) for p in ALL], sizing_mode="stretch_width", margin=0)
        self.tiles.listener = self._on_preset
        self.lesson = _html(theme.LESSON, margin=(10, 2, 0, 2))
        self.progress = _html(PROGRESS_SHEET, margin=(0, 0, 10, 0))
        self.stop = pmui.Button(label=STOP, size="small", variant="outlined", margin=(0, 0, 10, 0), visible=False)
        self.stop.param.watch(self._on_stop, "clicks")
        self._may_stop = may_stop()
        self._asked = ""
        self.readouts = Numbers(items=READOUTS, sizing_mode="stretch_width", margin=0)
        self.verdict = _html(theme.VERDICT, margin=(10, 0, 0, 0))
        self.toggles = Toggles(
            items=[], shown=[], label="Samplers", figures=" ".join(TITLES), sizing_mode="stretch_width", margin=(6, 0)
        )
        self.toggles.listener = self._on_toggle
        self.figures = {name: Shown(name) for name in TITLES}
        self.table = _html(theme.TABLE, SCROLL, _TABLE)
        self.runs = RunsPanel()
        for figure in self.figures.values():
            figure.on_tap = self.runs.choose
        self.takeaway = BenchmarkTakeaway(self.restore)

        self.store = self._select("Store", {})
        self.upload = pmui.FileInput(
            label="Open a store", accept=".sqlite,.db", sizing_mode="stretch_width", margin=(6, 0, 14, 0)
        )
        self.upload.param.watch(self._on_upload, "value")
        self.fault = pn.pane.HTML(
            "", visible=False, sizing_mode="stretch_width", margin=(4, 0), stylesheets=[theme.ERROR]
        )
        self.filters = {name: self._select(text, {}) for name, text in FILTER_LABELS.items()}
        self.estimator = self._select("Estimate", {text: key for key, text in ESTIMATOR_WORDS.items()})
        self.truth = self._select("Truth", {text: key for key, text in TRUTH_WORDS.items()})
        self.spread = pmui.Checkbox(label="Bands of one standard deviation", value=True, margin=(4, 0))
        self.spread.param.watch(self._on_select, "value")
        self.sidebar: list[Any] = [
            pn.Column(
                heading("Sweep"), self.store, self.upload, self.fault,
                heading("Which runs"), *self.filters.values(),
                heading("Judged by"), self.estimator, self.truth, self.spread,
                sizing_mode="stretch_width", margin=(4, 16, 24, 16),
            )
        ]  # fmt: skip
        self.main: list[Any] = [self._arrange()]
        self._open(next(iter(self._paths), ""))
        start = WeakMethod(self._on_load)
        pn.state.onload(lambda: (begin := start()) and begin())

    @property
    def parts(self) -> dict[str, list[Any]]:
        return {"presets": [self.tiles], "texts": [self.lesson, self._table_words]}

    def configuration(self) -> dict[str, Any]:
        if self._file_name:
            raise ValueError("A store from a file cannot travel in a link; choose one of the list, or send the file.")
        return self._choice.to_dict()

    def restore(self, configuration: Mapping[str, Any]) -> None:
        if not isinstance(configuration, Mapping):
            raise ValueError("The configuration must be a mapping of names to values.")
        self._paths = offered()
        name = configuration.get("store", self._choice.store)
        if not isinstance(name, str) or name not in ("", *self._paths):
            there = ", ".join(self._paths) or "none"
            raise ValueError(f"This server has no store named {str(name)[:40]!r}; it has {there}.")
        content = self._read(name)
        found = read_choice({**configuration, "store": name}, content.rows)
        with pn.io.hold():
            self._content, self._file_name = content, ""
            self._ranks_chosen = "ranks" in configuration
            self._show(found, "", OWN_CHOICE)

    def close(self) -> None:
        """Called when the visitor leaves or changes the page."""
        if self._polling is not None and self._polling.running:
            self._polling.stop()

    # -- layout -------------------------------------------------------------------------------------------------------

    def _arrange(self) -> pn.viewable.Viewable:
        def drawn(name: str) -> list[Any]:
            return [
                heading(TITLES[name]),
                pn.pane.Bokeh(self.figures[name].plot, sizing_mode="stretch_width", margin=0),
            ]

        self._dashes = legend("", [(dash(DASHES[name]), SHORT[name]) for name in reversed(DASHES)])
        self._dashes.margin = (2, 0, 12, 0)
        self._table_words = pn.pane.HTML(
            f"<p class='small muted' style='margin: 8px 0 0'>{escape(TABLE_WORDS)}</p>",
            sizing_mode="stretch_width",
            margin=0,
            stylesheets=[theme.TEXT],
        )
        self._filled = pn.Column(
            card(
                self.progress,
                self.stop,
                self.readouts,
                self.verdict,
                pn.Row(self.takeaway.menu, sizing_mode="stretch_width", margin=(10, 0, 0, 0)),
            ),
            card(self.toggles, self._dashes, *drawn("relative_error")),
            pair(card(*drawn("mean_against_sd")), card(*drawn("order_preservation"), *drawn("nan_share"))),
            card(heading("Accuracy at the best step size"), self.table, self._table_words),
            self.runs.view,
            sizing_mode="stretch_width",
            margin=0,
            styles={"gap": "12px"},
            stylesheets=[theme.TALL],
        )
        self._empty = card(heading("No sweep yet"), _html())
        self._empty[1].object = f"<p>{escape(NOTHING).replace('`', '')}</p>"
        return page(
            pn.Column(self.tiles, self.lesson, sizing_mode="stretch_width", margin=0), self._empty, self._filled
        )

    def _select(self, label: str, values: dict[str, Any]) -> pmui.Select:
        select = pmui.Select(
            label=label, options=values, size="small", sizing_mode="stretch_width", margin=(8, 0),
            value=next(iter(values.values()), None),
        )  # fmt: skip
        select.param.watch(self._on_select, "value")
        return select

    # -- what the user does -------------------------------------------------------------------------------------------

    def _on_preset(self, name: str) -> None:
        preset = self._presets[name]
        found = replace(Choice(store=self._choice.store), size_class=self._choice.size_class, **preset.settings)
        with pn.io.hold():
            self._ranks_chosen = preset.settings.get("ranks") in options(self._content.rows)["ranks"]
            self._show(self._to_show(found), name, preset.lesson)

    def _on_select(self, event: Any) -> None:
        if self._quiet:
            return
        with pn.io.hold():
            chosen = self.store.value
            if event.obj is self.store and chosen != FROM_FILE:
                self._open(chosen)
                return
            found = replace(
                self._choice,
                **{name: select.value for name, select in self.filters.items()},
                estimator=self.estimator.value,
                truth=self.truth.value,
                spread=self.spread.value,
            )
            self._ranks_chosen |= event.obj is self.filters["ranks"]
            self._show(self._to_show(found), "", OWN_CHOICE)

    def _on_toggle(self) -> None:
        names = [item["key"] for item in self.toggles.items]
        hidden = tuple(name for name in names if name not in self.toggles.shown)
        with pn.io.hold():
            self._show(replace(self._choice, hidden=hidden), self.tiles.selected)

    def _on_upload(self, event: Any) -> None:
        """A visitor's store: read only, checked value by value, or one sentence."""
        content, name = self.upload.value, str(self.upload.filename or "")
        if not content:
            return
        self.upload.value = None  # so that the same file can be opened again
        with pn.io.hold():
            try:
                found = open_upload(content, name)
            except ValueError as error:
                self._complain(str(error))
                return
            self._content, self._file_name = found, name
            self._show(self._to_show(replace(self._choice, store="")), "", f"Runs from {name}.")

    def _open(self, name: str) -> None:
        """Show a store of the list; what was chosen before is kept where the store has it."""
        try:
            self._content = self._read(name)
        except ValueError as error:
            self._complain(str(error))
            return
        self._file_name = ""
        first = not self._choice.store
        wanted = replace(self._choice, store=name, **(ALL[1].settings if first else {}))
        self._show(self._to_show(wanted), ALL[1].name if first else "", ALL[1].lesson if first else OWN_CHOICE)

    def _to_show(self, wanted: Choice) -> Choice:
        """What is shown of the open store: of all ranks, or of one kind where samplers would not compare, until somebody, or a
        preset, has chosen."""
        rows = self._content.rows
        if self._ranks_chosen:
            return fitting(wanted, rows)
        return comparable(fitting(replace(wanted, ranks=EVERY), rows), rows)

    def _read(self, name: str) -> Content:
        if not name:
            return Content()
        path = self._paths[name]
        try:
            return load(path)
        except ValueError as error:
            raise ValueError(str(error).replace(repr(str(path)), f"“{name}”")) from None

    # -- what is shown ------------------------------------------------------------------------------------------------

    def _complain(self, message: str) -> None:
        self.fault.param.update(object=f'<span role="alert">{escape(message)}</span>', visible=bool(message))

    def _show(self, choice: Choice, preset: str, lesson: str = "") -> None:
        """Everything on the page follows from the choice and the rows."""
        self._complain("")
        self._choice = choice
        self._set_sidebar()
        self.tiles.selected = preset
        if lesson:
            self.lesson.object = f"<p>{escape(lesson)}</p>"
        self._draw()

    def _draw(self) -> None:
        choice = self._choice
        rows = choice.rows(self._content.rows)
        items = samplers_of(self._content.rows, PAPER)
        if items != self.toggles.items:
            self.toggles.items = items
        self.toggles.shown = [item["key"] for item in items if item["key"] not in choice.hidden]
        rows = [row for row in rows if row["sampler"] not in choice.hidden]
        found = curves(rows, choice.estimator, choice.truth)
        table = accuracy(found)
        self._filled.visible, self._empty.visible = bool(self._content.rows or self._content.progress), False
        self._empty.visible = not self._filled.visible
        self._dashes.visible = len({c.gradient for c in found}) > 1
        for figure in self.figures.values():
            figure.show(found, choice.spread)
        self.table.object = table_html(table)
        self.runs.show(found, rows, choice.estimator, choice.truth)
        self.readouts.values = readouts(rows, choice.estimator, choice.truth)
        tone, words = verdict(table, TRUTH_WORDS[choice.truth])
        self.verdict.object = f'<p class="{tone}" aria-live="polite">{words}</p>'
        path = self._paths.get(choice.store)
        self.takeaway.show(choice, _as_written(path) if path else self._file_name or "store.sqlite", rows, found, table)
        self._show_progress(self._content.progress)

    def _set_sidebar(self) -> None:
        """Show the choice in the side bar, without reporting changes."""
        self._quiet = True
        try:
            choice, there = self._choice, options(self._content.rows)
            stores = {name: name for name in self._paths}
            if self._file_name:
                stores = {self._file_name[:60]: FROM_FILE, **stores}
            self.store.param.update(
                options=stores or {"none yet": ""}, value=FROM_FILE if self._file_name else choice.store
            )
            for name, select in self.filters.items():
                words = {(SHORT.get(value, value) if name == "gradient" else value): value for value in there[name]}
                select.param.update(options={"all": EVERY, **words}, value=getattr(choice, name))
            self.estimator.value, self.truth.value, self.spread.value = choice.estimator, choice.truth, choice.spread
        finally:
            self._quiet = False

    # -- a sweep that is running --------------------------------------------------------------------------------------

    def _on_load(self) -> None:
        self._polling = pn.state.add_periodic_callback(self._poll, period=POLL_MILLISECONDS)

    def _poll(self) -> None:
        """Follow a store that grows. Its rows are read again only when the file has changed."""
        try:
            path = self._paths.get(self._choice.store)
            if path is None or self._file_name:
                return
            self._looks += 1
            progress = progress_of(path)
            self._show_progress(progress)
            if progress and progress["state"] == "running" and self._looks % ROWS_LOOKS:
                return
            content = load(path)
            if content.rows is not self._content.rows:
                with pn.io.hold():
                    self._content = content
                    self._choice = self._to_show(self._choice)
                    self._set_sidebar()
                    self._draw()
        except ValueError:
            return  # being written, or gone: the next look will tell
        except Exception as error:
            self.close()
            report(error)

    def _show_progress(self, progress: Mapping[str, Any] | None) -> None:
        shown = progress_html(progress)
        self.progress.param.update(object=shown, visible=bool(shown))
        runs = bool(progress) and not self._file_name and is_alive(progress)
        if not runs or self._asked != self._choice.store:
            self._asked = ""
        waits = bool(self._asked)
        self.stop.param.update(visible=self._may_stop and runs, disabled=waits, label="Stopping …" if waits else STOP)

    def _on_stop(self, _: Any) -> None:
        """The sweep's own process ends it, and says so in the store, which the next look shows."""
        path = self._paths.get(self._choice.store)
        if path is None or not self._may_stop or self.stop.disabled:
            return
        try:
            ask_to_stop(path)
        except ValueError as error:
            self.fault.param.update(object=escape(str(error)), visible=True)
            return
        self._asked = self._choice.store
        self.stop.param.update(disabled=True, label="Stopping …")


def _as_written(path: Path) -> str:
    """A path as a script in the project's folder, or anywhere, finds it."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name


def _html(*sheets: str, margin: Any = 0) -> pn.pane.HTML:
    return pn.pane.HTML("", sizing_mode="stretch_width", margin=margin, stylesheets=[theme.TEXT, *sheets])


def _tile(preset: BenchmarkPreset) -> dict[str, str]:
    return {"name": preset.name, "title": preset.title, "tip": preset.lesson, "picture": picture(preset)}


_TABLE = """
tr.close th, tr.close td { font-weight: 700; }
"""

PAGE = PageInfo("Benchmark", "benchmark", 50, Benchmark)
