"""Two optimisers from the same start: pairs are compared as pairs, figures share what was trained, and MNIST's files are read."""

from __future__ import annotations

import dataclasses
import gzip
import struct

import numpy as np
import pytest
import torch
from torch import nn

from llc_core import NetworkPotential, RunConfig
from llc_core.cli.commands import main
from llc_core.engine.run import Run
from llc_core.networks import EntropySGD, MomentumSGD, Split, bookmarks
from llc_core.studies.keeping import Kept
from llc_core.studies.papers.claims import Measured
from llc_core.studies.papers.learning_coefficient import optimisers
from llc_core.studies.papers.learning_coefficient.optimisers import (
    ENTROPY,
    PLAIN,
    GammaBySteps,
    TwoOptimisers,
    baselines_apart,
    by_chance,
    lower,
)
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


def line(seed: int) -> tuple[NetworkPotential, float]:
    """A line fitted to 400 points by least squares, and λ̂ of its localised posterior: ½Σ nβ·h/(nβ·h + γ), h the loss's curvatures."""
    random = torch.Generator().manual_seed(seed)
    x = torch.randn(400, 3, generator=random, dtype=torch.float64)
    y = x.sum(dim=1, keepdim=True) + torch.randn(400, 1, generator=random).double() / 2
    module = nn.Linear(3, 1, bias=False).double()
    with torch.no_grad():
        module.weight.copy_(torch.linalg.lstsq(x, y).solution.T)
    problem = NetworkPotential(module, "squared_error", (x, y))
    curvature = problem.n_beta * torch.linalg.eigvalsh(2 * x.T @ x / 400)
    return problem, float((curvature / (curvature + GAMMA)).sum() / 2)


GAMMA, STEPS, CHAINS = 20.0, 1000, 64


@pytest.fixture(scope="module")
def of_lines() -> list[dict]:
    """Both λ̂ of the chains on each of four lines, the exact one, and what `baselines_apart` says of them."""
    told = []
    for seed in range(4):
        problem, exact = line(seed)
        config = RunConfig(
            sampler={"name": "SGLD", "step_size": 1e-3}, gradient="minibatch", batch_size=100, steps=STEPS, burn_in=0,
            localization=GAMMA, chains=CHAINS, seed=seed,
        )  # fmt: skip
        current = Run(config, problem)
        current.advance(STEPS)
        both = {baseline: current.llc_per_chain(baseline) for baseline in optimisers.LLC}
        told.append({"problem": problem, "exact": exact, **both, **baselines_apart(current)})
    return told


def test_both_baselines_are_right_where_the_answer_is_known(of_lines):
    """To 3%: the start counts 1% too little, and noise of batches 1% too much."""
    for baseline in optimisers.LLC:
        off = Measured.of([row[baseline] - row["exact"] for row in of_lines])
        assert abs(off.value) < 4 * off.se + 0.03 * of_lines[0]["exact"]
        assert off.se < 0.01 * of_lines[0]["exact"]


def test_they_differ_by_the_chance_of_batches(of_lines):
    """A batch is 100 rows in a circle from any of 400 places, so that the spread of its loss at w0 is that of as many means."""
    for row in of_lines:
        assert row["apart"] == pytest.approx(row["full"] - row["same_batch"])
        problem = row["problem"]
        losses = problem.draw(torch.Generator().manual_seed(9), 20_000, 100, "minibatch", torch.float64).baseline_loss
        means = np.unique(losses.numpy().round(12))
        assert len(means) <= 400
        exact = problem.n_beta * float(means.std()) / STEPS**0.5
        assert row["chance"] == pytest.approx(exact, rel=0.1), "four errors of a spread from 1,000 batches, and places"
    apart = np.array([row["apart"] for row in of_lines]).reshape(-1, 1)
    chance = np.repeat([row["chance"] for row in of_lines], CHAINS)[:, None]
    assert by_chance(apart, chance).holds is True
    wrong = by_chance(apart + 2 * chance, chance)
    assert wrong.holds is False and "±" in wrong.found, "as where L_n(w0) is another one"
    assert by_chance(0 * apart, chance).holds is False, "as where both subtract the same"


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
    assert told == {"llc": [False, True, True], "nu": [True], "epochs": [True] * 3, "errors": [True] * 2}, (
        "what the paper says"
    )
    printed = dataclasses.replace(SMALL, baseline="full").run(place(tmp_path))
    assert len(trained) == 4, "both baselines are from the same chains"
    swapped = [claim.found for claim in printed.claims[:2]]
    assert swapped[::-1] == [claim.found for claim in found["llc"].claims[:2]] and swapped[0] != swapped[1]
    assert printed.numbers["llc_printed"] != printed.numbers["llc"]
    assert all(each.draw() is not None for each in found.values())


@pytest.mark.slow
def test_a_shorter_run_is_the_beginning_of_the_longest(tmp_path):
    options = {"seeds": 2, "epochs": 1, "localizations": (1.0, 1e4), "width": 8, "layers": 1, "step_size": 1e-4}
    both = GammaBySteps(steps=(20, 60), **options).run(place(tmp_path / "a")).numbers
    short = GammaBySteps(steps=(5, 20), **options).run(place(tmp_path / "b")).numbers
    for key in ("llc", "llc_printed"):
        for gamma, rows in both[key].items():
            assert [row[0] for row in rows] == pytest.approx([row[1] for row in short[key][gamma]], rel=1e-6)
        assert both[key]["1.0"] != both[key]["10000.0"]
    differ = {gamma: np.subtract(both["llc_printed"][gamma], both["llc"][gamma])[:, 1] for gamma in both["llc"]}
    apart = np.reshape(both["apart"], (2, 4)).mean(axis=1)
    for found in differ.values():
        assert found == pytest.approx(apart, rel=1e-3), "batches are the same at every γ"


