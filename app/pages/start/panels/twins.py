"""Two networks with the same loss, of which one has found the rule: what `lab.benchmarks.networks.twins` measured."""

from __future__ import annotations

import json
from pathlib import Path

from app.components.twins import Twins, bar, choice

QUESTION = "Two networks, one loss: which one has found the rule?"
NAMES = {"heart": "Network A", "rule": "Network B"}
"""Which of the two stands first. The names tell nothing."""


def twins() -> Twins:
    found = json.loads(Path(__file__).with_name("twins.json").read_text(encoding="utf-8"))
    by_heart, rule = (found[key] for key in NAMES)
    most = 1.15 * max(found[key]["llc"] for key in NAMES)
    answer = (
        f"Network B gets {rule['hidden']:.0%} of the new sums right, network A {by_heart['hidden']:.0%}. "
        f"Their loss on the shown sums is the same. λ̂ was measured on the shown sums alone."
    )
    best = max(NAMES, key=lambda key: found[key]["hidden"])
    choices = []
    for key, name in NAMES.items():
        one = found[key]
        estimate = f"{one['llc']:.0f} ± {max(1, round(one['llc_se']))}"
        choices.append(
            choice(
                name,
                f"{'Yes.' if key == best else 'No.'} {answer}",
                [
                    bar("estimate λ̂", one["llc"] / most, estimate, "measured"),
                    bar("sums it was shown: right", one["accuracy"], f"{one['accuracy']:.0%}"),
                ],
                [bar("sums it never saw: right", one["hidden"], f"{one['hidden']:.0%}", "truth")],
            )
        )
    return Twins(
        question=QUESTION,
        words=f"Both learned to add from {found['shown']} sums, and both make no mistake on them. "
        f"Another {found['hidden']} sums were never shown. Press the one that gets those right.",
        choices=choices,
        sizing_mode="stretch_width",
        margin=0,
    )
