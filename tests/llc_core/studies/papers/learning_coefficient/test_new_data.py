"""The claims on errors on new data: they hold for errors as theory has them, and a planted fault is named."""

from __future__ import annotations

import math

import numpy as np
import pytest

from llc_core.studies.data_errors import DataErrors
from llc_core.studies.information import generalisation
from llc_core.studies.keeping import Kept
from llc_core.studies.papers.claims import Measured
from llc_core.studies.papers.learning_coefficient import new_data
from llc_core.studies.papers.learning_coefficient.new_data import APART, NETWORKS, NewData, theory
from llc_core.studies.papers.study import Place

NU, SETS = 3.0, 12


def as_theory_has_it(lost: float = 0.0, unlike: int = 0):
    """In place of `data_errors`: theory and noise that WAIC has with the other sign.  lost: of WAIC.  unlike: seed of a bad R-hat."""

    def made(network, n: int, seed: int, sweeps: int) -> DataErrors:
        coefficient = float(network.learning_coefficient)
        noise = float(np.random.default_rng([seed, n]).normal(0, 0.3))
        errors = generalisation(coefficient, NU, 1)
        errors = type(errors)(
            **{k: v + (noise if k.endswith("generalisation") else -noise) for k, v in vars(errors).items()}
        )
        wbic = coefficient * math.log(n) - 2.0 + noise
        return DataErrors(
            errors, coefficient - noise - lost, wbic, NU, 2.0 if unlike and seed % APART == unlike else 1.01
        )

    return made


def claims(monkeypatch, tmp_path, **fault):
    monkeypatch.setattr(new_data, "data_errors", as_theory_has_it(**fault))
    return NewData(data_sets=SETS, seed=4).run(Place(Kept(None), tmp_path))


@pytest.mark.slow
def test_what_theory_has_holds(monkeypatch, tmp_path):
    done = claims(monkeypatch, tmp_path)
    assert len(done.claims) == 6 * len(NETWORKS) and all(claim.holds for claim in done.claims)
    assert "left out" not in " ".join(done.table)
    pytest.importorskip("holoviews")
    assert done.draw is not None and done.draw() is not None


def test_a_waic_that_is_too_low_is_named_and_a_bad_r_hat_left_out(monkeypatch, tmp_path):
    done = claims(monkeypatch, tmp_path, lost=2.5, unlike=6)
    wrong = {claim.text.split(": ")[1] for claim in done.claims if not claim.holds}
    assert wrong == {"n times the error, WAIC", "half of WAIC and the error on new data"}
    assert all("left out: 2 data sets" in line for line in done.table)


def test_theory_has_the_error_of_the_fluctuation():
    found = theory(7.5, Measured(3.0, 0.1))
    assert found["bayes_generalisation"] == Measured(7.5, 0.0) and found["waic"] == Measured(7.5)
    assert found["bayes_training"].value == pytest.approx(1.5) and found["bayes_training"].se == pytest.approx(0.2)
