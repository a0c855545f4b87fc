"""What the panels of this page share: a choice of network and settings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from app.pages.your_network.config import NetworkChoice
from app.runs.job import Job
from app.runs.manager import background
from app.session.job_panel import JobPanel


class ChoicePanel(JobPanel):
    """A job about the page's choice and settings. `prepare` empties the panel, `job` makes what is run."""

    tone = "small muted"

    def __init__(self, label: str, invitation: str):
        super().__init__(label, invitation, runs=background, width=150)
        self.words.styles = {"flex": "1 1 240px"}
        self.choice: NetworkChoice | None = None
        self.settings: dict[str, Any] = {}

    def begin(self) -> Callable[[], Job] | None:
        if self.choice is None:
            return None
        self.prepare()
        return partial(self.job, self.choice, dict(self.settings))

    def prepare(self) -> None:
        raise NotImplementedError

    @staticmethod
    def job(choice: NetworkChoice, settings: dict[str, Any]) -> Job:
        raise NotImplementedError
