"""The card that draws a network weight by weight."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from app.pages.local_geometry.panels.weights import MOST, WIDEST, WeightsPanel
from app.runs.history import Cursor
from app.runs.llc_job import DRAWN, LlcJob
from llc_core import DeepLinearNetwork, RunConfig

WIDTHS = [3, 2, 4]


def layers(flat: np.ndarray) -> list[np.ndarray]:
    """As `weights.js` reads the list: layer after layer, each row by row."""
    return [np.reshape(flat[:6], (2, 3)), np.reshape(flat[6:], (4, 2))]


def test_what_is_drawn_has_the_loss_that_the_engine_gives_it():
    """Another order of the weights would be another function, of another loss."""
    problem = DeepLinearNetwork.random(widths=WIDTHS, n=1000, seed=1, noise_std=0.0)
    panel = WeightsPanel()
    panel.show(problem)
    drawing = panel._drawing
    assert drawing.widths == WIDTHS and len(drawing.w0) == problem.dim == 14
    job = LlcJob(RunConfig(problem=problem.to_dict(), chains=2, steps=200), problem)
    job.record(job.advance(100), None)
    place = job.log.since(Cursor()).place
    assert place is not None and np.abs(place).max() > 1e-3
    panel.move(place)
    before, after = (layers(np.array(flat)) for flat in (drawing.w0, drawing.now))
    moved = after[1] @ after[0] - before[1] @ before[0]
    loss = float(np.trace(moved @ problem.data.sxx.numpy() @ moved.T))
    delta = torch.as_tensor(place, dtype=torch.float64)[None]
    problem.prepare(delta)
    assert loss == pytest.approx(float(problem.excess_loss_and_grad(delta)[0]), rel=0.05)  # four digits of each weight


def test_large_networks_are_not_drawn_and_their_chains_not_sent():
    panel = WeightsPanel()
    wide = DeepLinearNetwork.random(widths=[WIDEST + 1, 2, 2], n=100, seed=1)
    panel.show(wide)
    assert not panel._drawing.visible and panel._words.visible
    panel.move(np.ones(wide.dim))
    assert panel._drawing.now == []
    assert MOST <= DRAWN, "what is drawn is kept"
