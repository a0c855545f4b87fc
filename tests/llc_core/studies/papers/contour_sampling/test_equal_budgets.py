"""P^(1 − α): claims hold for draws of theory's distribution and not for others, and runs in threads are those without."""

from __future__ import annotations

import numpy as np
import pytest

from llc_core.studies.keeping import Kept
from llc_core.studies.papers.contour_sampling.equal_budgets import EqualBudgets, slope
from llc_core.studies.papers.contour_sampling.theta_laws import OWN, STEP, Spread, theta_law
from llc_core.studies.papers.study import Place

STUDY = EqualBudgets(chains=(2, 5, 20), powers=(0.6,), steps=10_000, runs=3000)


def judged(monkeypatch, tmp_path, power: float) -> dict[str, bool | None]:
    """Claims of draws [runs, marks, 1, bins] in which variances of P chains are theory's over P to this power."""

    def drawn(self, at, chains, marks, every=None, own=OWN):
        law, random = theta_law(own, STEP), np.random.default_rng(chains)
        return np.stack(
            [
                random.multivariate_normal(
                    law.fixed,
                    Spread(np.zeros((1, own.bins)), mark, law, chains, own).wanted / chains**power,
                    self.runs,
                )[:, None]
                for mark in marks
            ],
            axis=1,
        )

    monkeypatch.setattr(EqualBudgets, "thetas", drawn)
    done = STUDY.run(Place(Kept(None), tmp_path))
    assert done.draw is not None and done.draw() is not None
    return {claim.text: claim.holds for claim in done.claims}


def test_the_line_of_a_power_has_its_slope():
    assert slope([2, 5, 10], [count**0.3 for count in (2, 5, 10)]) == pytest.approx(0.3)


@pytest.mark.slow
def test_draws_of_theory_have_its_exponent_and_others_do_not(monkeypatch, tmp_path):
    right = judged(monkeypatch, tmp_path, 0.0)
    assert len(right) == 5 and all(right.values())
    wrong = judged(monkeypatch, tmp_path, 0.2)
    assert [text for text, holds in wrong.items() if not holds] == [
        "α = 0.6: the ratio of variances grows as P^(1 − α) (fitted exponent)",
        "α = 0.6: the exponent is what theory has at these steps",
    ]
    less = judged(monkeypatch, tmp_path, -0.6)
    assert less["α = 0.6, P = 20: one chain of 20 times the steps has more variance (ratio)"] is False


@pytest.mark.slow
def test_runs_side_by_side_are_the_same(tmp_path):
    pytest.importorskip("numba")
    study = EqualBudgets(chains=(2, 3), steps=500, runs=20)
    alone, beside = (
        study.thetas(Place(Kept(None), tmp_path, workers=workers), 2, (200, 500), own=OWN.replace(rate_offset=20.0))
        for workers in (1, 3)
    )
    assert alone.shape == (20, 2, 1, OWN.bins) and np.array_equal(alone, beside)
    assert np.abs(np.diff(alone[:, -1, 0], axis=0)).max() > 0, "each run has its own noise"
