"""Page "Your network": the learning coefficient of a trained network, of a part of it, and along its training."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import panel as pn

from app.controls.run_controls import Controls
from app.estimates.curves import Curves
from app.estimates.folded import Folded
from app.estimates.guessing import WATCH
from app.estimates.polishing import Polishing
from app.estimates.scale import draw_scale
from app.pages.base import PageInfo
from app.pages.estimate_page import EstimatePage
from app.pages.tiled import Wanted
from app.pages.your_network.editor import CheckpointEditor
from app.pages.your_network.job import build
from app.pages.your_network.panels.audit import AuditPanel
from app.pages.your_network.panels.calibration import CalibrationPanel
from app.pages.your_network.panels.drawing import DrawingPanel
from app.pages.your_network.panels.flat import FlatPanel
from app.pages.your_network.panels.over_training import OverTraining
from app.pages.your_network.panels.part_by_part import PartByPart
from app.pages.your_network.panels.rows import RowsPanel
from app.pages.your_network.pictures import OUTCOMES, draw_network, draw_outcome
from app.pages.your_network.presets import PRESETS, NetworkPreset
from app.pages.your_network.scene import NetworkConfig, link_config, side_bar_config
from app.pages.your_network.takeaway import NetworkTakeaway
from app.pages.your_network.texts import CELLS, about, question, signs_of_health
from app.pages.your_network.tour import TOUR
from app.runs.job import State, Status
from app.runs.llc_job import LlcJob
from app.sharing.reading import PageConfig
from app.style import theme
from app.style.layout import card, level_pair, pair, prose, toolbar
from app.style.legend import heading
from llc_core import RunConfig

OVER, PARTS, STEP, FLAT = "Over training", "Part by part", "Which step size?", "A flat direction"
ROWS, AUDIT = "Which rows matter?", "Audit a trace of another tool"
FIRST_HIGHEST_LOSS = 10.0
"""A λ that sets the first range of the losses: there is no exact one."""


class YourNetwork(EstimatePage):
    task = WATCH
    config: NetworkConfig

    def __init__(self) -> None:
        super().__init__(PRESETS, Curves(), Controls(), CELLS)
        self.editor: CheckpointEditor = CheckpointEditor()
        self.editor.on_weights = self._on_weights
        self.editor.complain = self.complain
        self.over_training, self.calibration = OverTraining(), CalibrationPanel()
        self.calibration.listener = self._on_pick
        self.audit, self.flat, self.drawing, self.rows = AuditPanel(), FlatPanel(), DrawingPanel(), RowsPanel()
        self.parts_alone = PartByPart()
        self.panels = (self.over_training, self.parts_alone, self.calibration, self.flat, self.rows, self.audit)
        self.takeaway: NetworkTakeaway = NetworkTakeaway(self.restore, lambda: self.over_training.found)
        self.polishing = Polishing(self.controls, self.change_settings)
        self.scale = prose(margin=(12, 0, 0, 0), visible=False)
        self.health, self.about = prose(theme.TABLE), prose()
        self.explanations = [self.about, self.controls.formula]
        folded = {
            OVER: (self.over_training.view, None),
            PARTS: (self.parts_alone.view, None),
            STEP: (self.calibration.view, None),
            FLAT: (self.flat.view, self.flat.start),
            ROWS: (self.rows.view, self.rows.start),
            AUDIT: (self.audit.view, None),
        }
        self.compose_estimate(
            {"Network": [self.editor], "Sampler": [self.controls]},
            self.numbers_card,
            level_pair(card(*self.curves.estimate_parts), card(*self.curves.loss_parts)),
            below=[
                toolbar(self.compare.button, self.takeaway.menu, self.compare.words),
                self.compare.table,
                self.polishing.view,
                self.scale,
                self.drawing.view,
                pair(card(heading("This network"), self.about), card(heading("Diagnostics"), self.health)),
                Folded(folded).view,
            ],
        )
        self.editor.listener = self._on_choice

    def picture(self, preset: NetworkPreset) -> str:
        return draw_outcome(preset, OUTCOMES[preset.name])

    def plain_picture(self, preset: NetworkPreset) -> str:
        return draw_network(preset)

    def question(self) -> str:
        return question(self.state.estimate)

    # -- configurations -----------------------------------------------------------------------------------------------

    def of_preset(self, preset: NetworkPreset) -> NetworkConfig:
        return link_config(preset.config)

    def of_link(self, configuration: Any) -> NetworkConfig:
        return link_config(configuration)

    def wanted(self) -> Wanted:
        return partial(side_bar_config, self.editor.choice, self.controls.values, self.editor.weights)

    def configuration(self) -> dict[str, Any]:
        if self.config.weights is not None:
            raise ValueError("Weights from a file cannot travel in a link; choose a checkpoint, or send the file.")
        return self.config.described

    def compared(self, config: PageConfig) -> RunConfig:
        """Settings alone: a network has no description that tells two of them apart in words."""
        return RunConfig(**{**config.settings, "dtype": config.complete.dtype})

    def show(self, config: NetworkConfig) -> None:
        self.editor.show(config.choice, config.weights)
        self.controls.show(config.settings)

    def _on_choice(self) -> None:
        if self.editor.choice.network == self.config.choice.network:
            self._on_settings()
        else:  # which has settings of its own
            self.change(partial(link_config, self.editor.choice.to_dict()), show=True)

    def _on_weights(self, name: str) -> None:
        self.controls.forget()
        self.change_settings(f"Weights from {name}.")

    def _on_pick(self, step_size: float, localization: float) -> None:
        """The pick of the calibration is to be used."""
        with pn.io.hold():
            self.controls.choose("step_size", step_size)
            self.controls.choose("localization", localization)
            self.change_settings()

    # -- the run ------------------------------------------------------------------------------------------------------

    def job(self, config: NetworkConfig, scene: None) -> Callable[[], LlcJob]:
        return partial(build, config)

    def reset(self, config: NetworkConfig, scene: None) -> None:
        total, burn_in = config.lengths
        self.losses.reset(config.complete.chains, total, burn_in, FIRST_HIGHEST_LOSS, None)
        self.curves.reset_estimates(total, burn_in, {})
        self.polishing.begin(config)
        self.scale.visible = False
        self.over_training.show(config.choice, dict(config.settings), config.weights is not None)
        self.parts_alone.show(config.choice, dict(config.settings))
        self.calibration.show(config.choice, dict(config.settings))
        self.health.object = '<p class="small muted">They come with the first estimate.</p>'
        self.about.object = about(config.choice, own=config.weights is not None)
        self.drawing.show(config)
        self.flat.show(config)
        self.rows.show(config)

    def on_longer(self, config: PageConfig) -> None:
        self.over_training.settings = self.calibration.settings = dict(config.settings)

    def stream(self, rows: Any) -> None:
        super().stream(rows)
        self.over_training.ready()
        self.drawing.move(rows.place)

    def caption(self, state: State) -> str:
        waits = "training the network…" if state.status is Status.STARTING else super().caption(state)
        return self.polishing.caption(state) or waits

    def show_estimate(self, state: State) -> None:
        self.drawing.update()
        self.polishing.update(state.estimate)
        before, found = self.polishing.before, state.estimate  # a link that polishes has no λ̂ before
        done = None if found is None else found.polished
        if found is not None and done is not None and done.distance > 0 and math.isfinite(found.llc):
            self.scale.object = draw_scale(None, None, None, found.llc, found.llc_se, before=before)
            self.scale.visible = True
        if state.estimate is not None and (state.estimate.diverged or not math.isnan(state.estimate.llc)):
            self.health.object = signs_of_health(state.estimate)


PAGE = PageInfo("Your network", "your-network", 30, YourNetwork, TOUR, main=True)
