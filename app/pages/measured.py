"""Where the figures that the benchmarks measured lie: beside the app in a checkout, and nowhere else. Those on tiles come with a page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "lab" / "results"


def outcomes(beside: str) -> Mapping[str, Any]:
    """What the tiles of a page draw, by preset: measured by `python -m lab.benchmarks.accuracy.tiles`. beside: a file of the page."""
    read: Mapping[str, Any] = json.loads((Path(beside).parent / "outcomes.json").read_text(encoding="utf-8"))
    return read
