"""What a visitor may set on the page "Decisions": the game, its agents or chains, and what is folded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import panel as pn

from app.controls.fields import ChoiceField, Field, NumberField, field_of
from app.pages.decisions.config import (
    AGENTS,
    KINDS,
    MOST_CHAINS,
    POLICIES,
    REAL,
    SIDES,
    BanditSettings,
    DecisionsConfig,
    OutsideSettings,
)
from app.style.layout import Viewed, folded
from llc_core.fields import Hyper

AGENT_NAMES = {
    "pSGLD": "pSGLD × 4", "pICSGLD": "pICSGLD × 4 (contours)", "pCSGLD": "pCSGLD × 1", "linear": "Linear regression",
}  # fmt: skip
POLICY_NAMES = {"mean": "Best by the mean", "thompson": "One draw (Thompson)", "greedy": "Mean, 10% at random"}
KIND_NAMES = {"real": "Real (UCI)", "pleasant": "Made: by odor", "exclusive": "Made: odor or bruises, not both"}


def _seed(help: str) -> NumberField:
    return field_of(DecisionsConfig, "seed", "Seed", (0, 100), high=999_999, help=help)


class GameEditor(Viewed):
    """Fields by name. `listener` is called after a change by the visitor."""

    def __init__(self, seen: Mapping[str, Field], hidden: Mapping[str, Field]) -> None:
        super().__init__()
        self.listener: Callable[[], None] = lambda: None
        self.fields: dict[str, Field] = {**seen, **hidden}
        for each in self.fields.values():
            each.listener = lambda: self.listener()
        self._view = pn.Column(*seen.values(), folded(*hidden.values()), sizing_mode="stretch_width", margin=0)

    @property
    def settings(self) -> dict[str, Any]:
        """Fields of the game's settings, and the seed."""
        return {name: field.value for name, field in self.fields.items()}

    def show(self, values: Mapping[str, Any]) -> None:
        """Set every field from settings and seed, without reporting changes."""
        for name, each in self.fields.items():
            each.set(values[name])


class BanditEditor(GameEditor):
    def __init__(self) -> None:
        kinds = KINDS if REAL.exists() else KINDS[1:]
        seen: dict[str, Field] = {
            "mushrooms": field_of(BanditSettings, "mushrooms", "Mushrooms", labels=KIND_NAMES, choices=kinds),
        }
        for side in SIDES:
            agent = Hyper(choices=AGENTS, help="Who learns what mushrooms give.")
            policy = Hyper(choices=tuple(POLICIES), help="How what an agent believes becomes a decision.")
            title = side.capitalize()
            seen[f"{side}_agent"] = ChoiceField(f"{side}_agent", agent, "pSGLD", AGENT_NAMES, label=f"{title} agent")
            seen[f"{side}_policy"] = ChoiceField(
                f"{side}_policy", policy, "mean", POLICY_NAMES, label=f"{title} decides"
            )
        own = partial(field_of, BanditSettings)
        seen["rounds"] = own("rounds", "Rounds", (100, 2000))
        hidden: dict[str, Field] = {
            "forced_pulls": own("forced_pulls", "Random at first", (0, 2000)),
            "pulls": own("pulls", "Mushrooms a round", (1, 50)),
            "hidden": own("hidden", "Hidden units", (4, 100)),
            "capacity": own("capacity", "Memory", (128, 4096)),
            "steps": own("steps", "Steps a round", (1, 32)),
            "batch_size": own("batch_size", "Batch size", (16, 512)),
            "step_size": own("step_size", "Step size ε", (1e-7, 1e-4)),
            "temperature": own("temperature", "Temperature τ", (0.01, 30.0)),
            "seed": _seed("Of mushrooms, luck and nets."),
        }
        super().__init__(seen, hidden)

    @property
    def settings(self) -> dict[str, Any]:
        values = super().settings
        for side in SIDES:
            values[side] = {"agent": values.pop(f"{side}_agent"), "policy": values.pop(f"{side}_policy")}
        return values

    def show(self, values: Mapping[str, Any]) -> None:
        flat = dict(values)
        for side in SIDES:
            own = flat.pop(side)
            flat |= {f"{side}_agent": own["agent"], f"{side}_policy": own["policy"]}
        super().show(flat)


class OutsideEditor(GameEditor):
    def __init__(self) -> None:
        own = partial(field_of, OutsideSettings)
        seen: dict[str, Field] = {
            "sampler": own("sampler", "Sampler"),
            "chains": own("chains", "Chains", (1, MOST_CHAINS)),
            "steps": own("steps", "Steps", (300, 6000)),
            "localization": own("localization", "Localization γ", (0.0, 100.0)),
            "temperature": own("temperature", "Temperature", (0.1, 100.0)),
        }
        hidden: dict[str, Field] = {
            "hidden": own("hidden", "Hidden units", (4, 128)),
            "seed": _seed("Of the split, the net and the chains."),
        }
        super().__init__(seen, hidden)
