"""Sentences about one side: which distribution its sampler has and why, and what the histogram shows of it."""

from __future__ import annotations

import math
from html import escape

from app.pages.stationary_bias.config import BiasConfig
from app.pages.stationary_bias.job import HistogramMeasures
from app.pages.stationary_bias.scene import Prediction
from app.style.numbers import number

RIGHT_LAW = 0.005
"""A limit distribution nearer to the target than this counts as the target."""
NEAR = 0.02
"""A histogram nearer than this to a distribution, or than three times what chance leaves, agrees with it."""


def verdict(config: BiasConfig, prediction: Prediction, measured: HistogramMeasures | None) -> tuple[str, str]:
    """(tone, HTML) of the sentence that says what one histogram shows and what to change."""
    if prediction.trouble:
        return "warn", f"<b>No prediction.</b> {escape(prediction.trouble)}"
    if measured is None or not math.isfinite(measured.to_target):
        return "wait", "<b>Burn-in.</b> The chains start in the target and drift to where this sampler takes them."
    if measured.diverged:
        share = measured.diverged / measured.chains
        return "bad", (
            f"<b>{measured.diverged:,} chains overflowed</b> ({share:.1%}): the step size is too large for this target. "
            "<b>What to change:</b> make ε smaller."
        )
    near = max(NEAR, 3 * measured.floor) if math.isfinite(measured.floor) else NEAR
    far, close, bias = measured.to_target, measured.to_prediction, prediction.distance
    misplaced = f"{_percent(far)} of the probability is in the wrong place"
    if bias < RIGHT_LAW:
        if far < near:
            return "good", f"<b>Samples the target.</b> Only {misplaced}. In theory it has no bias."
        return "warn", (f"<b>Correct for tiny steps, not for this one.</b> {misplaced}. {_why(prediction)}")
    if close < max(near, 0.25 * bias) and close < far:
        return "bad", (
            f"<b>Wrong distribution.</b> {misplaced}, just as theory predicts ({_percent(close)} off). More steps will not help."
        )
    if close < far:
        return "bad", (
            f"<b>Wrong distribution, blurred.</b> {misplaced}. Theory for tiny steps is {_percent(close)} off, since ε is too large. "
            f"{_why(prediction)}"
        )
    return "warn", (
        f"<b>The step size hides the bias.</b> {misplaced}, and {_percent(close)} against theory for tiny steps. With ε this large "
        f"the metric cannot follow the chain. {_why(prediction)}"
    )


def _why(prediction: Prediction) -> str:
    """What to change when ε is too large, with the rule for samplers whose memory must follow the chain."""
    values = prediction.sampler.to_dict()
    step, alpha, stability = values["step_size"], values.get("alpha", 0.0), values.get("stability")
    if prediction.sampler.name in ("PSGLD", "CorrectedPSGLD") and stability is not None:
        limit, memory = stability**3 * (1 - alpha), 1 / (1 - alpha)
        if step > 0.1 * limit:
            return (
                f"The memory of 1/(1 − α) = {number(memory, 3)} steps must be short against the stability constant s. "
                f"Where the curvature is 1, ε = {number(step)} should be well below s³(1 − α) = {number(limit, 2)}. "
                "<b>What to change:</b> a smaller ε or α, or a larger stability constant."
            )
    return "<b>What to change:</b> a smaller ε, or more steps where the tails are slow."


def burn_in_note(config: BiasConfig, prediction: Prediction) -> str:
    """A sentence when the burn-in is too short for what the chain needs; else empty."""
    if prediction.trouble:
        return ""
    step = float(prediction.sampler.to_dict()["step_size"])
    decay = 1 - config.step_decay
    time = step * config.burn_in_steps**decay / decay
    variance = prediction.moments["second"] - prediction.moments["mean"] ** 2
    needed = 2 * variance / prediction.mean_metric
    if math.isfinite(needed) and time < needed:
        return (
            f"Burn-in covers {number(time, 2)} units of time ε·n, but this sampler needs about {number(needed, 2)}. "
            "The histogram still remembers that the chains started in the target."
        )
    return ""


