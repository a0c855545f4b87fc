"""Ways on digits 0 to 4: a tiny run ends with claims, what is claimed follows from losses by hand, and settings are the paper's."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sentences import tells

from llc_core.networks import bookmarks, build_model
from llc_core.studies.keeping import Kept
from llc_core.studies.papers.contour_sampling.digit_modes import CONTOUR, SGD, SGLD, WALKS, _told, counted
from llc_core.studies.papers.items import find
from llc_core.studies.papers.study import Place
from llc_core.studies.pictures import ClassifierChains, picture_task

ITEM = find("002/figure-2")
TINY = ITEM.sizes["small"].replace(maps=[1, 2], hidden=[4, 4], epochs=8, batch_size=700, chains=2, seeds=2, bins=20)


@pytest.mark.slow
def test_a_tiny_run_ends_with_claims_and_goes_on(tmp_path):
    place = Place(Kept(tmp_path / "rows.jsonl"), tmp_path)
    done = TINY.run(place)
    assert len(done.claims) == 8 and len(done.table) == len(WALKS) and len(place.kept.rows) == 2
    row = done.numbers["first seed"]
    starts = np.array([row[name]["losses"][0] for name in WALKS])
    np.testing.assert_allclose(starts, starts[[0, 0, 0]], rtol=1e-6)  # one step an epoch, seen before it
    assert row[SGD]["lowest"] == [1.0] * 8 and row[SGD]["negative"] == [0.0] * 8
    assert 0 < row["field"]["share"] <= 1 and np.isfinite(row["field"]["loss"]).all()
    said = []
    TINY.run(Place(place.kept, tmp_path, say=said.append))
    assert not said, "nothing is run again"


def test_a_walk_that_was_ended_goes_on(tmp_path, monkeypatch):
    """In the middle of an epoch of the third of three walks: those before it are not walked again, and all numbers are the same."""
    monkeypatch.setattr(bookmarks, "SECONDS", 0.0)
    study = TINY.replace(batch_size=240)
    steps, move, done = 8 * 3, ClassifierChains._move, []
    whole = study.run(Place(Kept(), tmp_path)).numbers

    def moving(self, rows):
        move(self, rows)
        done.append(self)
        if len(done) == 2 * steps + 8:
            raise KeyboardInterrupt

    monkeypatch.setattr(ClassifierChains, "_move", moving)
    with pytest.raises(KeyboardInterrupt):
        study.run(Place(Kept(tmp_path / "002.jsonl"), tmp_path))
    assert len(list(tmp_path.glob("002.trainings/*/*.pt"))) == 3
    assert study.run(Place(Kept(tmp_path / "002.jsonl"), tmp_path)).numbers == whole
    assert len(done) == study.seeds * 3 * steps + 1, "the step that was not kept is made again, and no other"
    assert not (tmp_path / "002.trainings").exists()


def test_the_contour_is_that_of_the_paper():
    """M = 1 + (ζT/du)·(log θ(J) − log θ(J − 1)) with J the bin of N·L, and θ(J) rises by ω·θ(J)/P for each chain in it."""
    study = ITEM.sizes["small"].replace(maps=[1, 2], hidden=[4, 4], epochs=8, batch_size=700, chains=2)
    chains = ClassifierChains(picture_task("digits"), study.settings, WALKS[CONTOUR])
    theta, bins = np.full(study.bins, 1 / study.bins), []
    for _ in range(3):
        chains.advance()
        at = np.ceil(chains.losses[-1].double().numpy() * 721 / study.bin_width).astype(int) - 1
        pull = np.zeros(study.bins)
        for j in at:
            pull += theta[j] * ((np.arange(study.bins) == j) - theta) / 2
        theta = theta + study.rate * pull
        rise = np.log(theta[at]) - np.log(theta[at - 1])
        wanted = 1 + study.zeta * study.temperature / study.bin_width * rise
        np.testing.assert_allclose(chains.heats[-1].numpy(), wanted, rtol=1e-6)
        bins.append(at)
    assert np.ptp(bins) < study.bins - 1 and (np.array(wanted) != 1).any()


def test_a_climb_is_measured_by_hand():
    losses = np.array([[2.0, 2.0], [1.0, 1.0], [0.0, 0.5], [0.5, 0.4], [0.2, 0.3], [0.1, 0.2], [0.1, 0.1], [0.1, 0.1]])
    way = [[0.0, 0.0]] * 4 + [[0.0, 1.0], [0.0, -1.0], [0.0, 1.0], [0.0, -1.0]]
    row = {SGLD: {"losses": losses, "way": way, "negative": [0, 0.5], "modes": [1, 2]}}
    told = _told(row, SGLD)
    assert told["climb"] == pytest.approx((0.5 / 2 + 0) / 2) and told["spread"] == 1
    assert told["falls"] == pytest.approx((0.1 / 0.25 + 0.1 / 0.45) / 2)
    assert told["negative"] == 0.25 and told["modes"] == 1.5


def test_claims_follow_the_numbers():
    calm = {"negative": 0.0, "climb": 0.01, "falls": 0.5, "modes": 1.0, "spread": 1.0}
    wild = {"negative": 0.2, "climb": 0.5, "falls": 1.5, "modes": 3.0, "spread": 2.0}

    def judged(contour, others):
        seen = {
            name: [{key: value * (1 + 0.01 * k) for key, value in others.items()} for k in range(4)]
            for name in (SGD, SGLD)
        }
        seen[CONTOUR] = [{key: value * (1 + 0.01 * k) for key, value in contour.items()} for k in range(4)]
        return [claim.holds for claim in TINY._claims(seen)]

    assert judged(wild, calm) == [True] * 8
    assert judged({**calm, "negative": 0.0}, wild) == [None, *[False] * 7]


def test_modes_are_counted():
    one, other = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    assert counted([one, one, other, one], 0.5) == 2 and counted([one, other], 1.0) == 1 and counted([], 0.5) == 0


def test_the_printed_network_and_its_price():
    paper = ITEM.sizes["paper"]
    settings = paper.settings
    model = build_model(settings.model(5))
    layers = [tuple(each.weight.shape) for each in model if hasattr(each, "weight")]
    assert layers == [(32, 1, 5, 5), (64, 32, 5, 5), (50, 64 * 7 * 7), (50, 50), (5, 50)]
    assert sum(each.numel() for each in model.parameters()) == paper._weights()
    assert model(torch.zeros(2, 784)).shape == (2, 5)
    assert settings.bin_edges == (0.0, pytest.approx(1e5 * 10 / 0.1)) and settings.momentum == 0
    assert paper.cost().seconds > 100 * ITEM.sizes["small"].cost().seconds


@pytest.mark.parametrize(
    "make",
    [
        lambda: ITEM.sizes["paper"].run(Place(None, None)),
        lambda: TINY.replace(maps=[]),
        lambda: build_model({"kind": "small_cnn", "kernel": 4}),
        lambda: build_model({"kind": "small_cnn", "hidden": "50"}),
    ],
)
def test_what_cannot_be_is_one_sentence(make):
    with pytest.raises(ValueError) as caught:
        make()
    tells(caught.value)
