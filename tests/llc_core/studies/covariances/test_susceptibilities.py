"""Susceptibilities: against a linear regression of which a part moves, in closed form, and 0 where there is nothing to answer to."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from cases import few
from torch import nn

from llc_core import HMC, NetworkPotential, influence, linear_losses, susceptibilities

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4))
X[:, 2] = 0.0
"""No row of the data has the third input, so that its weight moves freely and the loss does not hang on it."""
Y = X @ np.array([1.0, -0.5, 0.3, 0.2]) + 0.5 * RNG.standard_normal(60)
PROBES = (np.array([[1.0, 0.5, 0.0, 0.0], [0.0, 0.0, 1.5, 0.0], [0.0, 0.0, 0.0, 2.0]]), np.array([0.3, -0.2, 0.8]))
FIRST = [0, 1, 2]


@pytest.fixture(scope="module")
def network() -> NetworkPotential:
    module = nn.Linear(4, 1, bias=False).double()
    with torch.no_grad():
        module.weight.copy_(torch.as_tensor(linear_losses(X, Y).mean))
    return NetworkPotential(module, "squared_error", (torch.as_tensor(X), torch.as_tensor(Y)[:, None]))


@pytest.fixture(scope="module")
def found(network):
    parts = {name: {"weight": torch.tensor([[k in places for k in range(4)]])} for name, places in
             {"first": FIRST, "last": [3]}.items()}  # fmt: skip
    batch = torch.as_tensor(PROBES[0]), torch.as_tensor(PROBES[1])[:, None]
    options = dict(chains=32, steps=260, burn_in=60, localization=1.0, dtype="float64", every=1)
    return susceptibilities(network, parts, batch, HMC(step_size=0.12, leapfrog_steps=5), **options)


def exact(network: NetworkPotential, places: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """χ and what is added, [probes], where these weights alone move."""
    w0 = network.origin(torch.empty(0, dtype=torch.float64)).numpy()
    still = [k for k in range(4) if k not in places]
    y, q = (b - a[:, still] @ w0[still] for a, b in ((X, Y), PROBES))
    made = linear_losses(X[:, places], y, network.n_beta, 1.0, w0[places])
    with_probe = made.kernel((PROBES[0][:, places], q)).mean(axis=0)
    return -network.n_beta * (with_probe - made.loss_variance), -network.n_beta * with_probe


@pytest.mark.parametrize(("part", "places"), few([(0, FIRST), (1, [3])], 1, unpack=True))
def test_they_are_those_of_the_closed_form(network, found, part, places):
    changed, added = exact(network, places)
    assert (np.abs(found.values[part] - changed) <= 3 * found.se[part] + 1e-12).all()
    assert (np.abs(found.added[part] - added) <= 3 * found.added_se[part] + 1e-12).all()
    assert (np.abs(changed) > 5 * found.se[part]).any(), "within three errors much is left to see"


def test_a_part_that_does_not_touch_the_probe_adds_nothing(network, found):
    """Exactly where the loss of the probe cannot move, and within errors where it moves without the loss of the data."""
    assert found.added[0, 2] == found.added[1, 0] == found.added[1, 1] == 0.0
    assert 0 < abs(found.added[0, 1]) < 2 * found.added_se[0, 1]
    assert exact(network, FIRST)[1][1] == pytest.approx(0, abs=1e-12)
    # The wrong sign, or L left out, would show: χ is then the variance of the part's own loss, which is above 0.
    spread = [found.estimates[name].observables["LossDraws"]["draws"].var() for name in found.parts]
    np.testing.assert_allclose(found.values - found.added, network.n_beta * np.array(spread)[:, None].repeat(3, 1))


def test_names_table_and_runs(found):
    assert found.parts == ("first", "last") and found.probes == ("probe 0", "probe 1", "probe 2")
    rows = found.rows()
    assert len(rows) == 6 and rows[4]["part"] == "last" and rows[4]["susceptibility"] == found.values[1, 1]
    assert [found.estimates[name].dim for name in found.parts] == [3, 1] and found.notes == ("", "")
    assert "probe 2" in repr(found) and found.n_beta == pytest.approx(60 / np.log(60))
    assert influence(found.estimates["first"], "LossDraws").queries == ("LossDraws 0",)


def test_rows_of_the_data_can_be_the_probes(network):
    short = dict(chains=2, steps=40, burn_in=0, every=1)
    found = susceptibilities(network, ["weight"], [3, 7], **short)
    assert found.probes == ("row 3", "row 7") and found.values.shape == (1, 2) and found.notes[0]
    assert found.notes[0] in repr(found)


@pytest.mark.parametrize(
    ("parts", "probes", "said"),
    [
        ({}, [0], "parts is"),
        (3, [0], "parts is 3"),
        (["nothing.*"], [0], "nothing"),
        (["weight"], [], "probes is empty"),
        (["weight"], [99], "names row 99"),
        (["weight"], (torch.zeros(2, 3), torch.zeros(2, 1)), "has the shape"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(network, parts, probes, said):
    with pytest.raises(ValueError, match=said):
        susceptibilities(network, parts, probes, steps=10)


def test_parts_are_those_of_a_network():
    with pytest.raises(ValueError, match="NetworkPotential"):
        susceptibilities("a", ["weight"], [0])
