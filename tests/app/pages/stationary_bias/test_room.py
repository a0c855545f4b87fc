"""What the page makes in threads is counted with the runs of all visitors, and none of it is made on the event loop."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace

import pytest

from app.pages.stationary_bias import scene
from app.pages.stationary_bias.config import BiasConfig
from app.pages.stationary_bias.page import StationaryBias
from app.pages.stationary_bias.panels.exact import job as bias_exact
from app.runs.account import Account
from app.runs.kept import Kept
from llc_core.potentials.line.build import line_price

MB = 2**20
ROOM = {0: 200 * MB}


@pytest.fixture
def room(monkeypatch):
    """The account of a server that has 200 MB."""
    own = Account(lambda: ROOM[0])
    for module in (scene, bias_exact):
        monkeypatch.setattr(module, "account", lambda device=None: own)
    monkeypatch.setattr(scene, "_scenes", Kept(4))
    return own


def test_a_target_has_its_price_while_it_is_made(room, monkeypatch):
    held = []
    made = scene._made
    monkeypatch.setattr(scene, "_made", lambda *parts: held.append(room.taken) or made(*parts))
    config = BiasConfig(target={"kind": "landscape", "expression": "exp(-x^4/4)*(2+sin(3*x))"})
    with room.room(180 * MB, "This run"), pytest.raises(ValueError, match="This target needs .* MB, and the runs of"):
        scene.get_scene(config)
    assert not held
    scene.get_scene(config)
    assert held == [line_price(config.target).peak] and room.taken == 0


def test_an_exact_law_without_room_says_so_and_is_tried_again(room):
    point = bias_exact.tasks(BiasConfig(left={"name": "SGLD", "step_size": 0.0731}), "left")[0]
    with room.room(60 * MB, "This run"):
        assert "The exact distribution needs 150 MB, and the runs of" in point().trouble
    assert point().trouble == "" and room.taken == 0


def test_a_typed_target_is_made_in_a_thread(monkeypatch):
    page = StationaryBias()
    try:
        asked = []
        threads = SimpleNamespace(submit=lambda work: asked.append(work) or Future())
        monkeypatch.setattr("app.session.preparation.threads", lambda: threads)
        monkeypatch.setattr(scene, "landscape", lambda target: pytest.fail("it was made on the event loop"))
        page.target._take({"kind": "landscape", "expression": "exp(-x^4/4)*(3+sin(2*x))", "of": "density"})
        assert len(asked) == 1
    finally:
        page.close()
