"""What is said of each part of a split."""

from __future__ import annotations

import math

from llc_core.diagnostics.remedies import remedy
from llc_core.results import Estimate
from llc_core.studies.explain.parts import CAUSES, Part

SIGNIFICANT = 2.0
"""Standard errors from which on a sentence speaks of an effect."""
NOT_APART = "not separated"
WITHOUT = {
    "minibatch": "The run used full gradients, so there is no minibatch noise.",
    "step_size": "There is no step size, or a test that accepts or rejects takes its error away.",
}
"""Cause → what is said where it adds exactly nothing."""
NO_ERROR = {
    "finite_n": "It is the known difference between λ and its estimate at this n and nβ.",
    "local_global": "w0 is not the most singular point of its level set.",
}
"""Cause → what is said where nothing is wrong with the run. What helps against the others says `diagnostics.remedies`."""


def part_of(causes: list[str], value: float, se: float, how: str, estimate: Estimate, scale: float) -> Part:
    """The part of these causes together, with its label and its sentence. scale: what shares are given of."""
    labels = [CAUSES[name] for name in causes]
    label = labels[0]
    if len(labels) > 1:
        rest = [text[0].lower() + text[1:] for text in labels[1:]]
        label = " and ".join([", ".join([label, *rest[:-1]]), rest[-1]])
        how = NOT_APART
    if value == 0 and se == 0:
        sentence = WITHOUT.get("+".join(causes), f"{label} adds nothing here.")
    else:
        sentence = _effect(causes, label, value, se, scale) + _drift(causes, estimate)
        sentence = f"{sentence}. {_advice(causes, value, se, estimate)}".strip()
    return Part("+".join(causes), label, value, se, sentence, how)


def _effect(causes: list[str], label: str, value: float, se: float, scale: float) -> str:
    if abs(value) <= SIGNIFICANT * se:
        return f"{label}: no effect beyond the error bar of ±{SIGNIFICANT * se:.2g} was seen"
    singular = len(causes) == 1 and causes != ["localization"]
    verb = ("raise" if value > 0 else "lower") + ("s" if singular else "")
    share = f" ({value / abs(scale):+.0%})" if scale else ""
    size = f"{abs(value):.3g} ± {se:.2g}" if se else f"{abs(value):.3g}"
    joined = "" if len(causes) == 1 else f"; they were {NOT_APART}"
    return f"{label} {verb} the estimate by {size}{share}{joined}"


def _advice(causes: list[str], value: float, se: float, estimate: Estimate) -> str:
    """What helps, as in the estimate's verdict; nothing where no effect was seen or several causes are in it."""
    if len(causes) > 1 or abs(value) <= SIGNIFICANT * se:
        return ""
    if causes[0] in NO_ERROR:
        return NO_ERROR[causes[0]]
    known = estimate.evidence
    return remedy(causes[0], known.sampler, known.step_size, value / estimate.llc).sentence


def _drift(causes: list[str], estimate: Estimate) -> str:
    """A chain that still drifts is a reason for the part of mixing."""
    drift, drift_se = (estimate.diagnostics.get(name, math.nan) for name in ("drift", "drift_se"))
    if "mixing" in causes and abs(drift) > SIGNIFICANT * drift_se:
        way = "above" if drift > 0 else "below"
        return f"; the second half of the chain lies {abs(drift):.2g} {way} the first"
    return ""
