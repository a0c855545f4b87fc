"""Descriptions from visitors are refused by what they would take, before anything of them is made."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from app.estimates import networks as local_geometry
from app.pages import load_pages
from app.pages.landscapes import config as landscapes
from app.pages.local_geometry.config import check_size
from app.pages.local_geometry.presets import PRESETS
from app.pages.local_geometry.scene import link_config
from app.runs.allowance import VISITOR_MEMORY
from app.session.live import Live
from app.sharing.json_files import read_json
from app.sharing.links import decode
from llc_core.potentials.deep_linear import network as dln_network
from llc_core.potentials.plane.data import PlanarData

TOO_LARGE = [
    ({"widths": [12_000, 5_000]}, "needs .* MB for its data and products, and this server gives each run 600 MB"),
    ({"widths": [1_000_000, 2_000]}, "needs .* MB"),
    ({"widths": [190_000, 1]}, "needs .* MB for its data and products, and this server gives each run 600 MB"),
    ({"widths": [1, 190_000]}, "needs .* MB"),
    ({"widths": [100_000, 1, 1, 1]}, "needs .* MB"),
    ({"widths": [3] * 5000}, "widths has 5,000 entries; this page draws networks of up to 64"),
    ({"widths": [3] * 1001}, "widths has 1,001 entries"),
    ({"size_class": "100M"}, "needs .* MB"),
    ({"widths": [4, 4], "n": 10**16}, "n is 10000000000000000; it must be at most"),
    ({"widths": [4, 4], "layer_ranks": {"a": 1}}, r"layer_ranks\[0\]|layer_ranks must|must be a number"),
    ({"widths": [4, 4], "layer_ranks": [10**300]}, r"layer_ranks\[0\] is 1000.*; it must be at most 4"),
    ({"widths": [4, 4], "virtual": True, "n": 10**12}, "virtual is true"),
    ({"widths": {"a": 1}}, "widths"),
    ({"widths": 7}, "widths must be a list"),
    ({"w" * 10**4: 7}, "Unknown key 'www"),
]
LANDSCAPES = [
    ({"n": 10**15}, "n is 1000000000000000; it must be at most 100000000"),
    ({"n": 10**8}, "n is 100,000,000; this page takes at most 100,000 samples"),
    ({"n": 1000, "data_sets": 100_000}, "data_sets|needs .* MB"),
    ({"k": [1] * 10**4}, "k is"),
]


@pytest.fixture(scope="module")
def views() -> Any:
    """All pages, with no run of their own: it would make its problem in a thread while `unmade` forbids it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Live, "_on_load", lambda self: None)
        made = {page.key: page.build() for page in load_pages()}
        yield made
        for view in made.values():
            view.close()


def nothing_is_made(*given: Any, **named: Any) -> Any:
    raise AssertionError("a refused problem was made")


@pytest.fixture
def unmade(monkeypatch):
    """Whatever makes a problem or its data fails the test."""
    monkeypatch.delenv(VISITOR_MEMORY, raising=False)
    for module in (local_geometry, landscapes):
        monkeypatch.setattr(module, "build", nothing_is_made)
    monkeypatch.setattr(dln_network, "draw_network", nothing_is_made)
    monkeypatch.setattr(dln_network.DeepLinearNetwork, "__init__", nothing_is_made)
    monkeypatch.setattr(PlanarData, "xy", property(nothing_is_made))


def refused(view: Any, configuration: dict[str, Any], words: str) -> None:
    """By a link and by a file, with the page left as it was."""
    before = view.configuration()
    with pytest.raises(ValueError, match=words) as error:
        view.restore(configuration)
    assert "\n" not in str(error.value) and len(str(error.value)) < 300
    desk = getattr(view, "takeaway", None)
    if desk is not None:
        desk._on_upload(json.dumps(configuration))
        assert desk.menu.message["bad"] and str(error.value) == desk.menu.message["text"]
    assert view.configuration() == before


@pytest.mark.parametrize(("description", "words"), TOO_LARGE, ids=lambda value: str(value)[:40])
def test_a_network_too_large_is_refused_before_it_is_made(views, unmade, description, words):
    refused(views["local-geometry"], {"problem": {"kind": "dln", **description}}, words)


