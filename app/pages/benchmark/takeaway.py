"""What a visitor can take away from the page "Benchmark": tables, rows, figures, Python that draws the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.pages.benchmark.config import EVERY, FILTERS, BenchmarkConfig
from app.pages.benchmark.table import accuracy_csv, rows_csv, series_csv
from app.sharing.desk import TakeawayDesk
from app.sharing.json_files import read_json
from llc_core.sweeps.series import Accuracy, Curve, Row

NAME = "llc_benchmark"
MOST_ROWS = 200_000
"""In a file that the browser saves; each is read from the store again."""
FILES = {"table": "Accuracy table (CSV)", "series": "Series of the figures (CSV)", "rows": "Rows shown (CSV)"}
FIGURES = {"Charts": "The charts", "beside_losses": "Traces of the run beside them"}
"""The charts are found by the first word of their description."""


class BenchmarkTakeaway(TakeawayDesk):
    """apply: called with the mapping of a configuration file."""

    def __init__(self, apply: Callable[[Any], str]):
        super().__init__(NAME, FILES, FIGURES, config_from_file, apply)
        self._rows: Sequence[Row] = ()
        self._curves: Sequence[Curve] = ()
        self._table: Sequence[Accuracy] = ()

    def show(
        self,
        config: BenchmarkConfig,
        path: str,
        rows: Sequence[Row],
        curves: Sequence[Curve],
        table: Sequence[Accuracy],
    ) -> None:
        """path: of the store, as a script finds it."""
        self._rows, self._curves, self._table = rows, curves, table
        text = json.dumps(config.to_dict(), indent=1, ensure_ascii=False) + "\n"
        self.begin(python_code(config, path), text)

    def content(self, key: str) -> tuple[str, str | bytes]:
        if not self._rows:
            raise ValueError("There is nothing to save yet; choose a store first.")
        return super().content(key)

    def own(self, key: str) -> tuple[str, str]:
        self.refuse_answers()
        if key == "rows" and len(self._rows) > MOST_ROWS:
            raise ValueError(
                f"A page hands out {MOST_ROWS:,} rows, and these are {len(self._rows):,}; choose fewer, or use "
                "`llc-lab export STORE --out rows.csv`."
            )
        makers: dict[str, Callable[[], str]] = {
            "table": lambda: accuracy_csv(self._table),
            "series": lambda: series_csv(self._curves),
            "rows": lambda: rows_csv(self._rows),
        }
        return f"{NAME}_{key}.csv", makers[key]()


def python_code(config: BenchmarkConfig, path: str) -> str:
    """A script that runs as pasted: the same table and the same figures."""
    chosen = {name: getattr(config, name) for name in FILTERS if getattr(config, name) != EVERY}
    filters = "".join(f", {name}={value!r}" for name, value in chosen.items())
    lines = [
        *([] if config.nan_filter else ["from functools import partial", ""]),
        "import holoviews as hv",
        "",
        "from llc_core.sweeps.series import accuracy, curves, select",
        "from llc_core.sweeps.figures import FIGURES",
        "from llc_core.sweeps.store import table",
        "",
        f"rows = select(table({path!r}){filters})",
        f"found = curves(rows, estimator={config.estimator!r}, truth={config.truth!r}{'' if config.cut else ', cut=False'})",
    ]
    if config.hidden:
        lines.append(f"found = [curve for curve in found if curve.sampler not in {sorted(config.hidden)!r}]")
    if not config.nan_filter:
        lines.append("FIGURES['mean_against_sd'] = partial(FIGURES['mean_against_sd'], nan_filter=False)")
    lines += [
        "for line in accuracy(found):",
        "    print(line)",
        "hv.extension('bokeh')",
        f"hv.Layout([figure(found, spread={config.spread}) for figure in FIGURES.values()]).cols(1)",
    ]
    return "\n".join(lines) + "\n"


def config_from_file(text: str) -> Mapping[str, Any]:
    """The mapping in a configuration file; ValueError, one sentence, for anything else."""
    values = read_json(text, "a configuration")
    if not isinstance(values, dict):
        raise ValueError("The configuration must be a mapping of names to values.")
    return values
