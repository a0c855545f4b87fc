"""Two networks with the same loss, of which one has found the rule: what `lab.benchmarks.networks.twins` measured."""

from __future__ import annotations

import json
from pathlib import Path

from app.components.twins import Twins

QUESTION = "Two networks, one loss: which one has found the rule?"
NAMES = {"heart": "Network A", "rule": "Network B"}
"""Which of the two stands first. The names tell nothing."""
LABELS = {"llc": "estimate λ̂", "shown": "sums it was shown: right", "hidden": "sums it never saw: right"}


def twins() -> Twins:
    found = json.loads(Path(__file__).with_name("twins.json").read_text(encoding="utf-8"))
    networks = [
        {
            "name": name,
            "shown": found[key]["accuracy"],
            **{field: found[key][field] for field in ("llc", "llc_se", "hidden")},
        }
        for key, name in NAMES.items()
    ]
    by_heart, rule = (found[key] for key in NAMES)
    right = "Yes." if rule["hidden"] > by_heart["hidden"] else "No."
    told = (
        f"Network B gets {rule['hidden']:.0%} of the new sums right, network A {by_heart['hidden']:.0%}. "
        f"Their loss on the shown sums is the same. λ̂ was measured on the shown sums alone."
    )
    return Twins(
        question=QUESTION,
        words=f"Both learned to add from {found['shown']} sums, and both make no mistake on them. "
        f"Another {found['hidden']} sums were never shown. Press the one that gets those right.",
        networks=networks,
        most=1.15 * max(network["llc"] for network in networks),
        said=[f"{'No.' if right == 'Yes.' else 'Yes.'} {told}", f"{right} {told}"],
        labels=LABELS,
        sizing_mode="stretch_width",
        margin=0,
    )
