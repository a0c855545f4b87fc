"""Numbers and sentences of the page "Stationary bias", all from what was measured."""

from __future__ import annotations

import math
from html import escape
from typing import Any

import numpy as np

from app.pages.stationary_bias.config import BiasConfig
from app.pages.stationary_bias.job import BiasProgress, Measured
from app.pages.stationary_bias.scene import Point, Prediction, Scene
from app.runs.job import State, Status
from app.style.numbers import UNKNOWN, number
from llc_core import stationary

RIGHT_LAW = 0.005
"""A limit law nearer to the target than this counts as the target."""
NEAR = 0.02
"""A histogram nearer than this to a law, or than three times what chance leaves, agrees with it."""

WORDS = {"left": "Left", "right": "Right"}


def readouts(side: str) -> list[dict[str, Any]]:
    """Cells of the numbers under one figure."""
    return [
        {
            "key": f"{side}_target",
            "label": "distance to target",
            "main": True,
            "wide": True,
            "tip": "Total variation between the histogram and the target: 0 the same, 1 nothing in common. From the bins.",
        },
        {
            "key": f"{side}_prediction",
            "label": "to prediction",
            "main": True,
            "wide": True,
            "tip": "Total variation between the histogram and the law predicted for steps near 0.",
        },
        {
            "key": f"{side}_bias",
            "label": "predicted bias",
            "tip": "Total variation between the predicted law and the target, by quadrature: the bias that no number of "
            "steps removes.",
        },
        {
            "key": f"{side}_exact",
            "label": "exact bias",
            "tip": "Total variation to the target of the chain's own law at this step size, from its transition operator, "
            "without chance.",
        },
        {
            "key": f"{side}_agreement",
            "label": "to exact law",
            "tip": "Total variation between the histogram and the chain's own law at this step size.",
        },
        {"key": f"{side}_w1", "label": "W₁ to target", "tip": "Wasserstein-1 distance to the target, in units of x."},
        {
            "key": f"{side}_kl",
            "label": "KL to target",
            "tip": "Kullback-Leibler divergence of the histogram from the target, in nats.",
        },
        {
            "key": f"{side}_mean_abs",
            "label": "E|x|: here · law · target",
            "wide": True,
            "tip": "Mean of |x| in the histogram, under the predicted law and under the target.",
        },
        {
            "key": f"{side}_second",
            "label": "E x²: here · law · target",
            "wide": True,
            "tip": "Mean of x² over the chains, under the predicted law and under the target.",
        },
        {
            "key": f"{side}_samples",
            "label": "states",
            "tip": "States that are in the histogram; every eighth step counts.",
        },
        {
            "key": f"{side}_diverged",
            "label": "diverged",
            "tip": "Chains that overflowed. They count nowhere from then on.",
        },
        {
            "key": f"{side}_speed",
            "label": "throughput",
            "tip": "Element-steps per second: chains times steps in one second of this sampler's computing time.",
        },
    ]


def exact_values(side: str, point: Point | None, measured_masses: np.ndarray | None) -> dict[str, str]:
    """What the chain's own law at this step size adds to the numbers."""
    if point is None or point.trouble:
        return dict.fromkeys((f"{side}_exact", f"{side}_agreement"), UNKNOWN)
    agreement = math.nan if measured_masses is None else stationary.total_variation(measured_masses, point.masses)
    return {f"{side}_exact": distance(point.to_target), f"{side}_agreement": distance(agreement)}


def readout_values(side: str, prediction: Prediction, scene: Scene, measured: Measured | None) -> dict[str, str]:
    def three(found: float, name: str) -> str:
        return " · ".join(short(v) for v in (found, prediction.moments[name], scene.moments[name]))

    known = {f"{side}_bias": distance(prediction.distance)}
    if measured is None:
        keys = [item["key"] for item in readouts(side)]
        return {
            **dict.fromkeys(keys, UNKNOWN),
            **known,
            f"{side}_mean_abs": three(math.nan, "mean_abs"),
            f"{side}_second": three(math.nan, "second"),
        }
    return {
        **known,
        f"{side}_target": distance(measured.to_target),
        f"{side}_prediction": distance(measured.to_prediction),
        f"{side}_w1": distance(measured.wasserstein),
        f"{side}_kl": distance(measured.kl),
        f"{side}_mean_abs": three(measured.mean_abs, "mean_abs"),
        f"{side}_second": three(measured.second, "second"),
        f"{side}_samples": large(measured.samples),
        f"{side}_diverged": f"{measured.diverged:,}",
        f"{side}_speed": large(measured.speed) + "/s",
    }


def distance(value: float) -> str:
    """Four decimals; smaller ones would be noise."""
    if math.isinf(value):
        return "∞"
    return f"{value:.4f}" if math.isfinite(value) else UNKNOWN


def short(value: float) -> str:
    if math.isinf(value):
        return "∞"
    return f"{value:.3f}" if math.isfinite(value) and abs(value) < 1000 else number(value)


def large(value: float) -> str:
    """ "67.5 M"."""
    for power, word in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= power:
            return f"{value / power:.3g} {word}"
    return f"{value:.0f}"


def caption(state: State) -> str:
    """Two or three words on what the run is doing."""
    if state.status is Status.QUEUED:
        return f"waiting for a free place, number {state.place} in the queue"
    if state.status is Status.STARTING:
        return "preparing the chains…"
    progress: BiasProgress | None = state.snapshot
    doing = "burn-in" if progress is not None and progress.steps <= progress.burn_in else "counting"
    return {
        Status.RUNNING: doing,
        Status.PAUSED: f"paused ({doing})",
        Status.FINISHED: "finished",
        Status.FAILED: "stopped by an error",
        Status.CANCELLED: "stopped",
    }[state.status]


def trouble(state: State) -> tuple[str, str]:
    """(tone, HTML) where the run itself needs a word; empty where all is well."""
    if state.status is Status.FAILED:
        return "bad", f"<b>The run stopped.</b> {escape(state.message)}"
    if state.status is Status.CANCELLED:
        return "bad", f"<b>Stopped.</b> {escape(state.message or 'Press reset to start again.')}"
    if state.status is Status.QUEUED:
        return "wait", f"<b>Waiting.</b> Other runs are being stepped; this one is number {state.place} in the queue."
    return "", ""


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
            return "good", f"<b>The right law.</b> The limit is the target, and the histogram is {far:.3f} from it."
        return "warn", (
            f"<b>Right in the limit, not at this step size.</b> The histogram is {far:.3f} from the target. {_why(prediction)}"
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
                f"The memory of 1/(1 − α) = {number(memory, 3)} steps must be short against the scale λ: ε = {number(step)} "
                f"should be well below λ³(1 − α) = {number(limit, 2)} where the curvature is 1. "
                "<b>What to change:</b> a smaller ε or α, or a larger λ."
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
