"""Classifiers of pictures from random starts: every method, the published settings in use, and files of CIFAR that a test writes."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest
import torch
from made_pictures import QUICK, task
from sentences import tells
from torch.nn import functional
from torch.nn.utils import parameters_to_vector

from llc_core.compute.streams import numpy_stream, torch_stream
from llc_core.ensembles.draw_file import DrawFile, read_draws
from llc_core.networks import PUBLISHED, picture_settings
from llc_core.studies.pictures import METHODS, ClassifierChains, measure, picture_task
from llc_core.studies.pictures.augmenting import shifted_and_mirrored

DRAWS = {
    "deep ensemble": 3, "M-SGD": 3, "replica exchange SGHMC": 2, "reSGHMC": 2, "cyclical SGHMC": 3 * 2,
    "cycSGHMC": 2, "cycSWAG": 2 * 20, "MultiSWAG": 3 * 20, "ICSGHMC, released": 3,
}  # fmt: skip
"""Of three networks and four epochs, of which two count: the ends of SGD, epochs of the coldest replica, last epochs of two cycles of one
chain, twenty draws of each Gaussian, and the last epoch alone of what begins after three quarters."""


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_every_method_gives_an_ensemble_at_the_same_number_of_gradients(name):
    found = measure(task(), QUICK, name)
    figures, how = found.figures(), METHODS[name]
    assert found.gradients == (1 if how.alone else 3) * 4 * 2
    assert figures["draws"] == DRAWS.get(name, 1 if how.alone else 3 * 2)
    assert 0 < figures["kish"] <= 1 and 0 <= figures["auroc"] <= 1 and np.isfinite(list(figures.values())).all()
    again = measure(task(), QUICK, name)
    assert torch.equal(found.inside.probabilities, again.inside.probabilities)


@pytest.mark.parametrize("epoch, share", [(0, 1.0), (2, 0.2), (3, 0.04)])
def test_a_step_is_the_papers_and_its_size_follows_the_schedule(epoch, share):
    """p ← µp − ε∇U + √(2(1 − µ)εT)·ξ, then w ← w + p, in the paper's convention; ε of the epoch."""
    chains = ClassifierChains(task(), QUICK, METHODS["SGHMC"], seed=1)
    chains.epochs_done = epoch
    w, momentum = chains.state["delta"].double(), chains.state["momentum"].double()
    rows = [torch.arange(32) + k for k in range(3)]
    state = chains._random["noise"].get_state()
    noise = chains._normals(1)[0].double()
    chains._random["noise"].set_state(state)
    grads = []
    for k, model in enumerate(chains.models):
        loss = functional.cross_entropy(model(task().split.inputs[rows[k]]), task().split.targets[rows[k]])
        grads.append(parameters_to_vector(torch.autograd.grad(loss, list(model.parameters()))).double())
    chains._move(rows)
    size, heat, n = QUICK.step_size * share, QUICK.temperature, 64
    force = n * torch.stack(grads) + QUICK.decay * w
    after = QUICK.momentum * momentum - size * force + (2 * (1 - QUICK.momentum) * size * heat) ** 0.5 * noise
    torch.testing.assert_close(chains.state["momentum"].double(), after, rtol=1e-4, atol=1e-8)
    torch.testing.assert_close(chains.state["delta"].double(), w + after, rtol=1e-5, atol=1e-7)


def test_without_noise_the_chains_are_momentum_sgd_with_its_schedule():
    chains = ClassifierChains(task(), dataclasses.replace(QUICK, decay=0.5), METHODS["SGD"], seed=2)
    rows, made = torch.arange(32), task().split
    model = copy.deepcopy(chains.models[0])
    optimizer = torch.optim.SGD(
        model.parameters(), lr=QUICK.step_size * 64, momentum=QUICK.momentum, weight_decay=0.5 / 64
    )
    for epoch in (0, 0, 2, 2):
        optimizer.param_groups[0]["lr"] = QUICK.rate(epoch) * 64
        optimizer.zero_grad()
        functional.cross_entropy(model(made.inputs[rows]), made.targets[rows]).backward()
        # torch's momentum is of gradients, ours of moves: after a change of the step size only ours keeps its length.
        for p in model.parameters():
            if epoch == 2 and "momentum_buffer" in optimizer.state[p] and not hasattr(p, "scaled"):
                optimizer.state[p]["momentum_buffer"] /= QUICK.factor
                p.scaled = True
        optimizer.step()
        chains.epochs_done = epoch
        chains._move([rows])
    wanted = parameters_to_vector(model.parameters()).detach()
    torch.testing.assert_close(chains.state["delta"][0], wanted, rtol=1e-4, atol=1e-6)


