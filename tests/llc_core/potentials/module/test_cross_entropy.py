"""Cross entropy is torch's own, in both layouts, with ignored, weighted and soft labels; what fits both layouts is asked."""

from __future__ import annotations

import pytest
import torch
from sentences import tells
from small_networks import gradient_by_difference, moved
from torch import nn
from torch.nn import functional as F

from llc_core import CrossEntropy, NetworkPotential, with_rows
from llc_core.networks.data.splits import Split
from llc_core.networks.training import train

ROWS, CLASSES = 24, 5
ROUNDING = 1e-6
"""Relative: the data are float32, of unit round-off 6e-8, and a loss is a sum of fewer than 10 terms of its own size."""


def conv1d() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv1d(3, 4, 1), nn.Tanh(), nn.Conv1d(4, CLASSES, 1))


def conv2d() -> nn.Module:
    torch.manual_seed(0)
    return nn.Conv2d(3, CLASSES, 3, padding=1)


def tokens() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, CLASSES))


def flat() -> nn.Module:
    return tokens()


def data(kind, *size: int):
    torch.manual_seed(1)
    shape = (size[0], 3, *size[1:]) if kind in (conv1d, conv2d) else (*size, 3)
    return 2 * torch.randn(*shape), torch.randint(0, CLASSES, size)


def torch_loss(kind, x, y, **options) -> float:
    output = kind()(x)
    if kind is tokens:
        output = output.movedim(-1, 1)
        y = y.movedim(-1, 1) if y.is_floating_point() else y
    return float(F.cross_entropy(output, y, **options).detach())


CASES = [(flat, (ROWS,)), (conv1d, (ROWS, 7)), (conv2d, (ROWS, 4, 6)), (tokens, (ROWS, 7))]


@pytest.mark.parametrize("kind, size", CASES)
def test_the_loss_is_torchs(kind, size):
    x, y = data(kind, *size)
    problem = NetworkPotential(kind(), "cross_entropy", (x, y))
    assert problem.baseline_loss == pytest.approx(torch_loss(kind, x, y), rel=ROUNDING)
    delta = moved(problem, 2)
    grad = problem.excess_loss_and_grad(delta)[1]
    assert torch.allclose(grad, gradient_by_difference(problem, delta, None), atol=1e-8)


@pytest.mark.parametrize("method", ["vmap", "loop"])
@pytest.mark.parametrize("kind, size", CASES)
def test_ignored_and_weighted_labels(kind, size, method):
    x, y = data(kind, *size)
    y[y == 2] = -100
    weight = torch.linspace(0.5, 2.0, CLASSES)
    loss = CrossEntropy(weight=weight)
    problem = NetworkPotential(kind(), loss, (x, y), method=method)
    assert problem.baseline_loss == pytest.approx(torch_loss(kind, x, y, weight=weight), rel=ROUNDING)
    other = NetworkPotential(kind(), CrossEntropy(ignore_index=0), (x, y.clamp_min(0)), method=method)
    assert other.baseline_loss == pytest.approx(torch_loss(kind, x, y.clamp_min(0), ignore_index=0), rel=ROUNDING)
    delta = moved(problem, 2)
    grad = problem.excess_loss_and_grad(delta)[1]
    assert torch.allclose(grad, gradient_by_difference(problem, delta, None), atol=1e-8)


@pytest.mark.parametrize("kind, size", CASES)
def test_the_name_leaves_out_torchs_own_label(kind, size):
    x, y = data(kind, *size)
    y[y == 1] = -100
    problem = NetworkPotential(kind(), "cross_entropy", (x, y))
    assert problem.baseline_loss == pytest.approx(torch_loss(kind, x, y), rel=ROUNDING)


@pytest.mark.parametrize("kind, size", CASES)
def test_soft_labels(kind, size):
    x, _ = data(kind, *size)
    at = -1 if kind is tokens else 1
    shape = (*size, CLASSES) if at == -1 else (size[0], CLASSES, *size[1:])
    soft = torch.softmax(2 * torch.randn(shape), at)
    weight = torch.linspace(0.5, 2.0, CLASSES)
    assert NetworkPotential(kind(), "cross_entropy", (x, soft)).baseline_loss == pytest.approx(
        torch_loss(kind, x, soft), rel=ROUNDING
    )
    problem = NetworkPotential(kind(), CrossEntropy(weight=weight), (x, soft))
    assert problem.baseline_loss == pytest.approx(torch_loss(kind, x, soft, weight=weight), rel=ROUNDING)
    delta = moved(problem, 1)
    grad = problem.excess_loss_and_grad(delta)[1]
    assert torch.allclose(grad, gradient_by_difference(problem, delta, None), atol=1e-8)


