"""Ten visitors at one moment: what does the server's processor do until each has a page, and until its chains move?

    python -m lab.benchmarks.served.arrivals --visitors 10

No browser draws here: what a browser needs after that is its own machine's. Processor seconds of the server are counted beside those
of the clock, since they say the same where other programs want the machine too.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from dataclasses import dataclass
from urllib.request import urlopen

import numpy as np
import psutil

from lab.benchmarks.machine import machine
from lab.benchmarks.served.crowd import LINKS, Visitor, link
from lab.benchmarks.served.server import Server
from lab.benchmarks.smoke import parse

PATIENCE = 120.0
NEW_ROWS = "ColumnsStreamed"
"""The kind of message by which the figures of a run grow."""
ADDRESSES = {"its address": "?page=local-geometry", "a link": ""}
"""What the visitors open; a link has a run of its own settings."""


@dataclass
class Arrival(Visitor):
    """served, moved: seconds of the clock and of the server's processor until the page was there, and until its chains moved."""

    server: psutil.Process | None = None
    begin: tuple[float, float] = (0.0, 0.0)
    served: tuple[float, float] = (0.0, 0.0)
    moved: tuple[float, float] = (0.0, 0.0)

    async def take(self, socket: object, messages: int) -> None:
        for _ in range(messages):
            message = await socket.read_message()  # type: ignore[attr-defined]
            if message is None:
                raise RuntimeError("The server closed a visitor's connection.")
            if not self.served[0]:
                self.served = self.since()
            if NEW_ROWS in str(message) and not self.moved[0]:
                self.moved = self.since()

    def since(self) -> tuple[float, float]:
        now = clocks(self.server)
        return now[0] - self.begin[0], now[1] - self.begin[1]

    _read = take


def clocks(process: psutil.Process | None) -> tuple[float, float]:
    assert process is not None
    times = process.cpu_times()
    return time.monotonic(), times.user + times.system


async def arrive(server: Server, visitors: int, address: str) -> list[Arrival]:
    """All of them come at once, and leave when every page moves."""
    process = psutil.Process(server.process.pid)
    url = f"{server.url}{address}" if address else link(server, *LINKS[0])
    begin = clocks(process)
    people = [Arrival(url, server=process, begin=begin) for _ in range(visitors)]
    tasks = [asyncio.create_task(person.stay(time.monotonic() + PATIENCE)) for person in people]
    while not all(person.moved[0] for person in people) and time.monotonic() < begin[0] + PATIENCE:
        await asyncio.sleep(0.05)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return people


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=10)
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("--rest", type=float, default=40.0, help="seconds between two tries")
    options = parse(parser, globals(), visitors=2, tries=1, rest=1.0)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print(machine())
    server = Server()
    try:
        print("| all open | | clock: 50% | last | processor: 50% | last |\n|---|---|---|---|---|---|")
        for words, address in ADDRESSES.items():
            urlopen(f"{server.url}?page=local-geometry", timeout=PATIENCE).read()  # a teacher has looked at the page
            found = []
            for _ in range(options.tries):
                time.sleep(options.rest)
                found += [[*p.served, *p.moved] for p in asyncio.run(arrive(server, options.visitors, address))]
            table = np.array(found)
            for name, columns in (("page", table[:, :2]), ("moves", table[:, 2:])):
                values = [f(column) for column in columns.T for f in (np.median, np.max)]
                print(f"| {words} | {name} | " + " | ".join(f"{value:.1f} s" for value in values) + " |", flush=True)
        print(f"memory {server.held()['rss']:.0f} MB, load of the machine {os.getloadavg()[0]:.1f}")
        errors = server.errors()
        print("\n".join(errors))
        return int(bool(errors))
    finally:
        server.close()


if __name__ == "__main__":
    sys.exit(main())
