"""A server that is told to end does so quietly, though runs are moving, being built and waiting to be built."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

SERVER = """
import threading
from bokeh.application.handlers import DirectoryHandler
from app.runs.manager import BUILDERS, manager
from app.runs.tasks import Done, NewestJob
from llc_core.compute.cores import worker_threads

moving, ended = threading.Event(), threading.Event()

class Moving(NewestJob):
    finished = False

    def advance(self, steps):
        worker_threads().submit(int).result()
        moving.set()
        return Done(steps)

manager().submit(Moving)
moving.wait()
started = threading.Semaphore(0)

def long():
    started.release()
    ended.wait(0.5)
    return Moving()

for _ in range(BUILDERS):
    manager().submit(long)
for _ in range(BUILDERS):
    started.acquire()
manager().submit(lambda: print("built for nobody"))
DirectoryHandler(filename="app").on_server_unloaded(None)
print("told to end", flush=True)
"""


@pytest.mark.slow
def test_a_server_that_ends_builds_and_logs_nothing_more():
    """What is being built when it is told to end outlives its last line by half a second."""
    ended = subprocess.run([sys.executable, "-c", SERVER], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "told to end\n", "")
