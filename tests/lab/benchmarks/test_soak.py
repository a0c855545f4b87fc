"""The soak's verdict, and a minute of the soak itself: what is closed is gone."""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lab.benchmarks.served.server import BROWSERS
from lab.benchmarks.served.soak import Sample, judge

ROOT = Path(__file__).resolve().parents[3]


def sample(minutes: float, rss: float, runs: int = 0, pages: int = 0, errors: int = 0) -> Sample:
    return Sample(minutes, rss, 0, runs, pages, errors)


@pytest.mark.parametrize(
    ("later", "last", "passed"),
    [
        ([500, 510], {}, True),
        ([500, 524, 523], {}, True),
        ([500, 526, 500], {}, False),
        ([500, 500], {"runs": 1}, False),
        ([500, 500], {"pages": 1}, False),
        ([500, 500], {"errors": 1}, False),
    ],
)
def test_growth_orphans_and_errors_fail(later, last, passed):
    samples = [sample(0, 300), *(sample(5 + i, rss) for i, rss in enumerate(later))]
    assert judge(samples, sample(9, 500, **last)).passed is passed


def test_only_what_a_leaving_visitor_causes_stays_out_of_the_log(caplog):
    from bokeh.server.connection import ServerConnection
    from tornado.websocket import WebSocketClosedError

    import app.session.errors  # noqa: F401

    def say(logger: str, error: Exception) -> None:
        logging.getLogger(logger).error("planted", exc_info=error)

    left = ServerConnection.__new__(ServerConnection)
    left._session = None
    with pytest.raises(AssertionError) as gone:
        _ = left.session
    with pytest.raises(AssertionError) as other:
        raise AssertionError("ours")
    say("bokeh.server.protocol_handler", gone.value)
    say("asyncio", WebSocketClosedError())
    assert not caplog.records
    say("bokeh.server.protocol_handler", other.value)
    say("asyncio", ValueError("ours"))
    assert len(caplog.records) == 2


@pytest.mark.slow
def test_what_is_closed_is_gone(tmp_path):
    if not any(map(shutil.which, BROWSERS)):
        pytest.skip(f"No browser: install one of {', '.join(BROWSERS)}.")
    found = tmp_path / "soak.json"
    # In a process of its own: the browser tests' event loop would not let another one in.
    command = [
        sys.executable,
        "-m",
        "lab.benchmarks.served.soak",
        "--minutes",
        "0.2",
        "--seconds",
        "0.3",
        "--every",
        "4",
        "--kept",
        "4",
    ]
    done = subprocess.run([*command, "--json", str(found)], cwd=ROOT, capture_output=True, text=True, check=False)
    result = json.loads(found.read_text())
    assert result["last"]["visits"] >= 1 and max(s["pages"] for s in result["samples"]) >= 1
    assert (result["last"]["runs"], result["last"]["pages"], result["last"]["errors"]) == (0, 0, 0), done.stdout
