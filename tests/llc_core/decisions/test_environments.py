"""Bandits: the regret of chance is what theory says, and files of mushrooms are read or refused in one sentence."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from sentences import tells

from llc_core.compute.streams import torch_stream
from llc_core.decisions import LinearBandit, Mushrooms, WheelBandit, in_words, made_mushrooms, read_mushrooms
from llc_core.decisions.mushrooms import LETTERS, MEANINGS, PARTS, one_number_each

REAL = Path(__file__).resolve().parents[3] / "lab/data/mushroom.csv"
CASES = {
    "mushrooms": lambda: Mushrooms(REAL),
    "made mushrooms": Mushrooms,
    "linear": lambda: LinearBandit(dim=5, seed=3),
    "wheel": lambda: WheelBandit(delta=0.8),
}


@pytest.mark.parametrize("name", CASES)
def test_chance_loses_what_theory_says(name):
    environment = CASES[name]()
    random = torch_stream(0, "test")
    seen = environment.draw(random, 40_000)
    actions = torch.randint(environment.actions, (40_000,), generator=random)
    assert seen.contexts.shape == (40_000, environment.dim) and seen.rewards.shape == (40_000, environment.actions)
    for found in (seen.regret(actions), seen.expected_regret(actions)):
        error = float(found.std()) / math.sqrt(40_000)
        assert abs(float(found.mean()) - environment.random_regret) < 5 * error
    best = seen.means.argmax(dim=1)
    assert float(seen.expected_regret(best).abs().max()) == 0 and float(seen.expected_regret(actions).min()) >= 0


def test_whoever_stays_safe_on_the_wheel_loses_what_theory_says():
    wheel = WheelBandit(delta=0.9)
    lost = wheel.draw(torch_stream(1, "test"), 40_000).expected_regret(torch.zeros(40_000, dtype=torch.long))
    assert abs(float(lost.mean()) - wheel.safe_regret) < 5 * float(lost.std()) / 200
    assert wheel.safe_regret == pytest.approx(48.8 * 0.19)


def test_the_real_mushrooms():
    table = read_mushrooms(REAL)
    assert table.features.shape == (8124, 117) and int(table.edible.sum()) == 4208 and not table.made
    assert (table.features.sum(axis=1) == 22).all() and (table.features.sum(axis=0) > 0).all()
    assert table.words(0)["odor"] == "p" and table.words(0)["stalk-root"] == "e"


def test_the_real_mushrooms_as_22_numbers(tmp_path):
    """Places among sorted letters, from the file itself; what is standardised has mean 0 and sd 1, and the veil of one kind is 0."""
    coded, rows = one_number_each(read_mushrooms(REAL)), [line.split(",") for line in REAL.read_text().splitlines()]
    assert coded.features.shape == (8124, 22) and coded.columns == tuple(rows[0][1:])
    for name, found, letters in zip(
        coded.columns, coded.features.T, list(zip(*rows[1:], strict=True))[1:], strict=True
    ):
        places = np.array([sorted(set(letters)).index(letter) for letter in letters], dtype=float)
        assert found == pytest.approx((places - places.mean()) / (places.std() or 1.0), abs=1e-5)
        assert float(found.std()) == pytest.approx(0.0 if name == "veil-type" else 1.0, abs=1e-4)
    sparse = tmp_path / "agaricus.txt.train"
    sparse.write_text("1 " + " ".join(f"{5 * k + 1}:1" for k in range(22)))
    with pytest.raises(ValueError, match="has no letters") as caught:
        one_number_each(read_mushrooms(sparse))
    tells(caught.value)


def test_forms_of_the_same_mushrooms_agree(tmp_path):
    lines = REAL.read_text().splitlines()[:200]
    uci, header = tmp_path / "agaricus-lepiota.data", tmp_path / "mushroom.csv"
    uci.write_text("\n".join(lines[1:]))
    swapped = [line.split(",") for line in lines]
    header.write_text("\n".join(",".join([row[0], *reversed(row[1:])]) for row in swapped))
    one, other = read_mushrooms(uci), read_mushrooms(header)
    assert (one.features == other.features).all() and (one.edible == other.edible).all()
    sparse = tmp_path / "agaricus.txt.train"
    sparse.write_text("\n".join(f"{int(not e)} " + " ".join(f"{5 * k + 1}:1" for k in range(22)) for e in one.edible))
    found = read_mushrooms(sparse)
    assert found.features.shape == (199, 126) and (found.edible == one.edible).all()
    assert (found.features.sum(axis=1) == 22).all() and found.features[0, 5] == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "p,x,s",
        "q," + ",".join("x" * 22),
        "edible," + ",".join(f"name{k}" for k in range(22)) + "\n",
        "1 3:1 200:1",
        "1 3:1 nonsense",
        "\x00\x01",
    ],
)
def test_a_foreign_or_damaged_file_is_one_sentence(tmp_path, text):
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(ValueError) as caught:
        read_mushrooms(path)
    tells(caught.value)


def test_a_file_cut_within_a_row_and_an_absent_one_are_refused(tmp_path):
    path = tmp_path / "cut.csv"
    path.write_text(REAL.read_text()[:5011])
    for each in (path, tmp_path / "none.csv"):
        with pytest.raises(ValueError) as caught:
            read_mushrooms(each)
        tells(caught.value)


@pytest.mark.parametrize("rule", ["pleasant", "exclusive"])
def test_made_mushrooms_follow_their_rule(rule):
    table = made_mushrooms(3000, rule)
    assert table.made and "made" in table.name and table.features.shape == (3000, 117)
    column = {name: k for k, name in enumerate(table.columns)}
    pleasant = table.features[:, [column[f"odor={x}"] for x in "aln"]].any(axis=1)
    green, bruised = (table.features[:, column[x]] > 0 for x in ("spore-print-color=r", "bruises=t"))
    assert (table.edible == (pleasant & ~green if rule == "pleasant" else pleasant ^ bruised)).all()
    assert 0.3 < table.edible.mean() < 0.6 and (table.features.sum(axis=1) == len(LETTERS)).all()
    assert not np.array_equal(table.features, made_mushrooms(3000, rule, seed=1).features)


@pytest.mark.parametrize(
    "make",
    [
        lambda: made_mushrooms(0),
        lambda: made_mushrooms(rule="smell"),
        lambda: WheelBandit(delta=1),
        lambda: LinearBandit(0),
    ],
)
def test_bad_numbers_are_one_sentence(make):
    with pytest.raises(ValueError) as caught:
        make()
    tells(caught.value)


def test_every_letter_of_every_mushroom_has_a_word():
    assert all(set(letters) <= set(MEANINGS[name]) for name, letters in LETTERS.items())
    assert sorted(feature for features in PARTS.values() for feature in features) == sorted(LETTERS)
    table = made_mushrooms(50)
    for row in range(50):
        words = in_words(table.words(row))
        assert list(words) == list(PARTS) and all(words.values())
    with pytest.raises(ValueError, match="nothing known for"):
        in_words({"1": "1"})
