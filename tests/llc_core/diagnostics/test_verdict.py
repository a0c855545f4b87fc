"""What the verdict says of numbers that are known: which finding comes first, its remedy, and whether more steps would help."""

from __future__ import annotations

import math

import numpy as np
import pytest

from llc_core.diagnostics.convergence import r_hat
from llc_core.diagnostics.verdict import judge

SOUND = {
    "llc": 50.0, "se": 0.5, "chains": 4, "dead": 0, "r_hat": 1.005, "ess": 900.0, "drift": 0.1, "drift_se": 0.2,
    "step_size": 1e-7, "stable_step": 1e-6, "noise_inflation": 0.0, "kept_steps": 4000, "parameters": 400,
}  # fmt: skip


def test_a_sound_run_says_what_was_checked():
    found = judge(**SOUND)
    assert found and "step size at 10% of the stability limit" in str(found) and not found.wants_steps


@pytest.mark.parametrize(
    "changes, words, longer",
    [
        (
            {"drift": 20.0},
            "still rising (+40% between the two halves after burn-in): the chains have not settled",
            True,
        ),
        ({"drift": -20.0}, "still falling (-40%", True),
        ({"drift": -20.0, "step_size": 9e-7}, "still falling (-40%", True),
        ({"drift": 20.0, "step_size": 9.5e-7}, "with a step at 95% of the stability limit", False),
        ({"drift": 20.0, "step_size": 6e-7}, "the chains have not settled", True),
        ({"drift": 20.0, "step_size": 9.5e-7, "acceptance": 0.8}, "the chains have not settled", True),
        ({"drift": 20.0, "stable_step": math.nan}, "the chains have not settled", True),
        ({"step_size": 2e-6}, "above the stability limit", False),
        ({"dead": 1}, "1 of 4 chains diverged", False),
        ({"rounding": 2.0}, "Rounding alone", False),
        ({"llc": 1000.0}, "no learning coefficient is above half the number of parameters", True),
        ({"se": 5.0}, "standard error is 10%", True),
        ({"step_bias": 5.0}, "step size alone is expected to add about 10%", False),
        ({"noise_inflation": 5.0}, "Minibatch noise alone", False),
        ({"r_hat": 1.2}, "R-hat is 1.200", True),
        ({"r_hat": math.inf, "se": 5.0}, "No chain has moved since burn-in", False),
        ({"ess": 20.0}, "Only 20 effective samples", True),
    ],
)
def test_each_finding_has_its_sentence(changes, words, longer):
    found = judge(**{**SOUND, **changes})
    assert not found and words in str(found) and found.wants_steps is longer


def test_a_step_that_carries_chains_away_is_named():
    """SGLD on a flat deep network (1K, seed 3) at a quarter of the limit that a short run measures: in a million steps its chains
    come to places where that step is at 97% of the limit, and λ̂ is four times too high. More steps would take them further."""
    found = judge(**{**SOUND, "drift": 20.0, "step_size": 1.3e-7, "stable_step": 1.34e-7})
    assert "Reduce step_size below 2.7e-08 and take more steps." in str(found)


def test_chains_that_do_not_move_have_no_finite_r_hat():
    """Where every proposal is refused, the variance within chains is that of rounding, and R-hat was 10¹⁶."""
    held = np.tile([1.0, 2.0], (50, 1))
    assert r_hat(held) == math.inf and math.isnan(r_hat(np.ones((50, 2))))
    held[25:, 0] += 0.1
    assert math.isfinite(r_hat(held))
