"""The card that draws the network of "Your network": what is sent is where the chain is, and what moves is what the part says."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from cases import few

from app.components.drawings.layers import STEPS, packed
from app.pages.your_network.config import NETWORKS, parts
from app.pages.your_network.job import DRAWN
from app.pages.your_network.panels.drawing import DIVERGED, ELSEWHERE, WAITS, DrawingPanel, moving, spread_out
from app.pages.your_network.scene import data, link_config, selection, untrained
from llc_core.networks import build_model, potential_at
from llc_core.networks.heads import head_masks


def unpacked(sent: bytes, tensors: list[dict]) -> list[np.ndarray]:
    """As `layers.js` reads it."""
    largest = np.frombuffer(sent, "<f4", len(tensors))
    ends = np.cumsum([t["rows"] * t["columns"] for t in tensors])
    shares = np.split(np.frombuffer(sent, np.int8, offset=4 * len(tensors)), ends[:-1])
    assert len(sent) == 4 * len(tensors) + ends[-1]
    return [most * share / STEPS for most, share in zip(largest, shares, strict=True)]


def opened(config: dict) -> tuple[DrawingPanel, torch.nn.Module]:
    """The card with weights of a file, for which nothing has to be trained."""
    found = link_config(config)
    model = build_model(NETWORKS[found.choice.network].model, seed=3)
    panel = DrawingPanel()
    panel.show(type(found)(found.problem, found.settings, found.resolved, model.state_dict()))
    return panel, model


def test_what_is_sent_keeps_every_entry_within_half_a_step():
    values = [np.array([[0.5, -1.0], [0.0, 0.25]]), np.zeros(3), np.array([-2e-7])]
    tensors = [{"rows": len(each), "columns": each.size // len(each)} for each in values]
    for sent, each in zip(unpacked(packed(values), tensors), values, strict=True):
        assert np.abs(sent - each.ravel()).max() <= np.abs(each).max() * (0.5 / STEPS + 1e-6)


@pytest.mark.parametrize("config", [{"network": "small"}, {"network": "heads", "part": "head:1.2"}], ids=str)
def test_what_is_drawn_is_the_network_where_the_chain_is(config):
    """Its loss is the one that the chain has: another order of the entries would be another function."""
    panel, model = opened(config)
    choice = link_config(config).choice
    rows = data(NETWORKS[choice.network].data)
    problem = potential_at(model, model.state_dict(), rows, parameters=selection(model, choice.moves), batch_size=16)
    delta = 0.05 * torch.randn(problem.dim, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    panel.move(delta.numpy())
    panel.update()
    tensors = panel._drawing.tensors
    w0, change = (unpacked(sent, tensors) for sent in (panel._drawing.w0, panel._drawing.displaced))
    state = {}
    for (name, tensor), start, moved in zip(model.named_parameters(), w0, change, strict=True):
        assert np.abs(start - tensor.detach().numpy().ravel()).max() <= np.abs(start).max() * 0.51 / STEPS
        state[name] = tensor.detach() + torch.as_tensor(moved, dtype=torch.float32).view(tensor.shape)
    there = potential_at(model, {**model.state_dict(), **state}, rows).baseline_loss
    here = potential_at(model, model.state_dict(), rows).baseline_loss
    problem.prepare(delta[None])
    loss, grad = (each[0] for each in problem.excess_loss_and_grad(delta[None]))
    # Each entry is rounded by up to half a step on its own, so that the errors add up as chance does.
    step = max(float(np.abs(moved).max()) for moved in change) / STEPS
    tolerance = 5 * step / math.sqrt(12) * float(grad.norm()) + 1e-6
    assert abs(float(loss)) > 5 * tolerance and there - here == pytest.approx(float(loss), abs=tolerance)


@pytest.mark.parametrize("network", few(NETWORKS, 1))
def test_what_moves_is_what_the_part_says(network):
    model = build_model(NETWORKS[network].model)
    for part in parts(network).values():
        found = moving(untrained(network, part, 16), model)
        for name, moves in found.items():
            if part == "all":
                assert moves.all()
            elif part.startswith("layer:"):
                inside = name == part[6:] or name.startswith(part[6:] + ".")
                assert (moves == inside).all(), (part, name)
            else:
                layer, head = map(int, part[5:].split("."))
                mask = head_masks(model, layer, head).get(name)
                assert (moves == (False if mask is None else mask.numpy())).all(), (part, name)


def test_every_network_of_the_page_is_drawn_whole_and_says_what_is_held():
    for network in NETWORKS:
        last = list(parts(network).values())[-1]
        panel, model = opened({"network": network, "part": last})
        drawing = panel._drawing
        assert drawing.visible and [(t["rows"] * t["columns"]) for t in drawing.tensors] == [
            p.numel() for p in model.parameters()
        ]
        dim = untrained(network, last, 16).dim
        assert sum(drawing.moves) == sum(t["moves"] for t in drawing.tensors) == dim
        assert sum(p.numel() for p in model.parameters()) <= DRAWN, "its chain is kept for the drawing"
    heads = [(t["name"], t["along"]) for t in drawing.tensors if t["heads"]]
    assert heads == 2 * [("query", "rows"), ("key", "rows"), ("value", "rows"), ("out", "columns")]


def test_what_is_not_drawn_is_said():
    panel = DrawingPanel()
    panel.show(link_config({"network": "small", "train_seed": 999_998}))
    assert not panel._drawing.visible and WAITS in panel._words.object
    panel, _ = opened({"network": "small", "polish": True})
    panel.move(np.ones(2410))
    panel.update()
    assert panel._drawing.displaced == b"" and ELSEWHERE in panel._words.object
    panel, _ = opened({"network": "small"})
    panel.move(np.full(2410, np.nan))
    panel.update()
    assert panel._drawing.displaced == b"" and DIVERGED in panel._words.object
    assert [float(np.abs(each).max()) for each in spread_out(untrained("small", "layer:2", 16), np.ones(330))] == [
        0,
        0,
        1,
        1,
    ]
