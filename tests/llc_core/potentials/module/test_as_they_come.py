"""Batches and modules as researchers bring them: padded, nested, with columns of text; wrapped, quantised, with a loss of their own."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import pytest
import torch
from sentences import tells
from small_networks import gradient_by_difference, moved
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

from llc_core import CrossEntropy, NetworkPotential, estimate

ROWS, WORDS, LONGEST = 20, 7, 9
SAME = 1e-6
"""Relative: float32 of unit round-off 6e-8, in sums of fewer than 10 terms of their own size."""
torch.manual_seed(0)
LENGTHS = [2 + (3 * i) % (LONGEST - 1) for i in range(ROWS)]
SENTENCES = [torch.randint(0, WORDS, (length,)) for length in LENGTHS]
X, Y = torch.randn(ROWS, 4), torch.randint(0, 3, (ROWS,))


class Reader(nn.Module):
    """As the models of transformers: asks its mask whether any entry is 0, unless it is told to attend by plain products."""

    def __init__(self, causal: bool = True) -> None:
        super().__init__()
        torch.manual_seed(2)
        self.embed, self.score, self.out = nn.Embedding(WORDS, 6), nn.Linear(6, 1), nn.Linear(6, WORDS)
        self.causal, self.way = causal, "fused"

    def set_attn_implementation(self, way: str) -> None:
        self.way = way

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None, labels: Tensor | None = None):
        seen, length = self.embed(input_ids), input_ids.shape[1]
        allowed = torch.ones(length, length, dtype=torch.bool)
        allowed = (allowed.tril() if self.causal else allowed)[None]
        if attention_mask is not None and (self.way == "eager" or not attention_mask.all()):
            allowed = allowed & attention_mask[:, None].bool()
        scores = self.score(seen).transpose(1, 2).expand(-1, length, -1).masked_fill(~allowed, -1e9)
        logits = self.out(scores.softmax(-1) @ seen)
        loss = None
        if labels is not None:
            shown, wanted = (logits[:, :-1], labels[:, 1:]) if self.causal else (logits, labels)
            loss = F.cross_entropy(shown.reshape(-1, WORDS), wanted.reshape(-1))
        return SimpleNamespace(logits=logits, loss=loss)


def token_losses(row: Tensor) -> Tensor:
    """Of one sentence alone, by torch."""
    with torch.no_grad():
        logits = Reader()(row[None]).logits[0]
    return F.cross_entropy(logits[:-1], row[1:], reduction="none")


EACH = [token_losses(row) for row in SENTENCES]
MEANS = {
    "token": float(torch.cat(EACH).mean()),
    "row": float(torch.stack([each.mean() for each in EACH]).mean()),
    "sum": float(torch.stack([each.sum() for each in EACH]).mean()),
}


def dictionary(row: Tensor) -> dict[str, Tensor]:
    return {"input_ids": row, "attention_mask": torch.ones_like(row), "labels": row.clone()}


def collated(items: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Padded to the longest of its batch, as a tokenizer's collator does."""
    fill = {"input_ids": 3, "attention_mask": 0, "labels": -100}
    return {
        name: nn.utils.rnn.pad_sequence([item[name] for item in items], batch_first=True, padding_value=fill[name])
        for name in fill
    }


class Sentences(Dataset):
    """A list of tensors would be columns."""

    def __len__(self) -> int:
        return ROWS

    def __getitem__(self, index: int) -> Tensor:
        return SENTENCES[index]


FORMS = {
    "a loader that pads each batch": lambda: DataLoader(
        [dictionary(row) for row in SENTENCES], batch_size=3, collate_fn=collated
    ),
    "rows of any length": lambda: [dictionary(row) for row in SENTENCES],
    "lists, as a tokenizer gives them": lambda: {
        "input_ids": [row.tolist() for row in SENTENCES],
        "attention_mask": [[1] * len(row) for row in SENTENCES],
    },
    "tokens alone": lambda: Sentences(),
    "without a mask": lambda: [{"input_ids": row} for row in SENTENCES],
    "with text": lambda: [{"text": "words", **dictionary(row)} for row in SENTENCES],
}


@pytest.mark.filterwarnings("ignore:data's text")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("reduction", ["token", "row", "sum"])
def test_what_is_padded_does_not_count(form, reduction):
    problem = NetworkPotential(Reader(), "next_token", FORMS[form](), reduction=reduction, batch_size=4)
    assert problem.method == "vmap"
    assert problem.baseline_loss == pytest.approx(MEANS[reduction], rel=SAME) and problem.n == ROWS


