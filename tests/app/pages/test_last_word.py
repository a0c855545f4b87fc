"""On every page that runs something the visitor's last word decides, whatever is being prepared meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import toy_page
from cases import few
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from last_word import DEEDS, Visitor, go_through, nothing_moves, plays_anyway, quick, slow
from waiting import on_screen, settled

import app.pages
from app.pages import load_pages
from app.pages.estimate_page import EstimatePage
from app.pages.page import Page
from app.pages.stationary_bias.page import StationaryBias
from app.session.run_state import RunState

FREELY = {"toy": 12, "local-geometry": 12, "stationary-bias": 6}
"""How many sequences are made up for a page; the others go through those that are written down and a few more."""
PAUSED = [("change", False), ("press", "pause"), ("finish", 0, False)]
STEPPED = [("change", False), ("press", "step"), ("press", "step"), ("finish", 0, False)]
PHASES = [Phase.explicit, Phase.generate]
REFUSED = [("change", False), ("change", False), ("finish", 1, False), ("press", "pause"), ("finish", 0, True)]
LLC = {"steps": 1000, "chains": 2}
CASES: dict[str, dict[str, Any]] = {
    "stationary-bias": {"steps": 1000, "chains": 100},
    "local-geometry": {"problem": {"kind": "dln", "widths": [3, 3]}, **LLC},
    "landscapes": {"problem": {"kind": "planar", "name": "normal_crossing", "k": [1, 1]}, **LLC},
    "toy": {"problem": {"width": 2}, **LLC},
    "polygons": {"problem": {"kind": "superposition", "sides": 5}, **LLC},
    "your-network": LLC,
    "stages": {"widths": [3, 2, 3], "singular_values": [2.0, 1.0], "steps": 1000, "chains": 2},
    "many-modes": {"gradients": 20_000, "trials": 2},
    "functions": {"steps": 1000, "chains": 2},
    "decisions": {"game": "digits", "outside": {"steps": 1000, "chains": 2, "hidden": 8}},
}
"""The pages of which each works in a way of its own come first."""


@pytest.fixture(scope="module", params=few(CASES, 4))
def case(request, tmp_path_factory) -> Iterator[tuple[Any, dict[str, Any]]]:
    """A page as if it were on the screen, and its configuration. What takes long is asked for by `ask`."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "toy":
            folder = tmp_path_factory.mktemp("pages")
            toy_page.write(folder)
            patch.setattr(app.pages, "__path__", [*app.pages.__path__, str(folder)])
        view = next(page for page in load_pages() if page.key == request.param).build()
    config = CASES[request.param]
    view.restore(config)
    settled(view)
    with nothing_moves():
        on_screen(view)
    yield view, config
    view.close()


class Asks:
    """Asks a page for another seed: by a link, or in the side bar where that has it at hand."""

    def __init__(self, view: Any, config: dict[str, Any]):
        self.view, self.config = view, config

    def __call__(self, number: int, at_once: bool) -> None:
        view, as_said = self.view, quick if at_once else slow
        with pytest.MonkeyPatch.context() as patch:
            if isinstance(view, EstimatePage):
                wanted = view.wanted
                patch.setattr(view, "of_link", as_said(view.of_link), raising=False)
                patch.setattr(view, "wanted", lambda: as_said(wanted()), raising=False)
            else:
                patch.setattr(view, "scene_of", as_said(view.scene_of), raising=False)
            if number % 2 and isinstance(view, EstimatePage):
                view.controls.choose("seed", number)
                view._on_settings()
            elif number % 2 and isinstance(view, StationaryBias):
                view.run_panel.fields["seed"].set(number)
                view._on_settings()
            else:
                view.restore({**self.config, "seed": number})


def test_every_page_that_runs_is_a_case():
    running = {page.key for page in load_pages() if issubclass(page.build, Page)}
    assert running == {*CASES} - {"toy"}


def go(case, deeds):
    view, config = case
    with nothing_moves() as (held, runs):
        view.restore({**config, "seed": 0})
        visitor = Visitor(view, held, runs, Asks(view, config), lambda: view.configuration().get("seed", 0))
        go_through(visitor, deeds)


def test_a_page_does_what_was_asked_for_last(case, request):
    @given(st.lists(DEEDS, max_size=10))
    @example(PAUSED)
    @example(STEPPED)
    @example(REFUSED)
    @settings(max_examples=FREELY.get(request.node.callspec.params["case"], 3), phases=PHASES)
    def goes(deeds):
        go(case, deeds)

    goes()


def test_a_page_that_plays_what_it_prepared_is_found_out(case, monkeypatch):
    monkeypatch.setattr(RunState, "prepared", plays_anyway)
    with pytest.raises(AssertionError):
        go(case, PAUSED)


def test_whoever_leaves_is_gone(case):
    """The last test of a page, which is closed then."""
    go(case, [("change", False), ("leave",), ("finish", 0, False), ("press", "play"), ("change", True)])
