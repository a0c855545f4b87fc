"""SWAG: its moments are those of the iterates, its draws have half of each covariance, and methods draw from it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from made_pictures import QUICK, task
from torch import nn

from llc_core.compute.streams import torch_stream
from llc_core.studies.pictures import METHODS, ClassifierChains, measure
from llc_core.studies.pictures.augmenting import erased
from llc_core.studies.pictures.swag import Averages, Swag, put

DRAWS = 40_000


def iterates(count: int = 60) -> torch.Tensor:
    """SGD's, on a quadratic with curvatures 1, 2, 4 and 8 and normal noise of its slopes, [count, 4]."""
    random, w, curvature = torch_stream(0, "swag"), torch.ones(4, dtype=torch.float64), torch.tensor([1.0, 2, 4, 8])
    found = []
    for _ in range(count):
        w = w - 0.1 * (curvature * w + torch.randn(4, generator=random, dtype=torch.float64))
        found.append(w)
    return torch.stack(found)


@pytest.fixture(scope="module")
def collected():
    swag = Swag(rank=10)
    for row in iterates():
        swag.add(row)
    return swag


def test_moments_are_those_of_the_iterates(collected):
    ways = iterates().numpy()
    np.testing.assert_allclose(collected.mean, ways.mean(0), rtol=1e-10)
    np.testing.assert_allclose(collected.diagonal, ways.var(0), rtol=1e-8)
    off = np.array([ways[k] - ways[: k + 1].mean(0) for k in range(50, 60)])
    np.testing.assert_allclose(collected.low_rank @ collected.low_rank.T, off.T @ off / 9, rtol=1e-8)


def test_draws_have_half_of_each_covariance(collected):
    """Every entry of the mean and of the covariance within 5 of its errors; that of a covariance of normals is √((c_ii·c_jj + c_ij²)/S)."""
    ways = iterates().numpy()
    off = np.array([ways[k] - ways[: k + 1].mean(0) for k in range(50, 60)])
    wanted = 0.5 * (np.diag(ways.var(0)) + off.T @ off / 9)
    drawn = collected.draw(DRAWS, torch_stream(1, "draws")).numpy()
    sizes = np.diag(wanted)
    assert (np.abs(drawn.mean(0) - ways.mean(0)) < 5 * np.sqrt(sizes / DRAWS)).all()
    errors = np.sqrt((np.outer(sizes, sizes) + wanted**2) / DRAWS)
    assert (np.abs(np.cov(drawn.T) - wanted) < 5 * errors).all()
    assert (np.abs(wanted - np.diag(ways.var(0))) > 20 * errors).any(), "another covariance would be seen"


def test_one_iterate_is_a_point_and_none_is_refused():
    swag = Swag()
    with pytest.raises(ValueError, match="no iterate yet"):
        swag.draw(1, torch_stream(0, "none"))
    swag.add(torch.tensor([1.0, -2.0]))
    assert swag.draw(3, torch_stream(0, "one")).tolist() == [[1.0, -2.0]] * 3


def test_norms_have_the_means_of_the_data_under_a_draw():
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    x, weights = torch.randn(40, 3, generator=torch_stream(0, "x")), torch.arange(1.0, 13.0)
    state = put(model, weights, x, 20)
    seen = x @ weights[:6].reshape(2, 3).T + weights[6:8]
    torch.testing.assert_close(state["1.running_mean"], seen.mean(0), rtol=1e-5, atol=1e-5)
    assert state["0.weight"].flatten().tolist() == weights[:6].tolist() and model[1].momentum == 0.1


def test_a_long_chain_has_a_gaussian_for_each_cycle():
    chains = ClassifierChains(task(), QUICK.replace(tail=0.6), METHODS["cycSWAG"], seed=3)
    averages, seen = Averages(3, draws=2), []
    while not chains.finished:
        chains.advance()
        _, _, logs = chains.draws()
        seen.append(len(averages.of(chains, len(logs) > 0)[0]))
    assert len(seen) == 12 and sum(seen) == 2 * 2, "two cycles of six epochs"


def test_erased_pictures_lose_one_rectangle():
    pictures = torch.full((200, 2, 12, 12), 9.0)
    found = erased(pictures, torch_stream(0, "erased"), 0.5)
    changed = (found != 9).any(dim=1)
    hit = changed.flatten(1).any(dim=1)
    assert abs(float(hit.double().mean()) - 0.5) < 5 * (0.25 / 200) ** 0.5
    for each in changed[hit]:
        rows, columns = each.any(dim=1), each.any(dim=0)
        assert int(each.sum()) == int(rows.sum() * columns.sum()), "one rectangle"
        assert 0.01 * 144 < each.sum() < 0.45 * 144


def test_anchors_take_noise_out_of_energies_and_none_of_their_mean():
    """Right after it is made a copy is the network: every batch then has the loss of the whole epoch."""
    chains = ClassifierChains(task(), QUICK.replace(step_size=1e-10, reduced_from=1), METHODS["ICSGHMC"])
    seen = []
    usual = chains._interact
    chains._interact = lambda energy: (seen.append(energy.excess_loss.clone()), usual(energy))[1]
    for _ in range(2):
        chains.advance()
    before, after = torch.stack(seen[:2]), torch.stack(seen[2:])
    assert (before[0] - before[1]).abs().max() > 1e-3
    torch.testing.assert_close(after[0], after[1], rtol=0, atol=1e-5)
    torch.testing.assert_close(after.mean(0), before.mean(0), rtol=0, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cycSWAG", "MultiSWAG"])
def test_both_averages_say_something_of_the_held_out(name):
    figures = measure(task(), QUICK.replace(tail=0.6), name).figures()
    assert figures["draws"] == {"cycSWAG": 2, "MultiSWAG": 3}[name] * 20
    assert figures["nll_sum"] == pytest.approx(64 * figures["nll"]) and 0 < figures["foreign_brier"] <= 500
