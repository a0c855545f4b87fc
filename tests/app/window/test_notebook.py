"""`app.view()`: renders in a real kernel, fetches nothing, starts when it is seen, and ends when its cell is gone."""

from __future__ import annotations

import time

import nbformat
import panel as pn
import pytest
from bokeh.document import Document
from bokeh.models import ImportedStyleSheet, UIElement
from nbclient import NotebookClient
from panel.custom import ReactComponent
from pyviz_comms import Comm

import app
from app.components.window.beacon import Beacon
from app.components.window.notice import Notice
from app.patches.own_values import SCRIPT
from app.session import live
from app.session.errors import report
from app.window import notebook as inline
from app.window.shell import OPENING


class _Comm(Comm):
    def __init__(self, sent: list[str]):
        super().__init__()
        self._sent, self._comm = sent, self

    def send(self, data=None, metadata=None, buffers=()) -> None:
        self._sent.append(str(data))


class Notebook:
    """A kernel's end of a displayed view; `sent` has the messages to the browser."""

    def __init__(self, layout: pn.viewable.Viewable):
        self.layout = layout
        self.sent: list[str] = []
        self.document, self.comm = Document(), _Comm(self.sent)
        self.model = layout._render_model(self.document, self.comm)

    def draw(self) -> None:
        """What the browser says when it has drawn the frame."""
        self.layout.select(Beacon)[0]._handle_msg({"drawn": True})

    def delete(self) -> None:
        self.layout._cleanup(self.model)


@pytest.fixture(autouse=True, scope="module")
def unseen() -> None:
    """Here runs begin by themselves, in place of the fixture of this name in `tests/app/conftest.py`."""


@pytest.fixture
def notebook(monkeypatch):
    for room in (inline, live):
        monkeypatch.setattr(room, "every", _Timer)
    _Timer.made.clear()
    shown = Notebook(app.view(page="Local geometry"))
    yield shown
    for timer in _Timer.made:
        timer.stop()
    _owner(shown).close()


class _Timer:
    """A periodic callback that the test calls."""

    made: list[_Timer] = []

    def __init__(self, period, callback):
        self.callback, self.running = callback, True
        _Timer.made.append(self)

    def stop(self) -> None:
        self.running = False


def _tick() -> None:
    for timer in _Timer.made:
        if timer.running:
            timer.callback()


def _owner(shown: Notebook) -> inline.Inline:
    return shown.layout.select(Beacon)[0].listener.__self__


def test_a_page_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match=r"page='Global' is not a page: choose one of 'Start'"):
        app.view(page="Global")


def test_all_pages_have_buttons_and_one_page_has_none():
    from app.components.window.navigation import Navigation

    assert app.view().select(Navigation)[0].titles[0] == "Start"
    assert not app.view(page="Local geometry").select(Navigation)


def test_panel_s_components_are_mended_before_the_first_is_drawn(notebook):
    """The window has it in `opening.html`; what it does there, tests/browser/test_window.py shows."""
    assert "givesOwnValuesOnly" in SCRIPT and Beacon._esm.startswith(SCRIPT) and SCRIPT in OPENING
    assert not notebook.layout.select(ReactComponent)
    notebook.draw()
    assert notebook.layout.select(ReactComponent)


def test_the_run_starts_when_the_browser_has_drawn_the_frame(notebook):
    view = _owner(notebook)
    _tick()
    assert view._view is None
    notebook.draw()
    limit = time.monotonic() + 60
    while not len(view._view.losses.source.data["step"]):
        assert time.monotonic() < limit
        _tick()
        time.sleep(0.05)


def test_what_figures_are_fed_reaches_the_browser(notebook):
    """Panel drops it when a message from the browser comes between; planted here by releasing the hold."""
    notebook.draw()
    view = _owner(notebook)
    _tick()
    limit = time.monotonic() + 60
    while view._view.losses.source.document is not notebook.document:  # it comes once the first picture moves
        assert time.monotonic() < limit
        _tick()
        time.sleep(0.05)
    notebook.sent.clear()
    view._view._live.close()
    view._view.losses.source.stream({name: [7.25] for name in view._view.losses.source.data})
    notebook.document.unhold()
    view._wire.send()
    assert "ColumnsStreamed" in "".join(notebook.sent)


def test_nothing_is_styled_from_the_internet_not_even_after_changes(notebook):
    notebook.draw()
    view = _owner(notebook)
    view._view.lesson.object = "<p>changed</p>"
    remote = [
        sheet.url
        for root in (view._main, view._side)
        for element in root._models[notebook.model.ref["id"]][0].select({"type": UIElement})
        for sheet in element.stylesheets
        if isinstance(sheet, ImportedStyleSheet) and sheet.url.startswith("http")
    ]
    assert not remote


def test_a_deleted_cell_frees_its_run(notebook):
    notebook.draw()
    view = _owner(notebook)
    _tick()
    run = view._view._live.run
    assert run is not None
    notebook.delete()
    for _ in range(inline.GONE_LOOKS + 1):
        _tick()
    assert run.over
    assert not view._sending.running


def test_errors_are_told_in_the_view(notebook):
    notebook.draw()
    report(RuntimeError("planted"))
    assert notebook.layout.select(Notice)[0].text == "Something went wrong (RuntimeError: planted)."


@pytest.mark.slow
def test_a_real_kernel_shows_it_without_an_error():
    cells = [nbformat.v4.new_code_cell("import app\napp.view()")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = notebook.cells[0].outputs
    assert not [o for o in outputs if o.output_type in ("error", "stream")], outputs
    shown = outputs[-1].data
    assert "text/html" in shown
    html = "".join(str(o.get("data", {}).get("text/html", "")) for o in outputs)
    assert "Starting…" in html or "Starting\\u2026" in html
    assert 'src="http' not in html and 'href="http' not in html
