"""What a page that estimates λ says of itself: everything that `app.estimates.page.EstimatePage` asks a page for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import panel as pn

from app.components.tiles import Tiles
from app.controls.run_controls import Controls
from app.estimates import texts
from app.estimates.curves import Curves
from app.estimates.guessing import TASK, Truth
from app.runs.history import Cursor
from app.runs.job import Job, State
from app.session.live import POLL_MILLISECONDS
from app.sharing.exact_answers import ExactAnswers
from app.sharing.reading import PageConfig
from llc_core import Estimate, Potential, RunConfig
from llc_core.studies.explain.parts import Explanation


class Preset(Protocol):
    """What a tile shows; `EstimatePage.of_preset` knows the rest."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def lesson(self) -> str: ...


class Editor(Protocol):
    """The side bar's first half. `listener` is called after a change by the visitor."""

    listener: Callable[[], None]

    @property
    def problem(self) -> Any:
        """What is described now, as `PageContract.problem_of` takes it. A page with its own `of_side_bar` need not have it."""

    def show(self, problem: Any) -> None:
        """Show `PageConfig.problem` without reporting a change."""


class Takeaway(Protocol):
    """The menu of files, see `app.sharing.desk.EstimateDesk`. withheld: whether files with answers are not given."""

    withheld: bool

    def show(self, config: Any) -> None:
        """The page runs this `PageConfig` now."""

    def update(self, estimate: Estimate | None) -> None: ...


class CardPanel(Protocol):
    """A card with a calculation of its own."""

    def poll(self) -> None: ...
    def close(self) -> None: ...


class PageContract:
    """A page defines the methods of the first group, and those of the second where it differs from other pages."""

    period = POLL_MILLISECONDS
    """Milliseconds between two polls. The figures are renewed at every poll."""
    counter_ticks, word_ticks = 2, 10
    """The counter is renewed at every second poll, numbers and words at every tenth."""
    paces: Sequence[float] = ()
    """Steps a second to choose from, see `app.components.transport`; where there is a choice, Step does a single step."""
    task = TASK
    """What stands in place of a lesson while the answers are hidden."""
    starting = "starting…"
    """Caption of a run that has just been started."""

    config: PageConfig
    """What is run now."""
    state: State
    """The latest state of the run."""
    runs: int
    """How many have been started."""

    editor: Editor
    takeaway: Takeaway
    panels: Sequence[CardPanel] = ()
    answers: ExactAnswers
    controls: Controls
    curves: Curves
    tiles: Tiles
    headline: pn.pane.HTML
    lesson: pn.pane.HTML

    # -- what a page must define --------------------------------------------------------------------------------------

    def picture(self, preset: Any) -> str:
        """SVG for the preset's tile."""
        raise NotImplementedError

    def plain_picture(self, preset: Any) -> str:
        """The same while answers are hidden: it must not tell the outcome."""
        return self.picture(preset)

    def of_preset(self, preset: Any) -> PageConfig:
        raise NotImplementedError

    def of_link(self, values: Any) -> PageConfig:
        """What a link or a file says, checked as a whole. Raises ValueError, one sentence, where it cannot be run."""
        raise NotImplementedError

    def problem_of(self, description: Any, settings: Mapping[str, Any]) -> Potential:
        """The problem that the editor describes, at these settings of the run; `of_side_bar` asks for it, in a thread as well."""
        raise NotImplementedError

    def reset(self, config: PageConfig) -> None:
        """A run of `config` begins: empty the figures, and tell the panels."""
        raise NotImplementedError

    def question(self, with_answers: bool) -> str:
        """The page in one plain sentence, above the tiles. with_answers: whether exact values may stand in it."""
        raise NotImplementedError

    # -- what a page may define ---------------------------------------------------------------------------------------

    @property
    def parts(self) -> dict[str, list[Any]]:
        """What a link can leave out: see `app.pages.base.PageView`."""
        return {"presets": [self.tiles], "texts": [self.headline, self.lesson]}

    def of_side_bar(self) -> PageConfig:
        """What editor and controls say now. Raises ValueError as `of_link`. `EstimatePage` resolves what they say."""
        raise NotImplementedError

    def job(self, config: PageConfig) -> Callable[[], Job]:
        """What builds the run, in a thread of the manager. `EstimatePage` runs the configuration alone."""
        raise NotImplementedError

    def configuration(self) -> dict[str, Any]:
        """What is run, for a link: the fields of RunConfig that differ from their defaults."""
        defaults = RunConfig().to_dict()
        values = RunConfig(problem=self.config.problem, **self.config.settings).to_dict()
        return {name: value for name, value in values.items() if value != defaults.get(name)}

    def cursor(self) -> Any:
        """Where the rows of a new run's log begin."""
        return Cursor()

    def compared(self, config: PageConfig) -> RunConfig:
        """What is compared with a pinned run."""
        return config.complete

    def show(self, config: PageConfig) -> None:
        """Set editor and controls, without reporting changes."""
        self.editor.show(config.problem)
        self.controls.show(config.settings)

    def stream(self, rows: Any) -> None:
        """New rows of the run's log."""
        self.curves.stream(rows)

    def poll(self, built: bool) -> None:
        """Look at the panels' calculations. built: whether the run has been built, which goes first."""
        for panel in self.panels:
            panel.poll()

    def caption(self, state: State) -> str:
        return texts.caption(state)

    def numbers(self, state: State) -> dict[str, str]:
        """Values of the read-outs."""
        return texts.readout_values(state, None)

    @property
    def reference(self) -> float | None:
        """The exact value at this n, nβ and γ, where the page knows one that estimates do not hold."""
        return None

    @property
    def split(self) -> Explanation | None:
        """The measured split of the present estimate's error, where there is one."""
        return None

    def judge(self, state: State) -> tuple[str, str]:
        """Tone and HTML of the verdict."""
        return texts.verdict(state, self.answers.visible, self.reference, self.split)

    def truth(self) -> Truth | None:
        """The λ that is guessed while answers are hidden; None where there is no exact one."""
        return None

    def show_estimate(self, state: State) -> None:
        """Show what the latest estimate changes beside read-outs and verdict."""

    def on_longer(self, config: PageConfig) -> None:
        """The present run has become longer; its rows come anew."""
