"""What tests of the engine share."""

import math

import pytest


@pytest.fixture
def no_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """No exact draws once a run is finished: they cost more than many a run, and tests that ask for numbers alone read no verdict.

    What was drawn is remembered for the whole process, so that the one is replaced who asks, and nothing is remembered.
    """
    monkeypatch.setattr("llc_core.engine.summary.drawn_value", lambda *a: (math.nan, 0.0))
    monkeypatch.setattr("llc_core.engine.estimates.draw_together", lambda *a: None)
