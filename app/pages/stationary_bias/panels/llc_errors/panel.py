"""Whether the bias matters for λ̂: what the benchmark measured, from its file of results, and its problems live."""

from __future__ import annotations

import math
from functools import partial
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.pages.stationary_bias.panels.llc_errors.figure import ErrorFigure
from app.pages.stationary_bias.panels.llc_errors.results import (
    MISSING,
    REFERENCES,
    advice,
    errors,
    results,
    summary,
    table,
)
from app.runs.handle import RunHandle
from app.runs.history import Cursor
from app.runs.job import OVER, Status
from app.runs.llc_job import LlcJob
from app.runs.manager import manager
from app.style import theme
from app.style.layout import card, one_of, plotted, prose
from app.style.legend import Heard
from app.style.numbers import number, with_error
from llc_core import RunConfig
from llc_core.potentials import build

LIVE_STEPS = 20_000


class LlcErrors:
    """The section at the foot of the page. `poll` and `close` belong to its live run."""

    def __init__(self) -> None:
        self._found = results()
        self._run: RunHandle | None = None
        self._run_cursor = Cursor()
        self._problem: dict[str, Any] = {}
        if self._found is None:
            words = f"<h2>Does it matter for λ̂?</h2><p>{MISSING}</p>"
            self.view = card(pn.pane.HTML(words, sizing_mode="stretch_width", margin=0, stylesheets=[theme.TEXT]))
            return
        shares = [float(share) for share in self._found["shares"]]
        self._share = one_of({f"ε = {share:g} of the limit": share for share in shares}, shares[0])
        self._against = one_of({f"against {words}": key for key, words in REFERENCES.items()}, "expected")
        self._head = pn.pane.HTML(
            _opening(self._found), sizing_mode="stretch_width", margin=0, stylesheets=[theme.TEXT]
        )
        self._advice = prose(theme.VERDICT, margin=(8, 0, 0, 0))
        self._table = prose(theme.TABLE, margin=(8, 0, 0, 0))
        self._plot = ErrorFigure(list(self._found["methods"]))
        self._heard = Heard("llc_error_figure")
        names = {_title(problem): problem["seed"] for problem in self._found["problems"]}
        self._which = pmui.Select(label="Problem", options=names, size="small", margin=0, width=260)
        self._method = pmui.Select(
            label="Sampler of λ̂", options=list(self._found["methods"]), size="small", margin=0, width=280
        )
        self._button = pmui.Button(label="Run it live", size="small", variant="outlined", margin=(6, 0))
        self._button.on_click(self._on_run)
        self._answer = prose(margin=(6, 0))
        for widget in (self._share, self._against):
            widget.param.watch(self._on_choice, "value")
        self.view = card(
            self._head,
            pn.FlexBox(self._share, self._against, gap="8px", sizing_mode="stretch_width", margin=(4, 0)),
            plotted(self._plot.plot),
            self._advice,
            self._table,
            pn.FlexBox(
                self._which,
                self._method,
                self._button,
                gap="12px",
                align_items="center",
                sizing_mode="stretch_width",
                margin=(16, 0, 0, 0),
            ),
            self._answer,
            self._heard.view,
        )
        self._on_choice(None)

    def poll(self) -> None:
        if self._run is None:
            return
        state, _ = self._run.poll(self._run_cursor)
        estimate = state.estimate
        if state.status is Status.FAILED:
            self._answer.object = f"<p>{escape(state.message)}</p>"
        elif estimate is not None and math.isfinite(estimate.llc):
            doing = "finished" if state.status is Status.FINISHED else f"step {state.steps:,} of {LIVE_STEPS:,}"
            self._answer.object = (
                f"<p><b>λ̂ = {with_error(estimate.llc, estimate.llc_se)}</b> ({doing}); exact sampler "
                f"{with_error(self._problem['gibbs'], self._problem['gibbs_se'])}, expected "
                f"{number(self._problem['expected'])}.</p>"
            )
        if state.status in OVER:
            self._run = None

    def close(self) -> None:
        if self._run is not None:
            self._run.cancel()
            self._run = None

    def _on_choice(self, event: object) -> None:
        assert self._found is not None
        share = self._share.value
        with pn.io.hold():
            self._plot.show(errors(self._found, share, self._against.value), REFERENCES[self._against.value])
            self._heard.say(self._plot.summary(), now=True)
            self._advice.object = f'<p class="wait">{advice(self._found, share)}</p>'
            self._table.object = table(summary(self._found, share))

    def _on_run(self, event: object) -> None:
        assert self._found is not None
        self.close()
        self._problem = next(p for p in self._found["problems"] if p["seed"] == self._which.value)
        method = dict(self._found["methods"][self._method.value])
        share = self._share.value
        row = next(
            r for r in self._problem["rows"] if r["method"] == self._method.value and math.isclose(r["share"], share)
        )
        config = RunConfig(
            **{**method, "sampler": {**method["sampler"], "step_size": row["step_size"]}},
            problem=self._problem["problem"],
            chains=self._found["chains"],
            steps=LIVE_STEPS,
            seed=1,
        )
        self._run_cursor = Cursor()
        self._run = manager().submit(partial(_job, config))
        self._answer.object = "<p>starting…</p>"


def _job(config: RunConfig) -> LlcJob:
    return LlcJob(config, build(config.problem))


def _opening(found: dict[str, Any]) -> str:
    return (
        "<h2>Does it matter for λ̂?</h2>"
        f"<p>{len(found['problems'])} small deep linear networks, {found['chains']} chains, {found['steps']:,} steps. "
        "One dot each: how far each sampler's λ̂ is from the exact value, with two standard errors. "
        "The expected value has the leading corrections for finite n. "
        "An exact sampler (blocked Gibbs) at the same temperature shows what is the sampler's own fault.</p>"
    )


def _title(problem: dict[str, Any]) -> str:
    return f"{problem['seed']}: widths {', '.join(map(str, problem['widths']))}, rank {problem['rank']}"
