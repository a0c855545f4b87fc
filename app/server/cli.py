"""`llc-lab`: `serve` the app for one person, a class or a group, beside the engine's commands (`llc_core.cli.commands`).

`serve` is `panel serve app` with checked options: the same server, the same session hooks, one run manager per process.
Secrets come from the environment or a file, never from options, which every user of a machine can read in its process
list.
"""

from __future__ import annotations

import argparse
import contextlib
import ipaddress
import json
import os
import re
import secrets
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from app.runs.allowance import VISITOR_MEMORY
from llc_core.cli.commands import add_commands, run_command
from llc_core.extras import needs

HERE = Path(__file__).parent
PASSWORD = "LLC_LAB_PASSWORD"
TITLE = "LLC_LAB_TITLE"
WILDCARDS = {"0.0.0.0", "::"}
ORIGIN = re.compile(r"\*|([A-Za-z0-9_*.-]+|\[[0-9a-fA-F:]+\])(:\d{1,5})?")


def main(argv: Sequence[str] | None = None) -> int:
    """The command line. Returns the exit status; wrong options end in one sentence and status 2."""
    parser = build_parser()
    return run_command(parser, parser.parse_args(argv))


def _serve(options: argparse.Namespace) -> int:
    arguments = server_arguments(options, os.environ)
    check_free(options.address, options.port)
    with needs("llc-lab serve", extra="app"):
        from panel.command.serve import Serve
    if options.title:
        os.environ[TITLE] = options.title
    if options.visitor_memory is not None:
        os.environ[VISITOR_MEMORY] = str(options.visitor_memory)
    if options.behind_proxy or options.auth != "none":
        from app.session.ownership import VARIABLE

        os.environ.setdefault(VARIABLE, "0")  # visitors may all seem to come from this machine
    print(f"LLC Lab: {url(options)}   (stop with Ctrl+C)", flush=True)
    panel = argparse.ArgumentParser(prog="panel serve")
    command = Serve(parser=panel)
    command.invoke(panel.parse_args(arguments))
    return 0


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="llc-lab", description="LLC Lab: samplers, live beside exact answers.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    serve = commands.add_parser("serve", help="serve the app", description="Serve the app.")
    serve.add_argument("--port", type=int, default=5006, help="default 5006; 0 takes a free one")
    serve.add_argument(
        "--address", default="localhost", help="where to listen: localhost (default), 0.0.0.0 for everyone"
    )
    serve.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="HOST[:PORT]",
        help="an address that visitors type, if it is not this machine's own name; may be repeated",
    )
    serve.add_argument("--title", default="", help="the name in the header")
    serve.add_argument("--prefix", default="", help="the path in front of /app behind a web server, such as /lab")
    serve.add_argument(
        "--visitor-memory", type=float, metavar="MB", help="the most that one run of a visitor may take (default 600)"
    )
    serve.add_argument(
        "--behind-proxy", action="store_true", help="trust the forwarded headers of a web server in front"
    )
    serve.add_argument("--auth", choices=("none", "basic", "oauth"), default="none", help="who may come in")
    serve.add_argument(
        "--password-file",
        type=Path,
        metavar="FILE",
        help=f'with --auth basic: JSON {{"name": "password", …}}; without it everyone has the password in {PASSWORD}',
    )
    serve.add_argument("--oauth-provider", default="", help="with --auth oauth: github, google, azure, generic, …")
    serve.add_argument("--oauth-key", default="", help="the public identifier of the app at the provider")
    serve.add_argument("--oauth-redirect-uri", default="", help="the address the provider sends visitors back to")
    serve.set_defaults(handle=_serve)
    add_commands(commands)
    report = commands.add_parser("report", help="the figures of a sweep's store, as one HTML file")
    report.add_argument("store", type=Path, metavar="STORE")
    report.add_argument("--out", type=Path, required=True, metavar="FILE.html")
    report.set_defaults(handle=_report)
    return parser


def _report(options: argparse.Namespace) -> int:
    with needs("llc-lab report", extra="app"):
        import bokeh  # noqa: F401
        import holoviews  # noqa: F401

        from app.server.report import write_report

    write_report(options.store, options.out)
    print(f"The report is in {options.out}.")
    return 0


def server_arguments(options: argparse.Namespace, environment: Mapping[str, str]) -> list[str]:
    """The arguments of `panel serve`. Port 0 becomes a free one in `options`.

    Raises ValueError, one sentence, when an option or the environment does not make sense.
    """
    if not 0 <= options.port <= 65535:
        raise ValueError(f"--port {options.port} is not a port: choose one from 1024 to 65535, or 0 for a free one.")
    if not options.port:
        options.port = free_port(options.address)
    if options.prefix and not re.fullmatch(r"(/[A-Za-z0-9_.~-]+)+", options.prefix):
        raise ValueError(f"--prefix {options.prefix!r} is not a path: write it like /lab, without a slash at the end.")
    if options.visitor_memory is not None and not 0 < options.visitor_memory < float("inf"):
        raise ValueError(
            f"--visitor-memory {options.visitor_memory:g} is not an amount: give megabytes above 0, such as 600."
        )
    arguments = [str(HERE.parent), "--address", options.address, "--port", str(options.port)]
    for origin in allowed_origins(options):
        arguments += ["--allow-websocket-origin", origin]
    if options.prefix:
        arguments += ["--prefix", options.prefix]
    if options.behind_proxy:
        arguments += ["--use-xheaders"]
    return arguments + authentication(options, environment)


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


def url(options: argparse.Namespace) -> str:
    """The address to type."""
    name = options.address
    if name in WILDCARDS:
        name = socket.gethostname()
    with contextlib.suppress(ValueError):
        name = f"[{name}]" if ipaddress.ip_address(name).version == 6 else name
    return f"http://{name}:{options.port}{options.prefix}/app"


if __name__ == "__main__":
    sys.exit(main())
