"""What the panels of this page share: a choice of network and settings, or the network of a run, weights from a file too."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from app.pages.your_network.config import NetworkChoice
from app.pages.your_network.scene import NetworkConfig
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


class ConfigPanel(JobPanel):
    """A job about the network of the run. `prepare` empties the panel, `job` says what is run, `done` whether there is a result."""

    tone = "small muted"

    def __init__(self, label: str, invitation: str):
        super().__init__(label, invitation, runs=background, width=150)
        self.words.styles = {"flex": "1 1 240px"}
        self.config: NetworkConfig | None = None

    def show(self, config: NetworkConfig) -> None:
        """Another choice has another w0: what was measured elsewhere goes."""
        asked = self.config
        if asked is None or asked.choice != config.choice or asked.weights is not config.weights:
            self.stop()
            self.prepare()
            self.say(self._invitation)
        self.config = config

    def start(self) -> None:
        """Begin as the button does, unless it has been done."""
        if self._handle is None and not self.done:
            self._on_button(None)

    def begin(self) -> Callable[[], Job] | None:
        if self.config is None:
            return None
        build = self.job(self.config)
        self.prepare()
        return build

    @property
    def done(self) -> bool:
        raise NotImplementedError

    def prepare(self) -> None:
        raise NotImplementedError

    def job(self, config: NetworkConfig) -> Callable[[], Job]:
        """Raises ValueError, one sentence, where there is nothing to run."""
        raise NotImplementedError
