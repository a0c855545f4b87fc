"""A number of megabytes that the environment says."""

from __future__ import annotations

import math
import os


def megabytes_of(variable: str, default: float, example: float) -> float:
    """The environment's number, or `default` where it says none; ValueError where it is no number above 0."""
    text = os.environ.get(variable, "")
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise ValueError(f"{variable} is {text!r}; set it to a number of megabytes above 0, such as {example:g}.")
    return value
