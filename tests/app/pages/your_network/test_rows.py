"""The panel "Which rows matter?": its numbers are the engine's, in one order, and each is as sure as it says."""

from __future__ import annotations

import numpy as np
import pytest

from app.components.kernel import STEPS
from app.pages.your_network.config import NETWORKS
from app.pages.your_network.panels import rows
from app.pages.your_network.panels.rows import RowsPanel, chosen_rows, drawn, measured, run_of
from app.pages.your_network.scene import NetworkConfig, data, link_config
from app.runs.job import State, Status
from llc_core import influence, loss_kernel
from llc_core.networks import build_model


@pytest.fixture
def config(monkeypatch) -> NetworkConfig:
    """With weights of a file, for which nothing has to be trained, and a short run."""
    monkeypatch.setattr(rows, "STEPS_OF", {"small": 200})
    found = link_config({"network": "small"})
    weights = build_model(NETWORKS["small"].model, seed=3).state_dict()
    return NetworkConfig(found.problem, found.settings, found.resolved, weights)


def test_numbers_are_those_of_the_engine(config):
    """Without row j the loss of row i rises by β·Cov(ℓ_i, ℓ_j): by the kernel itself, by the rule, and in the order that is drawn."""
    job, panel = measured(config), RowsPanel()
    panel.show(config)
    job.advance(rows.LOOKS)
    job.record(None, None)
    assert job.finished and job.log.items[0] is None, "nothing is known before the burn-in is over"
    panel.receive(State(Status.FINISHED), job.log.items)
    run = run_of(config)
    run.advance(run.total_steps)
    found = run.estimates()[0]
    kernel, same = loss_kernel(found), loss_kernel(found, correlations=True)
    order = panel.kernel.names.index("row {}, a {}".format(*first(config)))
    size = len(kernel.rows)
    effects = np.frombuffer(panel.kernel.effects, "<f4").reshape(size, size)
    at = [int(name.split()[1].rstrip(",")) for name in panel.kernel.names]
    places = np.array([list(kernel.rows).index(row) for row in at])
    both = np.ix_(places, places)
    assert np.allclose(effects, kernel.beta * kernel.values[both], rtol=1e-4, atol=1e-12)
    assert np.allclose(
        np.frombuffer(panel.kernel.errors, "<f4").reshape(size, size), influence(found).per_weight_se[both], rtol=1e-4
    )
    shades = np.frombuffer(panel.kernel.matrix, np.int8).reshape(size, size) / STEPS
    assert np.abs(shades - same.values[both]).max() <= 0.51 / STEPS and (np.diag(shades) == 1).all()
    split = data("digits")
    side = panel.kernel.side
    picture = np.frombuffer(panel.kernel.shades, np.uint8).reshape(size, side * side)[order]
    assert np.allclose(picture / 255, split.inputs[first(config)[0]].numpy(), atol=0.01)
    assert "effective draws" in panel.words.object and panel.kernel.visible
    panel.show(config)
    assert panel.done, "another run of the same weights keeps what was measured"
    panel.show(link_config({"network": "heads"}))
    assert not panel.done and not panel.kernel.visible


def first(config: NetworkConfig) -> tuple[int, int]:
    """A row and its class."""
    split = data(NETWORKS[config.choice.network].data)
    row = chosen_rows(split)[0]
    return row, int(split.targets[row])


def test_rows_are_a_few_of_every_class():
    split = data("digits")
    found = chosen_rows(split)
    assert np.bincount(split.targets.numpy()[found]).tolist() == [rows.OF_A_CLASS] * rows.CLASSES
    assert chosen_rows(data("text")) == list(range(rows.ROWS))


def test_an_order_is_kept_while_numbers_become_better(config):
    job = measured(config)
    job.advance(rows.LOOKS)
    job.record(None, None)
    known = [each for each in job.log.items if each is not None]
    panel = RowsPanel()
    panel.show(config)
    panel.receive(State(Status.RUNNING), known[:1])
    names = list(panel.kernel.names)
    panel.receive(State(Status.RUNNING), known[-1:])
    assert panel.kernel.names == names
    other = drawn(known[-1], config, known[-1].correlations.order())
    assert sorted(other["names"]) == sorted(names)
