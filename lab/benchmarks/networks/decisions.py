"""What the presets of the page "Decisions" end with, over several seeds: the figures in their sentences.

    python -m lab.benchmarks.networks.decisions
    python -m lab.benchmarks.networks.decisions --presets linear,digits --seeds 3

Runs are the page's own jobs. Of a play: regret without the forced pulls. Of digits: AUROC by the entropy, calibration error.
"""

from __future__ import annotations

import numpy as np

from app.pages.decisions.config import DecisionsConfig
from app.pages.decisions.job.bandit import PLAYERS, BanditJob
from app.pages.decisions.job.digits import DigitsJob, Scores
from app.pages.decisions.presets import PRESETS
from app.pages.decisions.scene import get_scene
from lab.benchmarks.command import read_options


def ends(config: DecisionsConfig) -> dict[str, float]:
    """Figures at the end of one run, by name."""
    scene = get_scene(config)
    if config.plays:
        game = BanditJob(scene)
        while not game.finished:
            game.advance(50)
        return {name: game.judge().players[name].own for name in PLAYERS}
    chains = DigitsJob(scene)
    while not chains.finished:
        chains.advance(100)
    found, digits = chains.judge().scores, scene.digits
    assert found is not None and digits is not None
    one, linear = Scores.of(digits.one, digits), Scores.of(digits.linear, digits)
    return {
        **{"draws": found.auroc, "one net": one.auroc, "logistic": linear.auroc},
        **{"ECE, draws": found.ece, "ECE, one net": one.ece, "ECE, logistic": linear.ece},
    }


def main() -> None:
    options = read_options(
        globals(),
        {"seeds": 1, "presets": "linear"},
        one_thread=True,
        seeds=5,
        presets=",".join(preset.name for preset in PRESETS),
    )
    for preset in PRESETS:
        if preset.name not in options.presets.split(","):
            continue
        runs = [ends(preset.config.replace(seed=seed)) for seed in range(options.seeds)]
        shown = []
        for name in runs[0]:
            values = np.array([run[name] for run in runs])
            error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
            shown.append(f"{name} {values.mean():,.4g} ± {error:.2g}")
        print(f"{preset.title}: " + ", ".join(shown), flush=True)


if __name__ == "__main__":
    main()
