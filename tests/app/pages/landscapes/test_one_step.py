"""One step of a chain, as the page shows it."""

from __future__ import annotations

import numpy as np

from app.pages.landscapes.job import LandscapeJob, OneStep, TrailCursor
from app.pages.landscapes.panels.one_step import NONE, OneStepPanel, sentence
from app.pages.landscapes.presets import PRESETS
from app.pages.landscapes.scene import preset_config


def step(
    accepted: bool = True, tested: bool = False, noise: tuple[float, float] = (0.3, 0.4), momentum: bool = False
) -> OneStep:
    return OneStep(np.array([1.0, 2.0]), np.array([0.0, -0.1]), np.array(noise), accepted, tested, momentum)


def test_a_single_step_is_shown_and_steps_together_are_not():
    job = LandscapeJob(preset_config(PRESETS[2]).resolved)
    for steps, single in ((30, False), (1, True), (2, False), (1, True)):
        before = job._w0 + job._job.displacements[0]
        job.record(job.advance(steps), None)
        found = job.log.since(TrailCursor()).step
        assert (found is not None) == single
        if found is not None:
            assert found.momentum and not found.tested  # the preset's sampler is underdamped
            np.testing.assert_array_equal(found.start, before)
            after = job._w0 + job._job.displacements[0]
            np.testing.assert_allclose(found.start + found.drift + found.noise, after, atol=1e-6)


def test_arrows_lead_from_the_start_by_drift_and_noise_to_the_end():
    panel = OneStepPanel()
    assert NONE in panel._words.object
    panel.show(step())
    drift, noise, total = (panel.sources[name].data for name in ("drift", "noise", "sum"))
    assert (drift["x0"], drift["y0"]) == (total["x0"], total["y0"]) == ([1.0], [2.0])
    assert (drift["x1"], drift["y1"]) == (noise["x0"], noise["y0"]) == ([1.0], [1.9])
    assert (noise["x1"], noise["y1"]) == (total["x1"], total["y1"])
    assert not panel.sources["refused"].data["x0"]
    low, high = panel.plot.x_range.start, panel.plot.x_range.end
    assert low < 1.0 < high and low < total["x1"][0] < high
    panel.show(step(accepted=False, tested=True))
    assert panel.sources["refused"].data == total and not panel.sources["sum"].data["x0"]
    panel.show(None)
    assert not any(source.data["x0"] for source in panel.sources.values())


def test_the_sentence_says_what_happened():
    assert sentence(step()) == "Drift 0.1 follows the gradient, noise 0.5 is drawn. The chain moves by their sum."
    assert "gradient and momentum" in sentence(step(momentum=True))
    assert "accepted" in sentence(step(tested=True))
    assert "refused" in sentence(step(accepted=False, tested=True))
    assert "momentum" in sentence(step(noise=(0.0, 0.0)))