def test_contours_and_ladders_take_their_numbers_from_the_settings():
    contour = METHODS["ICSGHMC"].interaction(PUBLISHED["WRN-16-8"], 1000)
    assert contour.width * 3e-4 == pytest.approx(60) and (contour.bins, contour.zeta) == (200, 3e6)
    ladder = METHODS["replica exchange SGHMC"].interaction(QUICK, 8)
    assert ladder.levels == 3 and ladder.temperatures[-1] == pytest.approx(QUICK.hottest)
    assert METHODS["cyclical SGHMC"].interaction(QUICK, 8).length == 4
    chains = ClassifierChains(task(), QUICK, METHODS["replica exchange SGHMC"])
    assert chains._n_beta.flatten().tolist() == pytest.approx([64 / 3e-4 / t for t in ladder.temperatures], rel=1e-5)


def test_a_swap_moves_the_networks_with_their_norms():
    given = dataclasses.replace(
        QUICK, description={"kind": "resnet", "depth": 8, "width": 2, "channels": 1, "side": 8}, hottest=1.0001
    )
    chains = ClassifierChains(task(), given, METHODS["replica exchange SGHMC"])
    before = list(chains.models)
    while all(a is b for a, b in zip(before, chains.models, strict=True)):
        chains.advance()
    assert sorted(map(id, before)) == sorted(map(id, chains.models))
    for row, model in zip(chains.state["delta"], chains.models, strict=True):
        chains._put()
        assert torch.equal(parameters_to_vector(model.parameters()), row)
    assert len({float(model[3].running_mean.sum()) for model in chains.models}) == 3


@pytest.mark.slow
def test_files_of_cifar_and_svhn_make_a_task_and_a_draw_can_be_kept(tmp_path):
    """The paper's network on pictures that this test writes; its draws on disk say what the run said."""
    savemat = pytest.importorskip("scipy.io").savemat
    random = numpy_stream(0, "files")
    for name in (*(f"data_batch_{k}.bin" for k in range(1, 6)), "test_batch.bin"):
        labels = np.arange(8, dtype=np.uint8)[:, None]
        np.concatenate([labels, random.integers(0, 256, (8, 3072), dtype=np.uint8)], axis=1).tofile(tmp_path / name)
    pictures = random.integers(0, 256, (32, 32, 3, 6), dtype=np.uint8)
    for name in ("train_32x32.mat", "test_32x32.mat"):
        savemat(tmp_path / name, {"X": pictures, "y": np.arange(1, 7)[:, None]})
    made = picture_task("cifar10", 0, tmp_path, tmp_path)
    assert made.split.inputs.mean(dim=(0, 2, 3)).abs().max() < 1e-4
    assert made.split.inputs.std(dim=(0, 2, 3)).tolist() == pytest.approx([1, 1, 1], abs=1e-3)
    settings = picture_settings("ResNet-20").replace(
        epochs=2, milestones=[1], draws_from=1, batch_size=20, chains=2, decay=0.02, step_size=1e-4
    )
    file = DrawFile(tmp_path / "draws")
    found = measure(made, settings, "ICSGHMC", draws=file)
    assert found.inside.probabilities.shape == (8, 10) and found.outside.probabilities.shape == (6, 10)
    states, logs = read_draws(tmp_path / "draws")
    assert len(states) == len(file) == 2 and "4.running_mean" in states[0] or "3.running_mean" in states[0]
    from llc_core.ensembles import predictive
    from llc_core.networks import build_model

    model = build_model(settings.model(10))
    weights = (logs - logs.max()).exp()
    again = predictive(model, states, made.split.test_inputs, weights=weights)
    torch.testing.assert_close(again.probabilities, found.inside.probabilities, rtol=1e-4, atol=1e-6)


def test_pictures_are_shifted_and_mirrored_and_nothing_else():
    pictures = torch.arange(2 * 3 * 64.0).reshape(2, 3, 8, 8) + 1
    random = torch_stream(0, "shifts")
    for _ in range(20):
        for before, after in zip(pictures, shifted_and_mirrored(pictures, random), strict=True):
            padded = functional.pad(before, (4,) * 4)
            windows = [padded[:, i : i + 8, j : j + 8] for i in range(9) for j in range(9)]
            assert any(torch.equal(after, each) or torch.equal(after, each.flip(2)) for each in windows)


@pytest.mark.parametrize(
    "make",
    [
        lambda: picture_task("faces"),
        lambda: picture_task("cifar10"),
        lambda: picture_settings("VGG"),
        lambda: picture_settings("ResNet-20").replace(speed=3),
        lambda: picture_settings("ResNet-20").replace(draws_from=500),
        lambda: picture_settings("ResNet-20").replace(temperature=0),
        lambda: picture_settings("ResNet-20").replace(momentum=1),
        lambda: measure(task(), QUICK, "HMC"),
        lambda: measure(task(), QUICK.replace(step_size=1e6), "SGD"),
        lambda: read_draws("nowhere"),
    ],
)
def test_what_cannot_be_is_one_sentence(make):
    with pytest.raises(ValueError) as caught:
        make()
    tells(caught.value)
