"""One click from a question and what it teaches. Figures in the sentences come from this page's own runs, of the seed named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.pages.decisions.config import (
    DIGITS_GAME,
    MUSHROOMS_GAME,
    REAL,
    BanditSettings,
    DecisionsConfig,
    OutsideSettings,
)
from app.pages.preset import Named


def play(agent: str, policy: str = "mean") -> dict[str, str]:
    return {"agent": agent, "policy": policy}


@dataclass(frozen=True)
class DecisionsPreset(Named):
    """settings: what differs from the defaults of the game."""

    game: str = MUSHROOMS_GAME
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def config(self) -> DecisionsConfig:
        if self.game == DIGITS_GAME:
            return DecisionsConfig(game=self.game, outside=OutsideSettings(**self.settings))
        return DecisionsConfig(bandit=BanditSettings(**self.settings))


EVERY = (
    DecisionsPreset(
        "linear",
        "Nets or a line?",
        "Four nets that a sampler moves, and a line that is fitted exactly. In five plays the nets lost 1,480 "
        "± 50 by their own decisions, the line 930 ± 100. Linear regression is enough for mushrooms.",
        settings={"mushrooms": "real"},
    ),
    DecisionsPreset(
        "contour",
        "Does contour help?",
        "The same four nets with and without contour sampling, which flattens the energies that they have "
        "seen. In five plays they lost 1,480 ± 50 and 1,480 ± 70 by their own decisions. Here it makes no "
        "difference.",
        settings={"mushrooms": "real", "right": play("pICSGLD")},
    ),
    DecisionsPreset(
        "explore",
        "Mean or one draw?",
        "One draw for each decision (Thompson sampling) explores. The mean of four nets never does on purpose. "
        "Here exploring costs: 5,240 ± 240 lost against 3,860 ± 140, in five plays of made mushrooms.",
        settings={"mushrooms": "pleasant", "right": play("pSGLD", "thompson")},
    ),
    DecisionsPreset(
        "exclusive",
        "No line can learn it",
        "Made mushrooms, edible with a good odor or with bruises, not with both. No line can learn that, and "
        "nets do not in 400 rounds. They lost 18,800 ± 660 in five plays, the line 20,500 ± 440. Who never "
        "eats loses 18,700.",
        settings={"mushrooms": "exclusive"},
    ),
    DecisionsPreset(
        "digits",
        "Digits never shown",
        "A net has learned the digits 0 to 4. Can 400 draws around it spot digits never shown? In five splits "
        "AUROC was 0.953 ± 0.004. The net alone had 0.936 ± 0.003, logistic regression 0.949 ± 0.002.",
        DIGITS_GAME,
    ),
    DecisionsPreset(
        "stuck",
        "Tied to one net",
        "γ = 10,000 ties every chain to the trained net. Copies of one net know no more than it does. In five "
        "splits their AUROC was 0.936 ± 0.003, as the net's own.",
        DIGITS_GAME,
        {"localization": 10_000.0},
    ),
    DecisionsPreset(
        "hot",
        "Too hot to know",
        "At 30 times the temperature the draws wander off and are unsure of everything. In five splits AUROC "
        "fell to 0.938 ± 0.005. The calibration error of known digits rose from 0.034 to 0.141 ± 0.008.",
        DIGITS_GAME,
        {"temperature": 30.0},
    ),
)
PRESETS = tuple(each for each in EVERY if REAL.exists() or each.settings.get("mushrooms") != "real")
"""Those of the UCI mushrooms need their file."""
