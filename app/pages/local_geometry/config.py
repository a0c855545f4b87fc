"""What may be set on the page "Local geometry", as JSON: a network of `app.estimates.networks`, and the settings of its run."""

from __future__ import annotations

from app.estimates.networks import LONG_BYTES, LONG_ROWS, MAX_PARAMETERS, RUN, check_size, get_problem

__all__ = ["LONG_BYTES", "LONG_ROWS", "MAX_PARAMETERS", "RUN", "check_size", "get_problem"]
