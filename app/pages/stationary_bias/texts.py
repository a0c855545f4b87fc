"""What the page "Stationary bias" says of its run, and the words that its parts share."""

from __future__ import annotations

import math

from app.pages.stationary_bias.job import BiasProgress
from app.runs.job import State
from app.session import run_words
from app.style.numbers import UNKNOWN

WORDS = {"left": "Left", "right": "Right"}
OWN_SETTINGS = "Your own settings. Every change starts a new run, so a histogram never mixes two samplers."
QUESTION = "Does the sampler draw from the right distribution? Blue: what it drew. Orange: the target."
SHOWN = [
    {"key": "histogram", "label": "histogram", "tip": "Where the chains have been since the end of burn-in."},
    {"key": "target", "label": "target p", "tip": "The distribution that the chains should draw from."},
    {
        "key": "predicted",
        "label": "prediction, ε → 0",
        "tip": "The distribution that the sampler draws from as its steps shrink to 0.",
    },
    {
        "key": "exact",
        "label": "exact at this ε",
        "tip": "What the chain draws from at this very step size, computed from its transition operator. Not every "
        "sampler has one.",
    },
]
"""Entries of the legend that switch what the histograms' figures show."""
FIRST_SHOWN = ["histogram", "target", "predicted"]


def distance(value: float) -> str:
    """Four decimals; smaller ones would be noise."""
    if math.isinf(value):
        return "∞"
    return f"{value:.4f}" if math.isfinite(value) else UNKNOWN


def caption(state: State) -> str:
    """Two or three words on what the run is doing."""
    progress: BiasProgress | None = state.snapshot
    return run_words.caption(
        state, "burn-in" if progress is not None and progress.steps <= progress.burn_in else "counting"
    )
