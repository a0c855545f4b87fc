"""Panel "Calibration": λ̂ over step sizes and localizations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel_material_ui as pmui

from app.pages.your_network.config import NetworkChoice
from app.pages.your_network.figures import CalibrationFigure
from app.pages.your_network.panels.base import ChoicePanel
from app.pages.your_network.scene import potential
from app.runs.job import State
from app.runs.polishing import passes_that_fit
from app.runs.tasks import TaskJob
from app.style.layout import card, plotted, prose
from app.style.legend import heading, told_html
from llc_core import calibrate, polish
from llc_core.studies.calibration.search import Calibration

CALIBRATION_STEPS = 600
CALIBRATED = ("SGLD", "RMSPropSGLD")
"""Samplers that the map is made for."""


class CalibrationPanel(ChoicePanel):
    """`listener` is called with (step_size, localization) when the pick is to be used."""

    def __init__(self) -> None:
        super().__init__(
            "Calibrate",
            "Tries 24 settings at once and recommends one.",
        )
        self.listener: Callable[[float, float], None] = lambda step_size, localization: None
        self.figure = CalibrationFigure()
        self.found: Calibration | None = None
        self.use = pmui.Button(label="Use the pick", size="small", variant="outlined", margin=0, visible=False)
        self.use.on_click(self._on_use)
        self._told = prose(margin=(6, 0, 0, 0))
        self._map = plotted(self.figure.plot)
        self._map.visible = False  # there is nothing on it yet
        self.view = card(
            heading("Which step size?"),
            self.bar(self.words, margin=(6, 0)),
            self._map,
            self._told,
            self.use,
        )

    def show(self, choice: NetworkChoice, settings: dict[str, Any]) -> None:
        if choice != self.choice or _map_settings(settings) != _map_settings(self.settings):
            self.stop()
            self.use.visible = False
            if self.found is not None:
                self.say("This map is of another choice; calibrate again for the present one.")
        self.choice, self.settings = choice, settings

    def prepare(self) -> None:
        self.use.visible = False
        self.say("24 settings in one run; this takes up to a minute.")

    def receive(self, state: State, items: list[Calibration]) -> None:
        if not items:
            return
        self.found = item = items[-1]
        self.figure.show(item)
        self._map.visible = True
        self._told.object = told_html("calibration_figure", f"{self.figure.summary()} {item}")
        self.use.visible = item.chosen is not None
        self.say(
            "Pale cells are refused. A frame marks the recommended one, from the plateau at your γ. Hover for the "
            "reasons."
        )

    def _on_use(self, event: object) -> None:
        if self.found is not None and self.found.chosen is not None:
            e, g, _ = self.found.chosen
            self.listener(float(self.found.step_size[e]), float(self.found.localization[g]))

    @staticmethod
    def job(choice: NetworkChoice, settings: dict[str, Any]) -> TaskJob:
        sampler = settings["sampler"]["name"]
        if sampler not in CALIBRATED:
            raise ValueError(f"The map is for {' and '.join(CALIBRATED)}; choose one of them in place of {sampler}.")

        def run() -> Calibration:
            at = potential(choice, batch_size=settings["batch_size"])
            if settings.get("polish"):
                at = polish(at, passes=passes_that_fit(at), n_beta=settings["n_beta"]).problem
            gammas = [settings["localization"] * share for share in (0.1, 1.0, 10.0)]
            return calibrate(
                at, sampler, localization=gammas, own_localization=settings["localization"],
                gradient=settings["gradient"], steps=CALIBRATION_STEPS,
                batch_size=settings["batch_size"], seed=settings["seed"], dtype=settings["dtype"], device=settings.get("device"),
                n_beta=None if settings["n_beta"] is None else [settings["n_beta"]],
                confirm=False,  # a click on the map runs the pick on the page
            )  # fmt: skip

        return TaskJob([run])


def _map_settings(settings: dict[str, Any]) -> tuple[Any, ...]:
    """Settings that the whole map depends on; step size and localisation are its axes."""
    return settings.get("sampler", {}).get("name"), settings.get("dtype"), settings.get("n_beta")
