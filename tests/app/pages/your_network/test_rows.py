"""The panel "Which rows matter?": its numbers are the engine's, in one order, and each is as sure as it says."""

from __future__ import annotations

import numpy as np
import pytest

from app.components.drawings.kernel import STEPS
from app.pages.your_network.config import NETWORKS
from app.pages.your_network.panels import rows
from app.pages.your_network.panels.answering import groups
from app.pages.your_network.panels.part_by_part import shown_parts
from app.pages.your_network.panels.rows import Found, RowsPanel, chosen_rows, drawn, in_words, measured, run_of
from app.pages.your_network.scene import NetworkConfig, data, link_config
from app.runs.allowance import VISITOR_MEMORY
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


@pytest.mark.slow
def test_numbers_are_those_of_the_engine(config):
    """Without row j the loss of row i rises by β·Cov(ℓ_i, ℓ_j): by the kernel itself, by the rule, and in the order that is drawn."""
    job, panel = measured(config), RowsPanel()
    panel.show(config)
    job.advance(rows.LOOKS)
    job.record(None, None)
    assert not job.finished and job.log.items[0] is None, "nothing is known before the burn-in is over"
    panel.receive(State(Status.FINISHED), job.log.items)
    run, _ = run_of(config)
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


@pytest.mark.slow
def test_parts_answer_to_digits_as_the_engine_says(config):
    """χ of a layer alone for each digit: −nβ·Cov(φ, ℓ − φ) of the mean loss ℓ of its rows, shown with its error, and pale where it is open."""
    job, panel = measured(config), RowsPanel()
    panel.show(config)
    job.record(job.advance(rows.LOOKS + 1), None)
    panel.receive(State(Status.RUNNING), job.log.items)
    words, part = next(iter(shown_parts("small").items()))
    run, claim = run_of(config, part)
    run.advance(run.total_steps)
    assert claim.size > 0 and run.problem.dim < config.resolved.problem.dim
    found = run.estimates()[0]
    losses = found.observables["RowLosses"]["draws"].reshape(-1, rows.CLASSES, rows.OF_A_CLASS).mean(axis=2)
    phi = found.observables["LossDraws"]["draws"].reshape(-1)
    wanted = [-found.n_beta * np.cov(phi, each - phi, ddof=0)[0, 1] for each in losses.T]
    (own,) = panel.answers
    np.testing.assert_allclose(own.values, wanted, rtol=1e-5)
    assert own.part == words and "Parts: 1 of 3." in panel.words.object
    shown, clear = panel._table.object, np.abs(own.values) > 2 * own.se
    assert shown.count("<td") == rows.CLASSES and shown.count("class=open") == rows.CLASSES - clear.sum()
    assert f"{words}, 0: " in shown and "two errors reach 0" in shown
    panel.show(link_config({"network": "heads"}))
    assert not panel.answers and not panel._table.object


def test_kinds_without_classes_are_clusters():
    draws = np.random.default_rng(0).standard_normal((50, 4, 2))[:, :, [0, 0, 1, 1]]
    kernel = loss_kernel(draws + 1e-3 * np.random.default_rng(1).standard_normal(draws.shape))
    found = groups(data("text"), np.arange(4), kernel)
    assert sorted(at for _, places in found for at in places.tolist()) == [0, 1, 2, 3] and found[0][0] == "cluster 1"


def test_what_takes_too_much_memory_is_refused(config, monkeypatch):
    monkeypatch.setenv(VISITOR_MEMORY, "1")
    with pytest.raises(ValueError, match="chains of 2,410 parameters need"):
        measured(config).advance(1)


def test_a_w0_above_the_minimum_is_said(config):
    kernel = loss_kernel(np.random.default_rng(0).standard_normal((400, 4, 3)))
    said = in_words(Found(kernel, influence(np.ones((20, 4, 3))), "w0 lies above the minimum."), 3, 3)
    assert said.endswith("w0 lies above the minimum.") and "Parts" not in said


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


@pytest.mark.slow
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
