"""The table of methods on pictures: a tiny run ends with claims, claims follow the numbers, and the printed settings are in use."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from made_pictures import QUICK, task
from sentences import tells

from llc_core.groups import Groups
from llc_core.interactions import ReplicaExchange
from llc_core.networks import PUBLISHED, bookmarks
from llc_core.studies.keeping import Kept
from llc_core.studies.papers.contour_sampling.picture_tables import OURS
from llc_core.studies.papers.items import find
from llc_core.studies.papers.study import Place
from llc_core.studies.pictures import METHODS, ClassifierChains
from llc_core.types import Energy

ITEM = find("002/table-1")
SMALL, PAPER = ITEM.sizes["small"], ITEM.sizes["paper"]


TINY = SMALL.replace(
    methods=["cycSWAG", *OURS],
    seeds=2,
    changes={
        "epochs": 3,
        "draws_from": 1,
        "milestones": [1, 2],
        "chains": 2,
        "cycles": 1,
        "tail": 0.6,
        "batch_size": 360,
        "bins": 400,
    },
    describe={"kind": "small_cnn", "side": 8, "channels": [1, 1]},
)


@pytest.mark.slow
def test_a_tiny_run_ends_with_claims_and_goes_on(tmp_path):
    tiny = TINY
    place = Place(Kept(tmp_path / "rows.jsonl"), tmp_path)
    done = tiny.run(place)
    assert len(done.claims) == 2 * 3 and len(done.table) == 3 and len(place.kept.rows) == 3 * 2
    assert all(np.isfinite(done.numbers[name]).all() for name in OURS)
    said = []
    tiny.run(Place(place.kept, tmp_path, say=said.append))
    assert not said, "nothing is run again"


def test_a_row_that_was_ended_goes_on(tmp_path, monkeypatch):
    """In an epoch of a row: no number is another one, and what has its row leaves no file."""
    monkeypatch.setattr(bookmarks, "SECONDS", 0.0)
    tiny = TINY.replace(methods=["SGHMC", OURS[1]])
    whole = tiny.run(Place(Kept(), tmp_path)).numbers
    move, done = ClassifierChains._move, []

    def moving(self, rows):
        move(self, rows)
        done.append(self)
        if len(done) == 6 + 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(ClassifierChains, "_move", moving)
    with pytest.raises(KeyboardInterrupt):
        tiny.run(Place(Kept(tmp_path / "002.jsonl"), tmp_path))
    assert len(list(tmp_path.glob("002.trainings/*/*.pt"))) == 1
    assert tiny.run(Place(Kept(tmp_path / "002.jsonl"), tmp_path)).numbers == whole
    assert len(done) == 4 * 6 + 1, "the step that was not kept is made again, and no other"
    assert not (tmp_path / "002.trainings").exists()


def test_claims_follow_the_numbers():
    study, random = SMALL.replace(methods=["SGHMC", OURS[0]]), np.random.default_rng(0)
    usual = np.array([0.9, 100.0, 50.0]) + random.normal(0, [1e-4, 0.1, 0.1], (1, 5, 3))
    better = usual + np.array([0.01, -5.0, -5.0]) + random.normal(0, [1e-4, 0.1, 0.1], usual.shape)
    assert [claim.holds for claim in study._claims({"SGHMC": usual, OURS[0]: better})] == [True] * 3
    assert [claim.holds for claim in study._claims({"SGHMC": better, OURS[0]: usual})] == [False] * 3
    alike = {"SGHMC": np.tile([1.0, 100, 50], (1, 5, 1)), OURS[0]: np.tile([2.0, 99, 49], (1, 5, 1))}
    assert [claim.holds for claim in study._claims(alike)] == [None] * 3, (
        "five seeds that agree say nothing of the error"
    )


def test_the_printed_settings_are_in_use():
    settings = {name: PAPER.settings(name) for name in PAPER.networks}
    assert {name: (each.correction, each.bin_width) for name, each in settings.items()} == {
        "ResNet-20": (4000, 200), "ResNet-32": (4000, 200), "ResNet-56": (4000, 200), "WRN-16-8": (1000, 60)
    }  # fmt: skip
    one = settings["ResNet-20"]
    assert one.erase and (one.reduced_from, one.reduced_every, PAPER.seeds, one.tail) == (400, 2, 5, 0.15)
    assert METHODS["cycSGHMC"].epochs(one) == 2000 and METHODS["cycSGHMC"].networks(one) == 1


def test_cycles_stay_at_their_end_and_count_there_alone():
    cycles = METHODS["cycSGHMC"].interaction(QUICK.replace(cycles=1, tail=0.15), 100)
    sizes = [cycles.share(step) for step in range(100)]
    assert sizes[0] == 1 and sizes[50] == pytest.approx(0.5) and len(set(sizes[85:])) == 1
    assert all(a > b for a, b in zip(sizes[:85], sizes[1:86], strict=True))
    assert [cycles.in_tail(step) for step in (0, 84, 85, 99, 100)] == [False, False, True, True, False]
    whole = METHODS["M-SGD"].interaction(QUICK, 100)
    assert whole.share(99) == pytest.approx(0.5 * (np.cos(np.pi * 0.99) + 1))


def test_the_correction_makes_swaps_as_rare_as_a_hotter_energy():
    """log ratio (1/T_1 − 1/T_2)·(U_1 − U_2 − C), in units of the energies of a batch."""
    chains = ClassifierChains(task(), QUICK.replace(correction=2.0), METHODS["reSGHMC"])
    layout = chains.interaction.layout(Groups(1, 1, 3), chains._n_beta, 0)
    loss = torch.tensor([[0.5, 0.4, 0.3]], dtype=torch.float64)
    heats = QUICK.temperature * np.array(chains.interaction.temperatures)
    energies = 64 * loss[0].numpy()
    wanted = (1 / heats[:-1] - 1 / heats[1:]) * (energies[:-1] - energies[1:] - 2.0)
    np.testing.assert_allclose(chains.interaction.log_ratio(loss, layout.n_beta, 0)[0], wanted, rtol=1e-5)
    plain = ReplicaExchange(temperatures=chains.interaction.temperatures).log_ratio(loss, layout.n_beta, 0)[0]
    assert (plain.numpy() > wanted).all()


def test_the_released_contour_is_that_of_the_released_code():
    """By hand: nothing before it begins; then weights θ(J), the multiplier within ±5 on the loss's slope and on the decay's."""
    settings = QUICK.replace(bins=4, bin_width=10.0, lowest=20.0, zeta=30.0, temperature=0.5, decay=3.0, begins=0.5)
    chains = ClassifierChains(task(), settings, METHODS["ICSGHMC, released"])
    n, begins = 64, chains.interaction.begins
    assert begins == chains.epochs * chains.steps_an_epoch // 2
    heights = torch.tensor([25.0, 55.0, 300.0]) / n  # N·L in the first bin, in the last, and above all
    flat = torch.zeros_like(chains.state["delta"])

    def asked(step: int):
        chains.step = step
        energy = Energy(heights, flat, chains.state["delta"], chains._n_beta, chains._localization)
        return chains._interact(energy), chains.interaction.log_weight(step, chains.shared, chains.layout)[0]

    before, weights = asked(begins - 1)
    assert torch.equal(before.n_beta, chains._n_beta) and not torch.isfinite(weights).any()
    theta = torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64)
    chains.shared = {**chains.shared, "theta": theta[None].clone()}
    after, weights = asked(begins)
    # θ ← θ + rate·mean over those that count of θ(J)(e_J − θ)
    pulls = torch.stack([theta[j] * (torch.eye(4, dtype=torch.float64)[j] - theta) for j in (0, 3)]).mean(0)
    theta = theta + settings.rate_released * pulls
    torch.testing.assert_close(chains.shared["theta"][0], theta)
    torch.testing.assert_close(weights[:2], theta[[0, 3]].log())
    assert weights[2] == -torch.inf
    raw = 1 + settings.zeta * settings.temperature * (theta[3].log() - theta[2].log()) / settings.bin_width
    wanted = torch.tensor([1.0, float(raw.clamp(-5, 5)), 1.0])
    for now, then in ((after.n_beta, chains._n_beta), (after.localization, chains._localization)):
        torch.testing.assert_close((now / then).flatten(), wanted)
    steep = dataclasses.replace(chains.interaction, zeta=1e6)
    assert float(steep.heat(chains.shared, chains.layout).max()) == 5.0
    assert PUBLISHED["ResNet-56"].released_edges == pytest.approx((1e4 / 3e-4, (1e4 + 200 * 200) / 3e-4))


@pytest.mark.parametrize(
    "make",
    [
        lambda: PAPER.run(Place(None, None)),
        lambda: SMALL.replace(methods=["SGHMC"]),
        lambda: SMALL.replace(methods=["SGHMC", "HMC"]),
        lambda: SMALL.replace(networks=["VGG"]),
        lambda: SMALL.replace(changes={"speed": 3}),
    ],
)
def test_what_cannot_be_is_one_sentence(make):
    with pytest.raises(ValueError) as caught:
        make()
    tells(caught.value)
