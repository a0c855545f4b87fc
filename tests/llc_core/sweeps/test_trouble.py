"""What can go wrong around a sweep: a full disk, a store that may only be read, too little memory, Ctrl+C twice. Each is one
sentence, and nothing that was recorded is lost or run again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from damaged_stores import one_sentence
from synthetic_store import synthetic_rows, write_store

from lab.benchmarks.speed import sweep_work
from llc_core import SweepSpec, run_sweep
from llc_core.cli.commands import main
from llc_core.sweeps import store, worker
from llc_core.sweeps.stopping import request_of
from llc_core.sweeps.store import Store, results, table

ROOT = Path(__file__).resolve().parents[3]
SMALL = {
    "size_class": "1K",
    "problems": 30,
    "samplers": ["SGLD"],
    "step_sizes": [1e-9, 1e-8],
    "gradients": ["full"],
    "chains": 2,
    "steps": 60,
    "together": 1,
}


@pytest.fixture(scope="module")
def scheduler():
    """Its worker is a thread, which need not import torch again; what it sends and gets still goes through a socket."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        dashboard_address="127.0.0.1:0",
        silence_logs=40,
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def sweep_file(tmp_path):
    path = tmp_path / "sweep.toml"
    path.write_text("\n".join(f"{name} = {json.dumps(value)}" for name, value in SMALL.items()))
    return path


# -- the disk ---------------------------------------------------------------------------------------------------------


def pages_of(path: Path) -> int:
    with Store(path, readonly=True) as there:
        return there._db.execute("PRAGMA page_count").fetchone()[0]


@pytest.mark.long
def test_a_disk_that_is_full_ends_a_sweep_in_one_sentence_and_it_goes_on_later(
    scheduler, sweep_file, tmp_path, monkeypatch, capsys
):
    """SQLite refuses more pages here as it does where the disk has none left."""
    path = tmp_path / "a.sqlite"
    Store(path).close()
    most = pages_of(path) + 3

    plain = store.connect

    def small_disk(path, mode):
        db = plain(path, mode)
        db.execute(f"PRAGMA max_page_count = {most}")
        return db

    spec = SweepSpec.from_dict(SMALL)
    command = ["sweep", str(sweep_file), "--store", str(path), "--scheduler", scheduler]
    monkeypatch.setattr("llc_core.cli.sweep.run_sweep", lambda *a, **k: run_sweep(*a, work=sweep_work.trivial, **k))
    monkeypatch.setattr(store, "connect", small_disk)
    with pytest.raises(SystemExit) as ended:
        main(command)
    said = capsys.readouterr().err.splitlines()[-1]
    assert ended.value.code == 2 and "Traceback" not in said
    assert f"The store {str(path)!r} cannot be written (database or disk is full); what it holds stays." in said
    recorded = results(path)
    assert 0 < len(recorded) < 60 and not request_of(path).exists()
    monkeypatch.setattr(store, "connect", plain)
    last = run_sweep(spec, path, scheduler=scheduler, work=sweep_work.trivial)
    assert (last.state, last.done) == ("finished", 60)
    assert {json.dumps(row) for row in recorded} <= {json.dumps(row) for row in results(path)}, "none was run again"


