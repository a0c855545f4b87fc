"""One calculation in the background for a page: asked for when its question changes, taken when it is done."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from app.runs.handle import RunHandle
from app.runs.job import OVER, Status
from app.runs.manager import background
from app.runs.tasks import TaskJob


class BackgroundTask:
    """take: called with the answer.  fail: called with a sentence. Both in the session's own callbacks, from `poll`."""

    def __init__(self, take: Callable[[Any], None], fail: Callable[[str], None]):
        self._take, self._fail = take, fail
        self._question: Any = None
        self._task: Callable[[], Any] | None = None
        self._handle: RunHandle | None = None

    def ask(self, question: Any, task: Callable[[], Any]) -> bool:
        """Ask unless the question is the same as before. Returns whether it is a new one."""
        if question == self._question:
            return False
        self.close()
        self._question, self._task = question, task
        return True

    def poll(self) -> None:
        if self._task is None:
            return
        if self._handle is None:
            self._handle = background().submit(partial(TaskJob, [self._task]))
        state, new = self._handle.poll(0)
        if new is not None and new[1]:
            self._task = None
            self._take(new[1][0])
        elif state.status is Status.FAILED:
            self._task = None
            self._fail(state.message)
        elif state.status in OVER:
            self._handle = None

    def close(self) -> None:
        """Forget the question, and end the calculation."""
        if self._handle is not None and self._handle.state.status not in OVER:
            self._handle.cancel()
        self._handle = self._task = self._question = None
