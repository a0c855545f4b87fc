"""A class of visitors at once: how evenly do their pages tick?

    python -m lab.benchmarks.served.crowd --visitors 20

Every visitor is a websocket that opens the app, says that its page is on the screen and takes whatever the server sends;
drawing it is the work of the visitor's own machine and is not counted. Half of them watch a network, half the line, all
with a run that outlasts the measurement. A tick is the time from one poll of a session to its next; the bar: 95% of
ticks under 500 ms. Also shown: how late each visitor saw the page, and how much the server sent.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import statistics
import sys
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.request import urlopen

from app.pages.stationary_bias.presets import PRESETS
from app.sharing.links import Link, encode
from lab.benchmarks.served.server import Server
from lab.benchmarks.smoke import parse, status

BAR_SECONDS = 0.5
SETTLE_SECONDS = 10
LINKS = (
    ("local-geometry", {"problem": {"kind": "dln", "widths": [8, 6, 8]}, "steps": 1_000_000}),
    ("stationary-bias", {**PRESETS[0].config.to_dict(), "steps": 10_000_000}),
)


@dataclass
class Visitor:
    """first: seconds until the page was there.  messages, received: what came since, and its characters."""

    url: str
    first: float = 0.0
    messages: int = 0
    received: int = 0
    times: list[float] = field(default_factory=list)

    async def stay(self, until: float, cut: bool = False) -> None:
        """cut: whether the connection ends without a word, as it does where a network fails."""
        from bokeh.document import Document
        from bokeh.document.events import MessageSentEvent
        from bokeh.events import DocumentReady
        from bokeh.protocol import Protocol
        from tornado.httpclient import HTTPRequest
        from tornado.websocket import websocket_connect

        begin = time.monotonic()
        page = await asyncio.to_thread(lambda: urlopen(self.url, timeout=120).read().decode())
        self.first = time.monotonic() - begin
        found = re.search(r'"token":"([^"]+)"', page)
        assert found, "The page holds no session."
        address = self.url.split("?")[0].replace("http", "ws", 1) + "/ws"
        socket = await websocket_connect(
            HTTPRequest(address, connect_timeout=120, request_timeout=120),
            subprotocols=["bokeh", found[1]],
            max_message_size=100_000_000,
        )
        try:
            await self._read(socket, 3)  # header, metadata and content of the server's greeting
            ready = Protocol().create("PATCH-DOC", [MessageSentEvent(Document(), "bokeh_event", DocumentReady())])
            for part in (ready.header_json, ready.metadata_json, ready.content_json):
                await socket.write_message(part)
            while (left := until - time.monotonic()) > 0:
                try:
                    await asyncio.wait_for(self._read(socket, 1), left)
                except TimeoutError:
                    break
        finally:  # also where somebody else ends this visit: a server keeps a session whose page is there
            if cut:
                socket.protocol.stream.close()  # type: ignore[union-attr]
            else:
                socket.close()

    async def _read(self, socket: object, messages: int) -> None:
        for _ in range(messages):
            message = await socket.read_message()  # type: ignore[attr-defined]
            if message is None:
                raise RuntimeError("The server closed a visitor's connection.")
            self.messages += 1
            self.received += len(message)


def link(server: Server, page: str, config: dict[str, Any]) -> str:
    """The address at which this page opens with this configuration."""
    return f"{server.url}?c={encode(Link(page, config))}"


async def crowd(server: Server, visitors: int, seconds: float, apart: float) -> tuple[list[Visitor], list[list[float]]]:
    """The visitors come `apart` seconds after one another; ticks are counted for `seconds` when all are there."""
    links = [link(server, page, config) for page, config in LINKS]
    people = [Visitor(links[i % len(links)]) for i in range(visitors)]
    until = time.monotonic() + visitors * apart + SETTLE_SECONDS + seconds
    tasks = []
    for person in people:
        tasks.append(asyncio.create_task(person.stay(until)))
        await asyncio.sleep(apart)
    await asyncio.sleep(SETTLE_SECONDS)
    await asyncio.to_thread(server.ticks)
    await asyncio.sleep(max(0.0, until - 1 - time.monotonic()))
    ticks = await asyncio.to_thread(server.ticks)
    held = await asyncio.to_thread(server.held)
    print(f"{held['runs']:g} runs held, {held['rss']:.0f} MB in use")
    await asyncio.gather(*tasks)
    return people, ticks


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60, help="how long ticks are counted")
    parser.add_argument("--apart", type=float, default=1, help="seconds between two arrivals")
    options = parse(parser, globals(), visitors=2, seconds=10.0, apart=0.1, SETTLE_SECONDS=5)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    server = Server()
    try:
        people, ticks = asyncio.run(crowd(server, options.visitors, options.seconds, options.apart))
        gaps, spent = sorted(t[0] for t in ticks), sorted(t[1] for t in ticks)
        late = statistics.fmean(gap > BAR_SECONDS for gap in gaps)
        print(f"{options.visitors} visitors, load {os.getloadavg()[0]:.1f}, {len(gaps)} ticks in {options.seconds:g} s")
        for name, values in (("tick", gaps), ("work in a tick", spent)):
            marks = ", ".join(
                f"{p}% {1000 * values[min(len(values) - 1, p * len(values) // 100)]:.0f}" for p in (50, 95, 99, 100)
            )
            print(f"{name}, milliseconds: {marks}")
        print(f"ticks over {1000 * BAR_SECONDS:g} ms: {100 * late:.1f}%")
        print("page after, seconds: " + ", ".join(f"{p.first:.1f}" for p in people))
        print("messages to each: " + ", ".join(str(p.messages) for p in people))
        print(f"sent to each: {statistics.fmean(p.received for p in people) / 1e3:.0f} kB")
        errors = server.errors()
        print("\n".join(errors))
        return status(late > 0.05) or int(bool(errors))
    finally:
        server.close()


if __name__ == "__main__":
    sys.exit(main())
