"""Two background jobs of the page "Your network": λ̂ at every checkpoint, and the calibration of the sampler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from html import escape
from typing import Any

import panel_material_ui as pmui

from app.pages.your_network.config import Choice
from app.pages.your_network.figures import CalibrationFigure, TrainingFigures
from app.pages.your_network.scene import known, potential, trained
from app.runs.manager import Job, State, background
from app.runs.tasks import TaskJob
from app.session.job_panel import JobPanel
from app.style.layout import card, plotted, prose
from app.style.legend import heading, legend
from llc_core import Estimate, calibrate, estimate
from llc_core.studies.calibration import Calibration

CALIBRATION_STEPS = 600
CALIBRATED = ("SGLD", "RMSPropSGLD")


class _ChoicePanel(JobPanel):
    """A job about the page's choice and settings: `prepare` empties the panel, `job` makes what is run."""

    tone = "small muted"

    def __init__(self, label: str, invitation: str):
        super().__init__(label, invitation, runs=background, width=150)
        self.words.styles = {"flex": "1 1 240px"}
        self.choice: Choice | None = None
        self.settings: dict[str, Any] = {}

    def begin(self) -> Callable[[], Job] | None:
        if self.choice is None:
            return None
        self.prepare()
        return partial(self.job, self.choice, dict(self.settings))

    def prepare(self) -> None:
        raise NotImplementedError

    @staticmethod
    def job(choice: Choice, settings: dict[str, Any]) -> Job:
        raise NotImplementedError


class OverTraining(_ChoicePanel):
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
            self.bar(self.words, margin=(6, 0)),
            plotted(self.figures.losses),
            plotted(self.figures.llc),
        )

    def show(self, choice: Choice, settings: dict[str, Any], from_file: bool) -> None:
        question = replace(choice, checkpoint=0)
        if question != self._known or settings != self.settings:
            self.stop()
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
        if self.choice is None or len(self.figures.source.data["step"]):
            return
        found = known(self.choice)
        if found is not None:
            self.figures.show(found[1])

    def prepare(self) -> None:
        self.found = []
        self.figures.show_found([])
        self.say("Estimating at the first checkpoint.")

    def receive(self, state: State, items: list[tuple[int, Estimate]]) -> None:
        if items:
            self.found = [*self.found, *items]
            self.figures.show_found(self.found)
        if self.found:
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


def _of_map(settings: dict[str, Any]) -> tuple[Any, ...]:
    """What of the settings makes a map another one, the ε and γ that it picks aside."""
    return settings.get("sampler", {}).get("name"), settings.get("dtype"), settings.get("n_beta")


class CalibrationPanel(_ChoicePanel):
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
        self._told = prose(margin=(6, 0, 0, 0))
        self._map = plotted(self.figure.plot)
        self._map.visible = False  # there is nothing on it yet
        self.view = card(
            heading("Which step size, which localisation?"),
            self.bar(self.words, margin=(6, 0)),
            self._map,
            self._told,
            self.use,
        )

    def show(self, choice: Choice, settings: dict[str, Any]) -> None:
        if choice != self.choice or _of_map(settings) != _of_map(self.settings):
            self.stop()
            self.use.visible = False
            if self.found is not None:
                self.say("This map is of another choice; calibrate again for the present one.")
        self.choice, self.settings = choice, settings

    def prepare(self) -> None:
        self.use.visible = False
        self.say("24 settings in one run; this takes up to a minute.")

    def receive(self, state: State, items: list[Calibration]) -> None:
        if not items:
            return
        self.found = item = items[-1]
        self.figure.show(item)
        self._map.visible = True
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
                batch_size=settings["batch_size"], seed=settings["seed"], dtype=settings["dtype"],
                n_beta=None if settings["n_beta"] is None else [settings["n_beta"]],
            )  # fmt: skip

        return TaskJob([run])
