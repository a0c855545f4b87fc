"""Visitors who mean harm, beside a few who do not: does the server go on, and how do the others' pages tick?

    python -m lab.benchmarks.served.attacks links dropped slow largest

links: thirty links that ask for as much as links can, opened one after another within seconds.  dropped: forty sessions whose connection is cut.
slow: five hundred connections that send the head of a request one byte at a time.  largest: one visitor with the largest
run that the server takes, the others beside. The bar: 95% of all ticks under 300 ms, and after each attack no run, no page
and no error is left.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from app.sharing.links import Link, encode
from lab.benchmarks.served.crowd import Visitor
from lab.benchmarks.served.server import Server
from lab.benchmarks.smoke import parse, status

BAR_SECONDS = 0.3
OTHERS = 3
SETTLE_SECONDS = 10
GONE_SECONDS = 90
"""So long sessions may outlive their pages: Panel looks every 15 s."""
ORDINARY = ("local-geometry", {"problem": {"kind": "dln", "widths": [8, 6, 8]}, "steps": 1_000_000})


def _network(*widths: int, **problem: Any) -> dict[str, Any]:
    return {"kind": "dln", "widths": list(widths), **problem}


LARGEST = {"problem": _network(440, 440), "gradient": "minibatch", "batch_size": 2000, "chains": 10, "steps": 1_000_000}
CROWD = {
    side: {"interaction": {"name": "SteinVariational", "temperature": 1.0, "spread": 2.0}, "chains": 200}
    for side in ("left", "right")
}
WIDE = {
    "problem": {
        "kind": "bayesian_network",
        "widths": [1, 320, 320, 320, 1],
        "data": {"name": "wave", "n": 64, "seed": 0},
    }
}
HOSTILE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("stationary-bias", {"target": {"kind": "landscape", "expression": f"exp(-x^2/2)*(2+{'*'.join(['sin(50*x)'] * 12)})"}}),
    ("stationary-bias", {"target": {"kind": "landscape", "points": [[i / 10 - 3, 1 + i * 7 % 13] for i in range(60)]}}),
    ("local-geometry", LARGEST),
    ("local-geometry", {"problem": _network(1500, 100, 5), "chains": 32}),
    ("local-geometry", {"problem": _network(12_000, 5_000)}),
    ("local-geometry", {"problem": _network(4, 4, n=10**15), "gradient": "minibatch", "batch_size": 100_000, "chains": 32}),
    ("local-geometry", {"problem": _network(190_000, 1)}),
    ("landscapes", {"problem": {"kind": "planar", "name": "normal_crossing", "k": [6, 6], "n": 100_000}, "chains": 32}),
    ("your-network", {"network": "deep", "chains": 32, "batch_size": 1000, "steps": 1_000_000}),
    ("benchmark", {"store": "../../etc/passwd"}),
    ("many-modes", {**CROWD, "gradients": 20_000_000, "trials": 10}),
    ("functions", {**WIDE, "sampler": {"name": "SplitHMC", "leapfrog_steps": 100.0}, "chains": 30, "steps": 100_000}),
    ("functions", {**WIDE, "sampler": {"name": "CollapsedPCN"}, "chains": 30, "steps": 100_000}),
    ("decisions", {"game": "mushrooms", "bandit": {"hidden": 256, "steps": 5, "batch_size": 512, "rounds": 5000}}),
    ("decisions", {"game": "digits", "outside": {"hidden": 256, "chains": 8, "steps": 20_000}}),
)  # fmt: skip


def link(server: Server, page: str, config: dict[str, Any]) -> str:
    return f"{server.url}?c={encode(Link(page, config))}"


async def links(server: Server, seconds: float) -> None:
    """Each of thirty visitors opens another hostile link; seeds differ, so that nothing is there from the one before.

    How late their own pages come is shown and is no bar: a server may let those wait who ask for much.
    """
    people = []
    for i in range(30):
        page, config = HOSTILE[i % len(HOSTILE)]
        if "problem" in config:
            config = {**config, "problem": {**config["problem"], "seed": i}}
        people.append(Visitor(link(server, page, config)))
    until, apart = time.monotonic() + seconds, min(1.0, seconds / 60)
    tasks = []
    for person in people:
        tasks.append(asyncio.create_task(person.stay(until)))
        await asyncio.sleep(apart)
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    failed = [f"link {i}: {type(error).__name__}" for i, error in enumerate(ended) if error is not None]
    late = sorted(person.first for person in people)
    print(f"  their own pages came after {late[len(late) // 2]:.1f} s (50%), {late[-1]:.1f} s at most")
    print("  " + ("; ".join(failed) or "all thirty connections stayed open to the end"))


async def dropped(server: Server, seconds: float) -> None:
    """Forty visitors whose connection is cut in the middle of a run, one after another."""
    for _ in range(40):
        person = Visitor(link(server, *ORDINARY))
        await person.stay(time.monotonic() + seconds / 40, cut=True)


async def slow(server: Server, seconds: float) -> None:
    """Five hundred connections, each with a byte every two seconds; those that are closed are counted."""
    closed = 0

    async def one() -> None:
        nonlocal closed
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        until = time.monotonic() + seconds
        try:
            writer.write(b"GET /app HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            while time.monotonic() < until:
                writer.write(b"a")
                await writer.drain()
                await asyncio.sleep(2)
        except OSError:
            closed += 1
        finally:
            writer.close()

    await asyncio.gather(*(one() for _ in range(500)))
    print(f"  of 500 slow connections the server closed {closed} within {seconds:g} s")


async def largest(server: Server, seconds: float) -> None:
    await Visitor(link(server, "local-geometry", LARGEST)).stay(time.monotonic() + seconds)


ATTACKS: dict[str, Callable[[Server, float], Awaitable[None]]] = {
    "links": links, "dropped": dropped, "slow": slow, "largest": largest,
}  # fmt: skip


async def attacked(server: Server, attack: Callable[[Server, float], Awaitable[None]], seconds: float) -> bool:
    """Whether the bar is met. The others are there before, and stay until the attack is over."""
    before = await asyncio.to_thread(server.held)
    until = time.monotonic() + SETTLE_SECONDS + seconds
    others = [Visitor(link(server, *ORDINARY)) for _ in range(OTHERS)]
    tasks = [asyncio.create_task(person.stay(until)) for person in others]
    await asyncio.sleep(SETTLE_SECONDS)
    await asyncio.to_thread(server.ticks)
    await attack(server, until - 2 - time.monotonic())
    during = await asyncio.to_thread(server.held)
    gaps = sorted(gap for gap, _ in await asyncio.to_thread(server.ticks))
    await asyncio.gather(*tasks)
    marks = {p: gaps[min(len(gaps) - 1, p * len(gaps) // 100)] for p in (50, 95, 100)}
    print("  ticks, ms: " + ", ".join(f"{p}% {1000 * gap:.0f}" for p, gap in marks.items()) + f" (of {len(gaps)})")
    left, limit = await asyncio.to_thread(server.held), time.monotonic() + GONE_SECONDS
    while left["runs"] + left["pages"] and time.monotonic() < limit:
        await asyncio.sleep(1)
        left = await asyncio.to_thread(server.held)
    print(f"  memory, MB: {before['rss']:.0f} before, {during['rss']:.0f} at the end of it, {left['rss']:.0f} after")
    print(
        f"  left: {left['runs']:g} runs, {left['pages']:g} pages, {left['claimed'] / 2**20:.0f} MB claimed", flush=True
    )
    return marks[95] <= BAR_SECONDS and not left["runs"] + left["pages"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("attacks", nargs="+", choices=list(ATTACKS))
    parser.add_argument("--seconds", type=float, default=45, help="how long each lasts")
    options = parse(parser, globals(), seconds=2.0, SETTLE_SECONDS=1, GONE_SECONDS=20)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    server = Server()
    try:
        good = True
        for name in options.attacks:
            print(f"{name}, load {os.getloadavg()[0]:.1f}", flush=True)
            good &= asyncio.run(attacked(server, ATTACKS[name], options.seconds))
        errors = server.errors()
        print("\n".join(errors) or "no error in the log")
        return status(not good) or int(bool(errors))
    finally:
        server.close()


if __name__ == "__main__":
    sys.exit(main())
