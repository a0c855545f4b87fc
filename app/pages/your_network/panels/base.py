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


class NetworkPanel(JobPanel):
    """A job in the background, words beside its button. `prepare` empties the panel."""

    tone = "small muted"

    def __init__(self, label: str, invitation: str):
        super().__init__(label, invitation, runs=background, width=150)
        self.words.styles = {"flex": "1 1 240px"}

    def prepare(self) -> None:
        raise NotImplementedError

    def forget(self) -> None:
        """What was found belongs to another question now."""
        self.stop()
        self.prepare()
        self.say(self._invitation)


class ChoicePanel(NetworkPanel):
    """A job about the page's choice and settings. `job` makes what is run, from what is chosen when the button is pressed."""

    def __init__(self, label: str, invitation: str):
        super().__init__(label, invitation)
        self.choice: NetworkChoice | None = None
        self.settings: dict[str, Any] = {}

    def begin(self) -> Callable[[], Job] | None:
        if self.choice is None:
            return None
        self.prepare()
        return partial(self.job, self.choice, dict(self.settings))

    @staticmethod
    def job(choice: NetworkChoice, settings: dict[str, Any]) -> Job:
        raise NotImplementedError


class ConfigPanel(NetworkPanel):
    """A job about the network of the run. `job` says what is run, `done` whether there is a result."""

    def __init__(self, label: str, invitation: str):
        super().__init__(label, invitation)
        self.config: NetworkConfig | None = None

    def show(self, config: NetworkConfig) -> None:
        """Another choice has another w0: what was measured elsewhere goes."""
        asked = self.config
        if asked is None or asked.choice != config.choice or asked.weights is not config.weights:
            self.forget()
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

    def job(self, config: NetworkConfig) -> Callable[[], Job]:
        """Raises ValueError, one sentence, where there is nothing to run."""
        raise NotImplementedError
