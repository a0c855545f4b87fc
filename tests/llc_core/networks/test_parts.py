"""Parts of a network by name."""

from __future__ import annotations

import pytest
import torch
from sentences import tells
from torch import nn

from llc_core.networks import build_model, head_masks, named_parts
from llc_core.networks.parts import NamedPart

TRANSFORMER = {"kind": "transformer", "vocabulary": 5, "length": 4, "dim": 8, "layers": 2, "heads": 2}


class Own(nn.Module):
    """A weight of its own, a layer, and a frozen one."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))
        self.inner = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2).requires_grad_(False))


def test_layers_are_modules_with_trained_weights_of_their_own():
    found = named_parts(Own())
    assert found == {
        "layer:Own": {"scale": True},
        "layer:inner.0": {"inner.0.weight": True, "inner.0.bias": True},
    }
    assert named_parts(Own(), "layer:inner.0") == {"layer:inner.0": found["layer:inner.0"]}


def test_layers_of_a_transformer_are_all_of_its_weights_once():
    model = build_model(TRANSFORMER)
    names = [name for part in named_parts(model, "layers").values() for name in part]
    assert sorted(names) == sorted(name for name, _ in model.named_parameters())


def test_heads_are_those_of_head_masks():
    model = build_model(TRANSFORMER)
    found = named_parts(model, "heads")
    assert list(found) == ["head:0.0", "head:0.1", "head:1.0", "head:1.1"]
    for name, masks in head_masks(model, 1, 0).items():
        assert torch.equal(found["head:1.0"][name], masks)
    assert list(named_parts(model, ["all", "head:0.1", "blocks.0.*"])) == ["all", "head:0.1", "blocks.0.*"]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("all", NamedPart()),
        ("head:0.12", NamedPart(head=(0, 12))),
        ("layer:inner.0", NamedPart("inner.0")),
        ("head:0", NamedPart(pattern="head:0")),
        ("blocks.0.*", NamedPart(pattern="blocks.0.*")),
    ],
)
def test_a_name_is_read_as_it_is_written(text, part):
    assert NamedPart.read(text) == part and str(part) == text


def test_names_of_your_own():
    masks = {"inner.0.weight": torch.eye(3, 2, dtype=torch.bool)}
    found = named_parts(
        Own(), {"diagonal": masks, "first": "layer:inner.0", "both": ["scale", "inner.*"], "all": "all"}
    )
    assert found["diagonal"] is masks and list(found["first"]) == ["inner.0.weight", "inner.0.bias"]
    assert found["both"] == ["scale", "inner.*"] and found["all"] is None


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ("heads", ["parts", "heads", "Own"]),
        ("head:0.0", ["without attention"]),
        ("layer:outer", ["layer:outer", "inner.0"]),
        ({}, ["names no part"]),
        (3, ["parts is 3", "layers"]),
        ([3], ["parts", "layers"]),
    ],
)
def test_one_sentence(parts, words):
    with pytest.raises(ValueError) as caught:
        named_parts(Own(), parts)
    tells(caught.value)
    assert all(word in str(caught.value) for word in words), str(caught.value)
