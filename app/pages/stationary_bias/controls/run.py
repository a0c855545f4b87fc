"""The run that both sides share: its length, its chains, its seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel as pn

from app.controls.fields import ChoiceField, NumberField, field_of
from app.pages.stationary_bias.config import DECAY, MAX_CHAINS, BiasConfig
from app.style.layout import Viewed, folded
from llc_core.fields import Hyper

CONSTANT, DECREASING = "constant", "decreasing"
RULE_HELP = f"Decreasing: step n has size ε/n^{DECAY:g}, and states count in proportion to it."


class RunPanel(Viewed):
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
        self.fields: dict[str, NumberField] = {
            "chains": field_of(BiasConfig, "chains", span=(100, MAX_CHAINS)),
            "steps": field_of(BiasConfig, "steps", span=(1_000, 1_000_000)),
            "burn_in": field_of(BiasConfig, "burn_in", "Burn-in (share)"),
            "seed": field_of(BiasConfig, "seed", span=(0, 100), high=999_999),
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
