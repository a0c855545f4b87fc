"""Panel "Which rows matter?": the loss kernel of some rows of the data, and what each row does to the loss of another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from app.components.kernel import STEPS, Kernel
from app.pages.your_network.config import NETWORKS
from app.pages.your_network.panels.base import ConfigPanel
from app.pages.your_network.scene import NetworkConfig, data, potential
from app.runs.job import Job, State
from app.runs.tasks import TaskJob
from app.style.layout import card
from app.style.legend import heading
from app.style.numbers import number
from llc_core import Influence, LossKernel, Run, RunConfig, influence, loss_kernel
from llc_core.networks import Split

OF_A_CLASS, ROWS, CLASSES = 8, 64, 10
"""Rows of each digit, or of a text, that are looked at, and kinds of digits."""
EVERY, MOST = 5, 1024
"""Steps between two looks at their losses, and looks that are kept of a chain."""
CHAINS, LOOKS = 4, 10
"""Chains of the run, and how often its result is shown: from the second time on, after the burn-in."""
STEPS_OF = {"small": 3000, "deep": 2000, "heads": 200}
"""Of a run: about half a minute of a core, and more for heads."""
INVITATION = "Along the chains the loss of each row moves. Rows that move together have taught the network the same."


@dataclass(frozen=True)
class Found:
    """correlations, effects: of the same rows in the same order.  rows: their numbers in the data."""

    correlations: LossKernel
    effects: Influence


class RowsPanel(ConfigPanel):
    """`found` holds what was measured."""

    def __init__(self) -> None:
        super().__init__("Measure", INVITATION)
        self.found: Found | None = None
        self._order = np.arange(0)
        self.kernel = Kernel(sizing_mode="stretch_width", margin=(8, 0, 0, 0), visible=False)
        self.view = card(heading("Which rows matter?"), self.bar(self.words, margin=(6, 0)), self.kernel)

    def job(self, config: NetworkConfig) -> Callable[[], Job]:
        self.say("The chains run once more, and the losses of single rows are kept.")
        return partial(measured, config)

    def prepare(self) -> None:
        self.found = None
        self.kernel.param.update(visible=False, chosen=0)

    def receive(self, state: State, items: list[Found | None]) -> None:
        seen = [each for each in items if each is not None]
        if seen and self.config is not None:
            first, self.found = self.found is None, seen[-1]
            # rows stay where they are while the numbers become better
            self._order = self.found.correlations.order() if first else self._order
            self.kernel.param.update(**drawn(self.found, self.config, self._order), visible=True)
            self.say(told(self.found))

    @property
    def done(self) -> bool:
        return self.found is not None


def measured(config: NetworkConfig) -> TaskJob:
    """In a thread of the run manager: a run of its own, looked at `LOOKS` times. Trains at the first time."""
    begun: list[Run] = []

    def one() -> Found | None:
        if not begun:
            begun.append(run_of(config))
        run = begun[0]
        run.advance(run.total_steps // LOOKS)
        if run.steps_done <= run.burn_in:
            return None
        found = run.estimates()[0]
        return Found(loss_kernel(found, correlations=True), influence(found))

    return TaskJob([one] * LOOKS)


def run_of(config: NetworkConfig) -> Run:
    """By underdamped chains with exact gradients, which go further in a step than SGLD, under the page's nβ and γ."""
    problem = potential(config.choice, config.weights, config.settings["batch_size"])
    split, settings = data(NETWORKS[config.choice.network].data), config.settings
    watched = {"name": "RowLosses", "rows": chosen_rows(split), "every": EVERY, "most": MOST}
    same = {name: settings[name] for name in ("n_beta", "localization", "seed")}
    return Run(
        RunConfig(
            problem=problem.to_dict(), sampler={"name": "UnderdampedLangevin"}, gradient="full", chains=CHAINS,
            steps=STEPS_OF[config.choice.network], burn_in=1 / LOOKS, observables=[watched], **same,
        ),
        problem,
    )  # fmt: skip


def chosen_rows(split: Split) -> list[int]:
    """The first few of each class, or the first ones where rows have no class of their own."""
    if split.targets.ndim > 1:
        return list(range(ROWS))
    classes = split.targets.numpy()
    return [int(row) for kind in range(CLASSES) for row in np.flatnonzero(classes == kind)[:OF_A_CLASS]]


def drawn(found: Found, config: NetworkConfig, order: np.ndarray) -> dict[str, Any]:
    """What the component is given, in an order of the rows."""
    split, kernel, effects = data(NETWORKS[config.choice.network].data), found.correlations, found.effects
    rows = kernel.rows[order]
    pictures = split.inputs[rows].numpy() if split.inputs.ndim == 2 and split.targets.ndim == 1 else None
    side = 0 if pictures is None else round(pictures.shape[1] ** 0.5)
    both = np.ix_(order, order)
    # without a row, w = 0 in place of 1, the loss of the query changes by −dE/dw
    rise, error = -effects.per_weight[both], effects.per_weight_se[both]
    return {
        "names": [name(split, int(row)) for row in rows],
        "side": side,
        "shades": b"" if pictures is None else np.rint(255 * pictures).astype(np.uint8).tobytes(),
        "matrix": np.rint(STEPS * np.nan_to_num(kernel.values[both]).clip(-1, 1)).astype(np.int8).tobytes(),
        "effects": rise.astype("<f4").tobytes(),
        "errors": error.astype("<f4").tobytes(),
    }


def name(split: Split, row: int) -> str:
    return f"row {row}" if split.targets.ndim > 1 else f"row {row}, a {int(split.targets[row])}"


def told(found: Found) -> str:
    kernel = found.correlations
    said = f"{len(kernel.rows)} rows, {number(kernel.effective_draws, 3)} effective draws. Choose a row to see which others matter for it."
    return f"{said} {kernel.note}".strip()
