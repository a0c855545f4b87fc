"""Who may reach the served app: by which addresses, and with which password."""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import secrets
import socket
from collections.abc import Mapping
from pathlib import Path

from llc_core.extras import needs

HERE = Path(__file__).parent
PASSWORD = "LLC_LAB_PASSWORD"
WILDCARDS = {"0.0.0.0", "::"}
ORIGIN = re.compile(r"\*|([A-Za-z0-9_*.-]+|\[[0-9a-fA-F:]+\])(:\d{1,5})?")


def allowed_origins(options: argparse.Namespace) -> list[str]:
    """What a visitor's address line may show: this machine's own names, and those that were given."""
    for origin in options.allow_origin:
        if not ORIGIN.fullmatch(origin):
            raise ValueError(
                f"--allow-origin {origin!r} is not a host: write host or host:port, without http:// and without a path."
            )
    names = ["localhost", "127.0.0.1"]
    if options.address in WILDCARDS:
        names += own_names()
    elif options.address not in names:
        names.append(f"[{options.address}]" if ":" in options.address else options.address)
    return list(dict.fromkeys([*(f"{name}:{options.port}" for name in names), *options.allow_origin]))


def own_names() -> list[str]:
    """The names and IPv4 addresses by which other machines may reach this one."""
    name = socket.gethostname()
    found = [name, socket.getfqdn()]
    with contextlib.suppress(OSError):
        found += socket.gethostbyname_ex(name)[2]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # a documentation address; nothing is sent
            found.append(probe.getsockname()[0])
        except OSError:
            pass
    return [name for name in dict.fromkeys(found) if ORIGIN.fullmatch(name)]


def encryption(options: argparse.Namespace) -> list[str]:
    """The files for https, where there are any."""
    if options.ssl_certfile is None:
        if options.ssl_keyfile is not None:
            raise ValueError("--ssl-keyfile needs --ssl-certfile: give the certificate too.")
        return []
    found = []
    for name, path in (("--ssl-certfile", options.ssl_certfile), ("--ssl-keyfile", options.ssl_keyfile)):
        if path is not None:
            if not path.is_file():
                raise ValueError(f"{name} {str(path)!r} is no file: check the path.")
            found += [name, str(path)]
    return found


def authentication(options: argparse.Namespace, environment: Mapping[str, str]) -> list[str]:
    oauth = [f"--oauth-{name}" for name in ("provider", "key", "redirect-uri") if getattr(options, _field(name))]
    if options.auth != "oauth" and oauth:
        raise ValueError(f"{oauth[0]} needs --auth oauth.")
    if options.auth != "basic" and options.password_file is not None:
        raise ValueError("--password-file needs --auth basic.")
    if options.auth == "none":
        return []
    # Without a secret of its own every restart signs everybody out, and that is all.
    # With "=", since a password may begin with a dash.
    secret = [] if environment.get("PANEL_COOKIE_SECRET") else [f"--cookie-secret={secrets.token_urlsafe(32)}"]
    if options.auth == "oauth":
        return secret + _oauth(options, environment)
    login = ["--basic-login-template", str(HERE / "login.html")]
    return [*secret, *login, f"--basic-auth={password(options, environment)}"]


def password(options: argparse.Namespace, environment: Mapping[str, str]) -> str:
    """The password of all, or the path of the file with everyone's own."""
    if options.password_file is None:
        common = environment.get(PASSWORD, "")
        if not common:
            raise ValueError(f"--auth basic needs a password: set {PASSWORD}, or give --password-file.")
        if Path(common).exists():
            raise ValueError(
                f"{PASSWORD} is the name of a file: give it with --password-file, or choose another password."
            )
        return common
    path = options.password_file
    try:
        users = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"--password-file {str(path)!r} cannot be read ({error.strerror}): check the path.") from None
    except ValueError:
        users = None
    if not isinstance(users, dict) or not users or not all(isinstance(word, str) and word for word in users.values()):
        raise ValueError(f'--password-file {str(path)!r} must hold JSON such as {{"ada": "her password"}}.')
    return str(path.resolve())


def _oauth(options: argparse.Namespace, environment: Mapping[str, str]) -> list[str]:
    with needs("--auth oauth", extra="app"):
        from panel.auth import AUTH_PROVIDERS

    if options.oauth_provider not in AUTH_PROVIDERS:
        names = ", ".join(sorted(AUTH_PROVIDERS))
        raise ValueError(f"--oauth-provider {options.oauth_provider!r} is unknown: choose one of {names}.")
    arguments = ["--oauth-provider", options.oauth_provider]
    if not (options.oauth_key or environment.get("PANEL_OAUTH_KEY")):
        raise ValueError("--auth oauth needs --oauth-key: the provider shows it where you register the app.")
    if not environment.get("PANEL_OAUTH_SECRET"):
        raise ValueError("--auth oauth needs the provider's secret: set PANEL_OAUTH_SECRET.")
    for name in ("key", "redirect-uri"):
        if value := getattr(options, _field(name)):
            arguments += [f"--oauth-{name}", value]
    return arguments


def _field(name: str) -> str:
    return f"oauth_{name.replace('-', '_')}"
