"""Sentences of the page "Your network"."""

from __future__ import annotations

from html import escape

from app.estimates.texts import READOUTS
from app.pages.your_network.config import NETWORKS, NetworkChoice
from llc_core import Estimate, health

QUESTION = "How many parameters does a trained network use? Near its weights, as many as a model with 2λ."
CELLS = [item for item in READOUTS if item["key"] not in ("expected", "error")]


def signs_of_health(estimate: Estimate) -> str:
    """HTML: one row for each sign of health."""
    rows = "".join(
        f"<tr><th scope=row>{'✗' if not sign.ok else '•' if sign.note else '✓'} {escape(sign.name)}</th>"
        f'<td style="white-space: normal; text-align: left">{escape(sign.sentence)}</td></tr>'
        for sign in health(estimate)
    )
    return f"<table><tbody>{rows}</tbody></table>"


def about(choice: NetworkChoice) -> str:
    """HTML: what is measured, and what its λ̂ can be judged by."""
    network = NETWORKS[choice.network]
    words = (
        f"{network.title}, trained for {network.steps:,} steps by {choice.optimizer}, here, on data that come with the app. "
        "The loss is the cross entropy over the training rows, and λ̂ is taken at the chosen checkpoint over what moves; "
        "everything else keeps its value. There is no exact answer for such a network: the signs of health, the "
        "calibration and the comparison of checkpoints are what there is to judge a number by. Weights of the same "
        "architecture can be opened from a file of plain tensors."
    )
    return f"<p>{escape(words)}</p>"