def test_chains_with_rows_of_their_own_meet_the_same_loss_as_one_after_another():
    forms = [FORMS["rows of any length"](), FORMS["a loader that pads each batch"]()]
    runs = [
        estimate(NetworkPotential(Reader(), "next_token", data, reduction="token", batch_size=4, method=method),
                 "SGLD", gradient="minibatch", chains=3, steps=30, step_size=1e-4, dtype="float64")
        for data in forms for method in ("vmap", "loop")
    ]  # fmt: skip
    for run in runs[1:]:
        assert run.llc == pytest.approx(runs[0].llc, abs=1e-6)


@pytest.mark.parametrize("reduction", ["row", "sum"])
@pytest.mark.parametrize("weight", [None, [1.0, 2.0, 3.0, 1.0, 0.5, 2.0, 1.0]])
def test_gradients_of_each_mean(reduction, weight):
    labels = torch.stack([F.pad(row, (0, LONGEST - len(row)), value=-100) for row in SENTENCES])
    tokens = labels.clamp_min(0)
    loss = CrossEntropy(class_dim=-1, weight=weight, reduction=reduction)
    problem = NetworkPotential(Reader(), loss, {"input_ids": tokens, "labels": labels})
    delta = moved(problem, 2)
    found = problem.excess_loss_and_grad(delta)[1]
    assert torch.allclose(found, gradient_by_difference(problem, delta, None), atol=1e-8)
    with torch.no_grad():
        logits = Reader()(tokens).logits
    parts = [
        F.cross_entropy(o[: len(row)], row, weight=None if weight is None else torch.tensor(weight),
                        reduction="mean" if reduction == "row" else "sum")
        for o, row in zip(logits, SENTENCES, strict=True)
    ]  # fmt: skip
    assert problem.baseline_loss == pytest.approx(float(torch.stack(parts).mean()), rel=SAME)


def test_two_means_that_differ_are_told_with_both_numbers_once():
    problem = NetworkPotential(Reader(), "next_token", FORMS["rows of any length"]())
    with pytest.warns(UserWarning, match="reduction=") as caught:
        assert problem.baseline_loss == pytest.approx(MEANS["token"], rel=SAME)
    tells(caught[0].message)
    assert f"{MEANS['token']:.4f}" in str(caught[0].message) and f"{MEANS['row']:.4f}" in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert problem.moved(torch.zeros(problem.dim)).baseline_loss == problem.baseline_loss
        same_lengths = torch.stack([row[:2] for row in SENTENCES])
        assert NetworkPotential(Reader(), "next_token", same_lengths).baseline_loss > 0


@pytest.mark.parametrize("loss", ["next_token", CrossEntropy(class_dim=-1)])
def test_another_mean_is_another_problem(loss):
    tokens = torch.stack([row[:2] for row in SENTENCES])
    data = {"input_ids": tokens, "labels": tokens}
    told = [NetworkPotential(Reader(), loss, data, reduction=each).to_dict()["fingerprint"] for each in MEANS]
    assert len(set(told)) == 3
    assert told[0] == NetworkPotential(Reader(), loss, data).to_dict()["fingerprint"]


def test_rows_without_a_label_are_counted_and_do_not_count():
    tokens = torch.stack([row[:2] for row in SENTENCES])
    labels = tokens.clone()
    labels[3] = labels[11] = -100
    with pytest.warns(UserWarning, match="2 of 20 rows have no label") as caught:
        problem = NetworkPotential(Reader(), "next_token", {"input_ids": tokens, "labels": labels}, reduction="row")
    tells(caught[0].message)
    rest = [token_losses(row).mean() for i, row in enumerate(tokens) if i not in (3, 11)]
    assert problem.n == ROWS - 2 and problem.samples == ROWS
    assert problem.baseline_loss == pytest.approx(float(torch.stack(rest).mean()), rel=SAME)


def test_padding_without_a_mask_is_refused_where_a_row_sees_what_follows():
    rows = [{"input_ids": row, "labels": row} for row in SENTENCES]
    with pytest.raises(ValueError, match="attention_mask") as caught:
        NetworkPotential(Reader(causal=False), "cross_entropy", rows)
    tells(caught.value)
    assert "2 to 9 entries" in str(caught.value)


# -- the module's own loss -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("causal", [True, False])
def test_the_module_s_own_loss_is_known_by_its_name(causal):
    data = collated([dictionary(row) for row in SENTENCES])
    problem = NetworkPotential(Reader(causal), data=data, reduction="token")
    with torch.no_grad():
        own = float(Reader(causal)(**data).loss)
    assert problem.baseline_loss == pytest.approx(own, rel=SAME)


