"""Whether the bias matters for λ̂: what the benchmark measured, from its file of results, and its problems live."""

from __future__ import annotations

import json
import math
from functools import lru_cache, partial
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui
from bokeh.models import ColumnDataSource, FactorRange, NumeralTickFormatter, Range1d, Span, Whisker

import lab
from app.estimates.texts import number, with_error
from app.runs.history import Cursor
from app.runs.llc_job import LlcJob
from app.runs.manager import OVER, RunHandle, Status, manager
from app.style import theme
from app.style.figures import house_figure
from app.style.layout import card, one_of, plotted, prose
from llc_core import RunConfig
from llc_core.potentials import build

RESULTS = Path(lab.__file__).resolve().parent / "results" / "adaptive_llc.json"
LIVE_STEPS = 20_000
MISSING = (
    "The measured answer is not in this copy yet: run <code>python -m lab.benchmarks.accuracy.adaptive</code> to make it, then "
    "open the page again."
)
REFERENCES = {"expected": "expected λ̂", "gibbs": "exact sampler"}


@lru_cache(maxsize=1)
def results(path: Path = RESULTS) -> dict[str, Any] | None:
    """The benchmark's file (see `lab.benchmarks.accuracy.adaptive`), or None where there is none."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return found if found.get("problems") else None


def errors(found: dict[str, Any], share: float, reference: str) -> dict[str, list[tuple[int, float, float]]]:
    """method → (problem, relative error of λ̂, its standard error) for the step size at `share` of the stability limit.

    reference: "expected" or "gibbs".
    """
    table: dict[str, list[tuple[int, float, float]]] = {name: [] for name in found["methods"]}
    for problem in found["problems"]:
        for row in problem["rows"]:
            if math.isclose(row["share"], share) and problem[reference] and row["llc"] is not None:
                truth = problem[reference]
                table[row["method"]].append((problem["seed"], row["llc"] / truth - 1, row["llc_se"] / truth))
    return table


def summary(found: dict[str, Any], share: float) -> list[dict[str, Any]]:
    """One row per method: mean error against both references with standard errors, mean size, dead chains."""
    rows = []
    against = {reference: errors(found, share, reference) for reference in REFERENCES}
    for name in found["methods"]:
        entry: dict[str, Any] = {"method": name}
        for reference, table in against.items():
            values = np.array([error for _, error, _ in table[name] if math.isfinite(error)])
            entry[reference] = float(values.mean()) if len(values) else math.nan
            entry[f"{reference}_se"] = float(values.std(ddof=1) / len(values) ** 0.5) if len(values) > 1 else math.nan
            entry[f"{reference}_size"] = float(np.abs(values).mean()) if len(values) else math.nan
        entry["dead"] = sum(
            row["diverged"]
            for problem in found["problems"]
            for row in problem["rows"]
            if row["method"] == name and math.isclose(row["share"], share)
        )
        rows.append(entry)
    return rows


def percent(value: float, se: float = math.nan) -> str:
    if not math.isfinite(value):
        return "–"
    text = f"{value:+.1%}".replace("-", "−")
    return f"{text} ± {se:.1%}" if math.isfinite(se) else text


def table(rows: list[dict[str, Any]]) -> str:
    """HTML."""
    body = "".join(
        f"<tr><th scope=row>{escape(row['method'])}</th><td>{percent(row['gibbs'], row['gibbs_se'])}</td>"
        f"<td>{row['gibbs_size']:.1%}</td><td>{percent(row['expected'], row['expected_se'])}</td>"
        f"<td>{row['dead']}</td></tr>"
        for row in rows
    )
    return (
        "<table><thead><tr><th scope=col>sampler</th><th scope=col>error against an exact sampler</th><th scope=col>its mean "
        "size</th><th scope=col>error against expected λ̂</th><th scope=col>dead chains</th></tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def advice(found: dict[str, Any], share: float) -> str:
    """HTML: what survives of the advice to take an adaptive sampler, in the numbers of this file."""
    by = {row["method"]: row for row in summary(found, share)}
    parts = []

    def size(name: str) -> str:
        return f"{by[name]['gibbs_size']:.1%}"

    if {"SGLD", "RMSProp a=0.1", "RMSProp a=1e-4"} <= set(by):
        parts.append(
            f"With exact gradients RMSProp misses an exact sampler by {size('RMSProp a=0.1')} on average with a = 0.1 and by "
            f"{size('RMSProp a=1e-4')} with a = 10⁻⁴; plain SGLD at the same share of its stability limit by {size('SGLD')}."
        )
    for name, row in by.items():
        if name.startswith("Frozen PSGLD") and "minibatch" not in name:
            parts.append(
                f"Freezing the metric after burn-in leaves {row['gibbs_size']:.1%}: where an adaptive step is wanted, "
                "adapt it in burn-in only."
            )
    best = min((row for row in by.values() if math.isfinite(row["gibbs_size"])), key=lambda row: row["gibbs_size"])
    parts.append(f"Nearest to an exact sampler at this step size: {escape(best['method'])}, {best['gibbs_size']:.1%}.")
    return " ".join(parts)


class Matters:
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
        self._plot = _ErrorFigure(list(self._found["methods"]))
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
        f"<p>{len(found['problems'])} small deep linear networks, {found['chains']} chains, {found['steps']:,} steps: the "
        "relative error of λ̂ by sampler, one mark a problem, with two standard errors. The expected value has the leading "
        "corrections for finite n; an exact sampler (blocked Gibbs) at the same temperature shows what is the sampler's own "
        "fault.</p>"
    )


def _title(problem: dict[str, Any]) -> str:
    return f"{problem['seed']}: widths {', '.join(map(str, problem['widths']))}, rank {problem['rank']}"


class _ErrorFigure:
    """Relative errors, a row of marks for each method."""

    def __init__(self, methods: list[str]):
        self.source = ColumnDataSource(
            {"row": [], "error": [], "low": [], "high": [], "problem": []}, name="llc_errors"
        )
        self._x = Range1d(-0.5, 0.5)
        self.plot = house_figure(
            "llc_error_figure",
            76 + 30 * len(methods),
            x_range=self._x,
            y_range=FactorRange(*reversed(methods)),
            x_axis_label="relative error of λ̂",
            tools="pan,xbox_zoom,reset,save,hover",
            tooltips=[("problem", "@problem"), ("error", "@error{0.0%}")],
            min_border_left=6,
        )
        self.plot.xgrid.update(grid_line_color="#e5e5e5", grid_line_alpha=0.5)
        self.plot.xaxis.formatter = NumeralTickFormatter(format="+0%")
        self.plot.xaxis.ticker.desired_num_ticks = 4  # type: ignore[attr-defined]
        self.plot.add_layout(Span(dimension="height", location=0, line_color=theme.TARGET, line_width=2))
        whisker = Whisker(
            base="row",
            lower="low",
            upper="high",
            dimension="width",
            source=self.source,
            line_color=theme.ESTIMATE,
            line_alpha=0.6,
        )
        for head in (whisker.upper_head, whisker.lower_head):
            head.size = 0
        self.plot.add_layout(whisker)
        self.plot.scatter("error", "row", source=self.source, size=6, color=theme.ESTIMATE, alpha=0.8)

    def show(self, found: dict[str, list[tuple[int, float, float]]], reference: str) -> None:
        rows, values, spreads, problems = [], [], [], []
        for method, entries in found.items():
            for i, (problem, error, se) in enumerate(entries):
                if math.isfinite(error):
                    rows.append((method, 0.5 * ((i + 0.5) / len(entries) - 0.5)))
                    values.append(error)
                    spreads.append(2 * se if math.isfinite(se) else 0.0)
                    problems.append(problem)
        error, spread = np.array(values), np.array(spreads)
        self.source.data = {
            "row": rows,
            "error": error,
            "low": error - spread,
            "high": error + spread,
            "problem": problems,
        }
        self.plot.xaxis.axis_label = f"relative error of λ̂\nagainst {reference}"  # two lines fit a phone
        if len(error):
            low, high = (float(np.quantile(error, q)) for q in (0.02, 0.98))
            room = 0.15 * max(high - low, 0.1)
            low, high = min(low - room, -0.05), max(high + room, 0.05)
            self._x.update(start=low, end=high, reset_start=low, reset_end=high)
