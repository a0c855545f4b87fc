"""One click from every row of Rensmeyer & Niggemann's comparison, and from what their figures leave out.

The sentences state what was measured on this page.
"""

from __future__ import annotations

from typing import Any

from app.pages.preset import Preset
from app.pages.stationary_bias.config import DECAY, STEP, BiasConfig


def _psgld(step_size: float = STEP, alpha: float = 0.9, stability: float = 0.1, **more: Any) -> dict[str, Any]:
    return {"name": "PSGLD", "step_size": step_size, "alpha": alpha, "stability": stability, **more}


def _corrected(step_size: float = STEP, alpha: float = 0.5, stability: float = 0.1) -> dict[str, Any]:
    return {"name": "CorrectedPSGLD", "step_size": step_size, "alpha": alpha, "stability": stability}


def _named(name: str) -> dict[str, Any]:
    return {"kind": "landscape", "name": name}


class BiasPreset(Preset):
    of = BiasConfig


PRESETS = (
    BiasPreset(
        "hole",
        "The hole",
        "Published PSGLD never settles at the peak: it leaves a hole there, however long it runs. The full "
        "correction term Γ closes it.",
    ),
    BiasPreset(
        "dropped",
        "Without Γ",
        "Most programs leave Γ out. On the normal distribution that costs little more. The published Γ repairs "
        "only the share 1 − α of the error.",
        {"left": _psgld(gamma_term="dropped"), "right": _psgld()},
    ),
    BiasPreset(
        "inside",
        "TFP form",
        "The form of TensorFlow Probability, with stability² = 0.1 and 10⁻⁸. The small one digs the hole to "
        "the ground.",
        {
            "left": _psgld(stability=0.3162, stability_form="inside"),
            "right": _psgld(stability=1e-4, stability_form="inside"),
        },
    ),
    BiasPreset(
        "paper",
        "Corrected",
        "The paper's α = 0.9 and stability 0.1, with a larger step. The correction needs ε = 10⁻⁴ or less. Then "
        "it comes within a few percent of the target.",
        {"left": _psgld(1e-4), "right": _corrected(1e-4, 0.9), "steps": 200_000, "burn_in": 0.2},
    ),
    BiasPreset(
        "fast",
        "Too fast",
        "The same correction with ε = 10⁻² on the left. V remembers ten steps, and in ten steps the chain "
        "outruns the stability constant. So the correction does more harm than good.",
        {"left": _corrected(1e-2, 0.9), "right": _corrected(), "steps": 40_000},
    ),
    BiasPreset(
        "monge",
        "Monge",
        "Steps are short where the gradient is long, and there is no Γ. Mass is pushed to the slopes: E x² is "
        "2, not 1.",
        {
            "left": {"name": "MongeSGLD", "step_size": 1e-2},
            "right": {"name": "SGLD", "step_size": 1e-2},
            "steps": 30_000,
            "burn_in": 0.2,
        },
    ),
    BiasPreset(
        "shampoo",
        "Shampoo",
        "Without a stability constant the metric is infinite at the peak. The density there falls to zero. No "
        "other sampler here is so far off.",
        {"left": {"name": "ShampooSGLD", "step_size": STEP}, "right": _psgld()},
    ),
    BiasPreset(
        "whole_monge",
        "Monge whole",
        "The whole Γ repairs Monge as well. Without it the distribution is 24% off, with it less than 1%. Its "
        "price is one product with the Hessian, and the Hessian's trace.",
        {
            "left": {"name": "MongeSGLD", "step_size": 1e-2},
            "right": {"name": "MongeSGLD", "step_size": 1e-2, "gamma_term": "corrected"},
            "steps": 30_000,
            "burn_in": 0.2,
        },
    ),
    BiasPreset(
        "whole_shampoo",
        "Shampoo whole",
        "The whole Γ closes Shampoo's hole: from 30% off to 2%. It does so with α = 0.5. With α = 0.9 the metric "
        "is late at the peak, and 17% are left as a spike.",
        {
            "left": {"name": "ShampooSGLD", "step_size": STEP, "alpha": 0.5},
            "right": {"name": "ShampooSGLD", "step_size": STEP, "alpha": 0.5, "gamma_term": "corrected"},
            "burn_in": 0.2,
        },
    ),
    BiasPreset(
        "adam",
        "Adam drift",
        "Adam's direction is added to the drift, but the noise stays the same. The draws are pulled to the "
        "peak: E x² is about half of what it should be.",
        {
            "left": {"name": "DriftAdamSGLD", "step_size": 1e-2, "beta": 0.5, "a": 1.0},
            "right": {"name": "SGLD", "step_size": 1e-2},
            "steps": 20_000,
        },
    ),
    BiasPreset(
        "frozen",
        "Frozen",
        "A way out that costs nothing: let the metric adapt during burn-in, then freeze it. The right "
        "distribution at PSGLD's price, without second derivatives.",
        {"right": {"name": "FrozenPSGLD", "step_size": STEP, "alpha": 0.9, "stability": 0.1}, "burn_in": 0.2},
    ),
    BiasPreset(
        "decreasing",
        "Falling ε",
        "Steps shrink as 0.1/n^0.55, and states count in proportion, as in the paper. PSGLD goes to the wrong "
        "distribution, the corrected one slowly to the target.",
        {
            "left": _psgld(0.1),
            "right": _corrected(0.1, 0.9),
            "step_decay": DECAY,
            "steps": 200_000,
            "burn_in": 0.1,
        },
    ),
    BiasPreset(
        "double_well",
        "Double well",
        "The slope vanishes at three places, and each has a hole. Both peaks have one. The barrier between "
        "them is emptier than it should be.",
        {"target": _named("double_well"), "burn_in": 0.2},
    ),
    BiasPreset(
        "skewed",
        "Skewed",
        "An uneven distribution has the hole at its peak too. A frozen metric needs no curvature and has no hole.",
        {
            "target": _named("skewed"),
            "right": {"name": "FrozenPSGLD", "step_size": STEP, "alpha": 0.9, "stability": 0.1},
            "burn_in": 0.2,
        },
    ),
    BiasPreset(
        "hidden",
        "Bias hidden",
        "At ε = 0.1 PSGLD looks far less biased than at 10⁻³, only because its metric no longer follows the chain. A check "
        "at large steps proves nothing.",
        {"left": _psgld(0.1), "right": _psgld(), "steps": 40_000},
    ),
    BiasPreset(
        "memory",
        "Memory",
        "With α = 0.999 the metric hardly moves while the chain crosses the whole target. The bias fades: it "
        "is a frozen metric by another name.",
        {"left": _psgld(1e-2, 0.999), "right": _psgld(1e-2), "steps": 20_000, "burn_in": 0.2},
    ),
)