def formula(prediction: Prediction) -> str:
    """LaTeX of the distribution that the sampler converges to, with its numbers."""
    sampler = prediction.sampler
    values = sampler.to_dict()
    alpha, stability = values.get("alpha", 0.0), values.get("stability", 0.0)
    written: dict[str, str] = {
        "CorrectedPSGLD": r"\pi=p",
        "FrozenPSGLD": r"\pi=p",
        "SGLD": r"\pi=p",
        "SGLRW": r"\pi=p",
        "DriftAdamSGLD": (
            rf"\pi\propto p\,\exp\left(-{_n(values.get('a', 1.0))}\int\frac{{U'}}{{{_n(stability)}+|U'|}}\,dx\right)"
        ),
        "RMSPropSGLD": rf"\pi\propto p\,G^{{-1}}=p\,({_n(stability)}+U'^2)^{{1/2}}",
        "AdamSGLD": rf"\pi\propto p\,G^{{-1}}=p\,({_n(stability)}+U'^2)^{{1/2}}",
    }
    if "gamma_term" in values:
        if sampler.exact_law:
            return r"\pi=p"
        published = values["gamma_term"] == "published"
        power, exponent = (rf"^{{{_n(alpha)}}}", r"\alpha") if published else ("", "1")
        inside = values.get("stability_form") == "inside"
        base = {
            "PSGLD": rf"\sqrt{{{_n(stability)}^2+U'^2}}{power}" if inside else rf"({_n(stability)}+|U'|){power}",
            "MongeSGLD": rf"(1+{_n(values.get('beta', 1.0))}^2\,U'^2){power}",
            "ShampooSGLD": rf"|U'|{power}",
        }[sampler.name]
        return rf"\pi\propto p\,G^{{-{exponent}}}=p\,{base}"
    return written.get(sampler.name, r"\pi\propto p\,G^{-(1-c)}")


def explanation(prediction: Prediction) -> str:
    """One sentence on why this sampler has the distribution it has."""
    values = prediction.sampler.to_dict()
    name = prediction.sampler.name
    term = values.get("gamma_term", "")
    if term == "corrected":
        name = "CorrectedPSGLD"
    if term == "published":
        return (
            "The published Γ is multiplied by 1 − α, so a share α of the correction is missing. A factor 1/G "
            "to the power α stays"
            + (" in the density." if name == "MongeSGLD" else ": a hole wherever the slope vanishes.")
        )
    return {
        "PSGLD": "Without Γ the chain spends time in proportion to 1/G. It hurries where the slope is small, since G is "
        "large there.",
        "CorrectedPSGLD": "With the whole Γ the drift balances what the moving metric does: the factor 1/G cancels.",
        "FrozenPSGLD": "The metric moves during burn-in only. A metric that stands still needs no Γ: the chain samples the "
        "target.",
        "MongeSGLD": "Steps are short where the gradient is long and no Γ makes up for it: chains dwell on the slopes.",
        "ShampooSGLD": "G = 1/|U′| is infinite at a mode: chains leave it at once and the density there is zero.",
        "DriftAdamSGLD": "Adam's direction is added to the drift, but the noise stays the same. So the distribution is too "
        "narrow.",
        "SGLD": "The metric is constant: the chain samples the target, with an error proportional to ε.",
        "SGLRW": "Steps have one length, and the slope only decides how likely up is. The chain samples the target, with an "
        "error proportional to ε.",
        "RMSPropSGLD": "The metric moves with the chain and Γ is left out: a factor 1/G stays, as in PSGLD without Γ.",
        "AdamSGLD": "The metric moves with the chain and Γ is left out: a factor 1/G stays.",
    }.get(name, "The moving metric leaves a factor of G in the distribution unless Γ is complete.")


def _percent(value: float) -> str:
    """ "23%", "1.7%"."""
    return f"{value:.0%}" if value >= 0.1 else f"{value:.1%}"


def _n(value: float) -> str:
    return f"{value:g}"