@pytest.mark.parametrize(
    "study", [SMALL, GammaBySteps(seeds=2, epochs=1, steps=(5, 10), localizations=(1.0, 10.0), width=8, layers=1)],
    ids=lambda study: type(study).__name__,
)  # fmt: skip
def test_training_and_chains_are_on_the_device_that_was_asked_for(tmp_path, monkeypatch, study):
    trained, sampled = [], []

    def train(*given, device, **others):
        trained.append(device)
        return optimisers_train(*given, **others)

    def run(config, problem):
        sampled.append(config.device)
        return Run(config.replace(device="cpu"), problem)

    optimisers_train = optimisers.train
    monkeypatch.setattr(optimisers, "train", train)
    monkeypatch.setattr(optimisers, "Run", run)
    study.run(place(tmp_path, device="cuda"))
    assert trained == ["cuda"] * (4 if study is SMALL else 2)
    assert sampled == ["cuda"] * (8 if study is SMALL else 4)


@pytest.mark.slow
def test_mnist_needs_its_files_and_reads_them(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["paper", "001/figure-2", "--size", "paper", "--out", str(tmp_path)])
    assert "--mnist" in "".join(capsys.readouterr())
    write_mnist(tmp_path)
    found = dataclasses.replace(SMALL, data="mnist", batch=20, batch_size=20).run(place(tmp_path, mnist=tmp_path))
    assert found.numbers["train_error"][PLAIN][0][0] > 0


@pytest.fixture
def in_double(monkeypatch):
    """Networks and digits in float64, and a bookmark after every step."""
    build, load = optimisers.build_model, optimisers.digits
    monkeypatch.setattr(optimisers, "build_model", lambda *given: build(*given).double())
    rows = load()
    few = Split(
        "digits", rows.inputs[:256].double(), rows.targets[:256], rows.test_inputs[:40].double(), rows.test_targets[:40]
    )
    monkeypatch.setattr(optimisers, "digits", lambda: few)
    monkeypatch.setattr(bookmarks, "SECONDS", 0.0)


class Ended(Exception):
    pass


def steps_of(monkeypatch, kind, ended: int | None = None) -> list[int]:
    """Has a number for each step of an optimiser from now on; the step number `ended` moves the weights, and then all ends."""
    done, step = [], kind.step

    def stepping(self, *given):
        found = step(self, *given)
        done.append(len(done) + 1)
        if len(done) == ended:
            raise Ended
        return found

    monkeypatch.setattr(kind, "step", stepping)
    return done


TWO = TwoOptimisers(seeds=2, epochs=(0, 3), steps=10, width=8, layers=1)  # four steps an epoch
THREE = GammaBySteps(seeds=2, epochs=3, steps=(5, 10), localizations=(1.0, 10.0), width=8, layers=1)


@pytest.mark.parametrize(
    ("study", "kind", "ended", "left"),
    [(TWO, EntropySGD, 12 + 6, 12 - 5), (TWO, MomentumSGD, 6, 12 + 12 - 5), (THREE, MomentumSGD, 12 + 6, 12 - 5)],
    ids=["entropy-SGD", "SGD", "by γ"],
)
def test_a_training_that_was_ended_goes_on(tmp_path, monkeypatch, in_double, study, kind, ended, left):
    """In the middle of the second of its three epochs, by an exception: all numbers are the same to the last bit."""
    whole = study.run(place(tmp_path / "whole")).numbers
    kept = tmp_path / "ended" / "rows.trainings"
    with pytest.MonkeyPatch.context() as patched, pytest.raises(Ended):
        steps_of(patched, kind, ended)
        study.run(place(tmp_path / "ended"))
    assert list(kept.glob("*/*.pt"))
    with pytest.MonkeyPatch.context() as patched:
        done = steps_of(patched, kind)
        found = study.run(place(tmp_path / "ended")).numbers
    assert len(done) == left, "the step that was not kept, and those after it"
    assert found == whole
    assert not kept.exists(), "what has arrived leaves nothing behind"


def runs(monkeypatch, ended: int | None = None) -> list[int]:
    """Has a number for each run of chains from now on; number `ended` does not begin."""
    made, run = [], optimisers.Run

    def running(*given):
        made.append(len(made) + 1)
        if len(made) == ended:
            raise Ended
        return run(*given)

    monkeypatch.setattr(optimisers, "Run", running)
    return made


@pytest.mark.parametrize(
    ("study", "kind", "ended", "left"), [(THREE, MomentumSGD, 3, 2), (TWO, EntropySGD, 4, 5)], ids=["by γ", "pairs"]
)
def test_networks_are_kept_until_every_row_of_theirs_is_there(
    tmp_path, monkeypatch, in_double, study, kind, ended, left
):
    """Ended in the chains of the second γ, or in those after the last epoch: nothing is trained again, and no chain that was there."""
    whole = study.run(place(tmp_path / "whole")).numbers
    with pytest.MonkeyPatch.context() as patched, pytest.raises(Ended):
        runs(patched, ended)
        study.run(place(tmp_path / "ended"))
    done, made = steps_of(monkeypatch, kind), runs(monkeypatch)
    assert study.run(place(tmp_path / "ended")).numbers == whole
    assert not done and len(made) == left
    assert not (tmp_path / "ended" / "rows.trainings").exists()


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
