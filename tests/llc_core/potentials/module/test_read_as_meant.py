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


# -- data ----------------------------------------------------------------------------------------------------------


class Named(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = linear()

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x)


def batches(size: int, names: tuple[str, str] | None = None) -> list:
    found = list(DataLoader(TensorDataset(X, Y), size))
    return found if names is None else [dict(zip(names, batch, strict=True)) for batch in found]


@pytest.mark.parametrize("names", [None, ("x", "labels")])
def test_a_list_of_batches_is_noticed(names):
    with pytest.warns(UserWarning, match="6 inputs and 6 targets") as caught, pytest.raises(ValueError):
        NetworkPotential(Named(), "mse", batches(6, names), method="loop")
    said = [str(w.message) for w in caught]
    assert len(said) == 1 and "read as 4 rows" in said[0] and "DataLoader itself" in said[0]
    tells(said[0])
    if names is None:
        with pytest.raises(ValueError, match="3 batches of up to 10 rows") as refused:
            NetworkPotential(Named(), "cross_entropy", batches(10))
        tells(str(refused.value))


def test_rows_in_a_list_are_no_batches():
    plain = NetworkPotential(linear(), "cross_entropy", (X, Y))
    for rows in (list(zip(X, Y, strict=True)), [(x, int(y)) for x, y in zip(X, Y, strict=True)]):
        assert NetworkPotential(linear(), "cross_entropy", rows).baseline_loss == plain.baseline_loss


class Batched(torch.utils.data.Dataset):
    """Four batches, made by the data set."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return X[6 * index : 6 * index + 6], Y[6 * index : 6 * index + 6]


@pytest.mark.parametrize(
    "dataset", [TensorDataset(X, Y), [{"x": x, "labels": y} for x, y in zip(X, Y, strict=True)], Batched()]
)
def test_a_loader_that_makes_no_batches(dataset):
    plain = NetworkPotential(Named(), "cross_entropy", (X, Y))
    problem = NetworkPotential(Named(), "cross_entropy", DataLoader(dataset, batch_size=None))
    assert problem.n == ROWS and problem.baseline_loss == pytest.approx(plain.baseline_loss, rel=SAME)
    tokens = NetworkPotential(Words(), "next_token", DataLoader(TOKENS, batch_size=None))
    assert tokens.n == ROWS and tokens.baseline_loss == pytest.approx(of_tokens(list(TOKENS)), rel=SAME)


def test_what_is_left_out_is_told_as_it_is():
    rows = [{"inputs": {"a": x}, "x": x, "note": "text", "labels": y} for x, y in zip(X, Y, strict=True)]
    with pytest.warns(UserWarning) as caught:
        NetworkPotential(Named(), "cross_entropy", rows)
    (said,) = [str(w.message) for w in caught]
    assert "inputs (dictionaries, " in said and "note (no tensors or numbers)" in said


# -- tokens --------------------------------------------------------------------------------------------------------

TOKENS = torch.randint(0, CLASSES, (ROWS, 6))


class Words(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(2)
        self.embed, self.out = nn.Embedding(CLASSES, 6), nn.Linear(6, CLASSES)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.out(torch.tanh(self.embed(tokens).cumsum(1)))


def of_tokens(rows: list[Tensor]) -> float:
    """Over all tokens that follow another."""
    with torch.no_grad():
        each = [F.cross_entropy(Words()(row[None])[0, :-1], row[1:], reduction="sum") for row in rows]
    return float(sum(each)) / sum(len(row) - 1 for row in rows)


@pytest.mark.parametrize("ragged", [False, True])
def test_a_list_of_token_tensors(ragged):
    rows = [row[: 3 + i % 4] if ragged else row for i, row in enumerate(TOKENS)]
    for data in (rows, [row.numpy() for row in rows]):
        problem = NetworkPotential(Words(), "next_token", data, reduction="token")
        assert problem.n == ROWS and problem.baseline_loss == pytest.approx(of_tokens(rows), rel=SAME)