def test_a_minibatch_with_ignored_labels_is_unbiased():
    x, y = data(tokens, ROWS, 7)
    y[:9, 2:] = -100
    problem = NetworkPotential(tokens(), "cross_entropy", (x, y), batch_size=5)
    delta = moved(problem, 1)
    full = problem.excess_loss_and_grad(delta)[0]
    losses = problem.per_sample_loss(delta, 0, ROWS) - problem.per_sample_loss(torch.zeros_like(delta), 0, ROWS)
    assert float(losses.mean()) == pytest.approx(float(full[0]), rel=1e-9)


def test_what_fits_both_layouts_is_asked():
    x, y = data(tokens, ROWS, CLASSES)
    for kind in (
        tokens(),
        nn.Sequential(nn.Flatten(), nn.Linear(3 * CLASSES, CLASSES**2), nn.Unflatten(1, (CLASSES, CLASSES))),
    ):
        with pytest.raises(ValueError) as caught:
            NetworkPotential(kind, "cross_entropy", (x, y))
        tells(caught.value)
        assert "CrossEntropy(class_dim=1)" in str(caught.value) and "class_dim=-1" in str(caught.value)
    output = tokens()(x)
    for at, layout in ((-1, output.movedim(-1, 1)), (1, output)):
        problem = NetworkPotential(tokens(), CrossEntropy(class_dim=at), (x, y))
        assert problem.baseline_loss == pytest.approx(float(F.cross_entropy(layout, y).detach()), rel=ROUNDING)


@pytest.mark.parametrize(
    "loss, target, words",
    [
        ("cross_entropy", torch.zeros(ROWS, 4, dtype=torch.long), ["(2, 4)", "its 5 classes"]),
        ("cross_entropy", torch.full((ROWS, 7), -100), ["all -100", "ignored"]),
        ("cross_entropy", torch.full((ROWS, 7), -1), ["-1", "0 to 4"]),
        ("cross_entropy", torch.full((ROWS, CLASSES, 7), 0.3), ["add up to 1", "divide"]),
        ("cross_entropy", torch.full((ROWS, 7), 0.3), ["float32", "probabilities"]),
        (CrossEntropy(weight=[1.0, 2.0]), torch.zeros(ROWS, 7, dtype=torch.long), ["weight", "2 entries", "5 classes"]),
    ],
)
def test_labels_that_do_not_fit(loss, target, words):
    with pytest.raises(ValueError) as caught:
        NetworkPotential(conv1d(), loss, (torch.randn(ROWS, 3, 7), target))
    tells(caught.value)
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"class_dim": 2}, ["class_dim", "2"]),
        ({"ignore_index": 0.5}, ["ignore_index", "0.5"]),
        ({"weight": [-1.0, 2.0]}, ["weight", "at least 0"]),
        ({"weight": 3.0}, ["weight", "3.0", "each class"]),
    ],
)
def test_options_that_do_not_fit(options, words):
    with pytest.raises(ValueError) as caught:
        CrossEntropy(**options)
    tells(caught.value)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_training_takes_the_same_layout():
    x, y = data(conv1d, ROWS, 7)
    y[0, :3] = -100
    model = conv1d()
    trained = train(model, Split("rows", x, y, x, y), steps=3, batch_size=ROWS)
    assert trained.losses[0] == pytest.approx(torch_loss(conv1d, x, y), rel=1e-5)
    with torch.no_grad():
        right = float((model(x).argmax(1) == y).sum()) / (y.numel() - 3)
    assert trained.last.train_accuracy == pytest.approx(right)


def test_a_data_set_of_its_own_has_a_mean_of_its_own():
    """Of the first data every position has a label, of the second one in four: means are over those that have one."""
    torch.manual_seed(0)
    tokens, module = torch.randint(0, 5, (24, 4)), nn.Embedding(5, 5)
    first = NetworkPotential(module, "cross_entropy", (tokens, tokens.roll(1, 0)))
    labels = torch.full((24, 4), -100)
    labels[:, 2] = tokens[:, 1]
    for data in ((tokens, labels), (tokens, tokens)):
        other, direct = with_rows(first, data, own=True), NetworkPotential(module, "cross_entropy", data)
        assert other.n == direct.n
        at = torch.zeros(1, other.dim)
        torch.testing.assert_close(other.excess_loss_and_grad(at, None)[1], direct.excess_loss_and_grad(at, None)[1])
        torch.testing.assert_close(other.per_sample_loss(at, 0, 24).mean(), direct.per_sample_loss(at, 0, 24).mean())
