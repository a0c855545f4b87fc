"""The card "What is a prediction worth?": risks of all methods beside the Bayes risk, on the page's points, on tables, or on a file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.controls.fields import ChoiceField
from app.controls.uploads import taken
from app.pages.functions.panels.risk.job import (
    FILE,
    NETWORKS,
    OWN,
    ROWS,
    TABLES,
    Asked,
    OneNetwork,
    RiskProgress,
    build,
)
from app.pages.functions.scene import Scene
from app.runs.job import Job, State, Status
from app.runs.manager import background
from app.session.job_panel import JobPanel
from app.style import theme
from app.style.layout import card, prose
from app.style.legend import heading
from app.style.numbers import UNKNOWN
from llc_core.fields import Hyper, one_line
from llc_core.studies.risk.comparison import EXACT, Risks, standard_error
from llc_core.sweeps.csv_tables import table_csv

TITLE = "What is a prediction worth?"
INVITATION = "Draws networks that make new targets, and lets every method predict the held-out ones."
ABOUT = (
    f"Up to {NETWORKS} networks of these widths are drawn from the prior. Each makes targets with noise at the inputs. Nothing predicts "
    "better on average than the exact posterior: what it loses is the Bayes risk. A gap is what a method loses above it. It is averaged "
    "over that posterior, so luck with the one network is not in it. ± is its standard error over the networks. The risk is of the very "
    f"networks. Of a table {ROWS} rows are used, standardised, and a fifth of them is held out. Loss is (y − ŷ)², under the Laplace "
    "likelihood |y − ŷ|."
)
NARROW = "table { max-width: 620px; } p { font-size: .875rem; margin: 4px 0; }"
"""Style sheet: numbers stay near what they belong to."""
NAMES = {OWN: "the points above", **{name: name.replace("_", " ") for name in TABLES}, FILE: "your own file"}
ORDER = (EXACT, "infinitely wide", "HMC")
"""First in the table; the others follow as they come."""


class RiskPanel(JobPanel):
    """view: shown for networks, and never while answers are hidden."""

    def __init__(self) -> None:
        super().__init__("Compare predictions", INVITATION, runs=background, variant="outlined")
        self._scene: Scene | None = None
        self._file = (b"", "")
        self.found: list[OneNetwork] = []
        self._noise = math.nan
        self.inputs = ChoiceField(
            "inputs", Hyper(choices=tuple(NAMES), help="Where targets are made and predicted: the inputs of the data above, or those of a table."),
            OWN, NAMES,
        )  # fmt: skip
        self.inputs.listener = self._on_inputs
        self.inputs.widget.param.update(sizing_mode="fixed", width=210, margin=0)
        self.upload = pmui.FileInput(label="Open inputs (CSV)", accept=".csv,.txt", width=210, margin=0, visible=False)
        self.upload.param.watch(self._on_upload, "value")
        self.table = prose(theme.TABLE + NARROW, margin=(4, 0, 0, 0), visible=False)
        about = prose(margin=(6, 0, 0, 0))
        about.object = f'<p class="small">{escape(ABOUT)}</p>'
        self.view = card(
            heading(TITLE),
            self.bar(self.inputs.widget, self.upload, self.words, margin=(4, 0, 4, 0)),
            self.table,
            about,
        )

    def reset(self, scene: Scene) -> None:
        """Another run is on the page: what was measured was not of it."""
        self._scene = scene
        self._forget()
        self.view.visible = scene.network is not None

    def begin(self) -> Callable[[], Job] | None:
        assert self._scene is not None
        self.found = []
        self._draw(None)
        self.say("The exact posterior is being worked out.")
        content, name = self._file
        return build(self._scene, Asked(str(self.inputs.value), content, name))

    def receive(self, state: State, items: list[Any]) -> None:
        self.found += items
        progress: RiskProgress | None = state.snapshot
        if progress is None:
            return
        self._noise = progress.noise
        self._draw(progress.now)
        done, (learned, held) = len(self.found), progress.points
        count = f"{done} of {NETWORKS} networks" if state.status is not Status.FINISHED else f"{done} networks"
        self.say(f"{count}, {learned} points to learn and {held} to predict, {progress.gradients:,} gradients a chain.")

    def csv(self) -> str:
        """One row for each network and method; ValueError before the first network is done."""
        if not self.found:
            raise ValueError("Nothing is compared yet; press “Compare predictions” and wait for the first network.")
        rows = [
            (number, name, risk, gap, "" if math.isnan(r_hat) else r_hat, each.bayes, self._noise)
            for number, each in enumerate(self.found)
            for name, (risk, gap, r_hat) in each.rows.items()
        ]
        return table_csv(["network", "method", "risk", "gap", "r_hat", "bayes_risk", "noise"], rows)

    def _draw(self, now: OneNetwork | None) -> None:
        """now: of the network that is under way; shown alone until one is done."""
        found = self.found or ([now] if now is not None and not math.isnan(now.bayes) else [])
        self.table.visible = bool(found)
        self.table.object = risk_table(found, self._noise) if found else ""

    def _forget(self) -> None:
        if self._handle is not None:
            self.stop()
        self.found = []
        self._draw(None)
        self.say(INVITATION)

    def _on_inputs(self) -> None:
        with pn.io.hold():
            self.upload.visible = self.inputs.value == FILE
            self._forget()

    def _on_upload(self, event: Any) -> None:
        """It is read where the job is made, in a thread."""
        content, name = taken(self.upload)
        if content:
            with pn.io.hold():
                self._file = content, name
                self._forget()
                self.say(f"{one_line(name)} is open; press “Compare predictions”.")


def risk_table(found: Sequence[OneNetwork], noise: float) -> str:
    """HTML: methods, with the exact posterior first."""
    names = [name for name in ORDER if name in found[0].rows]
    names += [name for name in found[0].rows if name not in names]
    bayes = sum(each.bayes for each in found) / len(found)
    body = []
    if names:
        risks = Risks.of([each.rows for each in found], [each.bayes for each in found], noise)
        for name in names:
            gap = "0" if name == EXACT else _with_error(risks.gap(name), risks.gap_se(name))
            risk = _with_error(risks.mean(name), standard_error(risks.risks[name]))
            cells = "".join(f"<td>{value}</td>" for value in (gap, risk, _r_hat(risks.r_hats, name)))
            body.append(f"<tr><th scope=row>{escape(name[0].upper() + name[1:])}</th>{cells}</tr>")
    head = "".join(f"<th scope=col>{name}</th>" for name in ("gap to the Bayes risk", "risk", "R-hat of f, largest"))
    said = f"<p>Bayes risk <b>{bayes:.4f}</b>; whoever knows the network loses {noise:.4f}, the noise.</p>"
    return f"{said}<table><thead><tr><th></th>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _with_error(value: float, error: float) -> str:
    return f"{value:.4f}" if math.isnan(error) else f"{value:.4f} ± {error:.4f}"


def _r_hat(r_hats: Mapping[str, Any], name: str) -> str:
    worst = float(r_hats[name].max())
    return UNKNOWN if math.isnan(worst) else f"{worst:.2f}"
