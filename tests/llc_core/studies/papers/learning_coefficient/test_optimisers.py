"""Two optimisers from the same start: pairs are compared as pairs, figures share what was trained, and MNIST's files are read."""

from __future__ import annotations

import dataclasses
import gzip
import struct

import numpy as np
import pytest

from llc_core.cli.commands import main
from llc_core.studies.keeping import Kept
from llc_core.studies.papers.learning_coefficient import optimisers
from llc_core.studies.papers.learning_coefficient.optimisers import ENTROPY, PLAIN, GammaBySteps, TwoOptimisers, lower
from llc_core.studies.papers.study import Place

SMALL = TwoOptimisers(seeds=2, epochs=(0, 1), steps=20, width=8, layers=1)


def place(folder, **more) -> Place:
    return Place(Kept(folder / "rows.jsonl"), folder / "sweeps", **more)


def test_pairs_are_judged_by_their_differences():
    """Networks differ by ten times what the optimisers do."""
    own = np.random.default_rng(0).normal(50, 10, (12, 1))
    gap = np.random.default_rng(1).normal(1, 0.3, (12, 1))
    assert lower("smaller", {ENTROPY: own - gap, PLAIN: own}, slice(-1, None)).holds is True
    assert lower("smaller", {ENTROPY: own + gap, PLAIN: own}, slice(-1, None)).holds is False
    assert lower("smaller", {ENTROPY: own[::-1], PLAIN: own}, slice(-1, None)).holds is None


@pytest.mark.slow
def test_figures_share_their_networks_and_draw_what_was_found(tmp_path, monkeypatch):
    pytest.importorskip("holoviews")
    trained = []
    train = optimisers.train
    monkeypatch.setattr(optimisers, "train", lambda *a, **k: trained.append(k["seed"]) or train(*a, **k))
    found = {
        show: dataclasses.replace(SMALL, show=show).run(place(tmp_path)) for show in ("llc", "nu", "epochs", "errors")
    }
    assert sorted(trained) == [0, 0, 1, 1]
    llc = {name: np.array(each) for name, each in found["llc"].numbers["llc"].items()}
    assert all(each.shape == (2, 2) and np.isfinite(each).all() for each in llc.values())
    assert np.array_equal(llc[ENTROPY][:, 0], llc[PLAIN][:, 0]), "both start at the same parameters"
    assert not np.array_equal(llc[ENTROPY][:, 1], llc[PLAIN][:, 1])
    told = {show: [claim.ours for claim in each.claims] for show, each in found.items()}
    assert told == {"llc": [False], "nu": [True], "epochs": [True] * 2, "errors": [True] * 2}, "what the paper says"
    assert all(each.draw() is not None for each in found.values())


@pytest.mark.slow
def test_a_shorter_run_is_the_beginning_of_the_longest(tmp_path):
    options = {"seeds": 2, "epochs": 1, "localizations": (1.0, 1e4), "width": 8, "layers": 1, "step_size": 1e-4}
    both = GammaBySteps(steps=(20, 60), **options).run(place(tmp_path / "a")).numbers["llc"]
    short = GammaBySteps(steps=(5, 20), **options).run(place(tmp_path / "b")).numbers["llc"]
    for gamma, rows in both.items():
        assert [row[0] for row in rows] == pytest.approx([row[1] for row in short[gamma]], rel=1e-6)
    assert both["1.0"] != both["10000.0"]


@pytest.mark.slow
def test_mnist_needs_its_files_and_reads_them(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["paper", "001/figure-2", "--size", "paper", "--out", str(tmp_path)])
    assert "--mnist" in "".join(capsys.readouterr())
    write_mnist(tmp_path)
    found = dataclasses.replace(SMALL, data="mnist", batch=20, batch_size=20).run(place(tmp_path, mnist=tmp_path))
    assert found.numbers["train_error"][PLAIN][0][0] > 0


def write_mnist(folder) -> None:
    """The four files with 60 and 20 images of noise, as they are published."""
    random = np.random.default_rng(0)
    for name, count in (("train", 60), ("t10k", 20)):
        images = random.integers(0, 256, (count, 28, 28), dtype=np.uint8)
        labels = random.integers(0, 10, count, dtype=np.uint8)
        for kind, array in (("images-idx3", images), ("labels-idx1", labels)):
            head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
            with gzip.open(folder / f"{name}-{kind}-ubyte.gz", "wb") as file:
                file.write(head + array.tobytes())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"epochs": [3, 1]}, "epochs is .*in rising order"),
        ({"epochs": [3]}, "at least 2 numbers of epochs"),
        ({"data": "cifar"}, "data is 'cifar'"),
    ],
)
def test_what_cannot_be_is_one_sentence(settings, words):
    with pytest.raises(ValueError, match=words):
        TwoOptimisers(**settings)
