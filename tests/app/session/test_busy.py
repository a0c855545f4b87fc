"""The task that looks after Panel's busy flag keeps nobody's page."""

from __future__ import annotations

import asyncio
import gc
from concurrent.futures import ThreadPoolExecutor
from weakref import ref

import panel as pn
from bokeh.document import Document
from panel.io.state import set_curdoc

from app.session.busy import look_after_busy_flag


def test_the_task_is_started_in_nobodys_name(monkeypatch):
    monkeypatch.setattr(type(pn.state), "_busy_cleanup_scheduled", None)

    async def kept() -> tuple[int, bool]:
        document = Document()
        alive = ref(document)
        before = asyncio.all_tasks()
        with set_curdoc(document):
            look_after_busy_flag()
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
        assert thread.submit(asyncio.run, kept()).result() == (1, True)
