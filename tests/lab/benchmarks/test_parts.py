"""Parts of a benchmark that hang, fail or take their process with them, before one that does not."""

import os
import sys
import time

import pytest

from lab.benchmarks import parts
from lab.benchmarks.parts import ask, work

SCRIPT = """
import os, subprocess, sys, time
from lab.benchmarks.parts import work

def fine():
    yield "right"

def fails():
    yield "half"
    raise ValueError("no such thing\\nand a long story")

def dies():
    os._exit(3)
    yield

def hangs():
    yield str(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid)
    time.sleep(600)

def lingers():
    import threading
    threading.Thread(target=time.sleep, args=(600,)).start()
    yield "right"

work({"fine": fine, "fails": fails, "dies": dies, "hangs": hangs, "last": lingers}, sys.argv[1:])
"""


def command(names):
    return [sys.executable, "-c", SCRIPT, *names]


def is_there(process):
    """Whether it still works; one that has ended may wait to be read off."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.long
@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="processes are looked for in /proc")
def test_no_part_costs_another_its_answer(monkeypatch):
    monkeypatch.setattr(parts, "LEAST", 0.0)
    lines, begun = [], time.monotonic()
    ask(["fine", "fails", "dies", "hangs", "last"], command, 12, lines.append)
    assert time.monotonic() - begun < 20, "the last part's answer is there, though its process does not end"
    assert lines[:4] == [
        "| fine | right |",
        "| fails | half |",
        "| fails | failed: ValueError: no such thing |",
        "| dies | failed: its process ended with 3 |",
    ]
    child, ended, *rest = lines[4:]
    assert ended.startswith("| hangs | ended after ") and rest == ["| last | right |"]
    started = int(child.split("|")[2])
    until = time.monotonic() + 5
    while is_there(started) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_there(started), "what a part has started ends with it"


def test_it_ends_when_its_time_is_over_and_names_what_was_left_out():
    lines, begun = [], time.monotonic()
    ask(["fine", "hangs", "last"], command, 3, lines.append)
    assert 3 <= time.monotonic() - begun < 8
    fine, started, *left = lines
    assert fine == "| fine | right |" and started.startswith("| hangs | ")
    assert left[0].startswith("| hangs | ended after ") and left[1:] == ["| last | not asked: 0.05 minutes were over |"]


def test_without_time_nothing_is_begun():
    lines = []
    ask(["fine", "last"], lambda names: pytest.fail("a process"), 0, lines.append)
    assert lines == ["| fine | not asked: 0 minutes were over |", "| last | not asked: 0 minutes were over |"]


def test_a_card_that_has_failed_is_asked_by_another_process(capsys):
    """After such an error whatever the process asks of the card fails."""

    def fails():
        raise RuntimeError("CUDA error: an illegal memory access was encountered")
        yield

    with pytest.raises(SystemExit):
        work({"one": fails, "other": fails}, ["one", "other"])
    assert capsys.readouterr().out.count("illegal memory access") == 1
