"""Page "Benchmark": which sampler with which gradient finds the learning coefficient, over whole sweeps of runs. Long,
since it answers to everything that a visitor does and a sweep adds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from pathlib import Path
from typing import Any
from weakref import WeakMethod

import panel as pn

from app.pages.base import PageInfo
from app.pages.benchmark.config import BenchmarkConfig, nearest, options, read_config
from app.pages.benchmark.editor import Editor
from app.pages.benchmark.panels.asking import Asking, Find, Found, Shown, is_short
from app.pages.benchmark.panels.progress import SweepProgress
from app.pages.benchmark.panels.results import Results
from app.pages.benchmark.pictures import hidden_tiles, tile
from app.pages.benchmark.presets import PRESETS
from app.pages.benchmark.scene import OpenStore, is_quick, load, offered, open_store
from app.pages.benchmark.takeaway import BenchmarkTakeaway
from app.pages.benchmark.texts import NOTHING, OWN_CHOICE, QUESTION, TASK, of_guess
from app.pages.benchmark.tour import TOUR
from app.pages.measured import ROOT
from app.pages.tiled import TiledPage
from app.runs.job import State, Status
from app.session.clock import every
from app.session.errors import report
from app.sharing.exact_answers import ExactAnswers
from app.style import theme
from app.style.layout import card, page, prose
from app.style.legend import heading
from llc_core.fields import short

POLL_MILLISECONDS = 3000
FIRST = PRESETS[1]
"""What the page opens with."""


class Benchmark(TiledPage):
    """One session's page. Nothing runs here: it shows what sweeps have stored, and follows one that is running."""

    tile = staticmethod(tile)
    task, own_settings, can_reveal = TASK, OWN_CHOICE, True

    def __init__(self) -> None:
        super().__init__(PRESETS)
        self._stores = offered()
        self._store = OpenStore()
        self._config = BenchmarkConfig()
        self._ranks_chosen = False
        """Whether the visitor, a preset or a link has chosen the ranks."""
        self._polling: Any = None
        self._guess = ""
        """The sampler that the visitor expects to come nearest, by its name in the store."""
        self.asking = Asking()
        self.show_question()
        self.reveal.param.update(label="Which comes nearest?", asks=True, choices=[])
        self.editor = Editor()
        self.editor.on_store, self.editor.on_change = self._on_store, self._on_change
        self.progress = SweepProgress(self.editor.complain)
        self.results = Results()
        self.results.on_hidden, self.results.on_measure = self._on_hidden, self._on_measure
        self.takeaway = BenchmarkTakeaway(self.restore)
        self.sidebar: list[Any] = [self.editor.view]
        self.main: list[Any] = [self._arrange()]
        self.answers = ExactAnswers(self._charts, self._details, changed=self.on_answers)
        self._on_store(next(iter(self._stores), ""))
        start = WeakMethod(self._on_load)
        pn.state.onload(lambda: (begin := start()) and begin())

    def _arrange(self) -> pn.viewable.Viewable:
        menu = pn.Row(self.takeaway.menu, sizing_mode="stretch_width", margin=(10, 0, 0, 0))
        self._charts, self._details = _stack(self.results.top), _stack(*self.results.views)
        numbers = card(self.progress.words, self.progress.button, self.results.numbers, menu)
        self._filled = _stack(self._charts, numbers, self._details)
        self._empty = card(heading("No sweep yet"), prose())
        self._empty[1].object = f"<p>{escape(NOTHING).replace('`', '')}</p>"
        return page(self.top(self.asking.words), self._empty, self._filled)

    @property
    def parts(self) -> dict[str, list[Any]]:
        parts = super().parts
        return {**parts, "texts": [*parts["texts"], self.results.table_words]}

    def hidden(self, tiles: Sequence[dict[str, str]]) -> list[dict[str, str]]:
        return hidden_tiles(tiles, TASK)  # their titles say which runs are shown, and may stay

    def question(self) -> str:
        return QUESTION

    @property
    def state(self) -> State:
        """Nothing runs here: what was asked for is shown, or it is being judged."""
        return State(Status.RUNNING if self.asking.busy else Status.FINISHED)

    def configuration(self) -> dict[str, Any]:
        return self._config.to_dict()

    def restore(self, configuration: Mapping[str, Any]) -> None:
        if not isinstance(configuration, Mapping):
            raise ValueError("The configuration must be a mapping of names to values.")
        self._stores = offered()
        name = configuration.get("store", self._config.store)
        if not isinstance(name, str) or name not in ("", *self._stores):
            there = ", ".join(self._stores) or "none"
            raise ValueError(f"This server has no store named {short(name)}; it has {there}.")
        chosen = "ranks" in configuration

        def find() -> Found:
            store = open_store(name, self._stores)
            return store, read_config({**configuration, "store": name}, store.content.rows)

        self._request(find, self._opens_quickly(name), f"Reading “{name}” …", ranks_chosen=chosen)

    def close(self) -> None:
        """Called when the visitor leaves or changes the page."""
        self.asking.forget()
        self.results.close()
        if self._polling is not None and self._polling.running:
            self._polling.stop()

    # -- one configuration of one store ---------------------------------------------------------------------------------

    def _request(
        self,
        find: Find,
        quick: bool,
        words: str,
        preset: str = "",
        lesson: str = OWN_CHOICE,
        ranks_chosen: bool | None = None,
    ) -> None:
        """Show what `find` gives. lesson: "" leaves the sentence.  ranks_chosen: None leaves it."""

        def take(shown: Shown) -> None:
            if ranks_chosen is not None:
                self._ranks_chosen = ranks_chosen
            self._show(shown)
            self.show_lesson(preset, lesson)
            self.runs += 1

        self.editor.complain("")
        self.asking.have(find, quick, words, take, self._fail)

    def _show(self, shown: Shown) -> None:
        store, config = shown.store, shown.config
        self._store, self._config = store, config
        content = store.content
        self.editor.show(config, content.rows, self._stores)
        self._filled.visible = bool(len(content.rows) or content.progress)
        self._empty.visible = not self._filled.visible
        self.results.show(config, shown.answer)
        path = _as_written(store.path) if store.path else "store.sqlite"
        self.takeaway.show(config, path, self.results.rows, self.results.curves, self.results.table)
        self.progress.show(store)
        shown = {row.sampler for row in self.results.table}
        items = [{"key": item["key"], "label": item["label"]} for item in self.results.toggles.items]
        self.reveal.choices = [item for item in items if item["key"] in shown]
        self._judge_guess()

    def _fail(self, message: str) -> None:
        """What was shown before stays."""
        self.editor.show(self._config, self._store.content.rows, self._stores)
        self.editor.complain(message)

    def _opens_quickly(self, name: str) -> bool:
        return name not in self._stores or is_quick(self._stores[name])

    def _here(self, wanted: BenchmarkConfig, preset: str = "", lesson: str = OWN_CHOICE, fit: bool = True) -> None:
        """Show a configuration of the open store, or the nearest that it has."""
        store, chosen = self._store, self._ranks_chosen
        rows = store.content.rows
        self._request(
            lambda: (store, nearest(wanted, rows, chosen) if fit else wanted),
            is_short(rows), "Judging the runs …", preset, lesson,
        )  # fmt: skip

    def show_answers(self, visible: bool) -> None:
        """Here all results are answers."""
        self.takeaway.withheld = not visible
        self.results.show_answers(visible)
        self._judge_guess()

    def on_reveal(self, text: str) -> None:
        self._guess = text
        super().on_reveal(text)

    def _judge_guess(self) -> None:
        """What is said of the guess, once the answers were hidden and are shown."""
        there = {choice["key"] for choice in self.reveal.choices}
        shown = self.answers.visible and self.reveal.visible
        self.reveal.said = of_guess(self.results.table, self._guess if self._guess in there else "") if shown else ""

    # -- what the user does -------------------------------------------------------------------------------------------

    def on_preset(self, name: str) -> None:
        preset = self._presets[name]
        self._ranks_chosen = preset.settings.get("ranks") in options(self._store.content.rows)["ranks"]
        config = BenchmarkConfig(
            **{"store": self._config.store, "size_class": self._config.size_class, **preset.settings}
        )
        self._here(config, name, preset.lesson)

    def _on_change(self, config: BenchmarkConfig, ranks_chosen: bool) -> None:
        self._ranks_chosen |= ranks_chosen
        self._here(config)

    def _on_hidden(self, hidden: tuple[str, ...]) -> None:
        self._here(replace(self._config, hidden=hidden), self.tiles.selected, lesson="", fit=False)

    def _on_measure(self, name: str) -> None:
        self._here(replace(self._config, measure=name), self.tiles.selected, lesson="", fit=False)

    def _on_store(self, name: str) -> None:
        """Show a store of the list; what was chosen before is kept where the store has it."""
        first = not self._config.store
        wanted = replace(self._config, store=name, **(FIRST.settings if first else {}))
        there, chosen = dict(self._stores), self._ranks_chosen

        def find() -> Found:
            store = open_store(name, there)
            return store, nearest(wanted, store.content.rows, chosen)

        preset, lesson = (FIRST.name, FIRST.lesson) if first else ("", OWN_CHOICE)
        self._try(partial(self._request, find, self._opens_quickly(name), f"Reading “{name}” …", preset, lesson))

    def _try(self, call: Callable[[], None]) -> None:
        try:
            call()
        except ValueError as error:
            self._fail(str(error))

    # -- a sweep that is running --------------------------------------------------------------------------------------

    def _on_load(self) -> None:
        self._polling = every(POLL_MILLISECONDS, self._poll)

    def _poll(self) -> None:
        """Follow a store that grows."""
        try:
            if self.progress.look() and not self.asking.busy:
                self._follow()
        except ValueError:
            return  # the store is being written, or it is gone: the next look shows which
        except Exception as error:
            self.close()
            report(error)

    def _follow(self) -> None:
        """Show the rows that the store has now, where they are others."""
        store, wanted, chosen = self._store, self._config, self._ranks_chosen
        path = store.path
        if path is None:
            return

        def find() -> Found | None:
            content = load(path)
            if content.rows is store.content.rows:
                return None
            return replace(store, content=content), nearest(wanted, content.rows, chosen)

        self.asking.have(find, is_quick(path), "", self._show, lambda message: None)


def _stack(*parts: Any) -> pn.Column:
    gap = {"styles": {"gap": "12px"}, "stylesheets": [theme.TALL]}
    return pn.Column(*parts, sizing_mode="stretch_width", margin=0, **gap)


def _as_written(path: Path) -> str:
    """A path as a script in the project's folder, or anywhere, finds it."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name


PAGE = PageInfo("Benchmark", "benchmark", 80, Benchmark, TOUR)
