"""Where the figures that the benchmarks measured lie: beside the app in a checkout, and nowhere else."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "lab" / "results"
