"""A training that was ended goes on where it was, and gives what one without an interruption gives, bit for bit."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from llc_core.networks import AdamW, EntropySGD, MomentumSGD, Split, bookmarks, build_model, train, training
from llc_core.networks.optimizers import Optimizer

STEPS, ENDED = 11, 8
CHECKPOINTS = (0, 3, 9)


def data(seed: int = 0) -> Split:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(24, 3, generator=generator)
    y = (x[:, 0] > 0).long()
    return Split("toy", x[:14], y[:14], x[14:], y[14:])


def trained(optimizer: Optimizer, kept: Path | None = None, **others):
    model = build_model({"kind": "mlp", "widths": [3, 5, 2]}, 1)
    asked = {"steps": STEPS, "batch_size": 4, "checkpoints": CHECKPOINTS, "seed": 2} | others
    return train(model, data(), optimizer, kept=kept, **asked)


def same(one, other) -> bool:
    """Whether two records have the same losses and the same weights at the same checkpoints, every bit of them."""
    pairs = list(zip(one.checkpoints, other.checkpoints, strict=True))
    return one.losses.tolist() == other.losses.tolist() and all(
        (a.step, a.train_loss, a.test_loss, a.test_accuracy) == (b.step, b.train_loss, b.test_loss, b.test_accuracy)
        and a.state.keys() == b.state.keys()
        and all(torch.equal(a.state[name], b.state[name]) for name in a.state)
        for a, b in pairs
    )


def counted(monkeypatch, kind: type[Optimizer], ended: int | None = None) -> list[int]:
    """Has a number for each step from now on. The step number `ended` moves the weights, and then the program is interrupted."""
    calls: list[int] = []
    step = kind.step

    def counting(self, *given):
        found = step(self, *given)
        calls.append(len(calls) + 1)
        if calls[-1] == ended:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(kind, "step", counting)
    return calls


@pytest.fixture
def always(monkeypatch):
    monkeypatch.setattr(bookmarks, "SECONDS", 0.0)


@pytest.mark.parametrize(
    "optimizer", [AdamW(learning_rate=0.05), MomentumSGD(), EntropySGD()], ids=lambda o: o.to_dict()["name"]
)
def test_it_goes_on_inside_the_training(tmp_path, always, optimizer):
    whole = trained(optimizer)
    with pytest.MonkeyPatch.context() as patched, pytest.raises(KeyboardInterrupt):
        counted(patched, type(optimizer), ENDED)
        trained(optimizer, tmp_path)
    with pytest.MonkeyPatch.context() as patched:
        calls = counted(patched, type(optimizer))
        found = trained(optimizer, tmp_path)
        assert len(calls) == STEPS - ENDED + 1, "the step that was not kept, and those after it"
        assert same(found, whole)
        assert same(trained(optimizer, tmp_path), whole) and len(calls) == STEPS - ENDED + 1, "nothing is left to do"
    (only,) = tmp_path.iterdir()
    assert only.suffix == ".pt"


def test_the_comparison_sees_moments_that_were_lost(tmp_path, always, monkeypatch):
    whole = trained(AdamW(learning_rate=0.05))
    with pytest.MonkeyPatch.context() as patched, pytest.raises(KeyboardInterrupt):
        counted(patched, AdamW, ENDED)
        trained(AdamW(learning_rate=0.05), tmp_path)
    read = bookmarks.Bookmark.read
    monkeypatch.setattr(bookmarks.Bookmark, "read", lambda self: read(self) | {"memory": {}})
    assert not same(trained(AdamW(learning_rate=0.05), tmp_path), whole)


def test_a_training_that_stops_early_stays_stopped(tmp_path, always):
    whole = trained(AdamW(learning_rate=0.05), until_loss=10.0)
    assert whole.steps == 3, "the end of the first epoch"
    for _ in range(2):
        assert same(trained(AdamW(learning_rate=0.05), tmp_path, until_loss=10.0), whole)


def test_another_question_has_another_file(tmp_path):
    for other in ({}, {"seed": 3}, {"steps": 12}, {"batch_size": 5}, {"checkpoints": (0,)}):
        trained(AdamW(), tmp_path, **other)
    assert len(list(tmp_path.iterdir())) == 5
    names = {bookmarks.Bookmark(tmp_path, "asked", data(seed).pair).path for seed in (0, 0, 1)}
    assert len(names) == 2, "the data count as well"


def test_another_network_of_the_same_weights_has_another_file(tmp_path):
    """An activation and a number of heads change no weight at the start, and all that is learned."""
    described = [{"kind": "mlp", "widths": [3, 5, 2], "activation": each} for each in ("relu", "tanh")]
    described += [{"kind": "transformer", "vocabulary": 5, "length": 3, "dim": 4, "heads": each} for each in (2, 4)]
    tokens = torch.arange(12).reshape(4, 3) % 5
    text = Split("tokens", tokens, (tokens + 1) % 5, tokens, (tokens + 1) % 5)
    for each in described:
        data_of = text if each["kind"] == "transformer" else data()
        train(build_model(each, 1), data_of, AdamW(), steps=1, batch_size=2, kept=tmp_path)
    frozen = build_model(described[0], 1)
    frozen[0].bias.requires_grad_(False)
    train(frozen, data(), AdamW(), steps=1, batch_size=2, kept=tmp_path)
    assert len(list(tmp_path.iterdir())) == 5


class Harm:
    def __reduce__(self):
        return print, ("run",)


@pytest.mark.parametrize("damage", ["cut off", "a program"])
def test_a_damaged_file_is_one_sentence(tmp_path, capsys, damage):
    trained(AdamW(), tmp_path)
    (path,) = tmp_path.iterdir()
    if damage == "a program":
        torch.save({"state": Harm()}, path)
    else:
        path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ValueError, match=r"is no training that can go on; remove it") as raised:
        trained(AdamW(), tmp_path)
    assert "\n" not in str(raised.value) and capsys.readouterr().out == ""


def test_a_loss_without_a_name_is_not_kept(tmp_path):
    with pytest.raises(ValueError, match="loss is a function"):
        trained(AdamW(), tmp_path, loss=lambda output, target: output.sum(1))


class Ended(Exception):
    pass


def test_everything_of_a_step_is_on_the_device_that_was_asked_for(monkeypatch):
    """torch's "meta" has shapes without numbers: it stands for a card until the first step has its gradients."""
    made: list[str] = []
    monkeypatch.setattr(
        training, "torch_stream", lambda seed, name, place="cpu": made.append(f"{name} {place}") or torch.Generator()
    )

    class Looking(AdamW):
        def step(self, parameters, gradients, memory, noise):
            loss, grads = gradients()
            super().step(parameters, lambda: (loss, grads), memory, noise)
            every = [loss, *parameters, *grads, *memory["first"], *memory["second"]]
            assert {each.device.type for each in every} == {"meta"}
            raise Ended

    toy = data()
    told = Split("toy", toy.inputs, toy.inputs[:, :2], toy.test_inputs, toy.test_inputs[:, :2])
    monkeypatch.setattr(training, "build_optimizer", lambda given: given)
    with pytest.raises(Ended):
        train(nn.Linear(3, 2), told, Looking(), steps=1, batch_size=4, loss="squared_error", device="meta")
    assert made == ["order cpu", "optimizer meta"]
