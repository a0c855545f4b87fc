"""The run of this page: training first, then the chains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from app.pages.your_network.config import Choice
from app.pages.your_network.scene import potential
from app.runs.allowance import check_allowance
from app.runs.llc_job import LlcJob
from llc_core import RunConfig
from llc_core.engine.resolve import resolve


def _build(choice: Choice, settings: dict[str, Any], state: Mapping[str, Tensor] | None) -> LlcJob:
    """In a thread of the run manager: trains at the first time."""
    problem = potential(choice, state, settings["batch_size"])
    resolved = resolve(RunConfig(problem=problem.to_dict(), **settings), problem)
    check_allowance(resolved.config, problem)
    return LlcJob(resolved)
