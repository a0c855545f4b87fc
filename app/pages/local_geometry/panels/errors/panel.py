"""The section "Errors on new data": the four errors and WAIC on data set after data set, beside theory; WBIC beside the free energy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from app.controls.fields import ChoiceField
from app.pages.local_geometry.panels.errors.drawing import STYLE, scatter, signed, table
from app.pages.local_geometry.panels.errors.job import DATA_SETS, work
from app.runs.job import Job, State
from app.runs.manager import background
from app.session.job_panel import JobPanel
from app.style import theme
from app.style.layout import card, prose
from app.style.legend import heading
from app.style.numbers import number, with_error, with_minus
from llc_core import DeepLinearNetwork
from llc_core.fields import Hyper
from llc_core.studies.data_errors import DataErrors, Summary, summary
from llc_core.studies.tempering.answers import FreeEnergy

SAMPLES = ("100", "200", "500", "2000")
INVITATION = (
    "What does λ say about new data? This draws 24 data sets, samples the posterior of each at β = 1, and measures."
)
ABOUT = (
    "Numbers are n times an error, in nats, above the loss of the true network on the same rows. Exact draws sample the posterior "
    "around w0 (γ = 1). Theory is of first order in 1/n, with the global λ and the measured ν."
)


class ErrorsPanel(JobPanel):
    """`show` tells which network the page has; `found` holds what was measured on each data set."""

    tone = "small muted"

    def __init__(self) -> None:
        super().__init__("Measure", INVITATION, runs=background, width=96)
        self.words.styles = {"flex": "1 1 240px"}
        self._problem: DeepLinearNetwork | None = None
        self._n = int(SAMPLES[1])
        self.found: list[DataErrors] = []
        self.evidence: FreeEnergy | None = None
        self.samples = ChoiceField(
            "n", Hyper(choices=SAMPLES, help="Rows of each data set."), SAMPLES[1], label="Samples n"
        )
        self.samples.widget.param.update(sizing_mode="fixed", width=110, margin=0)
        self.table = prose(theme.TABLE + STYLE, margin=(8, 0, 0, 0))
        about = prose(margin=(6, 0, 0, 0))
        about.object = f'<p class="small">{escape(ABOUT)}</p>'
        self.view = card(
            heading("Errors on new data"),
            self.bar(self.samples.widget, self.words, margin=(4, 0, 0, 0)),
            self.table,
            about,
        )

    def show(self, problem: DeepLinearNetwork) -> None:
        """Another network is on the page: what was measured was of the one before. The same network keeps its numbers."""
        if self._problem is problem:
            return
        self.stop()
        self._forget(problem)
        self.say(INVITATION)

    def start(self) -> None:
        """Begin as the button does, where nothing is measured already."""
        if self._handle is None and not self.found:
            self._on_button(None)

    def begin(self) -> Callable[[], Job] | None:
        if self._problem is None:
            return None
        self._forget(self._problem)
        self._n = int(str(self.samples.value))
        build = work(self._problem, self._n)
        self.say("Drawing the first data set.")
        return build

    def receive(self, state: State, items: list[Any]) -> None:
        self.found += [each for each in items if isinstance(each, DataErrors)]
        self.evidence = next((each for each in items if isinstance(each, FreeEnergy)), self.evidence)
        if not items or self._problem is None:
            return
        coefficient = float(self._problem.learning_coefficient)
        kept = [each for each in self.found if each.trusted]
        if len(kept) > 1:
            seen = summary(kept, coefficient)
            rows, picture = table(seen), scatter(self.found, coefficient)
            evidence = evidence_words(self.found[0], self.evidence, self._n, coefficient)
            self.table.object = f'<div class="both"><div>{rows}{evidence}</div>{picture}</div>'
            self.say(told(self.found, seen))
        elif len(self.found) > 1:
            self.say(distrust(self.found))

    def _forget(self, problem: DeepLinearNetwork) -> None:
        self._problem, self.found, self.evidence = problem, [], None
        self.table.object = ""


def told(found: Sequence[DataErrors], seen: Summary) -> str:
    """How far it is, and what WAIC is worth."""
    count = f"{len(found)} data sets." if len(found) >= DATA_SETS else f"{len(found)} of {DATA_SETS} data sets."
    if len(found) < DATA_SETS // 2:
        return f"{count} {distrust(found)}".strip()
    together = with_minus(f"{seen.correlation:.2f}")
    return (
        f"{count} WAIC says {signed(seen.means['waic'], seen.errors['waic'])} without new data, and new data say "
        f"{signed(seen.means['bayes_generalisation'], seen.errors['bayes_generalisation'])}. "
        f"Where one is high the other is low (correlation {together}). {distrust(found)}"
    ).strip()


def distrust(found: Sequence[DataErrors]) -> str:
    """A sentence on the data sets whose chains do not agree; empty where all do."""
    bad = [each.r_hat for each in found if not each.trusted]
    if not bad:
        return ""
    return f"Not trusted, and left out: {len(bad)} of {len(found)} data sets, with R-hat up to {max(bad):.2f}."


def evidence_words(first: DataErrors, evidence: FreeEnergy | None, n: int, coefficient: float) -> str:
    """HTML: WBIC beside the free energy of the first data set, both above n times the loss of the true network; empty where it is not trusted."""
    if not first.trusted:
        return ""
    wbic = f"WBIC of the first data set is {number(first.wbic, 3)}; λ log n is {number(coefficient * math.log(n), 3)}."
    if evidence is None:
        return f'<p class="small">{wbic}</p>'
    energy = with_error(-evidence.log_z, evidence.log_z_se)
    doubt = " The ladder has a sign against it." if evidence.reason else ""
    return (
        f'<p class="small">{wbic} A ladder from the prior gives the free energy: {energy}. '
        f"WBIC leaves out the constant that the prior adds, which is nearly the same at every n.{doubt}</p>"
    )
