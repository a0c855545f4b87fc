"""`panel serve`, with limits on what a connection may do. Imported where Panel is there (`app.server.cli`)."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Mapping
from typing import Any

from panel.auth import AUTH_PROVIDERS
from panel.command.serve import Serve
from panel.config import config

SLOWEST_SECONDS = 30.0
"""A browser sends the head of a request, or the form of the sign-in, in one go; who takes longer holds a connection."""
LARGEST_FORM = 64 * 1024
"""Bytes of a request's body. Files of visitors come by websocket, which has a limit of its own."""
PING_SECONDS = 30.0
"""A browser that has lost its network says nothing: without an answer to a ping before the next one its session ends."""


class Serving(Serve):
    def customize_kwargs(self, args: argparse.Namespace, server_kwargs: dict[str, Any]) -> dict[str, Any]:
        config.oauth_expiry = args.oauth_expiry_days  # Panel itself sets it for OAuth alone
        return {**super().customize_kwargs(args, server_kwargs), **limits()}


def check_oauth(given: argparse.Namespace, environment: Mapping[str, str]) -> None:
    """Raises ValueError where a sign-in elsewhere cannot work: Panel 1.9 would say so to the first visitor only."""
    provider = given.oauth_provider or environment.get("PANEL_OAUTH_PROVIDER")
    if provider not in AUTH_PROVIDERS:
        names = ", ".join(sorted(AUTH_PROVIDERS))
        raise ValueError(f"--oauth-provider {provider!r} is unknown: choose one of {names}.")
    if not (given.oauth_key or environment.get("PANEL_OAUTH_KEY")):
        raise ValueError("--auth oauth needs --oauth-key: the provider shows it where you register the app.")
    if not (given.oauth_secret or environment.get("PANEL_OAUTH_SECRET")):
        raise ValueError("--auth oauth needs the provider's secret: set PANEL_OAUTH_SECRET.")


def limits() -> dict[str, Any]:
    """Options of Bokeh's server that bound what a connection holds and how long."""
    return {
        "http_server_kwargs": {
            "idle_connection_timeout": SLOWEST_SECONDS,
            "body_timeout": SLOWEST_SECONDS,
            "max_body_size": LARGEST_FORM,
        },
        "websocket_ping_interval": PING_SECONDS,
        "websocket_ping_timeout": PING_SECONDS,
    }


def allow_many_connections() -> None:
    """As many open files as the system lets a process have: slow connections must not use up the usual 1,024."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