@pytest.mark.parametrize(("description", "words"), LANDSCAPES, ids=lambda value: str(value)[:40])
def test_a_landscape_too_large_is_refused_before_its_data_are_made(views, unmade, description, words):
    refused(views["landscapes"], {"problem": {"kind": "planar", "name": "normal_crossing", **description}}, words)


@pytest.mark.parametrize(
    "key", ["landscapes", "your-network", "stationary-bias", "benchmark", "functions", "decisions"]
)
@pytest.mark.parametrize("name", ["problem", "target"])
def test_no_other_page_makes_a_network(views, unmade, key, name):
    with pytest.raises(ValueError):
        views[key].restore({name: {"kind": "dln", "widths": [12_000, 5_000]}})


def test_the_editor_s_own_fields_are_priced_too(views, unmade):
    editor = views["local-geometry"].editor
    before = editor.problem
    for text, words in (("190000, 1", "needs"), ("12000, 5000", "needs")):
        editor.widths.value = text
        assert editor.message.visible and words in editor.message.object and editor.problem == before
    editor.show(before)


def test_rows_in_double_precision_count(unmade):
    wide = {"kind": "dln", "widths": [300, 300], "n": 10**15}
    with pytest.raises(ValueError, match="needs .* MB .* float32"):
        link_config({"problem": wide, "gradient": "minibatch", "dtype": "float64"})
    check_size(wide, {"gradient": "minibatch"})
    check_size(wide, {"gradient": "full", "dtype": "float64"})


def test_a_server_s_own_allowance_counts(monkeypatch, unmade):
    monkeypatch.setenv(VISITOR_MEMORY, "5")
    with pytest.raises(ValueError, match="this server gives each run 5 MB"):
        link_config({"problem": {"kind": "dln", "widths": [200, 200, 200]}})


@pytest.mark.parametrize("gradient", ["full", "minibatch"])
@pytest.mark.parametrize(
    "description",
    [
        *[{name: value for name, value in preset.problem.items() if name != "kind"} for preset in PRESETS],
        {"size_class": "10K", "seed": 5},
        {"widths": [200, 200, 200, 200]},
        {"widths": [440, 440]},
        {"widths": [3] * 64},
        {"widths": [4, 3, 4], "n": 10**15},
    ],
    ids=lambda description: str(description)[:40],
)
def test_ordinary_networks_are_within(monkeypatch, description, gradient):
    monkeypatch.delenv(VISITOR_MEMORY, raising=False)
    check_size({"kind": "dln", **description}, {"gradient": gradient})


def test_an_ordinary_link_opens(views):
    view = views["local-geometry"]
    view.restore({"problem": {"kind": "dln", "widths": [5, 4, 5], "seed": 3}, "chains": 2, "steps": 200})
    assert view.configuration()["problem"]["widths"] == [5, 4, 5]


LONG = "x" * 50_000
ODD: list[tuple[str, dict[str, Any]]] = [
    ("many-modes", {"surface": {"name": []}}),
    ("many-modes", {"left": {"interaction": {"name": {}}}}),
    ("stationary-bias", {LONG: 1}),
    ("your-network", {LONG: 1}),
    ("your-network", {"batch_size": LONG}),
    ("your-network", {"batch_size": [1] * 20_000}),
    ("landscapes", {"problem": {"kind": "planar", "name": "normal_crossing"}, "observables": [LONG]}),
    ("benchmark", {LONG: 1}),
    ("benchmark", {"spread": LONG}),
    ("benchmark", {"store": [LONG]}),
]


@pytest.mark.parametrize(("key", "configuration"), ODD, ids=lambda value: str(value)[:40])
def test_odd_names_and_long_values_are_one_sentence(views, key, configuration):
    with pytest.raises(ValueError) as error:
        views[key].restore(configuration)
    assert "\n" not in str(error.value) and len(str(error.value)) < 400


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("levels", [60, 900])
def test_what_json_can_read_and_nothing_else_can_is_refused(levels):
    """Python compares, copies and shows a few hundred levels less than it reads."""
    configuration = {"target": {"name": nested(levels)}}
    with pytest.raises(ValueError, match="nested too deeply"):
        read_json(json.dumps(configuration), "a configuration")
    packed = base64.urlsafe_b64encode(json.dumps({"v": 1, "page": "stationary-bias", "config": configuration}).encode())
    with pytest.raises(ValueError, match="nested too deeply"):
        decode(packed.decode().rstrip("="))
    assert read_json(json.dumps(nested(20)), "a configuration") == nested(20)
