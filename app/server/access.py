"""Who may reach the served app: by which addresses and which port, and with which password."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import secrets
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).parent
PASSWORD = "LLC_LAB_PASSWORD"
WILDCARDS = {"0.0.0.0", "::"}
LOOPBACK = ("localhost", "127.0.0.1", "::1")
REACHED = (
    "--allow-websocket-origin",
    "--auth-module",
    "--basic-auth",
    "--oauth",
    "--prefix",
    "--root-path",
    "--use-xheaders",
)
"""Options of `panel serve` by which others come to a server."""
ORIGINS = "BOKEH_ALLOW_WS_ORIGIN"
"""Bokeh's own variable, which says the first of them."""
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


def own_machine(options: argparse.Namespace, environment: Mapping[str, str]) -> bool:
    """Whether nobody but who sits at this machine comes to the server, as far as its options tell."""
    reached = options.allow_origin or options.prefix or options.behind_proxy or options.auth != "none"
    return not reached and _alone(options.address, options.others, environment)


def served_alone(words: Sequence[str], environment: Mapping[str, str]) -> bool:
    """`own_machine` of a command line of `panel serve`: without an origin it lets in pages of localhost alone."""
    if "serve" not in words[1:2]:
        return False
    address = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    address.add_argument("--address", default="localhost")
    found, others = address.parse_known_args(words[2:])
    return _alone(found.address, others, environment)


def _alone(address: str, others: Sequence[str], environment: Mapping[str, str]) -> bool:
    """others: options of Panel's own."""
    reached = environment.get(ORIGINS) or any(word.startswith(REACHED) for word in others)
    return address in LOOPBACK and not reached


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


def sign_in(options: argparse.Namespace, environment: Mapping[str, str]) -> list[str]:
    """Panel's options for a sign-in by name and password, and the secret that its cookies are signed with."""
    if options.auth != "basic" and options.password_file is not None:
        raise ValueError("--password-file needs --auth basic.")
    # Without a secret of its own every restart signs everybody out, and that is all.
    secret = [] if environment.get("PANEL_COOKIE_SECRET") else [f"--cookie-secret={secrets.token_urlsafe(32)}"]
    if options.auth != "basic":
        return secret
    # With "=", since a password may begin with a dash.
    return [
        *secret,
        "--basic-login-template",
        str(HERE / "login.html"),
        f"--basic-auth={password(options, environment)}",
    ]


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
