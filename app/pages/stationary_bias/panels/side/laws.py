"""Sentences about one side: which law its sampler has and why, and what the histogram shows of it."""

from __future__ import annotations

import math
from html import escape

from app.pages.stationary_bias.config import BiasConfig
from app.pages.stationary_bias.job import Measured
from app.pages.stationary_bias.scene import Prediction
from app.style.numbers import number

RIGHT_LAW = 0.005
"""A limit law nearer to the target than this counts as the target."""
NEAR = 0.02
"""A histogram nearer than this to a law, or than three times what chance leaves, agrees with it."""


def verdict(config: BiasConfig, prediction: Prediction, measured: Measured | None) -> tuple[str, str]:
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
    numbers = f"{far:.3f} from the target, {close:.3f} from the prediction"
    if bias < RIGHT_LAW:
        if far < near:
            return (
                "good",
                f"<b>Samples the target.</b> The limit is the target, and the histogram is {far:.3f} from it.",
            )
        return "warn", (
            f"<b>Correct for tiny steps, not for this one.</b> The histogram is {far:.3f} from the target. {_why(prediction)}"
        )
    if close < max(near, 0.25 * bias) and close < far:
        return "bad", (
            f"<b>The wrong law.</b> The histogram is {numbers}: more steps will not bring it nearer to the target."
        )
    if close < far:
        return "bad", (
            f"<b>The wrong law, blurred.</b> The histogram is {numbers}: ε is too large for the prediction to hold exactly. "
            f"{_why(prediction)}"
        )
    return "warn", (
        f"<b>The step size hides the bias.</b> The histogram is {numbers}: with ε this large the metric cannot follow the "
        f"chain. {_why(prediction)}"
    )


def _why(prediction: Prediction) -> str:
    """What to change when ε is too large, with the rule for samplers whose memory must follow the chain."""
    values = prediction.sampler.to_dict()
    step, alpha, stability = values["step_size"], values.get("alpha", 0.0), values.get("stability")
    if prediction.sampler.name in ("PSGLD", "CorrectedPSGLD") and stability is not None:
        limit, memory = stability**3 * (1 - alpha), 1 / (1 - alpha)
        if step > 0.1 * limit:
            return (
                f"The memory of 1/(1 − α) = {number(memory, 3)} steps must be short against the stability constant s: ε = {number(step)} "
                f"should be well below s³(1 − α) = {number(limit, 2)} where the curvature is 1. "
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
            f"Burn-in covers {number(time, 2)} units of time ε·n; this law needs about {number(needed, 2)} to be reached: "
            "the histogram still remembers that the chains started in the target."
        )
    return ""


def formula(prediction: Prediction) -> str:
    """LaTeX of the law that the sampler converges to, with its numbers."""
    sampler = prediction.sampler
    values = sampler.to_dict()
    alpha, stability = values.get("alpha", 0.0), values.get("stability", 0.0)
    written: dict[str, str] = {
        "CorrectedPSGLD": r"\pi=p",
        "FrozenPSGLD": r"\pi=p",
        "SGLD": r"\pi=p",
        "MongeSGLD": rf"\pi\propto p\,G^{{-1}}=p\,(1+{_n(values.get('beta', 1.0))}^2\,U'^2)",
        "ShampooSGLD": r"\pi\propto p\,G^{-1}=p\,|U'|",
        "DriftAdamSGLD": (
            rf"\pi\propto p\,\exp\left(-{_n(values.get('a', 1.0))}\int\frac{{U'}}{{{_n(stability)}+|U'|}}\,dx\right)"
        ),
        "RMSPropSGLD": rf"\pi\propto p\,G^{{-1}}=p\,({_n(stability)}+U'^2)^{{1/2}}",
        "AdamSGLD": rf"\pi\propto p\,G^{{-1}}=p\,({_n(stability)}+U'^2)^{{1/2}}",
    }
    if sampler.name == "PSGLD":
        published = values["gamma_term"] == "published"
        power = _n(alpha) if published else "1"
        inside = values["stability_form"] == "inside"
        base = rf"({_n(stability)}^2+U'^2)^{{{power}/2}}" if inside else rf"({_n(stability)}+|U'|)^{{{power}}}"
        exponent = r"\alpha" if published else "1"
        return rf"\pi\propto p\,G^{{-{exponent}}}=p\,{base}"
    return written.get(sampler.name, r"\pi\propto p\,G^{-(1-c)}")


def explanation(prediction: Prediction) -> str:
    """One sentence on why this sampler has the law it has."""
    values = prediction.sampler.to_dict()
    name = prediction.sampler.name
    if name == "PSGLD":
        if values["gamma_term"] == "dropped":
            return (
                "Without Γ the chain spends time in proportion to 1/G: it hurries through places where G is large, that is "
                "where the slope is small."
            )
        return (
            "Γ is published with a factor 1 − α too little, so a share α of the correction is missing and the law keeps a "
            "factor 1/G to the power α: a hole wherever the slope vanishes."
        )
    return {
        "CorrectedPSGLD": "With the whole Γ the drift balances what the moving metric does: the factor 1/G cancels.",
        "FrozenPSGLD": "The metric moves during burn-in only. A metric that stands still needs no Γ: the law is the target.",
        "MongeSGLD": "Steps are short where the gradient is long and no Γ makes up for it: chains dwell on the slopes.",
        "ShampooSGLD": "G = 1/|U′| is infinite at a mode: chains leave it at once and the density there is zero.",
        "DriftAdamSGLD": "Adam's direction is added to the drift while the noise stays as it was: the law is too narrow.",
        "SGLD": "The metric is constant: the law is the target, with an error proportional to ε.",
        "RMSPropSGLD": "The metric moves with the chain and Γ is left out: a factor 1/G stays, as in PSGLD without Γ.",
        "AdamSGLD": "The metric moves with the chain and Γ is left out: a factor 1/G stays.",
    }.get(name, "The moving metric leaves a factor of G in the law unless Γ is complete.")


def _n(value: float) -> str:
    return f"{value:g}"
