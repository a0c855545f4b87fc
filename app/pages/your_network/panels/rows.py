"""Panel "Which rows matter?": the loss kernel of some rows of the data, what each row does to the loss of another, and what the parts of
the network answer to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from app.components.drawings.kernel import STEPS, Kernel
from app.pages.your_network.config import NETWORKS
from app.pages.your_network.panels import answering
from app.pages.your_network.panels.answering import SHADES, Answer
from app.pages.your_network.panels.base import ConfigPanel
from app.pages.your_network.panels.part_by_part import shown_parts
from app.pages.your_network.scene import NetworkConfig, data, potential
from app.runs.account import Claim, account
from app.runs.allowance import check_allowance
from app.runs.job import Job, State
from app.runs.tasks import TaskJob
from app.style import theme
from app.style.layout import card, prose
from app.style.legend import heading
from app.style.numbers import number
from llc_core import Influence, LossKernel, Run, RunConfig, influence, loss_kernel
from llc_core.engine.resolve import resolve
from llc_core.networks import Split
from llc_core.verdicts import Kind

OF_A_CLASS, ROWS, CLASSES = 8, 64, 10
"""Rows of each digit, or of a text, that are looked at, and kinds of digits."""
EVERY, MOST = 5, 1024
"""Steps between two looks at their losses, and looks that are kept of a chain."""
CHAINS, LOOKS = 4, 10
"""Chains of the run, and how often its result is shown: from the second time on, after the burn-in."""
STEPS_OF = {"small": 3000, "deep": 2000, "heads": 2400}
"""Of a run: about half a minute of a core, and a minute for heads."""
SAMPLED = ("heads",)
"""Networks whose gradient on all rows takes seven times as long as the page's minibatch: 200 such steps brought too few draws."""
OF_A_PART = 3
"""The run of a part is this many times shorter: there are up to nine."""
OF_W0 = (Kind.ABOVE_MINIMUM, Kind.VARIANCE_ABOVE, Kind.NO_MINIMUM, Kind.FITS_NOISE, Kind.NOISY_BASELINE)
"""Verdicts that w0 is no minimum: the chains then leave it, and covariances are of where they go."""
INVITATION = "Along the chains the loss of each row moves. Rows that move together have taught the network the same."


@dataclass(frozen=True)
class Found:
    """correlations, effects: of the same rows in the same order.  doubt: what the verdict says of w0, or empty."""

    correlations: LossKernel
    effects: Influence
    doubt: str = ""


class RowsPanel(ConfigPanel):
    """`found` holds what was measured, `answers` what the parts answer to."""

    def __init__(self) -> None:
        super().__init__("Measure", INVITATION)
        self.found: Found | None = None
        self.answers: list[Answer] = []
        self._order = np.arange(0)
        self.kernel = Kernel(sizing_mode="stretch_width", margin=(8, 0, 0, 0), visible=False)
        self._table = prose(theme.TABLE + SHADES)
        self.view = card(heading("Which rows matter?"), self.bar(self.words, margin=(6, 0)), self.kernel, self._table)

    def job(self, config: NetworkConfig) -> Callable[[], Job]:
        self.say("The chains run once more, and the losses of single rows are kept.")
        return partial(measured, config)

    def prepare(self) -> None:
        self.found, self.answers, self._table.object = None, [], ""
        self.kernel.param.update(visible=False, chosen=0)

    def receive(self, state: State, items: list[Found | Answer | None]) -> None:
        seen = [each for each in items if isinstance(each, Found)]
        self.answers = [*self.answers, *(each for each in items if isinstance(each, Answer))]
        if seen and self.config is not None:
            first, self.found = self.found is None, seen[-1]
            # rows stay where they are while the numbers become better
            self._order = self.found.correlations.order() if first else self._order
            self.kernel.param.update(**drawn(self.found, self.config, self._order), visible=True)
        if self.config is None or self.found is None:
            return
        self.say(in_words(self.found, len(self.answers), len(shown_parts(self.config.choice.network))))
        if self.answers:
            split = data(NETWORKS[self.config.choice.network].data)
            known = answering.groups(split, self.found.correlations.rows, self.found.correlations)
            self._table.object = answering.table(self.answers, known)

    @property
    def done(self) -> bool:
        return self.found is not None


def measured(config: NetworkConfig) -> TaskJob:
    """In a thread of the run manager: a run of its own, looked at `LOOKS` times, then one for each part. Trains at the first time.

    ValueError, one sentence, where a run takes more memory than a visitor may have.
    """
    begun: list[tuple[Run, Claim]] = []
    last: list[Found] = []

    def one() -> Found | None:
        if not begun:
            begun.append(run_of(config))
        run, _ = begun[0]
        run.advance(run.total_steps // LOOKS)
        if run.steps_done <= run.burn_in:
            return None
        found = run.estimates()[0]
        doubt = found.converged.reason if found.converged.kind in OF_W0 else ""
        last[:] = [Found(loss_kernel(found, correlations=True), influence(found), doubt)]
        return last[0]

    def of_part(words: str, part: str) -> Answer:
        split = data(NETWORKS[config.choice.network].data)
        known = answering.groups(split, last[0].correlations.rows, last[0].correlations)
        run, claim = run_of(config, part)
        try:
            return answering.answer(words, run, known)
        finally:
            claim.release()

    parts = [partial(of_part, *each) for each in shown_parts(config.choice.network).items()]
    return TaskJob([*[one] * LOOKS, *parts])


def run_of(config: NetworkConfig, part: str | None = None) -> tuple[Run, Claim]:
    """By underdamped chains, which go further in a step than SGLD, under the page's nβ and γ.

    part: what moves in place of what the page has chosen; the loss of all data is then kept too.
    """
    choice = config.choice if part is None else replace(config.choice, part=part)
    problem = potential(choice, config.weights, config.settings["batch_size"])
    split, settings = data(NETWORKS[choice.network].data), config.settings
    kept = {"every": EVERY, "most": MOST}
    watched = [{"name": "RowLosses", "rows": chosen_rows(split), **kept}, {"name": "LossDraws", **kept}]
    steps = STEPS_OF[choice.network] // (1 if part is None else OF_A_PART)
    same = {name: settings[name] for name in ("n_beta", "localization", "seed", "batch_size", "device")}
    same["gradient"] = "minibatch" if choice.network in SAMPLED else "full"
    resolved = resolve(
        RunConfig(
            problem=problem.to_dict(), sampler={"name": "UnderdampedLangevin"}, chains=CHAINS,
            steps=steps, burn_in=1 / LOOKS, observables=watched[: 1 if part is None else 2], **same,
        ),
        problem,
    )  # fmt: skip
    claim = account(resolved.config.device).claim(check_allowance(resolved.config, problem), "This measurement")
    return Run(resolved), claim


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


def in_words(found: Found, done: int, parts: int) -> str:
    kernel = found.correlations
    said = f"{len(kernel.rows)} rows, {number(kernel.effective_draws, 3)} effective draws. Choose a row to see which others matter for it."
    said += f" Parts: {done} of {parts}." if done < parts else ""
    return " ".join(filter(None, [said, kernel.note, found.doubt]))
