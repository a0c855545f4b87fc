"""The app in a process of its own that tells what it holds and how its sessions tick: for soak.py, crowd.py and latencies.py.

python -m lab.benchmarks.served.server        prints the port, then serves until it is ended
"""

from __future__ import annotations

import gc
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from lab.benchmarks.served.holders import chain

ROOT = Path(__file__).resolve().parents[3]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LOOK_MILLISECONDS = 1000
"""Between two looks for sessions whose page is gone. Panel's own 17 s would be waited for at the end of a soak; what such a look
does is as usual."""
KEPT_SECONDS = 15.0
"""So long a session outlives its page, as usual."""
ERRORS = ("ERROR", "CRITICAL", "Traceback", "Task exception")


class Server:
    """Starts the process. `held` asks what is alive in it, `ticks` for the polls of all sessions since the last question.

    kept: seconds that a session outlives its page.
    """

    def __init__(self, kept: float = KEPT_SECONDS) -> None:
        self.log = Path(tempfile.mkdtemp(prefix="served-")) / "log.txt"
        with self.log.open("w") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "lab.benchmarks.served.server", str(kept)],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                stderr=output,
                text=True,
            )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}/app"

    def held(self) -> dict[str, float]:
        """rss in megabytes, runs, pages (page objects that are alive), claimed (bytes of the account of memory).

        waiting: windows that were made ahead.  arrived: how many of them have found a visitor.
        """
        return self._ask("held")

    def ticks(self) -> list[list[float]]:
        """[seconds since this session's poll before, seconds this poll took] of each poll."""
        return self._ask("ticks")["ticks"]

    def holders(self) -> str:
        """What keeps the pages that are alive: one chain of objects each, from the page outwards."""
        return self._ask("holders")["text"]

    def errors(self) -> list[str]:
        return [line for line in self.log.read_text().splitlines() if line.startswith(ERRORS)]

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(20)

    def _ask(self, what: str) -> Any:
        return json.loads(urlopen(f"http://127.0.0.1:{self.port}/{what}", timeout=60).read())


def launched(playwright: Any) -> Any:
    """The system's Chromium, without a GPU; RuntimeError where there is none."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise RuntimeError(f"No browser: install one of {', '.join(BROWSERS)}.")
    return playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])


def serve(kept: float = KEPT_SECONDS) -> None:
    import logging
    import socket

    import panel as pn
    import psutil
    from panel.io.application import build_single_handler_application
    from tornado.web import RequestHandler

    from app.server.serving import allow_many_connections, limits
    from app.server.turns import Turns
    from app.window import spares, warmup

    allow_many_connections()
    logging.basicConfig(format="%(levelname)s %(name)s %(message)s")
    me = psutil.Process()

    class Held(RequestHandler):
        def get(self) -> None:
            from app.runs.account import account
            from app.runs.manager import background, manager

            pages = len(_pages()) - 2 * spares.count()  # a window and its page each
            runs = manager().active + background().active
            claimed = account().taken
            ahead = {"waiting": spares.count(), "arrived": len(arrived)}
            self.write({"rss": me.memory_info().rss / 2**20, "runs": runs, "pages": pages, "claimed": claimed, **ahead})

    warmup.wait(120)
    for thread in threading.enumerate():  # what it goes on to compile belongs to the start of a server
        if thread.name == "warmup":
            thread.join()
    polls, arrived = _watch_polls(), _watch_arrivals()

    class Holders(RequestHandler):
        def get(self) -> None:
            self.write({"text": "\n".join(chain(page) for page in _pages())})

    class Ticks(RequestHandler):
        def get(self) -> None:
            self.write({"ticks": polls.copy()})
            polls.clear()

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    application = build_single_handler_application(str(ROOT / "app" / "main.py"))
    application.add(Turns())  # a file has no hooks, as the folder `app` has
    server = pn.serve(
        {"app": application}, port, "127.0.0.1", show=False, start=False, verbose=False,
        extra_patterns=[("/held", Held), ("/ticks", Ticks), ("/holders", Holders)],
        check_unused_sessions_milliseconds=LOOK_MILLISECONDS,
        unused_session_lifetime_milliseconds=int(1000 * kept), **limits(),
    )  # fmt: skip
    server.start()
    print(port, flush=True)
    server.io_loop.start()


def _pages() -> list[Any]:
    """All that a closed session should leave nothing of: windows and views of pages."""
    from app.pages import load_pages
    from app.window.shell import Shell

    views = [page.build for page in load_pages()]
    gc.collect()
    return [x for x in gc.get_objects() if type(x) is Shell or type(x) in views]


def _watch_arrivals() -> list[float]:
    from app.window.shell import Shell

    arrived: list[float] = []
    arrive = Shell.arrive

    def counted(self: Any) -> None:
        arrived.append(time.monotonic())
        arrive(self)

    Shell.arrive = counted  # type: ignore[method-assign]
    return arrived


def _watch_polls() -> list[list[float]]:
    from app.session.live import Live

    polls: list[list[float]] = []
    poll = Live._tick

    def timed(self: Any) -> None:
        start = time.perf_counter()
        poll(self)
        before = self.__dict__.get("started")
        self.__dict__["started"] = start
        if before is not None:
            polls.append([start - before, time.perf_counter() - start])

    Live._tick = timed  # type: ignore[method-assign]
    return polls


if __name__ == "__main__":
    serve(*map(float, sys.argv[1:2]))
