"""What a visitor can take away from the page "Stages", and bring back to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from app.pages.stages.config import REAL, StagesConfig
from app.pages.stages.job import StagesProgress
from app.pages.stages.scene import settings
from app.sharing.desk import TakeawayDesk
from app.sharing.exports import config_json, literal
from app.sharing.reading import read_settings
from llc_core import Stages
from llc_core.sweeps.csv_tables import table_csv

NAME = "stages"
FILES = {"staircase": "Staircase (CSV)", "flow": "Loss and singular values (CSV)"}
FIGURES = {"stages_loss": "Loss", "stages_ladder": "λ at each rest", "stages_values": "Singular values"}


def python_code(config: StagesConfig) -> str:
    """A script that runs as pasted and gives λ̂ at every rest of this configuration."""
    lines = [
        "import llc_core",
        "",
        f"found = llc_core.stages({config.widths!r}, {config.singular_values!r}, seed={config.seed})",
        "print(found)",
        "for stage in found:",
        f"    problem = {'found.against_target(stage)' if config.teacher == REAL else 'stage.problem()'}",
        f"    settings = {literal(settings(config), 90, 4)}",
        "    estimate = llc_core.estimate(problem, progress=False, **settings)",
        '    print(f"rank {stage.rank}: exact {float(stage.coefficient):g}, measured {estimate.llc:.6g} ± {estimate.llc_se:.2g}")',
    ]
    return "\n".join(lines) + "\n"


class StagesTakeaway(TakeawayDesk):
    """apply: called with the configuration in a file; see `TakeawayDesk`."""

    def __init__(self, apply: Callable[[StagesConfig], str]):
        super().__init__(NAME, FILES, FIGURES, partial(read_settings, StagesConfig), apply)
        self._scene: Stages | None = None
        self._seen: StagesProgress | None = None

    def show(self, config: StagesConfig, scene: Stages) -> None:
        """The page runs this now."""
        self._scene, self._seen = scene, None
        self.begin(python_code(config), config_json(config))

    def update(self, seen: StagesProgress | None) -> None:
        self._seen = seen

    def own(self, key: str) -> tuple[str, str]:
        scene = self._scene
        if scene is None:
            raise ValueError("There is nothing to save yet; wait for the training.")
        if key == "flow":
            header = ["time", "loss", *(f"value_{k + 1}" for k in range(len(scene.teacher)))]
            rows = zip(scene.times.tolist(), scene.loss.tolist(), *scene.singular_values.T.tolist(), strict=True)
            return f"{NAME}_flow.csv", table_csv(header, rows)
        self.refuse_answers()
        if self._seen is None or not self._seen.estimates:
            raise ValueError("There is nothing to save yet; wait for the first rest.")
        rows = [
            (
                stage.rank,
                stage.time,
                stage.loss,
                float(stage.coefficient),
                each.llc,
                each.llc_se,
                each.llc_from_variance,
                each.llc_from_variance_se,
                str(each.converged),
            )  # fmt: skip
            for stage, each in zip(scene, self._seen.estimates, strict=False)
        ]
        measured = ("llc", "llc_se", "llc_from_variance", "llc_from_variance_se")
        return f"{NAME}_staircase.csv", table_csv(["rank", "time", "loss", "exact", *measured, "verdict"], rows)
