"""The panel "Part by part": each field is the engine's own estimate of that part, on those rows, at that checkpoint."""

from __future__ import annotations

import pytest
import torch

from app.pages.your_network.config import NETWORKS
from app.pages.your_network.panels.part_by_part import (
    INVITATION,
    KINDS,
    PartByPart,
    rows_of,
    shown_parts,
    table,
    work,
)
from app.pages.your_network.scene import data, link_config, trained
from app.runs.job import State, Status
from llc_core import estimate
from llc_core.networks import potential_at

SHORT = link_config({"network": "small", "steps": 40, "chains": 2, "batch_size": 32})
LAST = NETWORKS["small"].checkpoints[-1]


@pytest.mark.long
def test_a_field_is_the_engines_own_estimate():
    job, panel = work(SHORT.choice, SHORT.settings, "Digits 0 to 4"), PartByPart()
    panel.show(SHORT.choice, dict(SHORT.settings))
    job.record(job.advance(3), None)
    panel.receive(State(Status.RUNNING), job.log.items)
    assert [(step, words) for step, words, _ in panel.found] == [(LAST, words) for words in shown_parts("small")]
    split = data("digits")
    some = split.targets < 5
    model, record = trained(SHORT.choice)
    problem = potential_at(
        model, record.last, (split.inputs[some], split.targets[some]), parameters="0.*", batch_size=32
    )
    wanted = estimate(problem, progress=False, **SHORT.settings)
    own = panel.found[0][2]
    assert own.llc == pytest.approx(wanted.llc, rel=1e-6) and own.dim == wanted.dim < problem.dim + 1
    assert panel._table.object.count("<td") == 3 and "Estimates: 3 of 21" in panel.words.object
    shown = f"{own.llc:.3g}"
    assert shown in panel._table.object and (f"({shown}" in panel._table.object) is not bool(own.converged)
    panel.rows.value = "Digits 5 to 9"
    assert not panel.found and not panel._table.object and INVITATION in panel.words.object


def test_rows_are_those_of_their_classes():
    split = data("digits")
    parts = {kind: rows_of(split, kind).targets for kind in KINDS}
    assert torch.equal(parts["All rows"], split.targets)
    assert set(parts["Digits 0 to 4"].tolist()) == set(range(5)) and set(parts["Digits 5 to 9"].tolist()) == set(
        range(5, 10)
    )
    assert len(parts["Digits 0 to 4"]) + len(parts["Digits 5 to 9"]) == len(split)


def test_heads_stand_in_for_layers_and_kinds_of_rows_are_those_of_digits():
    assert list(shown_parts("heads"))[:2] == ["layer 1, head 1", "layer 1, head 2"] and len(shown_parts("heads")) == 9
    assert list(shown_parts("deep")) == ["layer 0", "layer 2", "layer 4", "all parameters"]
    panel = PartByPart()
    panel.show(SHORT.choice, dict(SHORT.settings))
    panel.rows.value = "Digits 0 to 4"
    heads = link_config({"network": "heads"})
    panel.show(heads.choice, dict(heads.settings))
    assert not panel.rows.visible and panel.rows.value == "All rows"
    assert "layer 1, head 1" in table([], list(shown_parts("heads")))
