"""Numbers and verdicts as people read them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from html import escape

from app.runs.manager import State, Status
from llc_core import DeepLinearNetwork, Estimate, LearningCoefficient

UNKNOWN = "–"
OWN_SETTINGS = "Your own settings. Every change starts a new run, so that an estimate never mixes two settings."


def number(value: float | None, digits: int = 4) -> str:
    if value is None or not math.isfinite(value):
        return UNKNOWN
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"


def with_error(value: float, se: float) -> str:
    """ "7.21 ± 0.03": as many digits as the standard error has to say."""
    if not math.isfinite(value):
        return UNKNOWN
    if not (math.isfinite(se) and se > 0):
        return number(value)
    decimals = max(0, 1 - math.floor(math.log10(se)))
    return f"{value:,.{decimals}f} ± {se:.{decimals}f}"


def exact(value: Fraction) -> str:
    """ "15/2 = 7.5" or "29"."""
    if value.denominator == 1:
        return f"{value.numerator:,}"
    return f"{value.numerator:,}/{value.denominator} = {float(value):,.6g}"


def coefficient(found: LearningCoefficient | None) -> str:
    """ "15/2 = 7.5 (m = 1)"."""
    if found is None:
        return UNKNOWN
    return f"{exact(found.value)} (m = {'?' if found.multiplicity is None else found.multiplicity})"


def power_of_ten(value: int) -> str:
    """ "10⁶" where it is one."""
    digits = str(value)
    if len(digits) > 4 and digits == "1" + "0" * (len(digits) - 1):
        return "10" + str(len(digits) - 1).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{value:,}"


READOUTS = [
    {
        "key": "llc",
        "label": "Estimate λ̂ ± standard error",
        "wide": True,
        "main": True,
        "tip": "Mean over living chains and over all steps after burn-in of nβ·(L(w) − L(w0)). The standard error comes "
        "from the spread of the chains.",
    },
    {
        "key": "expected",
        "label": "expected λ̂",
        "tip": "What λ̂ should be at this n and nβ: the exact local λ with its leading finite-n corrections.",
    },
    {"key": "error", "label": "relative error", "tip": "λ̂ divided by its expected value, minus one."},
    {
        "key": "r_hat",
        "label": "R-hat",
        "tip": "Do the chains agree? Compares the spread between chains with the spread within them; trust only below 1.05.",
    },
    {
        "key": "ess",
        "label": "ESS",
        "tip": "Effective sample size: how many independent draws all the steps after burn-in are worth.",
    },
    {
        "key": "dead",
        "label": "dead chains",
        "tip": "Chains that overflowed. They are left out of the estimate and counted here.",
    },
    {"key": "speed", "label": "steps/s", "tip": "Steps per second of wall time, all chains together."},
]

EXACT = [
    {
        "key": "local",
        "label": "local λ at w0 (multiplicity)",
        "wide": True,
        "tip": "Learning coefficient at the point w0 where the chains start, and its multiplicity m. Our own formula with a "
        "short proof, not peer-reviewed, checked by enumeration and an exact sampler; it builds on Aoyagi 2024, Mustață's "
        "arc formula, Abeasis & Del Fra, and Lehalleur & Rimányi 2024.",
    },
    {
        "key": "global",
        "label": "global λ (multiplicity)",
        "wide": True,
        "tip": "The smallest λ over all parameters that compute the same function (Aoyagi 2024), and its multiplicity m. It is "
        "never above the local one.",
    },
    {
        "key": "half",
        "label": "d/2",
        "tip": "What λ would be if the model were regular, as BIC assumes: half the number of parameters.",
    },
    {"key": "dim", "label": "weights d", "tip": "Number of weights in the network."},
    {
        "key": "rank",
        "label": "rank r",
        "tip": "Rank of the product of all layers, that is of the function the network computes.",
    },
    {"key": "n", "label": "samples n", "tip": "Number of data samples."},
    {
        "key": "n_beta",
        "label": "nβ",
        "tip": "Inverse temperature times n. The usual choice n / log n makes λ̂ an estimate of λ (Watanabe 2013).",
    },
    {
        "key": "expected",
        "label": "expected λ̂",
        "tip": "The local λ with its leading corrections for this n and nβ: fitting noise lowers it, a multiplicity above 1 too.",
    },
]


def exact_values(problem: DeepLinearNetwork, n_beta: float, expected: float) -> dict[str, str]:
    return {
        "local": coefficient(problem.local_learning_coefficient),
        "global": coefficient(problem.learning_coefficient),
        "half": number(problem.dim / 2),
        "dim": f"{problem.dim:,}",
        "rank": str(problem.rank),
        "n": power_of_ten(problem.n),
        "n_beta": number(n_beta, 5),
        "expected": number(expected),
    }


def readout_values(state: State, expected: float | None) -> dict[str, str]:
    estimate, snapshot = state.estimate, state.snapshot
    values = {"expected": number(expected)}
    if snapshot is not None:
        alive = snapshot.alive
        values["dead"] = f"{int((~alive).sum())} of {len(alive)}"
        values["speed"] = number(snapshot.steps_per_second, 3)
    if estimate is None:
        return {**values, **dict.fromkeys(("llc", "error", "r_hat", "ess"), UNKNOWN)}
    relative = estimate.relative_error
    return {
        **values,
        "llc": with_error(estimate.llc, estimate.llc_se),
        "error": f"{relative:+.1%}".replace("-", "−") if math.isfinite(relative) else UNKNOWN,
        "r_hat": f"{estimate.r_hat:.3f}" if math.isfinite(estimate.r_hat) else UNKNOWN,
        "ess": f"{estimate.ess:,.0f}" if math.isfinite(estimate.ess) else UNKNOWN,
    }


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


def verdict(state: State, with_answers: bool = True) -> tuple[str, str]:
    """(tone, HTML) of the sentence that says whether to trust the number and what to change.

    with_answers: whether the exact answer may speak, too.
    tone: "good", "warn", "bad" or "wait".
    """
    if state.status is Status.FAILED:
        return "bad", f"<b>The run stopped.</b> {escape(state.message)}"
    if state.status is Status.CANCELLED:
        return "bad", f"<b>Stopped.</b> {escape(state.message or 'Press reset to start again.')}"
    if state.status is Status.QUEUED:
        return "wait", f"<b>Waiting.</b> Other runs are being stepped; this one is number {state.place} in the queue."
    snapshot, estimate = state.snapshot, state.estimate
    if snapshot is None or estimate is None:
        return "wait", "<b>Starting.</b> The first points appear in a moment."
    note = f' <span class="note">{escape(state.notes[-1])}</span>' if state.notes else ""
    if estimate.steps <= estimate.burn_in + 32 and snapshot.alive.any():
        return "wait", (
            f"<b>Burn-in.</b> The chains are still moving away from w0; λ̂ is averaged from step {snapshot.burn_in:,} on.{note}"
        )
    judged = estimate.converged
    if judged:
        missed = _missed(estimate) if with_answers else None
        if missed:
            return "bad", f"<b>{missed[0]}</b> {escape(missed[1])}{note}"
        return "good", f"<b>Trust it.</b> {escape(judged.reason)}{note}"
    patient = state.status in (Status.RUNNING, Status.PAUSED) and judged.wants_steps
    opening = "Not yet." if patient else "Do not trust it."
    remedy = f" <b>What to change:</b> {escape(judged.remedy)}" if judged.remedy else ""
    if state.status is Status.FINISHED and judged.wants_steps:
        remedy += " <b>Go on</b> takes them from here."
    return "warn" if patient else "bad", f"<b>{opening}</b> {escape(judged.reason)}{remedy}{note}"


MISS = 0.05
"""Share by which λ̂ may differ from its expected value, itself an approximation, without a word."""


def _missed(estimate: Estimate) -> tuple[str, str] | None:
    """What the exact answer says against chains that agree with each other (opening, reason); None where it does not."""
    relative = estimate.relative_error
    if estimate.expected is None or not abs(relative) > max(MISS, 4 * estimate.llc_se / estimate.expected):
        return None
    seen = f"The chains agree (R-hat {estimate.r_hat:.3f}), yet λ̂ is {abs(relative):.0%} "
    if relative > 0:
        return "Agreed, but wrong.", (
            f"{seen}above its expected value: a bias of the sampler, which the chains alone cannot show. Halve the step size."
        )
    best, local = estimate.learning_coefficient, estimate.local_learning_coefficient
    if best is not None and local is not None and best.value < local.value:
        return "Agreed, on another place.", (
            f"{seen}below what is expected at w0: the chains have left its neighbourhood for the global λ = {exact(best.value)}."
        )
    return "Agreed, but low.", (
        f"{seen}below its expected value: at this nβ the localisation γ still holds the chains, or they have not spread. "
        "Try a smaller γ or more steps."
    )
