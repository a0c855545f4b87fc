"""The side bar of the page "Benchmark": which store, which runs of it, and what they are judged by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.pages.benchmark.config import EVERY, BenchmarkConfig, options
from app.style.layout import complaint
from app.style.legend import heading
from llc_core.sweeps.scales import SHORT
from llc_core.sweeps.series import ESTIMATOR_WORDS, THROWN, TRUTH_WORDS, Row

FILTER_LABELS = {"size_class": "Size class", "ranks": "Ranks", "gradient": "Gradient"}
SWITCH_LABELS = {
    "spread": "Bands of one standard deviation (point at a chart)",
    "cut": f"λ̂ above {THROWN} times half the parameters counts as none",
    "nan_filter": "Mean and spread: leave out step sizes with 10% or more without λ̂, as the paper does",
}


class Editor:
    """Shows a configuration, and tells what the visitor changes.

    on_store: called with the name of another store.  on_change: called with the changed configuration, and whether the visitor
    has chosen the ranks just now.
    """

    def __init__(self) -> None:
        self.on_store: Callable[[str], None] = lambda name: None
        self.on_change: Callable[[BenchmarkConfig, bool], None] = lambda config, ranks_chosen: None
        self._config = BenchmarkConfig()
        self._quiet = False
        self.store = self._select("Store", {})
        self.fault = complaint()
        self.filters = {name: self._select(text, {}) for name, text in FILTER_LABELS.items()}
        self.estimator = self._select("Estimate", {text: key for key, text in ESTIMATOR_WORDS.items()})
        self.truth = self._select("Truth", {text: key for key, text in TRUTH_WORDS.items()})
        self.switches = {name: self._switch(text) for name, text in SWITCH_LABELS.items()}
        self.view = pn.Column(
            heading("Sweep"), self.store, self.fault,
            heading("Which runs"), *self.filters.values(),
            heading("Judged by"), self.estimator, self.truth, *self.switches.values(),
            sizing_mode="stretch_width", margin=(4, 16, 24, 16),
        )  # fmt: skip

    def show(self, config: BenchmarkConfig, rows: Sequence[Row], stores: Iterable[str]) -> None:
        """Show a configuration without reporting changes. rows: of the open store."""
        self._config, self._quiet = config, True
        try:
            listed = {name: name for name in stores}
            self.store.param.update(options=listed or {"none yet": ""}, value=config.store)
            there = options(rows)
            for name, select in self.filters.items():
                words = {(SHORT.get(value, value) if name == "gradient" else value): value for value in there[name]}
                select.param.update(options={"all": EVERY, **words}, value=getattr(config, name))
            self.estimator.value, self.truth.value = config.estimator, config.truth
            for name, switch in self.switches.items():
                switch.value = getattr(config, name)
        finally:
            self._quiet = False

    def _select(self, label: str, values: dict[str, Any]) -> pmui.Select:
        select = pmui.Select(
            label=label, options=values, size="small", sizing_mode="stretch_width", margin=(8, 0),
            value=next(iter(values.values()), None),
        )  # fmt: skip
        select.param.watch(self._on_select, "value")
        return select

    def _switch(self, label: str) -> pmui.Checkbox:
        switch = pmui.Checkbox(label=label, value=True, margin=(4, 0))
        switch.param.watch(self._on_select, "value")
        return switch

    def _on_select(self, event: Any) -> None:
        if self._quiet:
            return
        with pn.io.hold():
            if event.obj is self.store:
                self.on_store(self.store.value)
                return
            config = replace(
                self._config,
                **{name: field.value for name, field in {**self.filters, **self.switches}.items()},
                estimator=self.estimator.value,
                truth=self.truth.value,
            )
            self.on_change(config, event.obj is self.filters["ranks"])
