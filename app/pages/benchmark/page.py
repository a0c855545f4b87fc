"""Page "Benchmark": which sampler with which gradient finds the learning coefficient, over whole sweeps of runs. Long,
since it answers to everything that a visitor does and a sweep adds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from html import escape
from pathlib import Path
from typing import Any
from weakref import WeakMethod

import panel as pn

from app.pages.base import PageInfo
from app.pages.benchmark.config import BenchmarkConfig, options, read_config
from app.pages.benchmark.editor import Editor
from app.pages.benchmark.panels.asking import Chosen, judged, nearest_of, opened
from app.pages.benchmark.panels.progress import SweepProgress
from app.pages.benchmark.panels.results import Answer, Results
from app.pages.benchmark.pictures import hidden_tiles, tile
from app.pages.benchmark.presets import PRESETS, BenchmarkPreset
from app.pages.benchmark.scene import OpenStore, is_quick, load, offered
from app.pages.benchmark.takeaway import BenchmarkTakeaway
from app.pages.benchmark.texts import NOTHING, OWN_CHOICE, QUESTION, TASK, of_guess
from app.pages.benchmark.tour import TOUR
from app.pages.measured import ROOT
from app.pages.tiled import TiledPage
from app.runs.apart import only_unhurried
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
        self._stores, self._store, self.config = offered(), OpenStore(), BenchmarkConfig()
        self._ranks_chosen = False
        """Whether the visitor, a preset or a link has chosen the ranks."""
        self._polling: Any = None
        self._guess = ""
        """The sampler that the visitor expects to come nearest, by its name in the store."""
        self.show_question()
        self.reveal.param.update(label="Which comes nearest?", asks=True, choices=[])
        self.editor = Editor()
        self.editor.on_store, self.editor.on_change = self._on_store, self._on_change
        self.fault = self.editor.fault
        self.progress = SweepProgress(self.complain)
        self.results = Results()
        self.results.on_hidden = lambda names: self._show_otherwise(hidden=names)
        self.results.on_measure = lambda name: self._show_otherwise(measure=name)
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
        return page(self.top(self.preparation.view), self._empty, self._filled)

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
        return State(Status.RUNNING if self.preparation.busy else Status.FINISHED)

    def close(self) -> None:
        super().close()
        self.results.close()
        self._stop_polling()

    # -- one configuration of one store ---------------------------------------------------------------------------------

    def restore(self, configuration: Any) -> str:
        self._stores = offered()
        return super().restore(configuration)

    def of_link(self, configuration: Any) -> Chosen:
        BenchmarkConfig.from_dict(configuration)  # what no store can have is refused before one is read
        name = configuration.get("store", self.config.store)
        if name not in ("", *self._stores):
            there = ", ".join(self._stores) or "none"
            raise ValueError(f"This server has no store named {short(name)}; it has {there}.")
        store = opened(name, self._stores)
        config = read_config({**configuration, "store": name}, store.content.rows)
        return Chosen(store, config, "ranks" in configuration)

    def of_preset(self, preset: BenchmarkPreset) -> Chosen:
        chosen = preset.settings.get("ranks") in options(self._store.content.rows)["ranks"]
        kept = {"store": self.config.store, "size_class": self.config.size_class}
        return nearest_of(self._store, BenchmarkConfig(**{**kept, **preset.settings}), chosen)

    def scene_of(self, config: Chosen) -> Answer:
        return judged(config)

    def _take(self, config: Chosen, scene: Answer, preset: str, lesson: str, show: bool = True) -> None:
        with pn.io.hold():
            self.complain("")
            self._show(config, scene)
            self.show_lesson(preset, lesson)
            self.runs += 1

    def _show(self, found: Chosen, answer: Answer) -> None:
        self._store, self.config, self._ranks_chosen = found.store, found.config, found.ranks_chosen
        store, config, content = found.store, found.config, found.store.content
        self.editor.show(config, content.rows, self._stores)
        self._filled.visible = bool(len(content.rows) or content.progress)
        self._empty.visible = not self._filled.visible
        self.results.show(config, answer)
        path = _as_written(store.path) if store.path else "store.sqlite"
        self.takeaway.show(config, path, self.results.rows, self.results.curves, self.results.table)
        self.progress.show(store)
        shown = {row.sampler for row in self.results.table}
        items = [{"key": item["key"], "label": item["label"]} for item in self.results.toggles.items]
        self.reveal.choices = [item for item in items if item["key"] in shown]
        self._judge_guess()

    def fail(self, why: str) -> None:
        self.complain(why)

    def complain(self, message: str) -> None:
        if message:  # the side bar shows again what is shown
            self.editor.show(self.config, self._store.content.rows, self._stores)
        super().complain(message)

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

    def _on_change(self, config: BenchmarkConfig, ranks_chosen: bool) -> None:
        self._ranks_chosen |= ranks_chosen
        self.change(partial(nearest_of, self._store, config, self._ranks_chosen))

    def _show_otherwise(self, **changes: Any) -> None:
        """Show the same runs with these settings; the tile stays marked, and its lesson stays."""
        found = Chosen(self._store, replace(self.config, **changes), self._ranks_chosen)
        self.change(lambda: found, self._lesson, preset=self.tiles.selected)

    def _on_store(self, name: str) -> None:
        """Show a store of the list; what was chosen before is kept where the store has it."""
        first = not self.config.store
        wanted = replace(self.config, store=name, **(FIRST.settings if first else {}))
        there, chosen = self._stores, self._ranks_chosen
        preset, lesson = (FIRST.name, FIRST.lesson) if first else ("", "")
        self.change(lambda: nearest_of(opened(name, there), wanted, chosen), lesson, preset=preset)

    # -- a sweep that is running --------------------------------------------------------------------------------------

    def _on_load(self) -> None:
        self._polling = every(POLL_MILLISECONDS, self._poll)

    def _stop_polling(self) -> None:
        if self._polling is not None and self._polling.running:
            self._polling.stop()

    def _poll(self) -> None:
        """Follow a store that grows."""
        try:
            if self.progress.look() and not self.preparation.busy:
                self._follow()
        except ValueError:
            return  # the store is being written, or it is gone: the next look shows which
        except Exception as error:
            self._stop_polling()
            report(error)

    def _follow(self) -> None:
        """Show the rows that the store has now, where they are others."""
        store, wanted, chosen = self._store, self.config, self._ranks_chosen
        path = store.path
        if path is None:
            return

        def find() -> Chosen:
            only_unhurried(not is_quick(path), "")  # the visitor did not ask for it: no words
            content = load(path)
            if content.rows is store.content.rows:
                raise ValueError("This store has the same rows as before.")
            return nearest_of(replace(store, content=content), wanted, chosen)

        def take(found: tuple[Chosen, Answer]) -> None:
            with pn.io.hold():
                self._show(*found)

        self.ask(partial(self.prepared, cache(find)), take, lambda why: None)


def _stack(*parts: Any) -> pn.Column:
    gap = {"styles": {"gap": "12px"}, "stylesheets": [theme.TALL]}
    return pn.Column(*parts, sizing_mode="stretch_width", margin=0, **gap)


def _as_written(path: Path) -> str:
    """A path as a script in the project's folder, or anywhere, finds it."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name


PAGE = PageInfo("Benchmark", "benchmark", 80, Benchmark, TOUR)
