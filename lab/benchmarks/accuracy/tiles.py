"""What the tiles of "Local geometry" draw: how each preset's estimate goes, as a share of the value that it should have.

    python -m lab.benchmarks.accuracy.tiles [PRESET …]        writes app/pages/local_geometry/outcomes.json

What is named is measured anew, and everything where nothing is named.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

import app.pages.local_geometry
from app.pages.local_geometry.presets import Preset, available
from app.pages.local_geometry.scene import preset_config, scene_of
from app.runs.history import Cursor, History
from llc_core import Run
from llc_core.samplers.registry import samplers

POINTS = 24
"""Places along the run at which the moving average is kept."""
TARGET = Path(app.pages.local_geometry.__file__).parent / "outcomes.json"


def outcome(preset: Preset) -> list[float | None]:
    """The moving average of nβ·ΔL over the value that λ̂ should have, [POINTS]; None where no chain lives."""
    config = preset_config(preset)
    scene = scene_of(config)
    run = Run(config.resolved)
    history = History(config.complete.chains, config.lengths[0])
    while not run.finished:
        history.add(run.advance(200))
    rows = history.since(Cursor())
    truth = scene.expected or scene.local
    shares = [part for part in np.array_split(rows.recent / truth, POINTS)]
    means = [float(part[np.isfinite(part)].mean()) if np.isfinite(part).any() else None for part in shares]
    return [None if mean is None else round(mean, 4) for mean in means]


def main() -> None:
    named = sys.argv[1:]
    found = json.loads(TARGET.read_text(encoding="utf-8")) if TARGET.exists() else {}
    for preset in available(samplers()):
        if not named or preset.name in named:
            found[preset.name] = outcome(preset)
            print(preset.name, found[preset.name][-1], flush=True)
            TARGET.write_text(json.dumps(found) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
