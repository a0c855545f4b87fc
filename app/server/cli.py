"""`llc-lab`: `serve` the app for one person, a class or a group, beside the engine's commands (`llc_core.cli.commands`).

`serve` is `panel serve app`: the same server, the same session hooks, one run manager per process. What it has no option of
its own for, Panel's options say. Secrets come from the environment or a file, never from options, which every user of a
machine can read in its process list.
"""

from __future__ import annotations

import argparse
import contextlib
import ipaddress
import os
import re
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from app.runs.account import TOTAL_MEMORY, VISITOR_MEMORY, give_everything
from app.server.access import PASSWORD, WILDCARDS, allowed_origins, check_free, free_port, own_machine, sign_in
from llc_core.cli.commands import add_commands, run_command
from llc_core.cli.outputs import say
from llc_core.extras import needs
from llc_core.version import __version__

HERE = Path(__file__).parent
TITLE = "LLC_LAB_TITLE"
LONGEST_SIGN_IN = 24.0 * 30
"""Hours: a cookie that is found on a shared computer must not open the server for ever."""


def main(argv: Sequence[str] | None = None) -> int:
    """The command line. Returns the exit status; wrong options end in one sentence and status 2."""
    parser = build_parser()
    options, others = parser.parse_known_args(argv)
    if others and options.handle is not _serve:
        parser.error(f"unrecognized arguments: {' '.join(others)}")
    options.others = others
    return run_command(parser, options)


def _serve(options: argparse.Namespace) -> int:
    arguments = server_arguments(options, os.environ)
    check_free(options.address, options.port)
    with needs("llc-lab serve", extra="app"):
        from app.server.serving import Serving, allow_many_connections, check_oauth
    panel = argparse.ArgumentParser(prog="llc-lab serve", usage="llc-lab serve: see llc-lab serve --help")
    command = Serving(parser=panel)
    given = panel.parse_args(arguments)
    if given.oauth_provider and options.auth != "oauth":
        raise ValueError("--oauth-provider needs --auth oauth.")
    if options.auth == "oauth":
        check_oauth(given, os.environ)
    allow_many_connections()
    if options.title:
        os.environ[TITLE] = options.title
    if options.visitor_memory is not None:
        os.environ[VISITOR_MEMORY] = str(options.visitor_memory)
    if options.total_memory is not None:
        os.environ[TOTAL_MEMORY] = str(options.total_memory)
    if own_machine(options, os.environ):
        give_everything()
    if options.behind_proxy or options.auth != "none":
        from app.session.ownership import VARIABLE

        os.environ.setdefault(VARIABLE, "0")  # visitors may all seem to come from this machine
    say(f"LLC Lab: {url(options, secure=bool(given.ssl_certfile))}   (stop with Ctrl+C)", flush=True)
    command.invoke(given)
    return 0


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="llc-lab", description="LLC Lab: samplers, live beside exact answers.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    serve = commands.add_parser(
        "serve", help="serve the app", description="Serve the app. All options of `panel serve` can be given as well."
    )
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
        "--visitor-memory",
        type=float,
        metavar="MB",
        help="the most that one run of a visitor may take (default 600, alone what all may take)",
    )
    serve.add_argument(
        "--total-memory",
        type=float,
        metavar="MB",
        help="the most that the runs of all visitors may take together (default half of the machine's memory)",
    )
    serve.add_argument(
        "--behind-proxy", action="store_true", help="trust the forwarded headers of a web server in front"
    )
    serve.add_argument(
        "--auth",
        choices=("none", "basic", "oauth"),
        default="none",
        help="who may come in; oauth needs Panel's --oauth-provider and --oauth-key",
    )
    serve.add_argument(
        "--password-file",
        type=Path,
        metavar="FILE",
        help=f'with --auth basic: JSON {{"name": "password", …}}; without it everyone has the password in {PASSWORD}',
    )
    serve.add_argument(
        "--session-hours", type=float, default=12.0, metavar="HOURS", help="how long a sign-in lasts (default 12)"
    )
    serve.set_defaults(handle=_serve, others=[])
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
    say(f"The report is in {options.out}.")
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
    for name, value, example in (
        ("--visitor-memory", options.visitor_memory, 600),
        ("--total-memory", options.total_memory, 4000),
    ):
        if value is not None and not 0 < value < float("inf"):
            raise ValueError(f"{name} {value:g} is not an amount: give megabytes above 0, such as {example}.")
    if not 0 < options.session_hours <= LONGEST_SIGN_IN:
        raise ValueError(
            f"--session-hours {options.session_hours:g} is no time for a sign-in: give hours above 0 and up to "
            f"{LONGEST_SIGN_IN:g}, such as 12."
        )
    arguments = [str(HERE.parent), "--address", options.address, "--port", str(options.port)]
    for origin in allowed_origins(options):
        arguments += ["--allow-websocket-origin", origin]
    if options.prefix:
        arguments += ["--prefix", options.prefix]
    if options.behind_proxy:
        arguments += ["--use-xheaders"]
    arguments += [f"--oauth-expiry-days={options.session_hours / 24}", *sign_in(options, environment)]
    return arguments + options.others


def url(options: argparse.Namespace, secure: bool = False) -> str:
    """The address to type.  secure: whether the server does TLS itself."""
    name = options.address
    if name in WILDCARDS:
        name = socket.gethostname()
    with contextlib.suppress(ValueError):
        name = f"[{name}]" if ipaddress.ip_address(name).version == 6 else name
    return f"{'https' if secure else 'http'}://{name}:{options.port}{options.prefix}/app"


if __name__ == "__main__":
    sys.exit(main())
