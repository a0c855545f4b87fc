"""What Panel does in a notebook; what comes of the patch, `tests/app/window/test_notebook.py` shows."""

from __future__ import annotations

import inspect
import threading
from types import SimpleNamespace

import panel as pn
from bokeh.document import Document
from bokeh.models import ColumnDataSource, ImportedStyleSheet
from bokeh.plotting import figure
from panel.io.resources import CDN_DIST
from panel.viewable import MimeRenderMixin
from pyviz_comms import Comm, JupyterComm

from app.patches import notebook_wire
from app.patches.notebook_wire import Wire


class _Open(Comm):
    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []
        self._comm = self

    def send(self, data=None, metadata=None, buffers=()) -> None:
        self.sent.append(str(data))


def fed(wired: bool) -> bool:
    """Whether the browser hears what a figure was fed before a message came from there."""
    source, document, comm = ColumnDataSource({"x": [0.0]}), Document(), _Open()
    plot = figure()
    plot.scatter("x", "x", source=source)
    layout = pn.Column(pn.pane.Bokeh(plot))
    layout._render_model(document, comm)
    wire = Wire(layout)
    document.hold()
    if wired:
        wire.send()
    source.stream({"x": [7.25]})
    document.hold()
    document.unhold()  # as Panel does when a message has come
    document.hold()
    if wired:
        wire.send()
    else:
        pn.io.push_notebook(layout)
    return "ColumnsStreamed" in "".join(comm.sent)


def test_what_a_figure_is_fed_arrives():
    assert fed(wired=True)


def test_panel_itself_drops_it():
    assert "doc.unhold()" in inspect.getsource(MimeRenderMixin._on_msg) and not fed(wired=False)


def remote(wired: bool) -> bool:
    """Whether a pane that has changed asks for style sheets on the internet."""
    pane, document = pn.pane.HTML("one"), Document()
    layout = pn.Column(pane)
    root = layout._render_model(document, _Open())
    if wired:
        Wire(layout).send()
    pane.object = "two"
    sheets = pane._models[root.ref["id"]][0].stylesheets
    return any(isinstance(sheet, ImportedStyleSheet) and sheet.url.startswith(CDN_DIST) for sheet in sheets)


def test_style_sheets_are_local():
    assert not remote(wired=True)


def test_panel_itself_asks_for_them_on_the_internet():
    with pn.config.set(inline=True):
        assert remote(wired=False)


def handled_in(handle) -> tuple[list[threading.Thread], list]:
    """The threads in which a message is handled that arrives in another one, and what the kernel's loop was given to do."""
    seen: list[threading.Thread] = []
    waiting: list = []
    comm = JupyterComm(id="one", on_msg=lambda message: seen.append(threading.current_thread()))
    comm.decode = lambda message: {}
    comm.send = lambda **reply: None
    loop = SimpleNamespace(add_callback=lambda *call: waiting.append(call))
    notebook_wire.get_ipython = lambda: SimpleNamespace(kernel=SimpleNamespace(io_loop=loop))
    thread = threading.Thread(target=handle, args=(comm, {}))
    thread.start()
    thread.join()
    for call, *given in waiting:
        call(*given)
    return seen, waiting


def test_what_a_view_says_waits_for_the_main_thread(monkeypatch):
    monkeypatch.setattr(notebook_wire, "get_ipython", lambda: None)
    seen, waiting = handled_in(JupyterComm._handle_msg)
    assert len(waiting) == 1 and seen == [threading.main_thread()]


def test_panel_itself_handles_it_where_it_comes(monkeypatch):
    monkeypatch.setattr(notebook_wire, "get_ipython", lambda: None)
    seen, waiting = handled_in(notebook_wire._handle)
    assert not waiting and seen != [threading.main_thread()]
