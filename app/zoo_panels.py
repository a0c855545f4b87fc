"""Two background jobs of the page "Your network": λ̂ at every checkpoint, and the calibration of the sampler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app import theme
from app.layout import card
from app.legend import heading, legend
from app.runs import OVER, Job, RunHandle, State, Status, background
from app.tasks import TaskJob
from app.zoo import potential, trained
from app.zoo_config import Choice
from app.zoo_plots import CalibrationFigure, TrainingFigures
from llc_core import Estimate, calibrate, estimate
from llc_core.calibration import Calibration

CALIBRATION_STEPS = 600
CALIBRATED = ("SGLD", "RMSPropSGLD")


class _Panel:
    """A button that starts a job and stops it, and a sentence beside it."""

    def __init__(self, label: str, invitation: str):
        self._label, self._invitation = label, invitation
        self._handle: RunHandle | None = None
        self._cursor = 0
        self.choice: Choice | None = None
        self.settings: dict[str, Any] = {}
        self.button = pmui.Button(label=label, size="small", variant="contained", margin=0, width=150)
        self.button.on_click(self._on_button)
        self.words = pn.pane.HTML(
            "", sizing_mode="stretch_width", margin=0, stylesheets=[theme.TEXT], styles={"flex": "1 1 240px"}
        )
        self.say(invitation)

    @property
    def bar(self) -> pn.FlexBox:
        return pn.FlexBox(
            self.button, self.words, gap="12px", align_items="center", sizing_mode="stretch_width", margin=(6, 0)
        )

    def say(self, text: str) -> None:
        self.words.object = f'<p class="small muted" role="status">{escape(text)}</p>'

    def close(self) -> None:
        """End the job; touches nothing on the screen: it may be gone."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def poll(self) -> None:
        if self._handle is None:
            return
        state, new = self._handle.poll(self._cursor)
        if new is not None:
            self._cursor, items = new
            for item in items:
                self.take(item)
        self.tell(state)
        if state.status in OVER:
            self._handle = None
            self.button.label = self._label

    def tell(self, state: State) -> None:
        if state.status in (Status.FAILED, Status.CANCELLED):
            self.words.object = f'<p class="small"><span role="alert">{escape(state.message or "Stopped.")}</span></p>'
        elif state.status is Status.QUEUED:
            self.say(f"Waiting for a free place, number {state.place} in the queue.")

    def _stop(self) -> None:
        self.close()
        self.button.label = self._label

    def _on_button(self, event: object) -> None:
        with pn.io.hold():
            if self._handle is not None:
                self._stop()
                self.say("Stopped.")
            elif self.choice is not None:
                self.begin()
                self._cursor = 0
                self._handle = background().submit(partial(self.job, self.choice, dict(self.settings)))
                self.button.label = "Stop"

    # What each panel does:

    def begin(self) -> None: ...

    def take(self, item: Any) -> None: ...

    @staticmethod
    def job(choice: Choice, settings: dict[str, Any]) -> Job:
        raise NotImplementedError


