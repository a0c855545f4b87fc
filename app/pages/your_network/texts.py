"""Sentences of the page "Your network"."""

from __future__ import annotations

import math
from html import escape

from app.estimates.texts import READOUTS
from app.pages.your_network.config import NETWORKS, NetworkChoice
from app.style.numbers import number, with_minus
from llc_core import Estimate, health

ASKED = "How many parameters does a trained network use?"
CELLS = [item for item in READOUTS if item["key"] not in ("expected", "error")]


def question(estimate: Estimate | None) -> str:
    """The page in a sentence: how many parameters the network behaves as if it had (2λ̂), once λ̂ can be trusted."""
    if estimate is None or not estimate.llc > 0 or not estimate.converged:
        return f"{ASKED} Near its weights 2λ of them: watch the estimate λ̂."
    return f"{ASKED} Near its weights about {number(2 * estimate.llc, 2)} of the {estimate.dim:,} that move."


def signs_of_health(estimate: Estimate) -> str:
    """HTML: one row for each sign of health."""
    rows = "".join(
        f"<tr><th scope=row>{'✗' if not sign.ok else '•' if sign.note else '✓' if math.isfinite(sign.value) else '–'} {escape(sign.name)}</th>"
        f'<td style="white-space: normal; text-align: left">{escape(with_minus(sign.sentence))}</td></tr>'
        for sign in health(estimate)
    )
    return f"<table><tbody>{rows}</tbody></table>"


def about(choice: NetworkChoice, own: bool = False) -> str:
    """HTML: what is measured, and what its λ̂ can be judged by.  own: whether the weights are from a visitor's file."""
    network = NETWORKS[choice.network]
    trained = (
        "" if own else f", trained for {network.steps:,} steps by {choice.optimizer}, on data that come with the app"
    )
    where = "your weights" if own else "the chosen checkpoint"
    words = (
        f"{network.title}{trained}. The loss is the cross entropy over the training rows. λ̂ is taken at {where} over what moves; "
        "everything else keeps its value. There is no exact answer for such a network. Judge a number by the diagnostics, the "
        "calibration and the comparison of checkpoints. You can open your own weights for these architectures, from a file of "
        "plain tensors."
    )
    return f"<p>{escape(words)}</p>"
