"""Numbers and sentences of the page "Landscapes"."""

from __future__ import annotations

import math
from dataclasses import replace

from app.estimates import texts
from app.runs.job import State
from app.style.numbers import NOT_KNOWN, UNKNOWN, exact, number, with_error
from llc_core import Estimate, Planar
from llc_core.results import AGREES, ERRORS, agrees

_BY_KEY = {item["key"]: item for item in texts.READOUTS}
CELLS = [
    _BY_KEY["llc"],
    _BY_KEY["variance"],
    {
        "key": "exact",
        "label": "exact at this n",
        "tip": "What λ̂ should be for this very data set, nβ and γ: the posterior's mean by quadrature. If the prior "
        "vanishes on an axis, it is taken on the side where the chains began.",
    },
    {
        "key": "local",
        "label": "λ at w0",
        "detail": True,
        "tip": "The learning coefficient of the point w0. The exact value tends to it as n grows, if γ keeps deeper "
        "points out.",
    },
    {
        "key": "error",
        "label": "relative error",
        "tip": "λ̂ divided by the exact value at this n, minus one.",
        "detail": True,
    },
    {
        "key": "multiplicity",
        "label": "multiplicity m",
        "detail": True,
        "tip": "In how many directions at once λ is reached. Each one above the first lowers λ̂ by about 1/log nβ.",
    },
    _BY_KEY["r_hat"],
    _BY_KEY["ess"],
    _BY_KEY["dead"],
    _BY_KEY["speed"],
]
MAIN_CELLS = [cell for cell in CELLS if not cell.get("detail")]
DETAIL_CELLS = [cell for cell in CELLS if cell.get("detail")]
"""They stand below the running estimate: on a small laptop the first screen has no room for them. λ at w0 is in the question, and on the
line from 0 to d/2."""
UNSETTLED = "The exact value is not known here: the valley is too fine for the quadrature."
FEW = 32
EXACT_CELLS = ["exact", "error", "local", "multiplicity"]
"""Keys of the cells that tell what λ̂ should be."""


def question(problem: Planar, with_answers: bool) -> str:
    """The page in a sentence: how many parameters there are, and how many the model behaves as if it had (2λ)."""
    asked = "How many parameters does this model use?"
    known = problem.local_learning_coefficient
    if not with_answers or known is None:
        return f"{asked} It has 2, and near w0 it uses 2λ of them."
    local = known.value
    if local == 1:
        return f"{asked} It has 2, and near w0 it uses both: λ = 1."
    return f"{asked} It has 2, and near w0 it behaves like a model with {2 * local}: λ = {local}."


def readout_values(state: State, problem: Planar, value: float | None) -> dict[str, str]:
    if state.estimate is not None and not begun(state.estimate):
        state = replace(state, estimate=None)
    values = texts.readout_values(state, value)
    local, estimate = problem.local_learning_coefficient, state.estimate
    known = estimate is not None and value is not None and math.isfinite(estimate.llc)
    return {
        **dict.fromkeys(("dead", "speed"), UNKNOWN),
        **{key: values[key] for key in values if key != "expected"},
        "exact": number(value),
        "error": f"{estimate.llc / value - 1:+.1%}".replace("-", "−") if known else UNKNOWN,
        "local": NOT_KNOWN if local is None else str(local.value),
        "multiplicity": UNKNOWN if local is None else str(local.multiplicity),
    }


def verdict(state: State, problem: Planar, value: float | None, with_answers: bool) -> tuple[str, str]:
    """(tone, HTML): whether to trust λ̂, and how it, the exact value at this n and λ lie to each other."""
    tone, words = texts.verdict(state, with_answers, value)
    estimate: Estimate | None = state.estimate
    if estimate is not None and estimate.burn_in == 0 and tone == "wait":
        return tone, "<b>Starting.</b> The first numbers appear in a moment."
    if estimate is None or tone == "wait":
        return tone, words
    thrown_out = thrown(problem, estimate)
    words = f"{words} {thrown_out}".strip()
    if with_answers and value is None and not problem.model.on_axes and estimate.config.localization:
        return tone, f"{words} {UNSETTLED}"
    if not with_answers or value is None or not math.isfinite(estimate.llc):
        return tone, words
    where = "" if thrown_out else _place(problem, estimate, value)
    named = f"{value:.4g}" in words
    found = "" if named and not where else f" {_found(problem, estimate, value)}{where and f': {where}'}."
    return tone, f"{words}{found} {finite(problem, estimate.n_beta, value)}"


def _found(problem: Planar, estimate: Estimate, value: float) -> str:
    off = estimate.llc / value - 1
    if abs(off) <= AGREES:
        return f"λ̂ agrees with the exact value {value:.3f} at n = {problem.n:,}"
    found = f"λ̂ is {abs(off):.0%} {'above' if off > 0 else 'below'} the exact value {value:.3f} at n = {problem.n:,}"
    within = agrees(estimate.llc, estimate.llc_se, value)
    return f"{found} (within {ERRORS} of its standard errors)" if within else found


def begun(estimate: Estimate) -> bool:
    """Whether there are steps enough to show a number."""
    return estimate.steps > estimate.burn_in + FEW


def finite(problem: Planar, n_beta: float, value: float) -> str:
    """How λ̂ at this n differs from λ, in words."""
    local, least = problem.local_learning_coefficient, problem.learning_coefficient
    if local is None:
        return "λ at w0, the limit of many samples, is not known here."
    share = value / float(local) - 1
    way = "below" if share < 0 else "above"
    reason = ""
    if local.multiplicity and local.multiplicity > 1 and n_beta > math.e:
        reason = f" (m = {local.multiplicity} alone subtracts about 1/log nβ = {1 / math.log(n_beta):.2f})"
    if least is not None and least.value < local.value:
        return f"λ at w0 is {exact(local.value)}. At a fixed γ more samples lead to the smallest λ in this picture, {exact(least.value)}."
    if least is None:
        return f"λ at w0 is {exact(local.value)}: the limit of many samples, if γ grows with them and keeps other points out."
    return f"λ = {exact(local.value)} is the limit of many samples: this n is {abs(share):.0%} {way} it{reason}."


def thrown(problem: Planar, estimate: Estimate) -> str:
    """A sentence on what helps chains that diverged where the prior is 0; empty where none did."""
    explicit = problem.has_prior and estimate.config.sampler["name"] != PROXIMAL
    return _THROWN[0].upper() + _THROWN[1:] + "." if explicit and estimate.diverged else ""


def _place(problem: Planar, estimate: Estimate, value: float) -> str:
    """Where the chains have not been, which only this landscape can tell; empty where it cannot."""
    if problem.model.name != "line_and_point" or agrees(estimate.llc, estimate.llc_se, value):
        return ""
    above = estimate.llc > value
    if problem.model.parameters["at"] != "V":
        return "the chains have not yet spent enough time at V" if above else ""
    return "" if above else "the chains have not yet spent enough time on the line"


PROXIMAL = "ProximalSGLD"
_THROWN = (
    "near its zero the prior throws a chain further than any step size can follow. Proximal SGLD takes that step safely"
)


def with_sd(name: str, mean: float, se: float, sd: float) -> str:
    return f"{name}: mean {with_error(mean, se)}, sd {sd:.2f}"
