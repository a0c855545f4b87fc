"""The run of this page: training first, then the chains."""

from __future__ import annotations

from app.pages.your_network.scene import NetworkConfig, potential
from app.runs.llc_job import LlcJob

DRAWN = 10_000
"""Weights of a network of which all are drawn. To copy them takes a hundredth of the time between two looks at a run."""


def build(config: NetworkConfig) -> LlcJob:
    """In a thread of the run manager: trains at the first time, which takes seconds."""
    problem = potential(config.choice, config.weights, config.settings["batch_size"])
    return LlcJob(config.resolved.at(problem), drawn=DRAWN)
