"""What a visitor can take away from the page "Your network": Python that trains and estimates the same, files, figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.pages.your_network.config import NETWORKS, TEXT, NetworkChoice, pattern
from app.pages.your_network.scene import NetworkConfig, optimizer_of
from app.sharing.desk import EstimateDesk
from app.sharing.exports import keywords, literal
from llc_core import Estimate
from llc_core.networks.parts import NamedPart
from llc_core.sweeps.csv_tables import table_csv

NAME = "llc_network"
FILES = {"over_training": "λ̂ and ν̂ over training (CSV)"}
FIGURES = {
    "losses": "Loss traces",
    "estimates": "Running estimate",
    "training_figure": "Training",
    "over_training_figure": "λ̂ over training",
    "fluctuation_figure": "ν̂ over training",
    "calibration_figure": "Calibration",
}


def python_code(choice: NetworkChoice, settings: Mapping[str, Any]) -> str:
    """A script that runs as pasted: it trains the network, takes the checkpoint and estimates."""
    network = NETWORKS[choice.network]
    source = "digits()" if network.data == "digits" else f"synthetic_text({keywords(TEXT)})"
    optimizer = optimizer_of(choice.network, choice.optimizer)
    parameters = _parameters_code(choice.moves)
    names = ["build_model", source.split("(")[0], "potential_at", "train"]
    if choice.moves.head is not None:
        names.append("head_masks")
    given = {**settings, "sampler": dict(settings["sampler"])}
    for name in ("continued_from", "polish"):
        if not given[name]:
            del given[name]
    lines = [
        "from llc_core import conclude, estimate",
        f"from llc_core.networks import {', '.join(sorted(names))}",
        "",
        f"data = {source}",
        f"model = build_model({dict(network.model)!r}, {choice.train_seed})",
        f"training = train(model, data, {optimizer!r}, steps={network.steps}, checkpoints={list(network.checkpoints)}, "
        f"seed={choice.train_seed})",
        f"checkpoint = next(c for c in training.checkpoints if c.step == {choice.checkpoint})",
        f"problem = potential_at(model, checkpoint, data, batch_size={settings['batch_size']}, parameters={parameters})",
        f"settings = {literal(given, indent=0)}",
        "found = estimate(problem, progress=False, **settings)",
        "print(found)",
        "print(conclude(found))",
    ]
    return "\n".join(lines) + "\n"


def _parameters_code(part: NamedPart) -> str:
    """What moves, as the argument `parameters` of potential_at."""
    if part.head is not None:
        return f"head_masks(model, {part.head[0]}, {part.head[1]})"
    return repr(None if part.layer is None else pattern(part.layer))


class NetworkTakeaway(EstimateDesk):
    """apply: called with the content of a configuration file; may raise ValueError.

    over_training: what has been estimated at the checkpoints.
    """

    def __init__(self, apply: Callable[[Any], None], over_training: Callable[[], Sequence[tuple[str, int, Estimate]]]):
        super().__init__(NAME, FILES, FIGURES, apply)
        self._over_training = over_training

    def show(self, config: NetworkConfig) -> None:
        text = json.dumps(config.described, indent=1, ensure_ascii=False) + "\n"
        self.begin(python_code(config.choice, config.settings), text)

    def own(self, key: str) -> tuple[str, str]:
        found = self._over_training()
        if not found:
            raise ValueError("There is nothing yet; open “Over training” and press “At every checkpoint” first.")
        return f"{NAME}_over_training.csv", over_training_csv(found)


def over_training_csv(found: Sequence[tuple[str, int, Estimate]]) -> str:
    rows = sorted(found, key=lambda item: item[1])
    named = (
        *(
            "llc",
            "llc_se",
            "llc_from_variance",
            "llc_from_variance_se",
            "singular_fluctuation",
            "singular_fluctuation_se",
        ),
        *("r_hat", "ess", "diverged"),
    )
    return table_csv(
        ["training_step", "optimizer", *named, "verdict"],
        [(step, by, *(getattr(e, name) for name in named), str(e.converged)) for by, step, e in rows],
    )
