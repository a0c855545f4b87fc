"""Panel "Part by part": λ̂ of every layer or head alone, at every checkpoint, on all rows or on some kinds of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from html import escape
from typing import Any

from app.pages.your_network.config import ALL_PARTS, NETWORKS, NetworkChoice, parts
from app.pages.your_network.panels.base import ChoicePanel
from app.pages.your_network.scene import data, selection, trained
from app.runs.job import Job, State
from app.runs.tasks import TaskJob
from app.style import theme
from app.style.layout import card, one_of, prose
from app.style.legend import heading
from app.style.numbers import number, with_minus
from llc_core import Estimate, estimate
from llc_core.networks import Split, potential_at
from llc_core.networks.parts import NamedPart

INVITATION = "Estimates λ̂ of each part alone, while all others stand still, at each checkpoint."
ALL_ROWS = "All rows"
KINDS: Mapping[str, Callable[[int], bool] | None] = {
    ALL_ROWS: None,
    "Digits 0 to 4": lambda kind: kind < 5,
    "Digits 5 to 9": lambda kind: kind >= 5,
}
"""Rows by their class: λ̂ on other rows than those that the network was trained on is another coefficient."""
SHADES = """
td { background: color-mix(in srgb, var(--panel-primary-color) calc(var(--share) * 60%), transparent); padding: 6px 10px; }
"""
Found = tuple[int, str, Estimate]
"""The checkpoint, the part in words, and what was estimated there."""


class PartByPart(ChoicePanel):
    """`show` tells what is chosen now; `found` holds what was estimated."""

    def __init__(self) -> None:
        super().__init__("Every part", INVITATION)
        self.found: list[Found] = []
        self.rows = one_of({kind: kind for kind in KINDS}, ALL_ROWS)
        self.rows.param.watch(self._on_rows, "value")
        self._known: tuple[Any, ...] | None = None
        self._table = prose(theme.TABLE + SHADES)
        self.view = card(heading("Part by part"), self.bar(self.rows, self.words, margin=(6, 0)), self._table)

    def show(self, choice: NetworkChoice, settings: dict[str, Any]) -> None:
        question = (replace(choice, checkpoint=0, part=ALL_PARTS), settings)
        if question != self._known:
            self.forget()
        self._known, self.choice, self.settings = question, choice, settings
        self.rows.visible = NETWORKS[choice.network].data == "digits"
        if not self.rows.visible:
            self.rows.value = ALL_ROWS

    def _on_rows(self, event: object) -> None:
        self.forget()

    def prepare(self) -> None:
        self.found, self._table.object = [], ""

    def begin(self) -> Callable[[], Job] | None:
        if self.choice is None:
            return None
        self.prepare()
        self.say("Estimating the first part.")
        return partial(work, self.choice, dict(self.settings), self.rows.value)

    def receive(self, state: State, items: list[Found]) -> None:
        if not items or self.choice is None:
            return
        self.found = [*self.found, *items]
        self._table.object = table(self.found, list(shown_parts(self.choice.network)))
        wanted = len(NETWORKS[self.choice.network].checkpoints) * len(shown_parts(self.choice.network))
        doubtful = [each for each in self.found if not each[2].converged]
        said = f"Estimates: {len(self.found)} of {wanted}."
        if doubtful:
            # the first one is of the last checkpoint, which the page shows; the others say why where they are pointed at
            step, words, found = doubtful[0]
            said += (
                f" In brackets, {len(doubtful)}: not trusted. After {step:,} steps, {words}: {found.converged.reason}"
            )
        self.say(said)


def shown_parts(network: str) -> dict[str, str]:
    """Words → part. Where there are heads, these, and else the layers; all parameters come last."""
    every = parts(network)
    heads = {words: part for words, part in every.items() if NamedPart.read(part).head}
    some = heads or {words: part for words, part in every.items() if NamedPart.read(part).layer}
    return {**some, "all parameters": ALL_PARTS}


def rows_of(split: Split, kind: str) -> Split:
    """Those of some classes."""
    chosen = KINDS[kind]
    if chosen is None:
        return split
    kept = [at for at, each in enumerate(split.targets.tolist()) if chosen(int(each))]
    return Split(
        f"{split.name}, {kind}", split.inputs[kept], split.targets[kept], split.test_inputs, split.test_targets
    )


def work(choice: NetworkChoice, settings: Mapping[str, Any], kind: str) -> TaskJob:
    """In a thread of the run manager: the last checkpoint first, since it is what the page shows. Trains at the first time."""
    split = rows_of(data(NETWORKS[choice.network].data), kind)
    given = {**settings, "batch_size": min(settings["batch_size"], len(split))}

    def one(step: int, words: str, part: str) -> Found:
        model, record = trained(choice)
        at = next(each for each in record.checkpoints if each.step == step)
        problem = potential_at(
            model, at, split, parameters=selection(model, NamedPart.read(part)), batch_size=given["batch_size"]
        )
        return step, words, estimate(problem, progress=False, **given)

    steps = reversed(NETWORKS[choice.network].checkpoints)
    return TaskJob([partial(one, step, *each) for step in steps for each in shown_parts(choice.network).items()])


def table(found: list[Found], names: list[str]) -> str:
    """HTML: parts × checkpoints, the darker the larger."""
    by = {(words, step): each for step, words, each in found}
    steps = sorted({step for step, *_ in found})
    known = [each.llc for each in by.values() if math.isfinite(each.llc)]
    most = max([*known, 0.0]) or 1.0
    heads = "".join(f"<th scope=col>after {step:,} steps</th>" for step in steps)
    rows = "".join(
        f"<tr><th scope=row>{escape(words)}</th>{''.join(cell(by.get((words, step)), most) for step in steps)}</tr>"
        for words in names
    )
    return f"<table><thead><tr><th scope=col>λ̂ ± s.e. of</th>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def cell(found: Estimate | None, most: float) -> str:
    if found is None:
        return "<td></td>"
    if not math.isfinite(found.llc):
        return "<td>diverged</td>"
    said = with_minus(f"{number(found.llc, 3)} ± {number(found.llc_se, 1)}")
    share, why = min(1.0, max(0.0, found.llc / most)), escape(found.converged.reason, quote=True)
    return f'<td style="--share: {share:.2f}" title="{why}">{said if found.converged else f"({said})"}</td>'