class Robust(nn.Module):
    """Its loss is none that is known here."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.line = nn.Linear(4, 1)

    def forward(self, x: Tensor, labels: Tensor) -> dict[str, Tensor]:
        output = self.line(x).squeeze(-1)
        return {"logits": output, "loss": F.huber_loss(output, labels)}


def test_another_loss_of_the_module_is_asked_row_by_row_in_eval_mode():
    module, labels = Robust(), 3 * torch.randn(ROWS)
    module.train()
    problem = NetworkPotential(module, data={"x": X, "labels": labels})
    with torch.no_grad():
        assert problem.baseline_loss == pytest.approx(float(module(X, labels)["loss"]), rel=SAME)
    assert module.training and module.line.training


class NeedsLabels(Reader):
    """As an encoder-decoder, whose decoder reads the labels."""

    def forward(self, input_ids: Tensor, labels: Tensor | None = None):
        if labels is None:
            raise ValueError("specify labels")
        return super().forward(input_ids + labels.clamp_min(0) % 2)


def test_labels_are_handed_to_a_module_that_cannot_do_without():
    tokens = torch.randint(0, WORDS - 1, (ROWS, 4))
    problem = NetworkPotential(NeedsLabels(), CrossEntropy(class_dim=-1), {"input_ids": tokens, "labels": tokens})
    with torch.no_grad():
        logits = NeedsLabels()(tokens, tokens).logits
    assert problem.baseline_loss == pytest.approx(float(F.cross_entropy(logits.mT, tokens)), rel=SAME)


# -- forms of data and of modules ----------------------------------------------------------------------------------


class Two(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.line = nn.Linear(4, 3)

    def forward(self, x: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
        return self.line(x) * scale, x


SCALE = torch.rand(ROWS, 1) + 0.5
NESTED = {
    "tuples of tensors": lambda: ((X, SCALE), Y),
    "rows": lambda: [((X[i], SCALE[i]), Y[i]) for i in range(ROWS)],
    "a dictionary and labels": lambda: ({"x": X, "scale": SCALE}, Y),
    "rows of a dictionary and a label": lambda: [({"x": X[i], "scale": SCALE[i]}, int(Y[i])) for i in range(ROWS)],
    "a loader": lambda: DataLoader([((X[i], SCALE[i]), Y[i]) for i in range(ROWS)], batch_size=6),
    "a column that the module does not take": lambda: {"x": X, "scale": SCALE, "row": torch.arange(ROWS), "labels": Y},
}


@pytest.mark.filterwarnings("ignore:The module takes no row")
@pytest.mark.parametrize("form", NESTED)
def test_nested_inputs_and_an_output_that_is_the_first_of_several(form):
    problem = NetworkPotential(Two(), "cross_entropy", NESTED[form]())
    with torch.no_grad():
        truth = float(F.cross_entropy(Two()(X, SCALE)[0], Y))
    assert problem.baseline_loss == pytest.approx(truth, rel=SAME)


def test_a_wrapper_for_several_devices_is_taken_off():
    torch.manual_seed(0)
    plain = nn.Sequential(nn.Linear(4, 3))
    wrapped = NetworkPotential(nn.DataParallel(plain), "cross_entropy", (X, Y), parameters="0.weight")
    assert wrapped.dim == 12
    assert wrapped.baseline_loss == NetworkPotential(plain, "cross_entropy", (X, Y)).baseline_loss


class Quantised(nn.Module):
    """Whole numbers that never move, with a scale, below an adapter."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.base = nn.Parameter(torch.randint(0, 255, (3, 4)).to(torch.uint8), requires_grad=False)
        self.low, self.high = nn.Linear(4, 2, bias=False), nn.Linear(2, 3, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, (self.base.to(x.dtype) - 128) / 128) + self.high(self.low(x))


@pytest.mark.parametrize("parameters", [None, "*", ["low.*", "high.*"]])
def test_adapters_on_a_quantised_base(parameters):
    problem = NetworkPotential(Quantised(), "cross_entropy", (X, Y), parameters=parameters)
    assert problem.dim == 14
    with torch.no_grad():
        assert problem.baseline_loss == pytest.approx(float(F.cross_entropy(Quantised()(X), Y)), rel=SAME)
    delta = moved(problem, 2)
    found = problem.excess_loss_and_grad(delta)[1]
    assert torch.allclose(found, gradient_by_difference(problem, delta, None), atol=1e-8)


@pytest.mark.parametrize("parameters", ["base", {"base": True}])
def test_whole_numbers_cannot_move(parameters):
    with pytest.raises(ValueError, match=r"base holds torch\.uint8 numbers, which cannot move") as caught:
        NetworkPotential(Quantised(), "cross_entropy", (X, Y), parameters=parameters)
    tells(caught.value)
