"""Sign-in, over Panel's own: guesses are slowed down, and cookies are sent to this server alone and for a bounded time.

Imported where Panel is there (`app.server.serving`).
"""

from __future__ import annotations

import hmac
import json
import math
from pathlib import Path
from typing import Any

from panel.auth import BasicLoginHandler
from panel.config import config
from tornado.web import RequestHandler

from app.server.guesses import Guesses


class GuardedCookies:
    """For a request handler: what its cookies always have."""

    def set_cookie(self, name: str, value: str | bytes, *given: Any, **named: Any) -> None:
        """No script reads it, no other site's request brings it, and over TLS it never goes without."""
        request = self.request  # type: ignore[attr-defined]
        named = {"httponly": True, "samesite": "Lax", "secure": request.protocol == "https", **named}
        super().set_cookie(name, value, *given, **named)  # type: ignore[misc]


class LoginHandler(GuardedCookies, BasicLoginHandler):
    """Panel's form, with a limit on guesses."""

    guesses = Guesses()

    async def post(self) -> None:
        name, word = self.get_argument("username", "")[:200], self.get_argument("password", "")
        address = self.request.remote_ip or ""
        wait = self.guesses.begin(address, name)
        if wait:
            seconds = math.ceil(wait)
            self.set_status(429)
            self.set_header("Retry-After", str(seconds))
            self.write(self._login_template.render(login_endpoint=self._login_endpoint, wait=seconds))
            return
        if self._validate(name, word):
            self.guesses.right(address, name)
        super().post()

    def _validate(self, username: str, password: str) -> bool:
        """As Panel's, in a time that does not tell how much of the password is right."""
        known = config.basic_auth
        if isinstance(known, str) and Path(known).is_file():
            known = json.loads(Path(known).read_text(encoding="utf-8"))
        wanted = known.get(username) if isinstance(known, dict) else known
        right = hmac.compare_digest((wanted or "").encode(), password.encode())
        return right and wanted is not None


def guard(provider: Any) -> None:
    """Let a provider of Panel's sign visitors in by handlers that are guarded."""
    kind = type(provider)

    def login_handler(self: Any) -> type[RequestHandler]:
        found = kind.login_handler.fget(self)
        if found is BasicLoginHandler:
            LoginHandler._login_endpoint, LoginHandler._login_template = found._login_endpoint, found._login_template
            return LoginHandler
        return type("GuardedLogin", (GuardedCookies, found), {})

    # Panel makes the provider itself, and a second one would count each visitor twice.
    provider.__class__ = type("Guarded", (kind,), {"login_handler": property(login_handler)})
