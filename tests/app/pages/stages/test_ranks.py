"""The table of two layers of two units: what is said of a cell, against derivatives, and chains that begin there."""

from __future__ import annotations

import numpy as np
import pytest
from cases import few

from app.pages.stages.config import StagesConfig
from app.pages.stages.page import Stages
from app.pages.stages.panels.ranks import MEETING, WIDTHS, RanksPanel, described, points
from app.pages.stages.scene import get_scene


def test_lambda_is_half_of_the_directions_that_leave_a_smooth_fibre_and_no_other():
    """Two layers of two units: 3/2 at the origin, and 2 at (2, 0) and (0, 2), which are above it (MAIS-O70)."""
    found = points()
    assert len(found) == 10
    for point in found:
        a, b = point.weights
        assert [np.linalg.matrix_rank(each) for each in (a, b, b @ a)] == [point.a, point.b, point.product]
        eye = np.eye(2)
        # d(BA) = dB A + B dA, with both flattened row by row.
        derivative = np.hstack([np.kron(b, eye), np.kron(eye, a.T)])
        assert np.linalg.matrix_rank(derivative) == point.leaving
        smooth = point.found.value * 2 == point.leaving and point.found.multiplicity == 1
        assert smooth == ((point.a, point.b, point.product) not in MEETING), point
    raised = {(point.a, point.b) for point in found if point.found.value > point.least}
    assert raised == {(2, 0), (0, 2)} and all("least λ" in described(p) for p in found if (p.a, p.b) in raised)


@pytest.mark.parametrize("ranks", few([(2, 0, 0), (1, 1, 1)], 1))
def test_chains_that_begin_at_a_cell_read_its_lambda(ranks):
    place = next(k for k, p in enumerate(points()) if (p.a, p.b, p.product) == ranks)
    panel = RanksPanel(lambda point: False)
    panel.table.chosen = place
    job = panel.begin()()
    job.advance(1)
    job.record(None, None)
    panel.receive(None, job.log.items)
    found = panel.found
    assert abs(found.llc - found.expected) < 4 * found.llc_se and found.converged
    # The neighbours' λ is far from it: chains that had walked off would be seen.
    assert abs(found.llc - 1.4457) > 4 * found.llc_se


def test_a_cell_that_is_a_rest_of_the_training_takes_the_marker_there():
    view = Stages()
    try:
        view.config = StagesConfig(widths=WIDTHS, singular_values=(2.0, 0.5))
        view.scene = get_scene(view.config)
        view.reset(view.config, view.scene)
        for place, point in enumerate(points()):
            view.ranks.table._handle_msg({"chosen": place})
            there = point.a == point.b == point.product
            assert ("marker" in view.ranks.table.said) == there
            if there:
                assert view.numbers.values["learned"] == f"{point.product} of 2"
        for bad in (-1, 10, True, "1", None):
            view.ranks.table._handle_msg({"chosen": bad})
        assert view.ranks.table.chosen == 9
    finally:
        view.close()
