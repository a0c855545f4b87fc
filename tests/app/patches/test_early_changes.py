"""What changes while a browser has the page and has not drawn it yet."""

from __future__ import annotations

from types import SimpleNamespace

import panel as pn
from bokeh.document import Document
from bokeh.models import ColumnDataSource
from panel.io import document
from panel.io.state import set_curdoc

from app.components.transport import Transport
from app.patches import early_changes


class Opened:
    """A document with a run's transport and a chart's data. sent: attributes whose changes a browser hears of, with their values."""

    def __init__(self, browsers: int):
        early_changes.apply()
        request = SimpleNamespace(arguments={}, headers={}, cookies={})
        self._context = SimpleNamespace(session=SimpleNamespace(connection_count=browsers), request=request)
        self.document, self.transport, self.chart = Document(), Transport(total=800), ColumnDataSource({"x": [0.0]})
        self.document._session_context = lambda: self._context
        with set_curdoc(self.document):
            self.document.add_root(self.transport.get_root(self.document))
            self.document.add_root(self.chart)
        self.sent: dict[str, object] = {}
        self.document.on_change(self._hear)

    def _hear(self, event: object) -> None:
        attribute = getattr(event, "attr", None)
        if attribute is not None:
            self.sent[attribute] = getattr(event, "new", True)

    def begin(self, total: int) -> None:
        """A run of another length, as a page begins it."""
        with set_curdoc(self.document), pn.io.hold(self.document):
            self.transport.begin(total, 0)
            self.chart.data = {"x": [float(total)]}
        with set_curdoc(self.document):
            for later in self.document.session_callbacks:  # Panel changes models in the next turn of the loop
                later.callback()


def test_a_browser_that_has_not_drawn_the_page_hears_of_a_new_run():
    opened = Opened(browsers=1)
    opened.begin(120)
    assert opened.sent["total"] == 120 and opened.sent["data"]


def test_panel_itself_drops_it(monkeypatch):
    """The browser kept the 800, and showed “120 of 800” at the end of the run."""
    opened = Opened(browsers=1)
    monkeypatch.setattr(document, "_drain_unconnected_events", document._drain_unconnected_events.__wrapped__)
    opened.begin(120)
    assert not {"total", "data"} & set(opened.sent)


def test_without_a_browser_nothing_is_sent_since_the_whole_document_will_be():
    opened = Opened(browsers=0)
    opened.begin(120)
    assert opened.transport.total == 120 and not {"total", "data"} & set(opened.sent)


def test_to_ask_for_it_again_changes_nothing():
    early_changes.apply()
    before = document._drain_unconnected_events
    early_changes.apply()
    assert document._drain_unconnected_events is before
