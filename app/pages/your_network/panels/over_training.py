"""Panel "Over training": λ̂ and ν̂ at every checkpoint, one after the other, of one optimiser or of two beside each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from app.pages.your_network.config import ALL_PARTS, OPTIMIZERS, NetworkChoice
from app.pages.your_network.figures import TrainingFigures
from app.pages.your_network.panels.base import ChoicePanel
from app.pages.your_network.scene import known, potential, trained
from app.runs.account import account
from app.runs.allowance import check_allowance
from app.runs.job import Job, State
from app.runs.tasks import TaskJob
from app.style.layout import card, one_of, plotted
from app.style.legend import HeardLegend
from llc_core import Estimate, RunConfig, estimate
from llc_core.engine.resolve import resolve

ALONE = "Alone"
LOOKS = 100
"""Times that a run looks at the losses of all single rows, for ν̂: a look costs as much as a few steps."""
HOLLOW = '<circle cx="13" cy="7" r="5" fill="none" stroke="currentColor" stroke-width="2"/>'
Found = tuple[str, int, Estimate]
"""The optimiser, the checkpoint, and what was estimated there."""


class OverTraining(ChoicePanel):
    """`show` tells what is chosen now; `found` holds what was estimated."""

    def __init__(self) -> None:
        super().__init__("At every checkpoint", "Estimates λ̂ and ν̂ at each checkpoint with these settings.")
        self.figures = TrainingFigures()
        self.found: list[Found] = []
        self._known: NetworkChoice | None = None
        self.beside = one_of({ALONE: ""}, "")
        self.beside.param.watch(self._on_beside, "value")
        self._head = HeardLegend()
        self.view = card(
            self._head.view,
            self.bar(self.beside, self.words, margin=(6, 0)),
            *(plotted(figure) for figure in self.figures.plots),
        )

    def show(self, choice: NetworkChoice, settings: dict[str, Any], from_file: bool) -> None:
        question = replace(choice, checkpoint=0)
        if question != self._known or settings != self.settings:
            self.forget()
        before, self._known, self.choice, self.settings = self._known, question, choice, settings
        if before is None or before.optimizer != question.optimizer:
            others = {f"And {name}": name for name in OPTIMIZERS if name != choice.optimizer}
            self.beside.param.update(options={ALONE: "", **others}, value="")
        if before is None or replace(before, part=ALL_PARTS) != replace(question, part=ALL_PARTS):
            self._begin()
        self.figures.mark(None if from_file else choice.checkpoint)

    def ready(self) -> None:
        """The chosen network has been trained: show its training."""
        if self.choice is not None and not len(self.figures.sources[0].data["step"]):
            self._show_trainings()

    def prepare(self) -> None:
        self.found = []
        self.figures.show_found()

    def begin(self) -> Callable[[], Job] | None:
        if self.choice is None:
            return None
        self.prepare()
        self.say("Estimating at the first checkpoint.")
        return partial(work, self.choice, dict(self.settings), self.beside.value)

    def receive(self, state: State, items: list[Found]) -> None:
        if items:
            self.found = [*self.found, *items]
            self.figures.show_found(*([(at, e) for by, at, e in self.found if by == one] for one in self._optimizers))
            self._show_trainings()
        if self.found:
            trusted = sum(bool(e.converged) for *_, e in self.found)
            self.say(
                f"Checkpoints so far: {len(self.found)}; by their own verdict {trusted} of the estimates can be trusted."
            )

    @property
    def _optimizers(self) -> list[str]:
        assert self.choice is not None
        return [self.choice.optimizer, *filter(None, [self.beside.value])]

    def _on_beside(self, event: object) -> None:
        self.forget()
        self._begin()

    def _begin(self) -> None:
        """The legend of these optimisers, and their trainings as far as they are known."""
        entries = []
        for side, name in zip(("left", "right"), self._optimizers, strict=False):
            entries += [(side, f"{name}, trained on"), (f"{side}_dashed", "held out")]
        figures = " ".join(figure.name for figure in self.figures.plots)
        self._head.begin("Over training", [*entries, (HOLLOW, "not trusted"), ("exact", "chosen")], figures)
        self._show_trainings()

    def _show_trainings(self) -> None:
        assert self.choice is not None
        kept = [known(replace(self.choice, optimizer=name)) for name in self._optimizers]
        self.figures.show(*(None if each is None else each[1] for each in kept))
        self._head.say(self.figures.summary(), now=True)


def work(choice: NetworkChoice, settings: Mapping[str, Any], beside: str) -> TaskJob:
    """In a thread of the run manager: one run for each checkpoint, of the optimiser `beside` too. Trains at the first time.

    ValueError, one sentence, where a run takes more memory than a visitor may have.
    """

    def one(at: NetworkChoice) -> Found:
        problem = potential(at, batch_size=settings["batch_size"])
        watched = {**settings, "functional_variance": max(1, settings["steps"] // LOOKS)}
        complete = resolve(RunConfig(problem=problem.to_dict(), **watched), problem).config
        with account(complete.device).room(check_allowance(complete, problem), "This measurement"):
            return at.optimizer, at.checkpoint, estimate(problem, progress=False, **watched)

    chosen = [replace(choice, optimizer=name) for name in filter(None, [choice.optimizer, beside])]
    kept = [replace(each, checkpoint=c.step) for each in chosen for c in trained(each)[1].checkpoints]
    return TaskJob([partial(one, each) for each in kept])
