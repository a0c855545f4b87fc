"""Whether this visitor may end a sweep that runs on the server's machine: its owner, and nobody else in a class."""

from __future__ import annotations

import os
from collections.abc import Mapping

import panel as pn

VARIABLE = "LLC_LAB_STOP_SWEEPS"
"""In the environment: 1 lets every visitor, 0 none; without it those who came by this machine's own name."""
OWN_NAMES = ("localhost", "127.0.0.1", "[::1]")


def may_stop(headers: Mapping[str, str] | None = None) -> bool:
    wish = os.environ.get(VARIABLE, "")
    if wish in ("0", "1"):
        return wish == "1"
    found = pn.state.headers if headers is None else headers
    host = next((value for name, value in found.items() if name.lower() == "host"), "")
    return host.rsplit(":", 1)[0] in OWN_NAMES or host in OWN_NAMES
