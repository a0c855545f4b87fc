"""What the tiles of presets draw: how each preset's run goes and ends, made by the page's own job.

    python -m lab.benchmarks.accuracy.tiles [PAGE [PRESET …]]        writes app/pages/PAGE/outcomes.json

What is named is measured anew, and everything where nothing is named. `app/pages/PAGE/pictures.py` says what the numbers are.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from app.pages.decisions.config import SIDES
from app.pages.decisions.figures.digits import BINS, MOST
from app.pages.decisions.job.bandit import BanditJob
from app.pages.decisions.job.digits import DigitsJob
from app.pages.decisions.presets import DecisionsPreset
from app.pages.decisions.scene import get_scene as game_of
from app.pages.local_geometry.presets import Preset
from app.pages.local_geometry.scene import preset_config, scene_of
from app.pages.many_modes.config import TWO_BASINS
from app.pages.many_modes.job import ModesJob, SideProgress
from app.pages.many_modes.panels.basins import levels
from app.pages.many_modes.panels.theta import middles, scale_resolved
from app.pages.many_modes.presets import ModesPreset
from app.pages.your_network.presets import NetworkPreset
from app.pages.your_network.scene import link_config, potential
from app.runs.history import Cursor, History
from app.sharing.reading import PageConfig
from lab.benchmarks.command import option, read_options
from lab.benchmarks.smoke import elsewhere
from llc_core import Run
from llc_core.engine.resolve import Resolved
from llc_core.interactions import Contour

POINTS = 24
"""Places along the run at which a curve is kept."""
FIGURES = 4
"""Decimals of a moving average, and significant figures elsewhere."""


def local_geometry(preset: Preset) -> list[float | None]:
    """The moving average of nβ·ΔL over the value that λ̂ should have, [POINTS]; None where no chain lives."""
    config = preset_config(preset)
    scene = scene_of(config)
    return moving_average(config, config.resolved, scene.expected or scene.local)


def your_network(preset: NetworkPreset) -> list[float | None]:
    """The moving average of nβ·ΔL, [POINTS]; None where no chain lives."""
    config = link_config(preset.config)
    problem = potential(config.choice, None, config.settings["batch_size"])
    return moving_average(config, config.resolved.at(problem))


def moving_average(config: PageConfig, resolved: Resolved, unit: float = 1.0, only: int = POINTS) -> list[float | None]:
    """only: how many of the places are wanted; the run goes no farther than to the last of them."""
    total = config.lengths[0]
    run, history = Run(resolved), History(config.complete.chains, total)
    while not run.finished and run.steps_done * POINTS < total * (only + 1):
        history.add(run.advance(200))
    recent = history.since(Cursor()).recent / unit
    places = np.array_split(np.arange(1 + total // history.stride), POINTS)[:only]
    means = [known.mean() if (known := part[np.isfinite(part)]).size else None for part in (recent[k] for k in places)]
    return [None if mean is None else round(float(mean), FIGURES) for mean in means]


def many_modes(preset: ModesPreset) -> dict[str, Any]:
    """kl: rows (gradients, median KL of the left side, of the right one).  Where the page has a figure of its own for it: masses of
    the line (basins), or λ(E) (slope), as points of each side and of what is exact."""
    config = preset.config
    job = ModesJob(config)
    finish(job)
    log = job.log.since(0)[1]
    kept = np.linspace(0, len(log) - 1, POINTS).round().astype(int)
    found: dict[str, Any] = {"kl": [points(row) for row in log[kept][:, [0, 1, 4]]]}
    seen, scene = job.judge(), job.scene
    if config.surface["name"] == TWO_BASINS:
        shares = {side: _masses(seen.side(side), levels(config, side)) for side in SIDES}
        found["basins"] = {**shares, "exact": [points(pair) for pair in scene.line.T]}
    made = config.made("left")
    if isinstance(made, Contour) and made.scale == "log":
        curves = {"left": seen.left.shared[:, : made.bins].mean(axis=0), "exact": scene.theta["left"]}
        slopes = {name: zip(middles(made), scale_resolved(made, theta), strict=True) for name, theta in curves.items()}
        found["slope"] = {name: [points(p) for p in pairs if np.isfinite(p).all()] for name, pairs in slopes.items()}
    return found


def _masses(side: SideProgress, at: np.ndarray) -> list[list[float | None]]:
    """nβ and the mean share of the line, of each level; of chains without levels the one of all."""
    mean = side.line.mean(axis=0)
    if len(set(at)) == 1:
        return [points((at[0], mean.mean()))]
    return [points(pair) for pair in zip(at, mean, strict=True)]


def decisions(preset: DecisionsPreset) -> dict[str, Any]:
    """regret: rows (round, of the left agent, of the right one).  entropy: how many digits of each kind lie in each bin of the page's
    histogram, as shares of the kind."""
    scene = game_of(preset.config)
    if preset.config.plays:
        play = BanditJob(scene)
        finish(play)
        log = play.log.since(0)[1]
        kept = np.linspace(0, len(log) - 1, POINTS).round().astype(int)
        return {"regret": [points(row) for row in log[kept][:, :3]]}
    job = DigitsJob(scene)
    finish(job)
    said = job.judge().said
    assert said is not None
    edges = np.linspace(0, MOST, BINS + 1)
    kinds = {kind: getattr(said, kind).entropy_of_mean.numpy() for kind in ("inside", "outside")}
    counts = {kind: np.histogram(np.clip(values, 0, MOST), edges)[0] for kind, values in kinds.items()}
    return {"entropy": {kind: points(count / count.sum()) for kind, count in counts.items()}}


def finish(job: Any, block: int = 4096) -> None:
    while not job.finished:
        job.record(job.advance(block), None)


def points(values: Sequence[float] | np.ndarray) -> list[float | None]:
    """None for what is not known."""
    return [float(f"{value:.{FIGURES}g}") if np.isfinite(value) else None for value in values]


PAGES: dict[str, Callable[[Any], Any]] = {
    each.__name__: each for each in (local_geometry, many_modes, decisions, your_network)
}


def target(page: str) -> Path:
    module = importlib.import_module(f"app.pages.{page}")
    assert module.__file__ is not None
    return Path(module.__file__).parent / "outcomes.json"


def main() -> None:
    options = read_options(
        globals(),
        {"page": "local_geometry", "presets": ["tiny"]},
        page=option(None, "all without it", nargs="?", choices=tuple(PAGES), place=True),
        presets=option(None, "all without them", nargs="*", place=True),
    )
    named = options.presets
    for page in [options.page] if options.page else PAGES:
        path = elsewhere(target(page))
        found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        for preset in importlib.import_module(f"app.pages.{page}.presets").PRESETS:
            if not named or preset.name in named:
                found[preset.name] = PAGES[page](preset)
                print(page, preset.name, flush=True)
                rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items())
                path.write_text(f"{{{rows}}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