class OverTraining(_Panel):
    """`show` tells what is chosen now; `found` holds what was estimated."""

    def __init__(self) -> None:
        super().__init__(
            "At every checkpoint", "Estimates λ̂ at each checkpoint with the settings on the left, one after the other."
        )
        self.figures = TrainingFigures()
        self.found: list[tuple[int, Estimate]] = []
        self._known: Choice | None = None
        self.view = card(
            legend(
                "Over training",
                [
                    ("left", "loss, trained on"),
                    ("right", "loss, held out"),
                    ("estimate", "λ̂ ± 2 s.e."),
                    ("expected", "chosen"),
                ],
                "training_figure over_training_figure",
            ),
            self.bar,
            pn.pane.Bokeh(self.figures.losses, sizing_mode="stretch_width", margin=0),
            pn.pane.Bokeh(self.figures.llc, sizing_mode="stretch_width", margin=0),
        )

    def show(self, choice: Choice, settings: dict[str, Any], from_file: bool) -> None:
        question = replace(choice, checkpoint=0)
        if question != self._known or settings != self.settings:
            self._stop()
            self.found = []
            self.figures.show_found([])
            self.say(self._invitation)
        if self._known is None or (question.network, question.optimizer, question.train_seed) != (
            self._known.network, self._known.optimizer, self._known.train_seed
        ):  # fmt: skip
            self.figures.show(None)
        self._known, self.choice, self.settings = question, choice, settings
        self.figures.mark(None if from_file else choice.checkpoint)

    def ready(self) -> None:
        """The choice has been trained."""
        if self.choice is not None and not len(self.figures.source.data["step"]):
            self.figures.show(trained(self.choice)[1])

    def begin(self) -> None:
        self.found = []
        self.figures.show_found([])
        self.say("Estimating at the first checkpoint.")

    def take(self, item: tuple[int, Estimate]) -> None:
        self.found.append(item)
        self.figures.show_found(self.found)

    def tell(self, state: State) -> None:
        super().tell(state)
        if state.status in (Status.RUNNING, Status.FINISHED) and self.found:
            trusted = sum(bool(e.converged) for _, e in self.found)
            self.say(
                f"Checkpoints so far: {len(self.found)}; by their own verdict {trusted} of the estimates can be trusted."
            )

    @staticmethod
    def job(choice: Choice, settings: dict[str, Any]) -> TaskJob:
        def one(step: int) -> tuple[int, Estimate]:
            at = potential(replace(choice, checkpoint=step), batch_size=settings["batch_size"])
            return step, estimate(at, progress=False, **settings)

        return TaskJob([partial(one, c.step) for c in trained(choice)[1].checkpoints])


class CalibrationPanel(_Panel):
    """`listener` is called with (step_size, localization) when the pick is to be used."""

    def __init__(self) -> None:
        super().__init__(
            "Calibrate", "Tries eight step sizes with three localisations in one batched run and picks the plateau."
        )
        self.listener: Callable[[float, float], None] = lambda step_size, localization: None
        self.figure = CalibrationFigure()
        self.found: Calibration | None = None
        self.use = pmui.Button(label="Use the pick", size="small", variant="outlined", margin=0, visible=False)
        self.use.on_click(self._on_use)
        self._told = pn.pane.HTML("", sizing_mode="stretch_width", margin=(6, 0, 0, 0), stylesheets=[theme.TEXT])
        self.view = card(
            heading("Which step size, which localisation?"),
            self.bar,
            pn.pane.Bokeh(self.figure.plot, sizing_mode="stretch_width", margin=0),
            self._told,
            self.use,
        )

    def show(self, choice: Choice, settings: dict[str, Any]) -> None:
        if choice != self.choice or settings.get("sampler", {}).get("name") != self.settings.get("sampler", {}).get(
            "name"
        ):
            self._stop()
            self.use.visible = False
            if self.found is not None:
                self.say("This map is of another choice; calibrate again for the present one.")
        self.choice, self.settings = choice, settings

    def begin(self) -> None:
        self.use.visible = False
        self.say("24 settings in one run; this takes up to a minute.")

    def take(self, item: Calibration) -> None:
        self.found = item
        self.figure.show(item)
        self._told.object = f'<p class="small">{escape(str(item))}</p>'
        self.use.visible = item.chosen is not None
        self.say("Pale cells are refused; the pick has a frame. Hover for the reasons.")

    def _on_use(self, event: object) -> None:
        if self.found is not None and self.found.chosen is not None:
            e, g, _ = self.found.chosen
            self.listener(float(self.found.step_size[e]), float(self.found.localization[g]))

    @staticmethod
    def job(choice: Choice, settings: dict[str, Any]) -> TaskJob:
        sampler = settings["sampler"]["name"]
        if sampler not in CALIBRATED:
            raise ValueError(f"The map is for {' and '.join(CALIBRATED)}; choose one of them in place of {sampler}.")

        def run() -> Calibration:
            at = potential(choice, batch_size=settings["batch_size"])
            gammas = [settings["localization"] * share for share in (0.1, 1.0, 10.0)]
            return calibrate(
                at, sampler, localization=gammas, gradient=settings["gradient"], steps=CALIBRATION_STEPS,
                batch_size=settings["batch_size"], seed=settings["seed"],
            )  # fmt: skip

        return TaskJob([run])
