"""What every page keeps to: presets, tiles, links, files, refusals. What is special to one page stands in its own folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from cases import few
from waiting import settled

import app.pages
from app.pages import load_pages
from app.pages.base import PageInfo
from app.session.live import Live
from app.sharing.links import HIDEABLE, Link, decode, encode

PAGES = {page.key: page for page in load_pages()}
EVERY = pytest.mark.parametrize("key", PAGES)
STILL = ("benchmark", "start")
"""Pages on which nothing runs: presets of the first are filters of a store, and its tests bring stores of their own; chains of the
second live in the browser."""
FILED = pytest.mark.parametrize("key", [key for key in PAGES if key != "start"])
"""Pages that give files away."""
CONSTANT = ("config", "python")
"""Files that are there before a chain moves."""


def folder(key: str) -> Path:
    return Path(app.pages.__path__[0]) / key.replace("-", "_")


def presets(key: str) -> list[Any]:
    return list(import_module(f"app.pages.{folder(key).name}.presets").PRESETS)


@pytest.fixture(scope="module")
def views() -> Iterator[dict[str, Any]]:
    """All pages, built once for this file. Nothing is run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Live, "_on_load", lambda self: None)
        made = {key: page.build() for key, page in PAGES.items()}
        for view in made.values():
            if hasattr(view, "complete"):  # as its first tick does
                view.complete()
                view.later.arrive()
        yield made
        for view in made.values():
            view.close()


def configuration(view: Any) -> Any:
    """As a link or a file has it, once nothing is being prepared any more."""
    if hasattr(view, "preparation"):
        while view.preparation.busy:  # what was prepared may ask for more
            settled(view)
    return json.loads(json.dumps(view.configuration()))


def files(view: Any) -> Any:
    return view.takeaway.menu


@EVERY
def test_a_page_says_what_it_is(key):
    page = PAGES[key]
    assert isinstance(page, PageInfo) and page.title and (page.key, folder(key).is_dir()) == (key, True)
    assert [each.order for each in PAGES.values()] == sorted({each.order for each in PAGES.values()})


@EVERY
def test_presets_have_names_of_their_own_and_one_sentence_each(key):
    found = presets(key)
    assert len(found) >= 5
    for name in ("name", "title"):
        assert len({getattr(preset, name) for preset in found}) == len(found)
    for preset in found:
        assert 40 < len(preset.lesson) < 240 and preset.lesson.endswith("."), preset.lesson


@EVERY
def test_tiles_are_pictures_of_their_own_and_tell_nothing_while_answers_are_hidden(views, key):
    view = views[key]
    shown = list(view.tiles.items)
    names = [item["name"] for item in shown]
    assert len(set(names)) == len(names) and set(names) <= {preset.name for preset in presets(key)}
    try:
        view.answers.visible = False
        hidden = list(view.tiles.items)
    finally:
        view.answers.visible = True
    assert list(view.tiles.items) == shown and [item["name"] for item in hidden] == names
    for item in (*shown, *hidden):
        ElementTree.fromstring(item["picture"])
    lessons = {preset.lesson for preset in presets(key)}
    assert all(item["tip"] not in lessons for item in hidden) and len({item["tip"] for item in hidden}) == 1
    outcomes = folder(key) / "outcomes.json"
    if outcomes.exists():  # then pictures are answers
        assert set(names) <= set(json.loads(outcomes.read_text()))
        assert len({item["picture"] for item in shown}) == len(shown)
        assert not {item["picture"] for item in shown} & {item["picture"] for item in hidden}


@EVERY
def test_what_links_leave_out_is_there(views, key):
    assert set(views[key].parts) <= set(HIDEABLE) and {"presets", "answers"} <= set(views[key].parts)


OF_PAGES = [(key, preset.name) for key in PAGES if key not in STILL for preset in presets(key)]
QUARTER = sorted(OF_PAGES, key=lambda each: OF_PAGES.index(each) % 4)


@pytest.mark.parametrize("of", few(QUARTER, (len(QUARTER) + 3) // 4), ids=str)
def test_a_preset_comes_back_from_a_link_and_from_a_file(views, of):
    key, name = of
    view = views[key]
    if name not in view._presets:
        pytest.skip("This preset needs a sampler that is not here.")
    view.on_preset(name)
    configuration(view)
    assert view.tiles.selected == name
    view.restore(view.configuration())  # what was automatic has its number from here on
    first = configuration(view)
    other = next(each for each in view._presets if each != name)

    view.on_preset(other)
    assert configuration(view) != first
    link = decode(encode(Link(key, first)))
    view.restore(link.config)
    assert (link.page, configuration(view)) == (key, first)
    shown = view.of_side_bar()
    assert getattr(shown, "complete", shown) == getattr(view.config, "complete", view.config), "the side bar shows it"

    view.on_preset(other)
    configuration(view)
    files(view).on_upload(json.dumps(first))
    assert configuration(view) == first and not files(view).message["bad"]


@EVERY
def test_an_unknown_setting_is_one_sentence_and_changes_nothing(views, key):
    view = views[key]
    before = configuration(view)
    wrong = {**before, "unheard_of": 1}
    with pytest.raises(ValueError, match="unheard_of") as error:
        view.restore(wrong)
    assert "\n" not in str(error.value)
    assert configuration(view) == before


@FILED
def test_a_file_with_an_unknown_setting_changes_nothing(views, key):
    view = views[key]
    before = configuration(view)
    files(view).on_upload(json.dumps({**before, "unheard_of": 1}))
    assert files(view).message["bad"] and "unheard_of" in files(view).message["text"]
    assert configuration(view) == before


@pytest.mark.parametrize("name", [preset.name for preset in presets("start")])
def test_a_valley_comes_back_from_a_link(views, name):
    view = views["start"]
    view.on_preset(name)
    first, asked = configuration(view), {"bend": view.valley.bend, "samples": view.valley.samples}
    assert first == asked and view.tiles.selected == name
    view.valley._handle_msg({"bend": 1.5, "samples": 2.5})
    assert configuration(view) == {"bend": 1.5, "samples": 2.5} and not view.tiles.selected
    for wrong in ({"bend": 4, "samples": 2}, {"bend": "1", "samples": 2}, {"bend": True, "samples": 2}, {}, None):
        view.valley._handle_msg(wrong)
    assert configuration(view) == {"bend": 1.5, "samples": 2.5}
    view.restore(decode(encode(Link("start", first))).config)
    assert configuration(view) == first and view.valley.bend == first["bend"]


@FILED
def test_files_are_there_or_refused_in_a_sentence_before_anything_has_run(views, key):
    desk = views[key].takeaway
    keys = [item["key"] for item in files(views[key]).files]
    assert set(CONSTANT) <= set(keys) and len(set(keys)) == len(keys)
    for name in keys:
        try:
            file, content = desk.content(name)
        except ValueError as error:
            assert name not in CONSTANT and str(error).endswith(".") and "\n" not in str(error)
        else:
            assert file and content
    compile(desk.content("python")[1], "taken away", "exec")
    assert json.loads(desk.content("config")[1])
