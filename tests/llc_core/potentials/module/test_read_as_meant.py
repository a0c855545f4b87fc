"""Losses and data are read as they are meant, as torch reads them; what could be meant in two ways is said."""

from __future__ import annotations

import warnings

import pytest
import torch
from sentences import tells
from small_networks import gradient_by_difference, moved
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from llc_core import CrossEntropy, NetworkPotential

ROWS, CLASSES = 24, 5
SAME = 1e-6
"""Relative: float32 of unit round-off 6e-8, in sums of fewer than 10 terms of their own size."""

torch.manual_seed(0)
X, Y, VALUES = torch.randn(ROWS, 4), torch.randint(0, CLASSES, (ROWS,)), torch.randn(ROWS)


@pytest.fixture(autouse=True)
def nothing_else_is_said():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def linear(outputs: int = CLASSES) -> nn.Module:
    torch.manual_seed(1)
    return nn.Linear(4, outputs)


# -- labels --------------------------------------------------------------------------------------------------------


def test_labels_of_8_bits_are_no_ignored_ones():
    labels = torch.where(torch.arange(ROWS) < 6, 3, 156)
    problem = NetworkPotential(linear(200), "cross_entropy", (X, labels.to(torch.uint8)))
    assert problem.n == ROWS
    assert problem.baseline_loss == pytest.approx(float(F.cross_entropy(linear(200)(X), labels).detach()), rel=SAME)


