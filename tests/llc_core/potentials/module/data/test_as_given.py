"""Modules, losses and data as they come from a training: every form gives the numbers of the plain one."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import pytest
import torch
from sentences import tells
from small_networks import gradient_by_difference, moved
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

from llc_core import CrossEntropy, NetworkPotential, estimate

ROWS, LENGTH, WORDS = 24, 6, 5
SAME = 1e-6
"""Relative: float32 of unit round-off 6e-8, in sums of fewer than 10 terms of their own size."""

torch.manual_seed(0)
X, Y = 2 * torch.randn(ROWS, 4), torch.randint(0, 3, (ROWS,))
TOKENS = torch.randint(0, WORDS, (ROWS, LENGTH))
MASK = (torch.arange(LENGTH) < torch.randint(2, LENGTH + 1, (ROWS, 1))).long()


def classifier() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))


class Language(nn.Module):
    """As the modules of transformers: called by names, with several results, and a loss of its own if it is given labels."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(2)
        self.embed, self.out = nn.Embedding(WORDS, 7), nn.Linear(7, WORDS)

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None, labels: Tensor | None = None):
        seen = self.embed(input_ids)
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        logits = self.out((seen * mask.unsqueeze(-1)).cumsum(1))
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits[:, :-1].transpose(1, 2), labels[:, 1:])
        return SimpleNamespace(logits=logits, loss=loss)


def next_token_loss(mask: Tensor | None = None) -> float:
    """torch's own, over all rows at once."""
    targets = TOKENS if mask is None else TOKENS.masked_fill(mask == 0, -100)
    with torch.no_grad():
        logits = Language()(TOKENS, mask).logits
    return float(F.cross_entropy(logits[:, :-1].transpose(1, 2), targets[:, 1:]))


def has_right_gradient(problem: NetworkPotential) -> bool:
    delta = moved(problem, 2)
    return torch.allclose(
        problem.excess_loss_and_grad(delta)[1], gradient_by_difference(problem, delta, None), atol=1e-8
    )


# -- dictionaries and tokens ---------------------------------------------------------------------------------------


class Dictionaries(Dataset):
    def __init__(self, **columns: Tensor) -> None:
        self.columns = columns

    def __len__(self) -> int:
        return ROWS

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        return {name: column[index] for name, column in self.columns.items()}


@pytest.mark.parametrize("method", ["vmap", "loop"])
@pytest.mark.parametrize("masked", [False, True])
def test_dictionaries_of_tokens(method, masked):
    columns = {"input_ids": TOKENS, **({"attention_mask": MASK} if masked else {})}
    labels = TOKENS.masked_fill(MASK == 0, -100) if masked else TOKENS
    truth = next_token_loss(MASK if masked else None)
    for data in (
        columns,
        Dictionaries(**columns),
        DataLoader(Dictionaries(**columns), batch_size=5),
        {**columns, "labels": labels},
    ):
        problem = NetworkPotential(Language(), "next_token", data, method=method)
        assert problem.samples == ROWS and problem.baseline_loss == pytest.approx(truth, rel=SAME)
    assert has_right_gradient(problem)


def test_tokens_alone():
    loaders = [TOKENS, (TOKENS,), TensorDataset(TOKENS), DataLoader(TOKENS, batch_size=7)]
    for data in loaders:
        problem = NetworkPotential(Language(), "next_token", data)
        assert problem.baseline_loss == pytest.approx(next_token_loss(), rel=SAME)


