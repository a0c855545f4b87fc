"""Why this number? The split of `llc_core.studies.explain.split` as a job of the run manager, and as bars with sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

from app.runs.account import account
from app.runs.allowance import allowance, run_memory
from app.runs.tasks import NewestJob
from app.style.numbers import number, with_error
from llc_core import Estimate, Potential
from llc_core.studies.explain.comparisons import FEWEST_CHAINS
from llc_core.studies.explain.parts import Explanation, Part
from llc_core.studies.explain.split import BUDGET, explaining

SHORT = {
    "minibatch": "minibatch noise",
    "step_size": "step size",
    "law": "the sampler’s own bias",
    "mixing": "mixing",
    "localization": "γ, higher order, data",
    "finite_n": "finite n",
    "local_global": "local against global λ",
}
"""Names beside the bars, by the keys of `llc_core.studies.explain.parts.CAUSES`."""


@dataclass(frozen=True)
class WhyProgress:
    """steps: results so far.  explanation: the newest one, whose parts always add up."""

    steps: int
    explanation: Explanation | None
    notes: tuple[str, ...] = ()


class WhyJob(NewestJob):
    """Measures the causes one after the other. Raises ValueError as `llc_core.studies.explain.split.explain` does.

    Its runs have full gradients, and more chains than the estimate: as many as a visitor's allowance has room for.
    """

    def __init__(self, estimate: Estimate, problem: Potential, budget: float = BUDGET):
        self.finished = False
        budget, need = affordable(estimate, problem, budget)
        self._claim = account(estimate.config.device).claim(need, "This explanation")  # as long as the job
        self._stages = explaining(estimate, problem, budget=budget)
        self._done = 0
        self._latest: Explanation | None = None

    def advance(self, steps: int) -> WhyProgress:
        for _ in range(steps):
            found = next(self._stages, None)
            if found is None:
                self.finished = True
                break
            self._latest = found
            self._done += 1
        return WhyProgress(self._done, self._latest)


def affordable(estimate: Estimate, problem: Potential, budget: float) -> tuple[float, float]:
    """The budget, or the part of it that an allowance has room for, and the bytes of the runs.

    A run has at most `budget` times the estimate's chains, and at least four.
    """
    config = estimate.config.replace(gradient="full", grid={})
    each = max(run_memory(config.replace(chains=1), problem)[0], 1.0)
    most = max(1.0, allowance(config.device) * 2**20 / each) / config.chains
    budget = min(budget, most)
    return budget, each * max(FEWEST_CHAINS, budget * config.chains)


def short_label(part: Part) -> str:
    """A name that fits beside a bar."""
    if len(part.causes) > 2:
        return "not separated yet"
    return " + ".join(SHORT.get(cause, cause) for cause in part.causes)


def opening(found: Explanation) -> str:
    """HTML: one sentence on the whole."""
    if not found.parts:
        return "<p>Measuring the first cause.</p>"
    text = f"λ̂ − {found.truth_label} = {value_text(found.total, found.total_se)}"
    text += f" (λ̂ = {number(found.llc)}, {found.truth_label} {number(found.truth)})."
    if found.share >= 1:
        part = found.dominant
        clear = abs(part.value) > 2 * part.se
        text += f" Largest part: {short_label(part)}." if clear else " No part is clearly different from 0."
    return f"<p>{escape(text)}</p>"


def bars(found: Explanation) -> str:
    """HTML: one row for each part, its bar with two standard errors, its value, its sentence and how it was measured."""
    rows = [(short_label(p), p.value, p.se, p.sentence, p.how) for p in found.parts]
    low, high = frame([(value, se) for _, value, se, _, _ in rows] + [(found.total, 0.0)])
    body = "".join(
        f'<li><span class="name">{escape(label)}</span>{_bar(value, se, low, high)}'
        f'<span class="value">{escape(value_text(value, se))}</span>'
        f'<span class="sentence">{escape(sentence)} <span class="muted">({escape(how)})</span></span></li>'
        for label, value, se, sentence, how in rows
    )
    whole = (
        f'<li class="sum"><span class="name">sum: λ̂ − {escape(found.truth_label)}</span>'
        f"{_bar(found.total, 0.0, low, high)}"
        f'<span class="value">{escape(value_text(found.total, found.total_se))}</span></li>'
    )
    return f'<ol class="why">{body}{whole}</ol>'


def signed(value: float) -> str:
    return number(value, 3).replace("-", "−") if value < 0 else f"+{number(value, 3)}"


def value_text(value: float, se: float) -> str:
    """ "+0.41 ± 0.03"."""
    if not (math.isfinite(se) and se > 0):
        return signed(value)
    text = with_error(value, se)
    return text.replace("-", "−") if value < 0 else f"+{text}"


def frame(values: list[tuple[float, float]]) -> tuple[float, float]:
    """Ends that hold 0, all values and their error bars."""
    low = min(0.0, *(value - 2 * se for value, se in values))
    high = max(0.0, *(value + 2 * se for value, se in values))
    room = 0.04 * max(high - low, 1e-9)
    return low - room, high + room


def _bar(value: float, se: float, low: float, high: float) -> str:
    def place(x: float) -> float:
        return 100 * (x - low) / (high - low)

    left, right = sorted((place(0), place(value)))
    whisker = ""
    if se > 0:
        first, last = place(value - 2 * se), place(value + 2 * se)
        whisker = f'<i class="error" style="left:{first:.2f}%;width:{last - first:.2f}%"></i>'
    return (
        f'<span class="track" aria-hidden="true"><i class="part" style="left:{left:.2f}%;width:{right - left:.2f}%"></i>'
        f'{whisker}<i class="zero" style="left:{place(0):.2f}%"></i></span>'
    )
