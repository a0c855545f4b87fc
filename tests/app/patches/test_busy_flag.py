"""Panel's busy flag keeps nobody's page."""

from __future__ import annotations

import asyncio
import gc
from concurrent.futures import ThreadPoolExecutor
from weakref import ref

import panel as pn
import panel_material_ui as pmui
import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc

from app.patches import busy_flag


@pytest.mark.parametrize("looked_after", [True, False], ids=["in nobody's name", "as Panel does"])
def test_the_task_keeps_no_document(looked_after, monkeypatch):
    monkeypatch.setattr(type(pn.state), "_busy_cleanup_scheduled", None)

    async def kept() -> tuple[int, bool]:
        document = Document()
        alive = ref(document)
        before = asyncio.all_tasks()
        with set_curdoc(document):
            if looked_after:
                busy_flag.look_after()
            pn.state._add_busy_event("a visitor's")
        pn.state._remove_busy_event("a visitor's")
        await asyncio.sleep(0)  # the task has begun
        tasks = asyncio.all_tasks() - before
        del document
        gc.collect()
        found = len(tasks), alive() is None
        for task in tasks:
            task.cancel()
        return found

    with ThreadPoolExecutor(1) as thread:  # browser tests leave a loop running in this one
        assert thread.submit(asyncio.run, kept()).result() == (1, looked_after)


def test_a_page_does_not_follow_the_flag():
    plain, ours = pmui.Page(), pmui.Page()
    busy_flag.never_busy(ours)
    pn.state._add_busy_event("a visitor's")
    assert plain.busy and not ours.busy
    pn.state._remove_busy_event("a visitor's")
