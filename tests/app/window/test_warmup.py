"""LLC_LAB_WARM says how much is compiled in advance, and nothing else is taken for it."""

from __future__ import annotations

import logging
import threading

import pytest

from app.window import warmup

LATER = ("_compile", "_compile_planes", "_learn_digits", "_read_sweep")


@pytest.fixture
def begun(monkeypatch):
    """What a warm-up calls, in order; the process's own warm-up is left alone."""
    called: list[str] = []
    monkeypatch.setattr(warmup, "_done", threading.Event())
    monkeypatch.setattr(warmup, "_error", "")
    for name in ("_first_run", *LATER):
        monkeypatch.setattr(warmup, name, lambda *given, name=name: called.append(name))
    return called


@pytest.mark.parametrize("wish", ["", "all"])
def test_what_is_used_at_once_comes_first_and_all_the_rest_after_it(monkeypatch, begun, wish):
    monkeypatch.setenv("LLC_LAB_WARM", wish)
    warmup._warm()
    assert begun[:2] == ["_first_run", "_compile"] and set(begun[2:]) == set(LATER) and warmup.ready()


def test_first_leaves_the_rest_to_the_pages(monkeypatch, begun):
    monkeypatch.setenv("LLC_LAB_WARM", "first")
    warmup._warm()
    assert begun == ["_first_run"] and warmup.ready() and warmup.error() == ""


def test_another_word_is_said_on_the_page(monkeypatch, begun):
    monkeypatch.setenv("LLC_LAB_WARM", "some")
    warmup._warm()
    assert "LLC_LAB_WARM is 'some'; it must be one of all, first." in warmup.error() and warmup.ready()


def test_what_is_compiled_in_advance_compiles(monkeypatch, caplog):
    """A kernel that cannot be compiled is logged only, since pages say more: one of each kind is compiled here."""
    from app.pages.many_modes import presets

    monkeypatch.setattr(presets, "PRESETS", presets.PRESETS[:1])
    with caplog.at_level(logging.ERROR, "app.window.warmup"):
        warmup._first_run()
        warmup._compile(warmup.bias_presets()[:1])
        warmup._compile_planes()
        warmup._learn_digits()
        warmup._read_sweep()
    assert not caplog.records
