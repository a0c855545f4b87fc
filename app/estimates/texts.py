"""Numbers and verdicts as people read them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import Any

from app.runs.job import State, Status
from app.session.run_words import trouble
from app.style.numbers import NOT_KNOWN, UNKNOWN, number, with_error, with_minus
from llc_core import Conclusion, Estimate, conclude
from llc_core.studies.explain.parts import Explanation
from llc_core.verdicts import WRONG, Kind, Trust, plain_words

OWN_SETTINGS = "Your own settings. Every change starts a new run, so that an estimate never mixes two settings."


VARIANCE = {
    "key": "variance",
    "label": "from the variance",
    "tip": "λ̂ from how much the losses vary, with γ's part in it. What the step and minibatch noise add is subtracted. L(w0) is "
    "not in it. Where it is higher than λ̂, w0 may be no minimum; where it is lower, λ̂ may change with the temperature.",
}
"""The cell of λ̂ from the variance, beside that of λ̂ on every page."""
READOUTS = [
    {
        "key": "llc",
        "label": "Estimate λ̂ ± standard error",
        "hero": True,
        "main": True,
        "tip": "Mean over living chains and over all steps after burn-in of nβ·(L(w) − L(w0)). The standard error comes "
        "from the spread of the chains.",
    },
    VARIANCE,
    {
        "key": "expected",
        "label": "expected λ̂",
        "tip": "What λ̂ should be at this n and nβ: the exact local λ with its leading finite-n corrections.",
    },
    {"key": "error", "label": "relative error", "tip": "λ̂ divided by its expected value, minus one."},
    {
        "key": "r_hat",
        "detail": True,
        "label": "R-hat",
        "tip": "Do the chains agree? Compares the spread between chains with the spread within them; trust only below 1.05.",
    },
    {
        "key": "ess",
        "detail": True,
        "label": "ESS",
        "tip": "Effective sample size: how many independent draws all the steps after burn-in are worth.",
    },
    {
        "key": "held",
        "detail": True,
        "label": "kept by γ",
        "tip": "Directions that γ keeps near w0, and not the loss, of as many as there are parameters. They add nothing to λ̂. On a singular loss "
        "they are its flat directions. Where the loss is curved a little, λ̂ rises with a smaller γ.",
    },
    {
        "key": "dead",
        "detail": True,
        "label": "diverged chains",
        "tip": "Chains that overflowed. They are left out of the estimate and counted here.",
    },
    {"key": "speed", "detail": True, "label": "steps/s", "tip": "Steps per second of wall time, all chains together."},
]


def readout_values(state: State, expected: float | None) -> dict[str, str]:
    estimate, snapshot = state.estimate, state.snapshot
    values = {"expected": number(expected)}
    if snapshot is not None:
        alive = snapshot.alive
        values["dead"] = f"{int((~alive).sum())} of {len(alive)}"
        values["speed"] = number(snapshot.steps_per_second, 3)
    if estimate is None:
        return {**values, **dict.fromkeys(("llc", "error", "variance", "r_hat", "ess", "held"), UNKNOWN)}
    relative, held = estimate.relative_error, estimate.evidence.held
    return {
        **values,
        "llc": with_error(estimate.llc, estimate.llc_se),
        "variance": from_variance(estimate.llc_from_variance, estimate.llc_from_variance_se),
        "error": f"{relative:+.1%}".replace("-", "−") if math.isfinite(relative) else UNKNOWN,
        "r_hat": f"{estimate.r_hat:.3f}" if math.isfinite(estimate.r_hat) else UNKNOWN,
        "ess": f"{estimate.ess:,.0f}" if math.isfinite(estimate.ess) else UNKNOWN,
        "held": f"{held:,.0f}" if math.isfinite(held) else UNKNOWN,
    }


def from_variance(llc: float, se: float) -> str:
    """λ̂ from the variance beside that from the mean, in every table and line."""
    return with_error(llc, se) if math.isfinite(llc) else NOT_KNOWN


def why_unknown(estimate: Estimate | None) -> dict[str, str]:
    """What stands before the tip of λ̂ from the variance where that is not known: why."""
    why = "" if estimate is None else estimate.evidence.variance_unknown
    return {"variance": f"Not known: {why}."} if why else {}


def so_far(state: State, newest: float) -> dict[str, str]:
    """What stands in place of λ̂ before there is one, while chains move.  newest: what is drawn now; nan where nothing is."""
    if state.status not in (Status.RUNNING, Status.PAUSED) or not math.isfinite(newest):
        return {}
    return {"llc": f"{number(round(newest, 2) + 0.0, 3)} so far"}


def sentence(estimate: Estimate) -> str:
    return (
        f"λ̂ = {with_error(estimate.llc, estimate.llc_se)}, expected {number(estimate.expected)}, "
        f"relative error {estimate.relative_error:+.1%}"
    )


def caption(state: State) -> str:
    """Two or three words on what the run is doing."""
    if state.status is Status.QUEUED:
        return f"waiting for a free place, number {state.place} in the queue"
    if state.status is Status.STARTING:
        return "starting…"
    snapshot = state.snapshot
    doing = "burn-in" if snapshot is not None and snapshot.steps <= snapshot.burn_in else "averaging"
    return {
        Status.RUNNING: doing,
        Status.PAUSED: f"paused ({doing})",
        Status.FINISHED: "finished",
        Status.FAILED: "stopped by an error",
        Status.CANCELLED: "stopped",
    }[state.status]


def without_answers(values: Mapping[str, str]) -> dict[str, str]:
    return {key: "?" if key in ("expected", "error") else text for key, text in values.items()}


def concluded(
    state: State, with_answers: bool = True, reference: float | None = None, split: Explanation | None = None
) -> Conclusion | None:
    """What to think of the latest estimate, see `llc_core.conclude`; None before there is one that says anything."""
    snapshot, estimate = state.snapshot, state.estimate
    if snapshot is None or estimate is None or state.status in SILENT:
        return None
    if estimate.steps <= estimate.burn_in + 32 and snapshot.alive.any():
        return None
    return conclude(estimate, with_answers, reference=reference, split=split)


def quiet(state: State, found: Conclusion) -> bool:
    """Whether a run that asks for nothing but steps is taking them, or what is open is settled at its end, as by exact draws."""
    return state.status is Status.RUNNING and (found.wants_steps or unspread(found))


def unspread(found: Conclusion) -> bool:
    """Whether an estimate is refused for nothing but directions along which the chains have not spread."""
    return found.said is Kind.UNSPREAD


def advised(state: State, found: Conclusion | None) -> Mapping[str, Any]:
    """The setting that the verdict advises to change, and its value; empty where it does not."""
    return {} if found is None or quiet(state, found) else found.change


SILENT = (Status.FAILED, Status.CANCELLED, Status.QUEUED)
TONES = {
    Trust.CONFIRMED: "good", Trust.DRAWN: "good", Trust.ALONE: "fair", Trust.AT_ODDS: "warn", Trust.REFUSED: "bad",
}  # fmt: skip
"""Kind of a conclusion → the tone of its words."""


def verdict(
    state: State, with_answers: bool = True, reference: float | None = None, split: Explanation | None = None
) -> tuple[str, str]:
    """(tone, HTML) of the sentence that says whether to trust the number and what to change.

    with_answers: whether exact and expected values may speak, too.  reference, split: see `llc_core.conclude`.
    tone: "good", "fair", "warn", "bad" or "wait".
    """
    if any(stopped := trouble(state)):
        return stopped
    snapshot, estimate = state.snapshot, state.estimate
    if snapshot is None or estimate is None:
        return "wait", "<b>Starting.</b> The first points appear in a moment."
    note = f' <span class="note">{escape(state.notes[-1])}</span>' if state.notes else ""
    found = concluded(state, with_answers, reference, split)
    if found is None and state.status is Status.RUNNING and snapshot.steps > snapshot.burn_in:
        return "wait", f"<b>Averaging</b> since step {snapshot.burn_in:,}. The first verdict comes in a moment.{note}"
    if found is None:
        return "wait", (
            f"<b>Warming up.</b> The chains move away from w0. Averaging starts at step {snapshot.burn_in:,}.{note}"
        )
    patient = quiet(state, found) or (state.status is Status.PAUSED and found.wants_steps)
    tone, opening = ("warn", "Not yet.") if patient else (TONES[found.kind], found.opening)
    remedy = (
        f" <b>What to change:</b> {escape(plain_words(found.remedy))}"
        if found.remedy and not quiet(state, found)
        else ""
    )
    if state.status is Status.FINISHED and found.wants_steps:
        remedy += " <b>Run more</b> takes them from here."
    later = " What is said at the end of the run counts." if state.status is Status.RUNNING and unspread(found) else ""
    return (
        tone,
        f"<b>{escape(opening)}</b> {folded(found)}{later}{remedy}{note}",
    )


def folded(found: Conclusion) -> str:
    """HTML of the reason: its details are seen once the pointer, or the focus, is on the verdict."""
    reason, details = with_minus(found.reason), with_minus(found.details)
    brief, rest, more = reason.partition(details) if details else (reason, "", "")
    if not rest:
        return escape(reason)
    # Checks are in brackets, and doubts are a sentence.
    sign = WRONG if found.kind is Trust.ALONE else "…" if found.said is Kind.CONFIRMED else "(…)"
    left_out = f'<span class="brief" data-sign="{sign}">{escape(brief)}</span>'
    return f'{left_out}<span class="rest">{escape(rest)}</span>{escape(more)}'
