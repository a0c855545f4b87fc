"""One thread per process: the tests' networks are tiny, and waiting threads would only fight over the cores."""

import gc
import math
import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

try:
    from hypothesis import settings
except ImportError:  # the engine's tests run without it
    pass
else:
    # The same examples at every run: a failure is of the change that was made. deadline: a busy core is no fault.
    settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
    settings.load_profile("fixed")

# Every server of the tests would compile the kernels of all pages in advance, fifteen seconds of a core each time.
os.environ.setdefault("LLC_LAB_WARM", "first")

SLOW = ("lab/", "tests/browser/")
"""Whole notebooks, and real browsers: minutes of a processor."""
WALK = "tests/browser/test_walk.py"
"""One walk through each page, in `make test` too."""
RARE = tuple(
    f"lab/notebooks/{name}" for name in ("01_", "02_", "03_", "04_", "05_", "06_", "07_", "08_", "09_", "10_", "11_")
)
"""The notebooks that take longest: twenty seconds to three minutes each. `make test-all` runs them."""
LONGEST_FIRST = (
    "tests/browser/test_every_control.py",
    "lab/",
    "tests/browser/",
    "tests/lab/",
    "tests/llc_core/references/",
    "tests/llc_core/engine/",
    "tests/app/pages/",
    "tests/llc_core/samplers/",
    "tests/llc_core/",
    "tests/house/",
    "tests/app/window/",
    "tests/app/server/",
)
"""Whole notebooks take minutes: begun last, one would keep a single core busy while the other waits. The rest are files of seconds."""


def pytest_configure(config: pytest.Config) -> None:
    """One thread. The process that only hands tests to its workers imports no torch, since they start after it.

    What is imported before the tests stays to the end, so looking through it for garbage is in vain: it took a quarter of the
    processor time of collecting the tests. `pytest_collection_finish` switches the collector on again.
    """
    gc.disable()
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        import torch

        torch.set_num_threads(1)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is slow by its place is marked so before pytest leaves out what was not asked for."""
    for item in items:
        if item.nodeid.startswith(SLOW) and not item.nodeid.startswith(WALK):
            item.add_marker(pytest.mark.slow)
        if item.nodeid.startswith(RARE):
            item.add_marker(pytest.mark.rare)
    rooms = LONGEST_FIRST
    items.sort(key=lambda item: next((k for k, r in enumerate(rooms) if item.nodeid.startswith(r)), len(rooms)))


def pytest_collection_finish() -> None:
    """What the imports have made stays: looking through all of it took the garbage collector half a second each time.

    Tests make thousands of widgets that are still in use when the collector looks: it looks less often, and `keep` once a file.
    """
    keep()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """What a file has left, modules and caches, stays too: pages would have all of it looked through each time one is built."""
    result = yield
    if nextitem is None or nextitem.path != item.path:
        keep()
    return result


def keep() -> None:
    gc.collect()
    gc.freeze()


@pytest.fixture
def no_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """No exact draws once a run is finished: they cost more than many a run, and tests that ask for numbers alone read no verdict.

    What was drawn is remembered for the whole process, so that the one is replaced who asks, and nothing is remembered.
    """
    monkeypatch.setattr("llc_core.engine.summary.drawn_value", lambda *a: (math.nan, 0.0))
    monkeypatch.setattr("llc_core.engine.estimates.draw_together", lambda *a: None)


LONG_RUN = 60.0
"""Seconds of tests from which on it is told where they went."""
FILES = 40


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Where the time went: by folder, by file, and by worker, so that one that idles at the end is seen."""
    reports = [r for found in terminalreporter.stats.values() for r in found if hasattr(r, "duration")]
    if sum(report.duration for report in reports) < LONG_RUN:
        return
    folders, files, workers = Counter[str](), Counter[str](), Counter[str]()
    for report in reports:
        file = report.nodeid.split("::")[0]
        files[file] += report.duration
        folders["/".join(file.split("/")[:-1][:3])] += report.duration
        workers[getattr(report, "worker_id", "alone")] += report.duration
    for title, found in (("folder", folders), ("file", files), ("worker", workers)):
        terminalreporter.section(f"seconds by {title}")
        for name, seconds in found.most_common(FILES):
            terminalreporter.write_line(f"{seconds:7.1f} {name}")
