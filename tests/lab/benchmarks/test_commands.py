"""Every command of the documents runs, at its smallest size, and leaves the project's files as they were."""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import commands
import pytest

from lab.benchmarks import smoke

ROOT = Path(__file__).resolve().parents[3]
NAMED = list(dict.fromkeys(found for path in commands.documents(ROOT) for found in commands.commands(path.read_text())))
"""(module, words …) of each."""
OWN_WORDS = {"PAGE": "local_geometry"}
"""What stands in a document for something of the reader's own."""
LACKING = re.compile(
    r"(devinterp|blackjax)==[\d.]+ is not in \S+; without --smoke this command installs it there\."
    r"|--device is cuda, and this machine has no CUDA device; use cpu\."
)
"""The one sentence of a command that needs what is not here."""
SECONDS = 600
"""For one command. On quiet cores each takes seconds; beside ten busy programs ten times as long."""


def digest() -> str:
    """Of everything that benchmarks of the project write."""
    sums = hashlib.sha256()
    for path in sorted(path for folder in ("lab", "app") for path in (ROOT / folder).rglob("*")):
        if path.suffix in smoke.GUARDED:
            sums.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return sums.hexdigest()


@pytest.mark.slow
@pytest.mark.parametrize("command", NAMED, ids=lambda command: " ".join(command)[15:75])
def test_a_command_runs_and_prints_its_table(command):
    module, *words = (OWN_WORDS.get(word, word) for word in command)
    if module.startswith("lab.benchmarks.served.") and not any(map(shutil.which, ("chromium", "google-chrome"))):
        pytest.skip("No browser: install chromium.")
    before = digest()
    # A short path: that of a browser's socket may have 108 letters.
    with tempfile.TemporaryDirectory(prefix="llc") as folder:
        done = subprocess.run(
            [sys.executable, "-m", module, *words, "--smoke"], cwd=ROOT, capture_output=True, text=True, timeout=SECONDS,
            env={**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": folder}, check=False,
        )  # fmt: skip
    assert digest() == before, "the project's files are other ones now"
    if done.returncode and LACKING.fullmatch(done.stderr.strip()):
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-3000:]
    lines = [line for line in done.stdout.splitlines() if line.strip() and " threads, Python " not in line]
    assert lines, "nothing but the machine was printed"


def test_the_documents_name_commands():
    assert len(NAMED) > 50 and len({module for module, *_ in NAMED}) > 40


def test_every_benchmark_reads_its_command_line_by_the_shared_way():
    """So that --smoke is one thing, and none is left without it."""
    for module in {module for module, *_ in NAMED}:
        text = (ROOT / module.replace(".", "/")).with_suffix(".py").read_text()
        assert re.search(r"from lab\.benchmarks\.(smoke|command) import", text), module
        assert re.search(r"\b(parse|read_options)\(", text), module


FOUND = 5
"""A constant of a benchmark, for the test below."""


def parsed(monkeypatch, words: list[str], **small) -> tuple[argparse.Namespace, dict]:
    monkeypatch.setattr(smoke, "_folder", None)
    monkeypatch.setattr(smoke.sys, "addaudithook", lambda hook: None)  # one cannot be taken away again
    monkeypatch.setattr(sys, "argv", ["benchmark", *words])
    parser, names = argparse.ArgumentParser(), {"FOUND": FOUND}
    parser.add_argument("sizes", nargs="*", default=[])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path)
    return smoke.parse(parser, names, **small), names


def test_without_smoke_everything_is_as_asked(monkeypatch, tmp_path):
    options, names = parsed(
        monkeypatch, ["a", "b", "--rounds", "3", "--out", str(tmp_path / "a.json")], rounds=1, FOUND=1
    )
    assert (options.sizes, options.rounds, options.out, names) == (["a", "b"], 3, tmp_path / "a.json", {"FOUND": 5})
    assert not smoke.running() and smoke.passed_on() == [] and smoke.status(True) == 1
    assert smoke.elsewhere(Path("a.json")) == smoke.fresh(Path("a.json")) == Path("a.json")


def test_smoke_makes_small_and_writes_elsewhere(monkeypatch, tmp_path):
    known = tmp_path / "known.json"
    known.write_text("known")
    words = ["a", "b", "--rounds", "3", "--out", str(known), "--smoke"]
    options, names = parsed(monkeypatch, words, rounds=1, sizes=lambda asked: asked[:1], FOUND=lambda usual: usual - 3)
    assert (options.sizes, options.rounds, names) == (["a"], 1, {"FOUND": 2})
    assert options.out != known and options.out.read_text() == "known"
    options.out.write_text("new")
    assert known.read_text() == "known"
    assert smoke.running() and smoke.passed_on() == ["--smoke"] and smoke.status(True) == 0
    with pytest.raises(KeyError):
        parsed(monkeypatch, ["--smoke"], no_such_thing=1)


def test_smoke_refuses_to_write_to_the_projects_files(tmp_path):
    ours = ROOT / "lab/results/adaptive_llc.json"
    for found in ((str(ours), "w", 0), (ours, "a", 0), (os.fsencode(ours), None, os.O_WRONLY), (str(ours), "r+", 0)):
        with pytest.raises(PermissionError, match="nothing of the project is overwritten"):
            smoke._refuse("open", found)
    for found in ((str(ours), "r", 0), (str(ours), None, os.O_RDONLY), (str(tmp_path / "a.json"), "w", 0), (3, "w", 0)):
        smoke._refuse("open", found)
