"""The run that both sides share: its length, its chains, its seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel as pn

from app.controls.fields import ChoiceField, NumberField
from app.pages.stationary_bias.config import DECAY, MAX_CHAINS, MAX_STEPS, BiasConfig
from app.style.layout import folded
from llc_core.fields import Hyper

CONSTANT, DECREASING = "constant", "decreasing"
RULE_HELP = f"Decreasing: step n has size ε/n^{DECAY:g}, and states count in proportion to it."


class RunPanel(pn.viewable.Viewer):
    """Chains, steps, burn-in, step rule and seed, which both sides share."""

    def __init__(self) -> None:
        super().__init__()
        self.listener: Callable[[], None] = lambda: None
        self.rule = ChoiceField(
            "step_rule",
            Hyper(choices=(CONSTANT, DECREASING), help=RULE_HELP),
            CONSTANT,
            _rules(DECAY),
            label="Step sizes",
        )
        self._decay = DECAY
        default = BiasConfig()
        self.fields: dict[str, NumberField] = {
            "chains": NumberField(
                "chains",
                Hyper(100, MAX_CHAINS, log=True, help="Independent chains on each side; they start in the target."),
                default.chains,
                integer=True,
                span=(100, MAX_CHAINS),
            ),
            "steps": NumberField(
                "steps",
                Hyper(100, MAX_STEPS, log=True, help="Steps of each chain."),
                default.steps,
                integer=True,
                span=(1_000, 1_000_000),
            ),
            "burn_in": NumberField(
                "burn_in",
                Hyper(0.0, 0.95, help="Share of the steps that is not counted while the chains settle."),
                default.burn_in,
                label="Burn-in (share)",
            ),
            "seed": NumberField(
                "seed",
                Hyper(0, 999_999, help="Seed of the chains' starting points and noise."),
                default.seed,
                integer=True,
                span=(0, 100),
            ),
        }
        for field in (self.rule, *self.fields.values()):
            field.listener = lambda: self.listener()
        self._view = pn.Column(
            self.rule,
            self.fields["steps"],
            folded(*(self.fields[name] for name in ("chains", "burn_in", "seed"))),
            sizing_mode="stretch_width",
            margin=0,
        )

    def __panel__(self) -> pn.viewable.Viewable:
        return self._view

    @property
    def values(self) -> dict[str, Any]:
        """Fields of `BiasConfig`."""
        decay = self._decay if self.rule.value == DECREASING else 0.0
        return {"step_decay": decay, **{name: field.value for name, field in self.fields.items()}}

    def show(self, config: BiasConfig) -> None:
        self._decay = config.step_decay or DECAY
        self.rule.widget.options = {words: rule for rule, words in _rules(self._decay).items()}
        self.rule.set(DECREASING if config.step_decay else CONSTANT)
        for name, field in self.fields.items():
            field.set(getattr(config, name))


def _rules(decay: float) -> dict[str, str]:
    """The two rules in words. decay: the exponent of the decreasing one; links and files may bring another."""
    return {CONSTANT: "constant: ε", DECREASING: f"decreasing: ε / n^{decay:g}"}
