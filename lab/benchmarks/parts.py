"""Parts of a long benchmark in a process of their own: what hangs, or takes its process with it, costs no other part its answer.

The process that works prints `> NAME` where a part begins, and its answers as rows of a table. The other one reads them and has the
clock.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

BEGINS, OVER = "> ", "> all"
LEAST = 20.0
"""Seconds: a process has then begun, and most parts are answered."""
Part = Callable[[], Iterator[str]]


def work(parts: Mapping[str, Part], names: Sequence[str]) -> None:
    """Ask these parts one after the other. What fails is an answer too."""
    for name in names:
        print(f"{BEGINS}{name}", flush=True)
        try:
            for line in parts[name]():
                print(f"| {name} | {line} |", flush=True)
        except Exception as error:
            first = next(iter(str(error).splitlines()), "")
            print(f"| {name} | failed: {type(error).__name__}: {first} |", flush=True)
            if "CUDA error" in str(error):  # whatever this process asks of the card from now on fails too
                raise SystemExit(1) from error
    print(OVER, flush=True)


def ask(
    names: Sequence[str], command: Callable[[Sequence[str]], Sequence[str]], seconds: float, add: Callable[[str], None]
) -> None:
    """`add` the answers of all parts as they come, and after so many seconds what was left out.

    command: of a process that does `work` on parts. A part may take half of the time that is left, and LEAST at any rate; after one
    that takes longer, or ends its process, another process goes on.
    """
    until, left = time.monotonic() + seconds, list(names)
    while left and time.monotonic() < until:
        left = left[_follow(left, command(left), until, add) :]
    for name in left:
        add(f"| {name} | not asked: {seconds / 60:.3g} minutes were over |")


def _follow(names: Sequence[str], command: Sequence[str], until: float, add: Callable[[str], None]) -> int:
    """How many of the parts are answered when the process ends, or is ended."""
    around = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8", env=around, start_new_session=True)
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(process, lines), daemon=True).start()
    at, begun, limit = 0, time.monotonic(), _limit(until)
    try:
        while True:
            line = lines.get(timeout=max(0.0, limit - time.monotonic()))
            if line is None:
                break
            if line == OVER:  # a compiler's helpers may keep it from its end
                with suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=5)
                return len(names)
            if line.startswith(BEGINS) and line.removeprefix(BEGINS) in names:
                at, begun = names.index(line.removeprefix(BEGINS)), time.monotonic()
                limit = _limit(until)
            elif line.startswith("| "):
                add(line)
        add(f"| {names[at]} | failed: its process ended with {process.wait()} |")
        return at + 1
    except queue.Empty:
        add(f"| {names[at]} | ended after {time.monotonic() - begun:.0f} s |")
        return at + 1
    finally:
        _end(process)


def _limit(until: float) -> float:
    now = time.monotonic()
    return min(until, now + max(LEAST, (until - now) / 2))


def _read(process: subprocess.Popen[str], lines: queue.SimpleQueue[str | None]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line.rstrip("\n"))
    lines.put(None)


def _end(process: subprocess.Popen[str]) -> None:
    """It and what it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