@pytest.mark.slow
def test_a_file_that_may_not_grow_keeps_what_it_has(tmp_path):
    """The system's own limit, as a quota has it."""
    pytest.importorskip("resource")
    code = """
import resource, sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from synthetic_store import synthetic_rows
from llc_core.sweeps.store import Store
path = Path(sys.argv[1])
rows = synthetic_rows(3)
with Store(path) as store:
    store.add(rows[:20])
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 20_000,) * 2)
    try:
        store.add(rows)
    except ValueError as error:
        print(error)
    try:
        store.report({}, "stopped", done=20)
    except ValueError:
        pass
"""
    path = tmp_path / "a.sqlite"
    command = [sys.executable, "-c", code, str(path), str(ROOT), str(ROOT / "tests/helpers/stores")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert "cannot be written" in done.stdout and "what it holds stays" in done.stdout and done.stdout.count("\n") == 1
    assert len(results(path)) == 20


def test_a_store_that_may_only_be_read_is_shown_and_refused_before_any_worker_starts(
    sweep_file, tmp_path, monkeypatch, capsys
):
    """A file without the right to write opens for reading, whatever was asked for."""
    path = write_store(tmp_path / "a.sqlite", synthetic_rows(1), state="stopped", done=3, total=9)
    plain = store.connect
    monkeypatch.setattr(store, "connect", lambda path, mode: plain(path, "ro"))
    monkeypatch.setattr("llc_core.sweeps.runner.client_of", lambda *a: pytest.fail("a worker was started"))
    before = path.read_bytes()
    with pytest.raises(SystemExit) as ended:
        main(["sweep", str(sweep_file), "--store", str(path)])
    said = capsys.readouterr().err
    assert ended.value.code == 2 and said.count("\n") == 1
    assert "cannot be written (attempt to write a readonly database)" in said and "a file that you may write" in said
    assert path.read_bytes() == before and len(results(path)) == len(table(path)) > 0


# -- memory -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_unit_without_memory_fails_alone(scheduler, tmp_path):
    spec = SweepSpec.from_dict({**SMALL, "problems": 3})
    last = run_sweep(spec, tmp_path / "a.sqlite", scheduler=scheduler, work=sweep_work.starving)
    rows = results(tmp_path / "a.sqlite")
    assert (last.state, last.done, last.errors) == ("finished", 6, 2)
    assert {row["problem"] for row in rows if row["status"] == "error"} == {1}
    (said,) = {row["error"] for row in rows if row["status"] == "error"}
    assert said.startswith("There was no memory for another 1152921504606846976 bytes; give fewer chains")
    again = run_sweep(spec, tmp_path / "a.sqlite", scheduler=scheduler, retry_errors=True)
    assert (again.done, again.errors) == (6, 0)


@pytest.mark.parametrize(
    "fails, words",
    [
        (lambda: torch.empty(1 << 58), "no memory for another 1152921504606846976 bytes;"),
        (lambda: np.empty(1 << 56), "no memory for another 512. PiB;"),
        (lambda: bytearray(1 << 62), "There was no memory; give fewer"),
    ],
    ids=["torch", "numpy", "Python"],
)
def test_whoever_has_no_memory_says_so_in_one_sentence(fails, words):
    with pytest.raises((RuntimeError, MemoryError)) as error:
        fails()
    said = worker.sentence_of(error.value)
    assert words in said and said.count(".") <= 2 and said.endswith("--retry-errors.")


def test_a_worker_that_dies_again_and_again_is_one_sentence():
    distributed = pytest.importorskip("distributed")
    said = worker.sentence_of(distributed.KilledWorker("a", None, 3))
    assert said.startswith("The worker that ran this was lost three times") and one_sentence(ValueError(said))
    assert worker.sentence_of(KeyError("x")) == "KeyError: 'x'", "what is nobody's memory is as it was"


# -- Ctrl+C -----------------------------------------------------------------------------------------------------------

CLIENT = """
import sys, threading
from functools import partial
from lab.benchmarks.speed import sweep_work
from llc_core.cli import sweep
from llc_core.cli.commands import main
if __name__ == "__main__":
    sweep.run_sweep = partial(sweep.run_sweep, work=sweep_work.stubborn)
    sys.exit(main(sys.argv[1:]))
"""
NEVER = """
import threading
from llc_core.cli.sweep import _with_signals

def never():
    print("ready", flush=True)
    threading.Event().wait()

_with_signals(threading.Event(), never)
"""


def until(stream, words: str) -> str:
    """Lines up to one with these words."""
    seen = ""
    for line in stream:
        seen += line
        if words in line:
            return seen
    raise AssertionError(f"{words!r} was never said: {seen}")


@pytest.mark.slow
def test_ctrl_c_twice_ends_even_what_does_not_listen():
    client = subprocess.Popen(
        [sys.executable, "-c", NEVER], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    try:
        until(client.stdout, "ready")
        client.send_signal(signal.SIGINT)
        until(client.stderr, "once more to end at once")
        client.send_signal(signal.SIGINT)
        assert client.wait(timeout=60) == 130 and "Ended at once; what was recorded stays" in client.stderr.read()
    finally:
        client.kill()
        client.wait()


@pytest.mark.slow
def test_ctrl_c_twice_during_a_sweep_leaves_a_store_that_goes_on(sweep_file, scheduler, tmp_path):
    """To the whole group of processes, as a terminal does it, while a worker runs a unit that never ends."""
    path, log = tmp_path / "a.sqlite", tmp_path / "log"
    environment = {**os.environ, sweep_work.LOG: str(log), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", CLIENT, "sweep", str(sweep_file), "--store", str(path), "--workers", "1"]
    client = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment, start_new_session=True
    )
    try:
        while client.poll() is None and not (log.exists() and len(log.read_text().split()) > 1):
            threading.Event().wait(0.05)
        while client.poll() is None and len(results(path)) < 2:  # the client records what a worker has sent
            threading.Event().wait(0.05)
        os.killpg(client.pid, signal.SIGINT)
        until(client.stderr, "once more to end at once")
        os.killpg(client.pid, signal.SIGINT)
        assert client.wait(timeout=120) == 130
    finally:
        client.kill()
        client.wait()
    recorded = results(path)
    started = log.read_text().split()
    assert len(recorded) == 2 and len(started) == 2, "the first unit is recorded, the second was at work"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(sweep_work.LOG, str(log))
        last = run_sweep(SweepSpec.from_toml(sweep_file), path, scheduler=scheduler, work=sweep_work.trivial)
    assert (last.state, last.done, last.errors) == ("finished", 60, 0)
    kept = {row["key"]: row for row in results(path)}
    assert all(kept[row["key"]] == row for row in recorded), "what was recorded was not run again"
