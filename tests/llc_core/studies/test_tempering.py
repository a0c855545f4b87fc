"""`free_energy` against quadrature and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from llc_core import DeepLinearNetwork, free_energy, surface
from llc_core.studies.tempering import replicas
from llc_core.studies.tempering.fitting import fit
from llc_core.studies.tempering.ladder import equal_rejection

ERRORS = 4.5
"""Standard errors that a right value may be off."""


def law(name, n_beta, exponents, points=2400):
    """log Z and nβ·E[U] in the box of side 4, from midpoints that lie closer together near the axes."""
    edges = np.concatenate([[0.0], np.geomspace(1e-7, 2, points)])
    x, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    energy = surface(name, exponents=exponents).energy(x[:, None], x[None])
    mass = width[:, None] * width * np.exp(-n_beta * energy)
    return np.log(mass.sum()), n_beta * (mass * energy).sum() / mass.sum()


@pytest.mark.parametrize(("name", "exponents", "m"), [("sum", (2, 4), 1), ("product", (2, 2), 2)])
def test_singular_minima(name, exponents, m):
    target = surface(name, exponents=exponents)
    found = free_energy(target, chains=32, steps=2000, seed=11)
    log_z, llc = law(name, 1e6, exponents)
    assert abs(found.log_z - log_z) < ERRORS * found.log_z_se < 0.2
    assert abs(found.level_llc[-1] - llc) < ERRORS * found.level_llc_se[-1]
    assert found.multiplicity == m
    assert abs(found.llc - float(target.learning_coefficient.value)) < ERRORS * found.llc_se < 0.09
    assert np.ptp(found.rejection) < 0.2
    assert found.round_trips > 500


def test_the_swap_s_sign_matters(monkeypatch):
    """A swap with its sign turned round moves high losses to cold levels: the law must be seen to be lost."""

    class Turned(replicas.Replicas):
        def _swap(self, step):
            self.heat = -self.heat
            super()._swap(step)
            self.heat = -self.heat

    monkeypatch.setattr("llc_core.studies.tempering.measuring.Replicas", Turned)
    found = free_energy(surface("sum"), [1.0, 10.0, 100.0, 1e3, 1e4], chains=16, steps=1000)
    _, llc = law("sum", 1e4, (2, 4))
    assert abs(found.level_llc[-1] - llc) > 10 * found.level_llc_se[-1]


def test_a_gaussian_has_a_closed_form():
    target = DeepLinearNetwork([np.zeros((1, 4))], noise_std=0)
    found = free_energy(target, n_beta=100.0, chains=16, steps=4000, multiplicity=1, seed=2)
    sxx = target.data.sxx.double().numpy()
    exact = -0.5 * np.linalg.slogdet(np.eye(4) + 200 * sxx)[1]
    assert abs(found.log_z - exact) < ERRORS * found.log_z_se < 0.5
    assert abs(found.llc - 2) < 0.06


def test_two_basins():
    target = surface("two_basins")
    found = free_energy(target, [0.1, 0.9, 5.0, 24.0, 120.0, 660.0], chains=32, steps=2500,
                        basins={"line": lambda delta: delta[:, 0] > 0.5}, seed=4)  # fmt: skip
    edge = np.geomspace(1e-7, 1, 700)
    x = np.unique(np.concatenate([-2 * edge, edge / 2, 1 - edge / 2, 1 + edge, [0.0, 1.0]]))
    y = np.concatenate([[0.0], 2 * edge])
    middle, width, height = (x[1:] + x[:-1]) / 2, np.diff(x), np.diff(y)
    energy = target.energy(middle[:, None], (y[1:] + y[:-1])[None] / 2)
    basin = found.basins["line"]
    for level in (2, 4, 6):
        mass = width[:, None] * height * np.exp(-found.levels[level] * energy)
        exact = mass[middle > 0.5].sum() / mass.sum()
        assert abs(basin.probability[level] - exact) < ERRORS * basin.probability_se[level] < 0.05


def test_levels_at_equal_rejection():
    """Where Λ is linear in log(1 + nβ/nβ_1), even steps of that are the answer."""
    levels = np.concatenate([[0.0], np.expm1(np.linspace(0, 10, 31)[1:])])
    found = equal_rejection(levels, np.full(30, 0.2), 11)
    place = np.log1p(found / levels[1])
    assert found[0] == 0 and found[-1] == levels[-1]
    assert np.all(np.diff(place) > 0)


def test_the_fit_tells_multiplicities_apart():
    n_beta = np.geomspace(1, 1e7, 18)
    se = np.full(18, 0.004)
    for m in (1, 2):
        found = fit(n_beta, 0.5 - (m - 1) / (np.log(n_beta) + 4), se, 2)
        assert found.multiplicity == m
        assert found.llc == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"ladder": [3.0, 2.0]}, "ladder"),
        ({"ladder": "many"}, "ladder"),
        ({"chains": 2}, "chains"),
        ({"n_beta": -1.0}, "n_beta"),
        ({"box": 1.0}, "box of its own"),
    ],
)
def test_bad_input_gets_one_sentence(values, words):
    with pytest.raises(ValueError, match=words):
        free_energy(surface("sum"), **values)


def test_no_prior_no_ladder():
    with pytest.raises(ValueError, match="begins at the prior"):
        free_energy(surface("sum", box=None))


def test_the_same_seed_gives_the_same_numbers():
    first, again = (free_energy(surface("sum"), [1.0, 10.0, 30.0, 60.0, 100.0], chains=4, steps=200) for _ in range(2))
    assert first.log_z == again.log_z
    assert torch.equal(torch.as_tensor(first.level_llc), torch.as_tensor(again.level_llc))
