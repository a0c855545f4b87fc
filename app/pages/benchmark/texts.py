"""What the page "Benchmark" says about a store: its numbers, its verdict, its progress, its legend."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any

import numpy as np

from app.pages.benchmark.table import percent
from app.style.numbers import number_text
from llc_core.sweeps.judging import all_errors, all_lost
from llc_core.sweeps.scales import label, look
from llc_core.sweeps.series import CLOSE, THROWN, Accuracy, Curve, Row, left_out, present
from llc_core.sweeps.table import Table, alike

QUESTION = "Which sampler finds λ, and at which step size?"
TASK = "The answers are hidden. Which sampler comes nearest to λ, and at which step size? Say what you expect, then press Reveal."
"""What stands in place of a lesson while the answers are hidden."""
ANSWER_CELLS = ["diverged", "close"]
"""Keys of the numbers that tell how the samplers did."""
OWN_CHOICE = "Your own choice of runs and of what they are judged by."
NOTHING = (
    "There is no store of a sweep here yet. Write what to run into a TOML file. Start `llc-lab sweep FILE.toml --store "
    "NAME.sqlite` in the folder in which this server runs. Then open this page again."
)
READOUTS = [
    {"key": "runs", "label": "Runs", "tip": "Rows of the store that are shown: one for each problem, sampler, gradient and step size."},
    {"key": "problems", "label": "Problems", "tip": "Random networks with known coefficients; each is run by every sampler."},
    {"key": "diverged", "label": "Diverged", "tip": "Share of runs of which more than half of the chains diverged. Unless that is switched off, chains that were thrown far out count too. Such runs count as without an estimate."},
    {"key": "close", "label": f"Within ±{CLOSE:.0%}", "tip": "Share of all runs shown whose estimate is that near to the chosen truth."},
    {"key": "steps", "label": "Steps per chain", "tip": "Steps of each chain, burn-in included."},
    {"key": "chains", "label": "Chains per run", "tip": "Independent chains of each run."},
    {"key": "errors", "label": "Failed", "tip": "Runs that ended in an error. They count nowhere else."},
]  # fmt: skip
PLURAL = {"full": "full data", "control_variate": "control variates", "minibatch": "minibatches"}
"""How sentences call the gradients."""
STALE_SECONDS = 120.0
"""A sweep that has said nothing for so long was killed, or its machine is gone."""
_SHAPES = {
    "circle": '<circle cx="13" cy="7" r="4.6" fill="{0}"/>',
    "square": '<rect x="8.7" y="2.7" width="8.6" height="8.6" fill="{0}"/>',
    "triangle": '<path d="M13 1.8l5.2 9.4h-10.4z" fill="{0}"/>',
    "diamond": '<path d="M13 1l4 6-4 6-4-6z" fill="{0}"/>',
    "inverted_triangle": '<path d="M13 12.2l5.2-9.4h-10.4z" fill="{0}"/>',
    "hex": '<path d="M8 7l2.500-4.400h5l2.500 4.400-2.500 4.400h-5z" fill="{0}"/>',
    "star": '<path d="M13 1l1.700 4.200 4.500.3-3.500 2.900 1.100 4.400-3.800-2.400-3.800 2.400 1.100-4.400-3.500-2.900 4.500-.3z" fill="{0}"/>',
}


def swatch(sampler: str) -> str:
    color, marker = look(sampler)
    line = f'<path d="M0 7h26" stroke="{color}" stroke-width="2"/>'
    return f'<svg width="26" height="14" aria-hidden="true">{line}{_SHAPES[marker].format(color)}</svg>'


def dash(pattern: Sequence[int]) -> str:
    """SVG shapes of a line."""
    dashes = f' stroke-dasharray="{" ".join(map(str, pattern))}"' if pattern else ""
    return f'<path d="M0 7h26" stroke="currentColor" stroke-width="2.4"{dashes}/>'


def share_near(rows: Sequence[Row], estimator: str, truth: str, cut: bool = True) -> float:
    """Share of runs, those that failed aside, whose estimate is within CLOSE of the truth; nan where there is no run."""
    run = _runs(Table.of(rows))
    with np.errstate(invalid="ignore"):
        near = int((np.abs(all_errors(run, estimator, truth, cut)) <= CLOSE).sum())
    return near / len(run) if len(run) else math.nan


def _runs(table: Table) -> Table:
    """Without those that ended in an error."""
    return table.take(~table.names["status"].among(["error"]))


def readouts(rows: Sequence[Row], near: float, cut: bool = True) -> dict[str, str]:
    """near: as from `share_near`."""
    table = Table.of(rows)
    run = _runs(table)
    problems = alike(table.names["size_class"].codes, table.names["ranks"].codes, table.numbers["problem"])
    diverged = int(all_lost(run, cut).sum())
    return {
        "runs": f"{len(table):,}",
        "problems": f"{len(np.unique(problems)):,}",
        "diverged": percent(diverged / len(run)) if len(run) else "–",
        "close": percent(near),
        "steps": _span(run.numbers["steps"]),
        "chains": _span(run.numbers["chains"]),
        "errors": f"{len(table) - len(run):,}",
    }


def filter_words(found: Sequence[Curve], nan_filter: bool = True, cut: bool = True) -> str:
    """For the caption of mean against standard deviation: what is not drawn, and what counts as no estimate."""
    out, all_of_them = left_out(found)
    few = "10% or more of the problems have no λ̂"
    if nan_filter:
        words = f"Left out, as in the paper: {out:,} of {all_of_them:,} step sizes, at which {few}."
    else:
        words = (
            f"Nothing is left out; the paper leaves out {out:,} of these {all_of_them:,} step sizes, at which {few}."
        )
    far = f"A λ̂ above {THROWN} times half the parameters counts as none."
    kept = far if cut else "A λ̂ of any size counts, as in the paper."
    return f"{words} {kept}"


def best_row(table: Sequence[Accuracy]) -> Accuracy | None:
    """The row with the least root mean square error; None where no run has an estimate."""
    there = [row for row in table if math.isfinite(row.mean)]
    return min([row for row in there if row.usable] or there, key=lambda row: row.size, default=None)


def of_guess(table: Sequence[Accuracy], guess: str) -> str:
    """HTML: the sampler that comes nearest, and how near the guessed one comes.  guess: its name; "" where nothing was guessed."""
    best = best_row(table)
    if best is None:
        return ""
    said = f"<b>{escape(label(best.sampler))} comes nearest</b>: root mean square error {percent(best.size)} at ε = {number_text(best.step_size)}."
    if not guess:
        return said
    if guess == best.sampler:
        return f"{said} You guessed right."
    rows = {name: best_row([row for row in table if row.sampler == name]) for name in {row.sampler for row in table}}
    there = sorted((row for row in rows.values() if row is not None), key=lambda row: (not row.usable, row.size))
    place = next((k for k, row in enumerate(there, 1) if row.sampler == guess), None)
    if place is None:
        return f"{said} Of your guess, {escape(label(guess))}, no run shown has an estimate."
    return f"{said} Your guess, {escape(label(guess))}, is number {place} of {len(there)}: {percent(there[place - 1].size)}."


def verdict(table: Sequence[Accuracy], truth_words: str) -> tuple[str, str]:
    """(tone, HTML) of one sentence about the row of the table with the least root mean square error."""
    best = best_row(table)
    if best is None:
        return "wait", "No run shown has an estimate."
    there = [row for row in table if math.isfinite(row.mean)]
    close = sum(abs(row.mean) <= CLOSE for row in there)
    step = f"ε = {number_text(best.step_size)}"
    tone = "good" if abs(best.mean) <= CLOSE else "warn"
    gradients = {row.gradient for row in table}
    given = f"With {PLURAL.get(best.gradient, best.gradient)}" if len(gradients) == 1 else "At their best step size"
    rows = "samplers" if len(gradients) == 1 else "pairs of sampler and gradient"
    many = f"{close} of {len(table)} {rows}" if close and len(table) > 1 else "the sampler" if close else "no sampler"
    of = f"{best.count}{'' if best.count == best.total else f' of {best.total}'} problems"
    kind = "" if len(gradients) == 1 else f" with {PLURAL.get(best.gradient, best.gradient)}"
    words = (
        f"{given} {many} {'get' if close > 1 else 'gets'} within {CLOSE:.0%} of {truth_words} on average. "
        f"Best: {label(best.sampler)}{kind} at {step}, {_off(best.mean)} ± {percent(best.sd)} over {of} "
        f"(root mean square error {percent(best.size)})."
    )
    if math.isfinite(best.decades):
        wide = f"over {best.decades:.1f} decades of step size" if best.decades > 0 else "at one of the step sizes tried"
        words += f" Its mean stays within {CLOSE:.0%} {wide}."
    return tone, escape(words).replace(step, f'<span style="white-space: nowrap">{step}</span>')


def _off(mean: float) -> str:
    return f"{percent(abs(mean))} too {'low' if mean < 0 else 'high'}"


def progress_html(progress: Mapping[str, Any] | None, now: datetime | None = None) -> str:
    """HTML of how far a sweep is; empty for one that is finished or never said anything."""
    if not progress or progress.get("state") == "finished":
        return ""
    done, total = (max(0, int(progress.get(name) or 0)) for name in ("done", "total"))
    share = min(1.0, done / total) if total else 0.0
    words = f"{done:,} of {total:,} runs are done"
    if progress.get("errors"):
        words += f", {int(progress['errors']):,} of them failed"
    if progress.get("state") != "running":
        words += ". The sweep was stopped. The same command resumes it."
    elif _silent(progress.get("updated"), now or datetime.now(UTC)):
        words += ". The sweep has been silent for minutes. If it was killed, the same command resumes it."
    else:
        left = progress.get("seconds_left")
        words += f", {duration(left)} left." if isinstance(left, int | float) and math.isfinite(left) else "."
    bar = (
        f'<div class="track" role="progressbar" aria-label="Sweep" aria-valuemin="0" aria-valuemax="100" '
        f'aria-valuenow="{100 * share:.0f}"><div class="done" style="width: {100 * share:.1f}%"></div></div>'
    )
    return f'<p class="small" role="status">{escape(words)}</p>{bar}'


def is_alive(progress: Mapping[str, Any], now: datetime | None = None) -> bool:
    """Whether a sweep says that it is running, and has said so lately."""
    return progress.get("state") == "running" and not _silent(progress.get("updated"), now or datetime.now(UTC))


PROGRESS_SHEET = """
p { margin: 0 0 5px; }
.track { position: relative; height: 6px; border-radius: 3px; overflow: hidden;
  background: color-mix(in srgb, currentColor 14%, transparent); }
.done { position: absolute; inset: 0 auto 0 0; background: var(--panel-primary-color); }
"""


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 0):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def samplers_of(rows: Sequence[Row], order: Sequence[str]) -> list[dict[str, str]]:
    """Items of the legend that switches samplers."""
    return [{"key": name, "label": label(name), "swatch": swatch(name)} for name in present(rows, "sampler", order)]


def _silent(updated: Any, now: datetime) -> bool:
    try:
        said = datetime.fromisoformat(str(updated))
    except ValueError:
        return True
    said = said if said.tzinfo else said.replace(tzinfo=UTC)
    return (now - said).total_seconds() > STALE_SECONDS


def _span(values: np.ndarray) -> str:
    there = values[np.isfinite(values)]
    if not len(there):
        return "–"
    low, high = int(there.min()), int(there.max())
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"