def test_dictionaries_with_labels_that_are_classes():
    class Named(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = classifier()

        def forward(self, pixel_values: Tensor) -> dict[str, Tensor]:
            return {"logits": self.inner(pixel_values)}

    truth = float(F.cross_entropy(classifier()(X), Y).detach())
    problem = NetworkPotential(Named(), "cross_entropy", {"labels": Y, "pixel_values": X}, batch_size=8)
    assert problem.baseline_loss == pytest.approx(truth, rel=SAME)
    assert estimate(problem, "SGLD", gradient="minibatch", steps=60).diverged == 0


# -- functions of a model and a batch ------------------------------------------------------------------------------


def by_row(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    return F.cross_entropy(model(batch[0]), batch[1], reduction="none")


def mean(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    return F.cross_entropy(model(batch[0]), batch[1])


def mean_and_more(model: nn.Module, batch: tuple[Tensor, Tensor]):
    output = model(batch[0])
    return F.cross_entropy(output, batch[1]), {"output": output}


def named(model: nn.Module, batch: tuple[Tensor, Tensor]):
    return {"loss": mean(model, batch)}


def not_for_vmap(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    return mean(model, batch) * (1.0 if float(batch[0].sum()) < 1e9 else 2.0)


@pytest.mark.parametrize("function", [by_row, mean, mean_and_more, named, not_for_vmap])
@pytest.mark.filterwarnings("ignore:vmap cannot evaluate")
def test_a_function_of_model_and_batch(function):
    plain = NetworkPotential(classifier(), "cross_entropy", (X, Y))
    problem = NetworkPotential(classifier(), loss_fn=function, data=DataLoader(TensorDataset(X, Y), batch_size=5))
    delta = moved(plain, 3)
    for mine, theirs in zip(problem.excess_loss_and_grad(delta), plain.excess_loss_and_grad(delta), strict=True):
        assert torch.allclose(mine, theirs, atol=1e-9)
    assert torch.allclose(problem.per_sample_loss(delta, 3, 9), plain.per_sample_loss(delta, 3, 9))
    assert problem.to_dict() != plain.to_dict()


def test_a_function_of_a_dictionary_as_transformers_users_write_it():
    data = DataLoader(Dictionaries(input_ids=TOKENS, labels=TOKENS), batch_size=8)
    problem = NetworkPotential(Language(), loss_fn=lambda model, batch: model(**batch).loss, data=data, batch_size=8)
    assert problem.baseline_loss == pytest.approx(next_token_loss(), rel=SAME)
    assert has_right_gradient(problem)
    assert estimate(problem, "SGLD", gradient="minibatch", steps=60).diverged == 0


def test_a_mean_that_weights_rows_is_taken_row_by_row_and_said():
    labels = TOKENS.masked_fill(MASK == 0, -100)
    labels[:, 1] = TOKENS[:, 1]  # every row has one that counts
    data = {"input_ids": TOKENS, "labels": labels}
    with pytest.warns(UserWarning, match="mean over rows of the value that each has alone"):
        problem = NetworkPotential(Language(), loss_fn=lambda m, b: m(**b).loss, data=data, shuffle=False)
    with torch.no_grad():
        each = [float(Language()(TOKENS[i : i + 1], None, labels[i : i + 1]).loss) for i in range(ROWS)]
    assert problem.baseline_loss == pytest.approx(sum(each) / ROWS, rel=SAME)


# -- weights of samples --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [{"loss": "cross_entropy"}, {"loss_fn": mean}, {"loss_fn": by_row}])
def test_weights_of_samples(how):
    weights = torch.linspace(0, 3, ROWS)
    problem = NetworkPotential(classifier(), data=(X, Y), sample_weights=weights, **how)
    each = F.cross_entropy(classifier()(X), Y, reduction="none").detach()
    assert problem.baseline_loss == pytest.approx(float((weights * each).sum() / weights.sum()), rel=SAME)
    assert has_right_gradient(problem)


# -- compiled modules ----------------------------------------------------------------------------------------------


def test_compiled_modules():
    plain = NetworkPotential(classifier(), "cross_entropy", (X, Y))
    whole = torch.compile(classifier())
    part = classifier()
    part[2] = torch.compile(part[2])
    for module in (whole, part):
        problem = NetworkPotential(module, "cross_entropy", (X, Y), parameters=["0.*", "2.weight", "2.bias"])
        assert problem.method == "dense" and problem.baseline_loss == pytest.approx(plain.baseline_loss, rel=SAME)
        delta = moved(plain, 2)
        assert torch.allclose(problem.excess_loss_and_grad(delta)[1], plain.excess_loss_and_grad(delta)[1], atol=1e-12)


# -- streams -------------------------------------------------------------------------------------------------------


class Stream(IterableDataset):
    def __init__(self, end: int | None = None) -> None:
        self.end = end

    def __iter__(self):
        index = 0
        while self.end is None or index < self.end:
            yield X[index % ROWS] + index, Y[index % ROWS]
            index += 1


def test_a_stream_without_an_end_is_read_as_far_as_asked():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for data in (Stream(), DataLoader(Stream(), batch_size=7), ((X[i : i + 7], Y[i : i + 7]) for i in (0, 7, 14))):
            problem = NetworkPotential(classifier(), "cross_entropy", data, rows=20, shuffle=False)
            assert problem.samples == problem.n == 20
        for data in (Stream(30), DataLoader(Stream(30), batch_size=7)):
            assert NetworkPotential(classifier(), "cross_entropy", data).samples == 30
    first = NetworkPotential(classifier(), "cross_entropy", DataLoader(Stream(), batch_size=7), rows=20, shuffle=False)
    assert torch.equal(first.data.fields[0], torch.stack([X[i] + i for i in range(20)]))


def test_the_size_taken_of_a_stream_is_said_in_one_sentence(monkeypatch):
    monkeypatch.setattr("llc_core.potentials.module.data.given.STREAM_ROWS", 40)
    for data in (Stream(), DataLoader(Stream(), batch_size=7), DataLoader(Stream(), batch_size=8)):
        with pytest.warns(UserWarning) as caught:
            problem = NetworkPotential(classifier(), "cross_entropy", data)
        said = [str(w.message) for w in caught]
        assert problem.samples == 40 and len(said) == 1, said
        tells(said[0])
        assert "first 40 rows" in said[0] and "rows=" in said[0]


# -- rows that mix -------------------------------------------------------------------------------------------------


class Standardised(nn.Module):
    """Batch statistics that eval mode does not switch off."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = classifier()

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(F.batch_norm(x, None, None, training=True))


class AttentionAcross(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = classifier()

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(torch.softmax(x @ x.T, 1) @ x)


@pytest.mark.parametrize("module", [Standardised, AttentionAcross])
@pytest.mark.parametrize("how", [{"loss": "cross_entropy"}, {"loss_fn": by_row}])
def test_a_forward_that_mixes_rows_is_noticed(module, how):
    with pytest.warns(UserWarning) as caught:
        NetworkPotential(module(), data=(X, Y), **how)
    said = [str(w.message) for w in caught if "mixes the rows" in str(w.message)]
    assert len(said) == 1
    tells(said[0])


def test_modules_that_take_each_row_alone_are_not_suspected():
    torch.manual_seed(0)
    normed = nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.LayerNorm(5), nn.ReLU(), nn.Linear(5, 3))
    for _ in range(3):
        normed(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NetworkPotential(normed, "cross_entropy", (X, Y))
        NetworkPotential(classifier(), loss_fn=by_row, data=(X, Y))
        NetworkPotential(Language(), "next_token", TOKENS)


# -- what does not fit ---------------------------------------------------------------------------------------------


def use(**more) -> NetworkPotential:
    return NetworkPotential(more.pop("module", classifier()), **{"data": (X, Y), **more})


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: use(), ["loss", "loss_fn"]),
        (lambda: use(loss="mse", loss_fn=mean), ["either loss", "loss_fn"]),
        (lambda: use(loss_fn="mean"), ["loss_fn", "str", "(model, batch)"]),
        (lambda: use(loss_fn=lambda m, b: 3.0), ["loss_fn", "float"]),
        (lambda: use(loss_fn=lambda m, b: m(b)), ["loss_fn cannot be called"]),
        (lambda: use(loss_fn=lambda m, b: by_row(m, b).sum()), ["sum over a batch", "mean"]),
        (lambda: use(loss="cross_entropy", data=TOKENS), ["Tensor", "(inputs, targets)", "next_token"]),
        (lambda: use(loss="cross_entropy", data={"x": X}), ["keys x", "'labels'", "loss_fn"]),
        (lambda: use(loss="cross_entropy", data={"labels": Y}), ["labels alone", "inputs"]),
        (lambda: use(loss="cross_entropy", data={"x": X, "labels": ["a"] * ROWS}), ["not all made of tensors"]),
        (lambda: use(loss="cross_entropy", data={"x": X, "labels": "a"}), ["'labels'", "str", "tensor"]),
        (lambda: use(loss="mse", reduction="row"), ["reduction", "'row'", "cross_entropy"]),
        (lambda: use(loss="cross_entropy", reduction="rows"), ["reduction", "'rows'", "token"]),
        (lambda: use(loss_fn=mean, reduction="row"), ["reduction", "loss_fn"]),
        (lambda: use(data={"x": X, "labels": Y}), ["module cannot be called"]),
        (lambda: use(loss="cross_entropy", data={}), ["empty"]),
        (lambda: use(loss="next_token", data=TOKENS[:, :1], module=Language()), ["(24, 1)", "T ≥ 2"]),
        (lambda: use(loss="next_token", data=(X, TOKENS)), ["(2, 3)", "[B, T, K]"]),
        (lambda: use(loss="mse", data=Stream(0)), ["data is empty"]),
        (lambda: use(loss="mse", data=Stream(), rows=0), ["rows", "0"]),
        (lambda: use(loss="cross_entropy", sample_weights=[1.0]), ["sample_weights", "(1,)", "24 rows"]),
        (lambda: use(loss="cross_entropy", sample_weights=torch.zeros(ROWS)), ["sample_weights", "0"]),
        (lambda: use(loss="cross_entropy", sample_weights="all"), ["sample_weights", "str"]),
        (lambda: use(loss=CrossEntropy(), data=[{"x": X[0], "y": Y[0]}, {"x": X[0]}]), ["different keys", "x, y"]),
    ],
)
def test_one_sentence(call, words):
    with pytest.raises(ValueError) as caught:
        call()
    tells(caught.value)
    assert all(word in str(caught.value) for word in words), str(caught.value)
