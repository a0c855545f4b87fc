"""Ports that a server can listen on."""

from __future__ import annotations

import os
import socket


def free_port(address: str) -> int:
    with _bound(address, 0) as probe:
        return int(probe.getsockname()[1])


def check_free(address: str, port: int) -> None:
    """Raises ValueError when the server could not listen there."""
    _bound(address, port).close()


def _bound(address: str, port: int) -> socket.socket:
    try:
        family, _, _, _, place = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
    except OSError:
        raise ValueError(f"--address {address!r} is not known here: use localhost, 0.0.0.0 or an own IP.") from None
    probe = socket.socket(family)
    try:
        if os.name == "posix":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(place)
    except OSError as error:
        probe.close()
        raise ValueError(
            f"--address {address} --port {port} cannot be used ({error.strerror}): choose another port, or 0 for a free one."
        ) from None
    return probe
