"""Panel "Over training": λ̂ at every checkpoint, one after the other."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from app.pages.your_network.config import NetworkChoice
from app.pages.your_network.figures import TrainingFigures
from app.pages.your_network.panels.base import ChoicePanel
from app.pages.your_network.scene import known, potential, trained
from app.runs.job import State
from app.runs.tasks import TaskJob
from app.style.layout import card, plotted
from app.style.legend import HeardLegend
from llc_core import Estimate, estimate

ENTRIES = [
    ("left", "loss, trained on"),
    ("right", "loss, held out"),
    ("estimate", "λ̂ ± 2 s.e."),
    ("expected", "chosen"),
]


class OverTraining(ChoicePanel):
    """`show` tells what is chosen now; `found` holds what was estimated."""

    def __init__(self) -> None:
        super().__init__(
            "At every checkpoint", "Estimates λ̂ at each checkpoint with these settings, one after the other."
        )
        self.figures = TrainingFigures()
        self.found: list[tuple[int, Estimate]] = []
        self._known: NetworkChoice | None = None
        self._head = HeardLegend()
        self._head.begin("Over training", ENTRIES, "training_figure over_training_figure")
        self.view = card(
            self._head.view,
            self.bar(self.words, margin=(6, 0)),
            plotted(self.figures.losses),
            plotted(self.figures.llc),
        )

    def show(self, choice: NetworkChoice, settings: dict[str, Any], from_file: bool) -> None:
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
        """The chosen network has been trained: show its training."""
        if self.choice is None or len(self.figures.source.data["step"]):
            return
        found = known(self.choice)
        if found is not None:
            self.figures.show(found[1])
            self._head.say(self.figures.summary(), now=True)

    def prepare(self) -> None:
        self.found = []
        self.figures.show_found([])
        self.say("Estimating at the first checkpoint.")

    def receive(self, state: State, items: list[tuple[int, Estimate]]) -> None:
        if items:
            self.found = [*self.found, *items]
            self.figures.show_found(self.found)
            self._head.say(self.figures.summary(), now=True)
        if self.found:
            trusted = sum(bool(e.converged) for _, e in self.found)
            self.say(
                f"Checkpoints so far: {len(self.found)}; by their own verdict {trusted} of the estimates can be trusted."
            )

    @staticmethod
    def job(choice: NetworkChoice, settings: dict[str, Any]) -> TaskJob:
        def one(step: int) -> tuple[int, Estimate]:
            at = potential(replace(choice, checkpoint=step), batch_size=settings["batch_size"])
            return step, estimate(at, progress=False, **settings)

        return TaskJob([partial(one, c.step) for c in trained(choice)[1].checkpoints])
