"""Scripts of components are imported as they are: none may need what Panel's rewriting would add."""

from __future__ import annotations

import inspect
import re

import panel_material_ui as pmui
from panel.custom import JSComponent, ReactiveESM
from panel.models.esm import ReactiveESM as Model
from panel_material_ui.base import BUNDLE_PATH

import app.window.shell
from app.components.slider import SliderEntry
from app.pages import load_pages
from app.patches.native_modules import MARK

BARE = re.compile(
    r"""(?:^|[;}\n])\s*(?:import|export)\b(?:[\w*{}$,\s]*\bfrom)?\s*["'](?!\.{0,2}/|https?:|;)[^"'\n]+["']"""
    r"""|\bimport\(\s*["'](?!\.{0,2}/|https?:|blob:)[^"'\n]+["']"""
)
"""An import statement, or a call of import, of something that is no address."""


def _ours(cls: type) -> list[type]:
    return [each for sub in cls.__subclasses__() for each in [sub, *_ours(sub)]]


def test_no_script_imports_by_a_bare_name():
    load_pages()
    assert app.window.shell
    scripts = {cls.__name__: cls._esm for cls in _ours(JSComponent) if cls.__module__.startswith("app.")}
    assert len(scripts) > 10
    scripts["Material"] = BUNDLE_PATH.read_text(encoding="utf-8")
    assert not {name: BARE.findall(script) for name, script in scripts.items() if BARE.search(script)}


def test_a_bare_name_would_be_seen():
    for script in (
        'import * as React from "react"',
        "import 'dayjs'",
        'await import("@mui/material")',
        'a=1;export*from"react"',
    ):
        assert BARE.search(script)
    assert not BARE.search('import("./beside.js")')


def test_pages_do_not_load_what_rewrites_scripts():
    assert Model.__javascript__ == []
    assert SliderEntry._process_importmap() == {}


def test_material_components_say_only_that_they_are():
    # The browser's side of Panel looks for a name that begins so, and gives those components a cache of styles.
    assert pmui.Page._process_importmap() == pmui.Button._process_importmap() == MARK
    assert any(name.startswith("@mui") for name in MARK["imports"])


def test_panel_itself_names_many_and_loads_what_rewrites_scripts():
    """What that takes of the browser, tests/browser/test_patches.py sees."""
    assert "react" in pmui.Button._process_importmap.__wrapped__(pmui.Button)["imports"]
    assert "es-module-shims" in inspect.getsource(Model)


def test_a_material_component_with_a_script_of_its_own_keeps_its_imports():
    class Own(pmui.Button):
        _bundle = None

    assert issubclass(Own, ReactiveESM)
    assert "react" in Own._process_importmap()["imports"]
