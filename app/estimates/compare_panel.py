"""Pin a run, and the next one is laid over it: two samplers side by side are two clicks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import panel as pn
import panel_material_ui as pmui

from app.estimates.comparison import RunCard, table
from app.estimates.figures import EstimateFigure, RunningEstimate
from app.style import theme
from app.style.layout import prose
from llc_core import RunConfig

_PIN, _UNPIN = "Pin this run", "Unpin"
_FOLLOWING = "Pinned. Change anything, for example the sampler: the next run is laid over this one."
_WIDE = ":host { overflow-x: auto; } .what { margin: 6px 0 0; white-space: normal; }"


class ComparePanel:
    """figure: where the pinned estimate is drawn. `begin` before every new run, `update` while it goes."""

    def __init__(self, figure: EstimateFigure) -> None:
        self._figure = figure
        self._current: RunCard | None = None
        self.pinned: RunCard | None = None
        self._curve: RunningEstimate | None = None
        self._following = False
        self.button = pmui.Button(label=_PIN, size="small", variant="outlined", margin=0)
        self.button.on_click(self._on_button)
        self.words = prose(styles={"flex": "1 1 240px"})
        self.table = pn.pane.HTML(
            "",
            visible=False,
            sizing_mode="stretch_width",
            margin=(8, 0, 0, 0),
            stylesheets=[theme.TEXT, theme.TABLE, _WIDE],
        )

    def begin(self, config: RunConfig) -> None:
        """A new run replaces the present one. Call before its figure is emptied."""
        if self._following:
            self._freeze()
        self._current = RunCard(config, {})

    def go_on(self, config: RunConfig) -> None:
        """The present run has become longer, and its figure has its new range already."""
        if self._current is not None:
            self._current = replace(self._current, config=config)
            self._figure.show_pinned(self._curve)
            self._show()

    def draw(self) -> None:
        """The figure is empty now: draw what is pinned."""
        self._figure.show_pinned(self._curve)
        self._show()

    def update(
        self,
        values: Mapping[str, str],
        used: Mapping[str, float] | None = None,
        reasons: Mapping[str, str] | None = None,
    ) -> None:
        """Read-outs of the present run, its values of automatic fields, and why one is not known."""
        if self._current is None:
            return
        self._current = RunCard(self._current.config, dict(values), dict(used or {}), dict(reasons or {}))
        if self._following:
            self.pinned = self._current
        elif self.pinned is not None:
            self._show()

    def _on_button(self, event: object) -> None:
        with pn.io.hold():
            if self.pinned is None:
                self.pinned, self._following = self._current, True
            else:
                self.pinned, self._curve, self._following = None, None, False
                self._figure.show_pinned(None)
            self._show()

    def _freeze(self) -> None:
        self._curve = self._figure.curve()
        self._following = False

    def _show(self) -> None:
        self.button.label = _PIN if self.pinned is None else _UNPIN
        self.words.object = f'<p class="small muted" role="status">{_FOLLOWING}</p>' if self._following else ""
        laid_over = self.pinned is not None and not self._following
        if laid_over:
            assert self._current is not None and self.pinned is not None
            self.table.object = table(self._current, self.pinned)
        self.table.visible = laid_over
