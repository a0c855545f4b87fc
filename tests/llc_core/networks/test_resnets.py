"""Residual networks: as many parameters as were published, rows or pictures, and refusals in one sentence."""

from __future__ import annotations

import pytest
import torch
from sentences import tells

from llc_core.compute.streams import torch_stream
from llc_core.interactions import Contour
from llc_core.networks import PUBLISHED, build_model, picture_settings

SMALL = {"kind": "resnet", "depth": 8, "width": 4, "channels": 1, "side": 8, "norm": "group"}
SMALL_WIDE = {"kind": "wide_resnet", "depth": 10, "factor": 2, "width": 2, "channels": 1, "side": 8, "norm": "group"}


def parameters(description: dict) -> int:
    return sum(p.numel() for p in build_model(description).parameters())


def by_hand(depth: int, width: int = 16, classes: int = 10) -> int:
    """Convolutions of 3 × 3 without bias, two numbers of a batch norm for each channel, no weights in the shortcuts."""
    each, widths = (depth - 2) // 6, [width, 2 * width, 4 * width]
    total, before = 9 * 3 * width + 2 * width, width
    for w in widths:
        total += 9 * before * w + (2 * each - 1) * 9 * w * w + 2 * each * 2 * w
        before = w
    return total + 4 * width * classes + classes


@pytest.mark.parametrize("depth, millions", [(20, 0.27), (32, 0.46), (56, 0.85)])
def test_a_resnet_has_the_published_size(depth, millions):
    """He et al. 2016, table 6."""
    found = parameters({"kind": "resnet", "depth": depth})
    assert found == by_hand(depth) and round(found / 1e6, 2) == millions
    assert parameters({"kind": "resnet", "depth": depth, "classes": 100}) == by_hand(depth, classes=100)


def test_a_wide_resnet_has_the_published_size():
    """Zagoruyko & Komodakis 2016, table 4: 11.0 million for WRN-16-8."""
    assert round(parameters({"kind": "wide_resnet", "depth": 16, "factor": 8}) / 1e6, 1) == 11.0


@pytest.mark.parametrize("description", [SMALL, SMALL_WIDE], ids=lambda given: given["kind"])
def test_rows_and_pictures_give_the_same_and_no_picture_sees_another(description):
    model = build_model(description, 3)
    pictures = torch.rand(6, 1, 8, 8, generator=torch_stream(0, "pictures"))
    together = model(pictures)
    assert together.shape == (6, 10) and torch.equal(model(pictures.flatten(1)), together)
    torch.testing.assert_close(model(pictures[:1]), together[:1])
    assert torch.equal(build_model(description, 3)(pictures), together)
    together.square().sum().backward()
    assert all(p.grad is not None and bool(torch.isfinite(p.grad).all()) for p in model.parameters())


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"depth": 21}, "depth is 21; it must be 6n + 2"),
        ({"kind": "wide_resnet", "depth": 20}, "depth is 20; it must be 6n + 4"),
        ({"norm": "layer"}, "norm is 'layer'; choose one of batch, group"),
        ({"width": 0}, "width is 0; it must be at least 1"),
        ({"factor": 2}, "Unknown key 'factor' in resnet"),
    ],
)
def test_what_is_no_network_is_refused_in_words(changes, words):
    with pytest.raises(ValueError) as error:
        build_model({**SMALL, **changes})
    assert words in str(error.value)
    tells(error.value)


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_settings_are_those_of_the_paper_and_have_a_small_copy(name):
    """Deng et al. 2022, D.4: the contour's bins have the width in U/T that they have in U over T."""
    given = picture_settings(name)
    assert (given.epochs, given.milestones, given.factor) == (500, (250, 375), 0.2)
    assert (given.step_size, given.momentum, given.temperature) == (2e-6, 0.9, 3e-4)
    low, high = given.bin_edges
    contour = Contour(low=low, high=high, bins=given.bins, zeta=given.zeta)
    assert contour.width * given.temperature == pytest.approx(60 if name == "WRN-16-8" else 200)
    assert [given.rate(epoch) for epoch in (0, 249, 250, 375)] == pytest.approx([2e-6, 2e-6, 4e-7, 8e-8])
    small = build_model(picture_settings(name, "small").model(classes=5))
    assert small(torch.zeros(2, 64)).shape == (2, 5) and sum(p.numel() for p in small.parameters()) < 100_000
    assert given.model()["classes"] == 100
    with pytest.raises(ValueError, match="size is 'tiny'; choose one of paper, small"):
        picture_settings(name, "tiny")
