"""A button that starts a calculation of its own and stops it, and words beside it: the same in every panel that has one."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.runs.handle import RunHandle
from app.runs.job import OVER, Job, State, Status
from app.runs.manager import RunManager, manager
from app.style.layout import prose


class JobPanel:
    """Subclasses say what to run in `begin` and what to show in `receive`; the page calls `poll` and `close`.

    label: of the button.  invitation: the words before the first job.  ticks: polls between two looks at what is new.
    runs: which manager runs the job.
    """

    stopped = "Stopped."
    """Said when the user stops the job."""
    tone = "small"
    """Classes of the words."""
    described = ""
    """Names of the figures that the words describe in numbers, with spaces between."""

    def __init__(
        self,
        label: str,
        invitation: str,
        *,
        ticks: int = 1,
        runs: Callable[[], RunManager] = manager,
        variant: str = "contained",
        width: int | None = None,
        margin: Any = 0,
    ):
        self._label, self._invitation, self._every, self._runs = label, invitation, ticks, runs
        self._handle: RunHandle | None = None
        self._version, self._cursor, self._ticks = -1, 0, 0
        self.button = pmui.Button(label=label, size="small", variant=variant, margin=0, width=width)
        self.button.on_click(self._on_button)
        self.words = prose(margin=margin)
        self.say(invitation)

    def begin(self) -> Callable[[], Job] | None:
        """Make ready for a job. Returns what builds it, None where there is nothing to do; ValueError is told."""
        raise NotImplementedError

    def receive(self, state: State, items: list[Any]) -> None:
        """Show what is new. items: what the job's log has added, for jobs that keep one."""
        raise NotImplementedError

    def bar(self, *beside: Any, margin: Any) -> pn.FlexBox:
        """The button and what stands beside it."""
        return pn.FlexBox(
            self.button, *beside, gap="8px 12px", align_items="center", sizing_mode="stretch_width", margin=margin
        )

    def say(self, text: str) -> None:
        of = f' data-summary="{escape(self.described)}"' if self.described else ""
        self.words.object = f'<p class="{self.tone}" role="status"{of}>{escape(text)}</p>'

    def complain(self, text: str) -> None:
        self.words.object = f'<p class="small"><span role="alert">{escape(text)}</span></p>'

    def poll(self) -> None:
        """Show what is new; called in the page's own callbacks."""
        if self._handle is None:
            return
        self._ticks += 1
        state, rows = self._handle.poll(self._cursor)
        over = state.status in OVER
        if state.version != self._version and (over or self._ticks % self._every == 0):
            self._version = state.version
            items = []
            if rows is not None:
                self._cursor, items = rows
            self.receive(state, items)
            if state.status is Status.FAILED:
                self.complain(state.message)
            elif state.status is Status.CANCELLED:
                self.say(state.message or "Stopped.")
            elif state.status is Status.QUEUED:
                self.say(f"Waiting for a free place, number {state.place} in the queue.")
        if over:
            self.stop()

    def stop(self) -> None:
        """End the job; what it found stays."""
        self.close()
        self.button.label = self._label

    def close(self) -> None:
        """End the job; called when the page closes. Touches nothing on the screen: it may be gone."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _on_button(self, event: object) -> None:
        with pn.io.hold():
            if self._handle is not None:
                self.stop()
                if self.stopped:
                    self.say(self.stopped)
                return
            try:
                build = self.begin()
            except ValueError as error:
                self.complain(str(error))
                return
            if build is not None:
                self._version, self._cursor = -1, 0
                self._handle = self._runs().submit(build)
                self.button.label = "Stop"