def test_padding_of_labels_of_8_bits_is_ignored():
    class Each(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = linear(200)

        def forward(self, x: Tensor, attention_mask: Tensor) -> Tensor:
            return self.inner(x)

    lengths = [2 + i % 3 for i in range(ROWS)]
    labels = [torch.full((k,), 156, dtype=torch.uint8) for k in lengths]
    x = torch.randn(ROWS, 4, 4)
    rows = [
        {"x": x[i], "attention_mask": torch.ones(k, dtype=torch.long), "labels": y}
        for i, (k, y) in enumerate(zip(lengths, labels, strict=True))
    ]
    problem = NetworkPotential(Each(), CrossEntropy(class_dim=-1, reduction="row"), rows)
    with torch.no_grad():
        each = [float(F.cross_entropy(linear(200)(x[i, :k]), labels[i].long())) for i, k in enumerate(lengths)]
    assert problem.baseline_loss == pytest.approx(sum(each) / ROWS, rel=SAME)


# -- squares -------------------------------------------------------------------------------------------------------


class Shaped(nn.Module):
    """Outputs of this shape a row."""

    def __init__(self, *shape: int, squeeze: bool = False) -> None:
        super().__init__()
        self.shape, self.squeeze = shape, squeeze
        self.inner = linear(max(1, torch.Size(shape).numel()))

    def forward(self, x: Tensor) -> Tensor:
        output = torch.tanh(self.inner(x)).view(len(x), *self.shape)
        return output.squeeze() if self.squeeze else output


@pytest.mark.parametrize("loss", ["mse", "squared_error"])
@pytest.mark.parametrize("module", [lambda: Shaped(), lambda: nn.Sequential(linear(1), nn.Flatten(0))])
@pytest.mark.parametrize("shape", [(ROWS,), (ROWS, 1)])
def test_one_output_a_row(loss, module, shape):
    problem = NetworkPotential(module(), loss, (X, VALUES.view(shape)), chunk=23)
    truth = F.mse_loss(module()(X), VALUES).detach()
    assert problem.baseline_loss == pytest.approx(float(truth), rel=SAME)
    delta = moved(problem, 2)
    exact = gradient_by_difference(problem, delta, None)
    assert torch.allclose(problem.excess_loss_and_grad(delta)[1], exact, atol=1e-8)


@pytest.mark.parametrize("target", [(2, 3), (6,), (1, 2, 3), (2, 1, 3)])
def test_targets_may_be_flat(target):
    values = torch.randn(ROWS, 6)
    problem = NetworkPotential(Shaped(2, 3), "mse", (X, values.view(ROWS, *target)))
    truth = F.mse_loss(Shaped(2, 3)(X).flatten(1), values).detach()
    assert problem.baseline_loss == pytest.approx(float(truth), rel=SAME)


@pytest.mark.parametrize("loss", ["mse", "squared_error"])
@pytest.mark.parametrize("target", [(3, 2), (2, 2), (5,)])
def test_targets_of_another_order_are_refused(loss, target):
    with pytest.raises(ValueError, match="output's shape") as caught:
        NetworkPotential(Shaped(2, 3), loss, (X, torch.randn(ROWS, *target)))
    tells(str(caught.value))
    assert "(2, 2, 3)" in str(caught.value) and str((2, *target)) in str(caught.value)


def test_a_loss_may_change_its_targets_in_place():
    def in_place(output: Tensor, target: Tensor) -> Tensor:
        return (output[:, 0] - target.sub_(1).div_(2)).square()

    problem = NetworkPotential(linear(1), in_place, (X, VALUES))
    plain = NetworkPotential(linear(1), "mse", (X, (VALUES - 1) / 2))
    delta = moved(plain, 2)
    for _ in range(2):
        for mine, theirs in zip(problem.excess_loss_and_grad(delta), plain.excess_loss_and_grad(delta), strict=True):
            assert torch.allclose(mine, theirs, atol=1e-7)
    assert problem.baseline_loss == pytest.approx(plain.baseline_loss, rel=SAME)
    assert torch.equal(problem.data.fields[-1], VALUES[problem.data.order])
    assert "in_place" in problem._loss_name


# -- cross entropies -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("weight", [None, torch.linspace(0.5, 2, CLASSES)])
@pytest.mark.parametrize("ignored", [-100, 2])
@pytest.mark.parametrize("shape", [(), (7,)])
@pytest.mark.parametrize("soft", [False, True])
def test_smoothed_labels_are_torchs(smoothing, weight, ignored, shape, soft):
    generator = torch.Generator().manual_seed(2)
    output = torch.randn(ROWS, CLASSES, *shape, generator=generator)
    target = torch.randint(0, CLASSES, (ROWS, *shape), generator=generator)
    if soft:
        target = torch.softmax(torch.randn(output.shape, generator=generator), 1)
    options = {"weight": weight, "label_smoothing": smoothing, **({} if soft else {"ignore_index": ignored})}
    own = CrossEntropy(class_dim=1, **options)
    each = nn.CrossEntropyLoss(reduction="none", **options)(output, target)
    theirs = each.view(ROWS, -1).mean(1)
    assert torch.allclose(own(output, target), theirs, rtol=1e-5, atol=1e-6)
    whole = float(nn.CrossEntropyLoss(**options)(output, target))
    assert float(own.settled(output[:2], target[:2], [target])(output, target).mean()) == pytest.approx(whole, rel=1e-5)


def test_a_network_with_smoothed_labels():
    plain = NetworkPotential(linear(), CrossEntropy(), (X, Y))
    problem = NetworkPotential(linear(), CrossEntropy(label_smoothing=0.1), (X, Y))
    truth = float(F.cross_entropy(linear()(X), Y, label_smoothing=0.1).detach())
    assert problem.baseline_loss == pytest.approx(truth, rel=SAME)
    assert problem._loss_name != plain._loss_name and "smoothing" not in plain._loss_name
    with pytest.raises(ValueError, match="label_smoothing"):
        CrossEntropy(label_smoothing=1.5)


@pytest.mark.parametrize("loss", ["cross_entropy", CrossEntropy(weight=[1.0, 2.0, 3.0, 1.0, 1.0])])
@pytest.mark.parametrize("chunk", [23, 1])
def test_one_row_left_over_by_a_forward_that_squeezes(loss, chunk):
    problem = NetworkPotential(Shaped(CLASSES, squeeze=True), loss, (X, Y), chunk=chunk)
    plain = NetworkPotential(Shaped(CLASSES), loss, (X, Y), chunk=chunk)
    delta = moved(plain, 2)
    assert problem.baseline_loss == pytest.approx(plain.baseline_loss, rel=SAME)
    for mine, theirs in zip(problem.excess_loss_and_grad(delta), plain.excess_loss_and_grad(delta), strict=True):
        assert torch.allclose(mine, theirs, atol=1e-7)


@pytest.mark.parametrize("loss", ["cross_entropy", CrossEntropy(class_dim=1), CrossEntropy(weight=[1.0, 2.0])])
def test_outputs_without_classes_are_refused(loss):
    with pytest.raises(ValueError, match="squeeze") as caught:
        NetworkPotential(Shaped(), loss, (X, Y))
    tells(str(caught.value))
