"""What a visitor can take away from the page "Your network": Python that trains and estimates the same, files, figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pprint import pformat
from typing import Any

from app.pages.your_network.config import ALL_PARTS, DEFAULTS, OPTIMIZERS, ZOO, Choice, parts, pattern
from app.pages.your_network.scene import _untrained, optimizer_of
from app.sharing.desk import EstimateDesk
from app.sharing.reading import page_config
from app.sharing.takeaway_menu import TakeawayMenu
from llc_core import Estimate, RunConfig
from llc_core.fields import choice, whole
from llc_core.sweeps.csv_tables import table_csv

NAME = "llc_network"
MAX_CHARACTERS = 100_000
FILES = [
    {"key": "traces", "label": "Traces (CSV)"},
    {"key": "results", "label": "Results (CSV)"},
    {"key": "netcdf", "label": "Everything (NetCDF)"},
    {"key": "over_training", "label": "λ̂ over training (CSV)"},
    {"key": "config", "label": "Configuration (JSON)"},
    {"key": "python", "label": "Python script"},
]
FIGURES = [
    {"name": "losses", "label": "Loss traces"},
    {"name": "estimates", "label": "Running estimate"},
    {"name": "training_figure", "label": "Training"},
    {"name": "over_training_figure", "label": "λ̂ over training"},
    {"name": "calibration_figure", "label": "Calibration"},
]


def python_code(choice: Choice, settings: dict[str, Any]) -> str:
    """A script that runs as pasted: it trains the network, takes the checkpoint and estimates."""
    entry = ZOO[choice.network]
    source = "digits()" if entry.data == "digits" else "synthetic_text(sequences=512, length=16, vocabulary=12)"
    loader = source.split("(")[0]
    optimizer = optimizer_of(choice.network, choice.optimizer)
    names = ["build_model", loader, "potential_at", "train"]
    if choice.part == ALL_PARTS:
        parameters = "None"
    elif choice.part.startswith("head:"):
        layer, head = choice.part[5:].split(".")
        parameters, names = f"head_masks(model, {layer}, {head})", [*names, "head_masks"]
    else:
        parameters = repr(pattern(choice.part.removeprefix("layer:")))
    given = {**settings, "sampler": dict(settings["sampler"])}
    if given["continued_from"] is None:
        del given["continued_from"]
    lines = [
        "from llc_core import estimate",
        f"from llc_core.networks import {', '.join(sorted(names))}",
        "",
        f"data = {source}",
        f"model = build_model({dict(entry.model)!r}, {choice.train_seed})",
        f"training = train(model, data, {optimizer!r}, steps={entry.steps}, checkpoints={list(entry.checkpoints)}, "
        f"seed={choice.train_seed})",
        f"checkpoint = next(c for c in training.checkpoints if c.step == {choice.checkpoint})",
        f"problem = potential_at(model, checkpoint, data, batch_size={settings['batch_size']}, parameters={parameters})",
        f"settings = {pformat(given, width=110, sort_dicts=False, compact=True)}",
        "print(estimate(problem, progress=False, **settings))",
    ]
    return "\n".join(lines) + "\n"


def read_file(text: str) -> tuple[Choice, dict[str, Any]]:
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"This file has {len(text):,} characters; a configuration has at most {MAX_CHARACTERS:,}.")
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("This file is not valid JSON.") from None
    return read_choice(values)


class ZooTakeaway(EstimateDesk):
    """over_training: what has been estimated at the checkpoints."""

    def __init__(self, apply: Callable[[Any], None], over_training: Callable[[], Sequence[tuple[int, Estimate]]]):
        super().__init__(NAME, TakeawayMenu(files=FILES, figures=FIGURES, margin=0), read_file, apply)
        self._over_training = over_training

    def show(self, choice: Choice, settings: dict[str, Any]) -> None:
        """The page runs this now."""
        text = json.dumps({**choice.to_dict(), **settings}, indent=1, ensure_ascii=False) + "\n"
        self.begin(python_code(choice, settings), text)

    def own(self, key: str) -> tuple[str, str]:
        found = self._over_training()
        if not found:
            raise ValueError("There is nothing yet; press “At every checkpoint” first.")
        return f"{NAME}_over_training.csv", over_training_csv(found)


def over_training_csv(found: Sequence[tuple[int, Estimate]]) -> str:
    rows = sorted(found, key=lambda item: item[0])
    return table_csv(
        ["training_step", "llc", "llc_se", "r_hat", "ess", "diverged", "verdict"],
        [(step, e.llc, e.llc_se, e.r_hat, e.ess, e.diverged, str(e.converged)) for step, e in rows],
    )


def check_run(choice: Choice, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, complete; ValueError, one sentence, where no run can have them. Nothing is trained for it."""
    batch_size = settings["batch_size"]
    if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size < 1:
        raise ValueError(f"batch_size is {batch_size!r}; it must be a whole number of at least 1.")
    problem = _untrained(choice.network, choice.part, batch_size)
    return dict(page_config(RunConfig(problem=problem.to_dict(), **settings), problem).settings)


def read_choice(values: Mapping[str, Any]) -> tuple[Choice, dict[str, Any]]:
    """The choice and the settings of the estimate in a link or file; ValueError, one sentence, for anything else."""
    from app.pages.your_network.takeaway import check_run

    if not isinstance(values, Mapping):
        raise ValueError("The configuration must be a mapping of names to values.")
    known = [*Choice.__dataclass_fields__, *DEFAULTS]
    for name in values:
        if name not in known:
            raise ValueError(f"This page has no setting {name!r}; it has {', '.join(known)}.")
    network = choice("network", values.get("network", next(iter(ZOO))), tuple(ZOO))
    checkpoint = whole("checkpoint", values.get("checkpoint", ZOO[network].steps))
    if checkpoint not in ZOO[network].checkpoints:
        kept = ", ".join(map(str, ZOO[network].checkpoints))
        raise ValueError(f"checkpoint is {checkpoint}; this network was kept after {kept} steps.")
    found = Choice(
        network,
        choice("optimizer", values.get("optimizer", next(iter(OPTIMIZERS))), tuple(OPTIMIZERS)),
        whole("train_seed", values.get("train_seed", 0), 0, 999_999),
        checkpoint,
        choice("part", values.get("part", ALL_PARTS), tuple(parts(network).values())),
    )
    settings = {**DEFAULTS, **ZOO[network].settings, **{k: v for k, v in values.items() if k in DEFAULTS}}
    return found, check_run(found, settings)
