"""Plays of the page "Decisions": rounds a second of one core, and what opening the page costs Python.

    python -m lab.benchmarks.speed.plays
    python -m lab.benchmarks.speed.plays --rounds 400

Each play is the page's own job: two agents, the linear baseline where it is neither of them, and the looks at one mushroom in
every block. Seconds are those of the processor, which a busy machine does not change much; one thread.
"""

from __future__ import annotations

import time

from app.pages.decisions.config import BanditSettings, DecisionsConfig
from app.pages.decisions.job.bandit import BanditJob
from app.pages.decisions.job.digits import DigitsJob
from app.pages.decisions.presets import PRESETS, play
from app.pages.decisions.scene import get_scene
from lab.benchmarks.command import read_options

BLOCK = 3
"""Rounds of a block, as the run manager gives them at this speed."""
PAPER = {"hidden": 100, "capacity": 4096, "batch_size": 512, "steps": 16, "step_size": 3e-7, "forced_pulls": 1024}


def rate(config: DecisionsConfig) -> float:
    """Rounds, or draws, per second of processor once the agents learn."""
    scene = get_scene(config)
    job = BanditJob(scene) if config.plays else DigitsJob(scene)
    forced = config.bandit.forced_pulls // config.bandit.pulls + 1 if config.plays else config.outside.burn_in
    job.advance(forced)
    began, before = time.process_time(), job.judge()
    while not job.finished:
        seen = job.advance(BLOCK if config.plays else config.outside.every)
        job.record(seen, None)
    spent = time.process_time() - began
    done = seen.steps - before.steps if config.plays else seen.draws - before.draws
    return done / spent


def opening() -> float:
    """Seconds of processor that a second visitor's page takes to be made."""
    from app.pages.decisions.page import Decisions

    spent = 0.0
    for _ in range(2):
        began = time.process_time()
        Decisions().close()
        spent = time.process_time() - began
    return spent


def main() -> None:
    options = read_options(
        globals(), {"rounds": 30, "PRESETS": lambda presets: presets[:1]}, one_thread=True, rounds=400
    )
    for preset in PRESETS:
        config = preset.config
        if config.plays:
            config = config.replace(bandit=BanditSettings(**{**config.to_dict()["bandit"], "rounds": options.rounds}))
        unit = "rounds" if config.plays else "draws"
        print(f"{preset.title:24}{rate(config):8.0f} {unit} a second")
    nets = {"left": play("pSGLD"), "right": play("pICSGLD")}
    paper = DecisionsConfig(bandit=BanditSettings(**{**PAPER, **nets, "rounds": 80}))
    print(f"{'nets as in the paper':24}{rate(paper):8.1f} rounds a second")
    print(f"{'opening the page':24}{opening():8.2f} s")


if __name__ == "__main__":
    main()
