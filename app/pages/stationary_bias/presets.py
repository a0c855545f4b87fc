"""One click from every row of Rensmeyer & Niggemann's comparison, and from what their figures leave out.

The sentences state what was measured on this page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.pages.stationary_bias.config import DECAY, STEP, BiasConfig


def _psgld(step_size: float = STEP, alpha: float = 0.9, stability: float = 0.1, **more: Any) -> dict[str, Any]:
    return {"name": "PSGLD", "step_size": step_size, "alpha": alpha, "stability": stability, **more}


def _corrected(step_size: float = STEP, alpha: float = 0.5, stability: float = 0.1) -> dict[str, Any]:
    return {"name": "CorrectedPSGLD", "step_size": step_size, "alpha": alpha, "stability": stability}


def _named(name: str) -> dict[str, Any]:
    return {"kind": "landscape", "name": name}


@dataclass(frozen=True)
class BiasPreset:
    """settings: fields of `BiasConfig` that differ from its defaults."""

    name: str
    title: str
    lesson: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def config(self) -> BiasConfig:
        return BiasConfig(**self.settings)


PRESETS = (
    BiasPreset(
        "hole",
        "The hole",
        "PSGLD as published avoids the mode of the normal law, however long it runs. With the whole correction term Γ the "
        "hole is gone.",
    ),
    BiasPreset(
        "dropped",
        "Without Γ",
        "Most programs leave Γ out. On the normal law that costs little more, since the published Γ repairs only the share "
        "1 − α of the error.",
        {"left": _psgld(gamma_term="dropped"), "right": _psgld()},
    ),
    BiasPreset(
        "inside",
        "TFP form",
        "The form of TensorFlow Probability, stability² = 0.1 and 10⁻⁸: a small one digs the hole to the ground.",
        {
            "left": _psgld(stability=0.3162, stability_form="inside"),
            "right": _psgld(stability=1e-4, stability_form="inside"),
        },
    ),
    BiasPreset(
        "paper",
        "Corrected",
        "The paper's own setting: with α = 0.9 and stability 0.1 the correction needs ε = 10⁻⁴ or less; then it comes within a "
        "few percent of the target.",
        {"left": _psgld(1e-4), "right": _corrected(1e-4, 0.9), "steps": 200_000, "burn_in": 0.2},
    ),
    BiasPreset(
        "fast",
        "Too fast",
        "The same correction with ε = 10⁻² on the left: V remembers ten steps, in which the chain moves further than the stability constant, and "
        "the correction does more harm than good.",
        {"left": _corrected(1e-2, 0.9), "right": _corrected(), "steps": 40_000},
    ),
    BiasPreset(
        "monge",
        "Monge",
        "Short steps where the gradient is long, and no Γ: mass is pushed to the slopes, and E x² is 2 in place of 1.",
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
        "Without a stability constant the metric is infinite at the mode, and the density there falls to zero; it has the "
        "largest error of all.",
        {"left": {"name": "ShampooSGLD", "step_size": STEP}, "right": _psgld()},
    ),
    BiasPreset(
        "adam",
        "Adam drift",
        "Adam's direction is added to the drift, the noise stays as it was: the law is pulled to the mode, and E x² is about "
        "half of what it should be.",
        {
            "left": {"name": "DriftAdamSGLD", "step_size": 1e-2, "beta": 0.5, "a": 1.0},
            "right": {"name": "SGLD", "step_size": 1e-2},
            "steps": 20_000,
        },
    ),
    BiasPreset(
        "frozen",
        "Frozen",
        "A way out that costs nothing: let the metric adapt during burn-in, then hold it. The right law at PSGLD's price, "
        "without second derivatives.",
        {"right": {"name": "FrozenPSGLD", "step_size": STEP, "alpha": 0.9, "stability": 0.1}, "burn_in": 0.2},
    ),
    BiasPreset(
        "decreasing",
        "Falling ε",
        "Steps 0.1/n^0.55 as in the paper, states counted in proportion to them: PSGLD goes to its wrong law, the corrected "
        "one slowly to the target.",
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
        "The slope vanishes at three places, and there is a hole at each: at both modes, and the barrier between them is "
        "emptier than it should be.",
        {"target": _named("double_well"), "burn_in": 0.2},
    ),
    BiasPreset(
        "skewed",
        "Skewed",
        "The hole is at the mode of an uneven law too. A frozen metric needs no curvature and has no hole.",
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
        "With α = 0.999 the metric hardly moves while the chain crosses the law, and the bias fades: a frozen metric by "
        "another name.",
        {"left": _psgld(1e-2, 0.999), "right": _psgld(1e-2), "steps": 20_000, "burn_in": 0.2},
    ),
)
