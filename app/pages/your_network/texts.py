"""The sentences of this page, without calculations."""

from __future__ import annotations

from html import escape

from app.estimates.texts import READOUTS
from app.pages.your_network.config import ZOO, Choice
from llc_core import Estimate, health

CELLS = [item for item in READOUTS if item["key"] not in ("expected", "error")]


def _signs(estimate: Estimate) -> str:
    """HTML: one row for each sign of health."""
    rows = "".join(
        f"<tr><th scope=row>{'✗' if not sign.ok else '•' if sign.note else '✓'} {escape(sign.name)}</th>"
        f'<td style="white-space: normal; text-align: left">{escape(sign.sentence)}</td></tr>'
        for sign in health(estimate)
    )
    return f"<table><tbody>{rows}</tbody></table>"


def _about(choice: Choice) -> str:
    entry = ZOO[choice.network]
    words = (
        f"{entry.title}, trained for {entry.steps:,} steps by {choice.optimizer}, here, on data that come with the app. "
        "The loss is the cross entropy over the training rows, and λ̂ is taken at the chosen checkpoint over what moves; "
        "everything else keeps its value. There is no exact answer for such a network: the signs of health, the "
        "calibration and the comparison of checkpoints are what there is to judge a number by. Weights of the same "
        "architecture can be opened from a file of plain tensors."
    )
    return f"<p>{escape(words)}</p>"
