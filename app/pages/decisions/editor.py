"""What a visitor may set on the page "Decisions": the game, its agents or chains, and what is folded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import panel as pn

from app.controls.fields import ChoiceField, Field, NumberField
from app.pages.decisions.config import (
    AGENTS,
    KINDS,
    MOST_CHAINS,
    MOST_ROUNDS,
    MOST_STEPS,
    MOST_WIDTH,
    POLICIES,
    REAL,
    SAMPLERS,
    SIDES,
)
from app.style.layout import folded
from llc_core.fields import Hyper

AGENT_NAMES = {
    "pSGLD": "pSGLD × 4", "pICSGLD": "pICSGLD × 4 (contours)", "pCSGLD": "pCSGLD × 1", "linear": "Linear regression",
}  # fmt: skip
POLICY_NAMES = {"mean": "Best by the mean", "thompson": "One draw (Thompson)", "greedy": "Mean, 10% at random"}
KIND_NAMES = {"real": "Real (UCI)", "pleasant": "Made: by odor", "exclusive": "Made: odor or bruises, not both"}


def _number(
    name: str, about: Hyper, value: Any, label: str, span: tuple[float, float], whole: bool = True
) -> NumberField:
    return NumberField(name, about, value, label=label, span=span, integer=whole)


class GameEditor(pn.viewable.Viewer):
    """Fields by name. `listener` is called after a change by the visitor."""

    def __init__(self, seen: Mapping[str, Field], hidden: Mapping[str, Field]) -> None:
        super().__init__()
        self.listener: Callable[[], None] = lambda: None
        self.fields: dict[str, Field] = {**seen, **hidden}
        for each in self.fields.values():
            each.listener = lambda: self.listener()
        self._view = pn.Column(*seen.values(), folded(*hidden.values()), sizing_mode="stretch_width", margin=0)

    def __panel__(self) -> pn.viewable.Viewable:
        return self._view

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
            "mushrooms": ChoiceField(
                "mushrooms", Hyper(choices=kinds, help="Where the mushrooms come from."), kinds[0], KIND_NAMES,
                label="Mushrooms",
            )
        }  # fmt: skip
        for side in SIDES:
            agent = Hyper(choices=AGENTS, help="Who learns what mushrooms give.")
            policy = Hyper(choices=tuple(POLICIES), help="How what an agent believes becomes a decision.")
            title = side.capitalize()
            seen[f"{side}_agent"] = ChoiceField(f"{side}_agent", agent, "pSGLD", AGENT_NAMES, label=f"{title} agent")
            seen[f"{side}_policy"] = ChoiceField(
                f"{side}_policy", policy, "mean", POLICY_NAMES, label=f"{title} decides"
            )
        seen["rounds"] = _number(
            "rounds", Hyper(20, MOST_ROUNDS, help="Rounds of the play."), 400, "Rounds", (100, 2000)
        )
        step = Hyper(1e-10, 1e-2, log=True, help="ε of the nets' chains, in the convention of the paper: 3e-7 there.")
        heat = Hyper(1e-6, 1e3, log=True, help="τ: how widely the nets spread; the paper has 0.3.")
        hidden: dict[str, Field] = {
            "forced_pulls": _number(
                "forced_pulls", Hyper(0, 100_000, help="Mushrooms at the beginning that are eaten or left at random."), 400,
                "Random at first", (0, 2000),
            ),
            "pulls": _number("pulls", Hyper(1, 100, help="Mushrooms of one round."), 20, "Mushrooms a round", (1, 50)),
            "hidden": _number("hidden", Hyper(1, MOST_WIDTH, help="Units in each of two layers."), 32, "Hidden units", (4, 100)),
            "capacity": _number(
                "capacity", Hyper(16, 16_384, help="Pulls that the nets remember; older ones go."), 1024, "Memory", (128, 4096)
            ),
            "steps": _number("steps", Hyper(1, 256, help="Of each chain after a round."), 8, "Steps a round", (1, 32)),
            "batch_size": _number(
                "batch_size", Hyper(1, 16_384, help="Remembered pulls in each step."), 128, "Batch size", (16, 512)
            ),
            "step_size": _number("step_size", step, 1.2e-5, "Step size ε", (1e-7, 1e-4), whole=False),
            "temperature": _number("temperature", heat, 0.3, "Temperature τ", (0.01, 30.0), whole=False),
            "seed": _number("seed", Hyper(0, 999_999, help="Of mushrooms, luck and nets."), 0, "Seed", (0, 100)),
        }  # fmt: skip
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
        pull = Hyper(0.0, 1e6, help="γ: how strongly the chains are pulled towards the trained net.")
        heat = Hyper(
            1e-4, 1e3, log=True, help="n over nβ: 1 samples the posterior, more makes the chains wander further."
        )
        seen: dict[str, Field] = {
            "sampler": ChoiceField("sampler", Hyper(choices=SAMPLERS, help="What moves the chains."), "SGLD", label="Sampler"),
            "chains": _number("chains", Hyper(1, MOST_CHAINS, help="Chains that begin at the trained net."), 4, "Chains", (1, MOST_CHAINS)),
            "steps": _number(
                "steps", Hyper(90, MOST_STEPS, help="Of each chain; the first third is burn-in."), 1500, "Steps", (300, 6000)
            ),
            "localization": _number("localization", pull, 1.0, "Localization γ", (0.0, 100.0), whole=False),
            "temperature": _number("temperature", heat, 1.0, "Temperature", (0.1, 100.0), whole=False),
        }  # fmt: skip
        hidden: dict[str, Field] = {
            "hidden": _number("hidden", Hyper(1, MOST_WIDTH, help="Units of the net's one layer."), 32, "Hidden units", (4, 128)),
            "seed": _number("seed", Hyper(0, 999_999, help="Of the split, the net and the chains."), 0, "Seed", (0, 100)),
        }  # fmt: skip
        super().__init__(seen, hidden)
