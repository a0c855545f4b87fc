"""The client of a sweep: it hands units to workers and records what they return. It alone writes to the store."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llc_core.sweeps.assignment import Assignment
from llc_core.sweeps.cluster import GPU, check_cluster, client_of, is_gpu
from llc_core.sweeps.costs import operations
from llc_core.sweeps.spec import SweepSpec
from llc_core.sweeps.stopping import request_of
from llc_core.sweeps.store import Store
from llc_core.sweeps.unit import Unit
from llc_core.sweeps.worker import Cancelled, cancel, rows_of, run_unit, sentence_of

QUEUED_PER_THREAD = 2
"""Units that a worker holds: one that runs, and one to begin with when that ends. More could not go to another worker any more."""
REPORT_SECONDS = 1.0
POLL_SECONDS = 0.25

Work = Callable[[dict[str, Any], str], list[dict[str, Any]]]


@dataclass(frozen=True)
class Progress:
    """Where a sweep stands. done, total, errors: rows.  running: units at workers.  seconds_left: None while unknown.

    state: "running", "finished" or "stopped".
    """

    done: int
    total: int
    errors: int
    running: int
    seconds_left: float | None
    state: str


def run_sweep(
    spec: SweepSpec,
    store: str | Path,
    *,
    scheduler: str | None = None,
    workers: int | None = None,
    retry_errors: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
    work: Work = run_unit,
) -> Progress:
    """Run what is not yet in the store, and return where the sweep then stands.

    store: path of the SQLite file; made if it is not there. Rows are written when they are finished, so a sweep that was
        stopped or killed goes on where it was, and a finished one starts nothing.
    scheduler: address of a Dask scheduler ("tcp://host:8786"); None: workers on this machine, one thread each.
    workers: on this machine; None: one for each core, or one for a GPU.
    retry_errors: run again what ended in an error.
    stop: set it to end the sweep: units that run stop at the end of their current block, within about 0.1 s. Another process
        asks for the same with `ask_to_stop(store)`.
    work: what a worker does with `Unit.to_dict()`; for tests.

    A unit whose worker is lost is given to another; one that loses three is recorded as an error. With
    device="cuda" units ask for the Dask resource GPU: start workers with `--nthreads 1 --resources GPU=1`, one a device.
    In a script call this under `if __name__ == "__main__":`, since workers import the script again.
    Raises ValueError where another process writes to the store, it cannot be written (any more), no scheduler answers, or an
    argument is none of these.
    """
    if not isinstance(spec, SweepSpec):
        raise ValueError(f"spec is a {type(spec).__name__}; give a SweepSpec, such as SweepSpec.from_toml(path).")
    check_cluster(scheduler, workers)
    with Store(store) as file, file.writing():
        _forget(request_of(file.path))  # a request to an earlier sweep, which ended before it saw it
        finished = file.keys(with_errors=not retry_errors)
        wanted = list(spec.units())
        left = [rest for unit in wanted for rest in unit.without(finished)]
        sweep = _Sweep(spec, file, wanted, left, on_progress)
        if not left:
            return sweep.tell("finished")
        with client_of(scheduler, workers, spec.device) as client:
            return sweep.go(client, stop or threading.Event(), work)


class _Sweep:
    def __init__(
        self,
        spec: SweepSpec,
        store: Store,
        wanted: list[Unit],
        left: list[Unit],
        on_progress: Callable[[Progress], None] | None,
    ):
        self.spec, self.store, self.left, self.on_progress = spec, store, left, on_progress
        self.name = uuid.uuid4().hex
        keys = {key for unit in wanted for key in unit.keys}
        self.total = len(keys)
        missing = sum(len(unit.rows) for unit in left)
        self.done = self.total - missing
        status = {row["key"]: row["status"] for row in store.rows()}
        again = {key for unit in left for key in unit.keys}
        self.errors = sum(status.get(key) == "error" for key in keys - again)
        self.work_done, self.work_left = 0.0, float(sum(map(operations, left)))
        self.running = 0
        self.started = self._told = time.monotonic()

    def go(self, client: Any, stop: threading.Event, work: Work) -> Progress:
        """The loop: keep workers supplied, record what they return. Always leaves the store with a last word."""
        arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
        asked = request_of(self.store.path)
        shares = Assignment(self.left)
        pending: dict[Any, tuple[Unit, str | None]] = {}
        held: Counter[str | None] = Counter()
        options = {"resources": GPU} if is_gpu(self.spec.device) else {}
        places: dict[str | None, int] = {None: 1}

        def look() -> None:  # workers come and go; where there is none yet, a few units wait for the first
            nonlocal places
            found: dict[str | None, int] = client.nthreads()
            shares.forget(found)
            places = found or {None: 1}

        def supply() -> None:
            for worker, threads in places.items():
                while held[worker] < QUEUED_PER_THREAD * threads:
                    unit = shares.next(worker)
                    if unit is None:
                        return
                    there = {} if worker is None else {"workers": [worker], "allow_other_workers": True}
                    future = client.submit(
                        work, unit.to_dict(), self.name, key=f"{self.name}-{unit.key}", pure=False, **there, **options
                    )
                    pending[future] = unit, worker
                    held[worker] += 1
                    future.add_done_callback(arrived.put)

        self.tell("running")
        try:
            look()
            supply()
            while pending and not stop.is_set() and not asked.exists():
                batch = [future for future in _drain(arrived) if future in pending]
                if batch:
                    finished = [(*pending.pop(future), future) for future in batch]
                    held.subtract(worker for _, worker, _ in finished)
                    self._record([(unit, future) for unit, _, future in finished])
                    supply()
                self.running = min(len(pending), sum(places.values()))
                if time.monotonic() - self._told > REPORT_SECONDS:
                    look()
                    supply()
                    self.tell("running")
            state = "stopped" if pending else "finished"
        except BaseException:
            with contextlib.suppress(ValueError):  # the store takes no word any more: that is what is under way
                self._end(client, pending, asked, "stopped")
            raise
        return self._end(client, pending, asked, state)

    def _end(self, client: Any, pending: dict[Any, Any], asked: Path, state: str) -> Progress:
        """Stop what runs, and say how the sweep ended."""
        self.running = 0
        _forget(asked)
        if pending:
            with contextlib.suppress(Exception):  # workers may be gone already
                client.run(cancel, self.name)
                client.cancel(list(pending))
        return self.tell(state)

    def _record(self, finished: list[tuple[Unit, Any]]) -> None:
        rows: list[dict[str, Any]] = []
        for unit, future in finished:
            try:
                found = future.result()
            except Exception as error:
                if isinstance(error, Cancelled) or future.status == "cancelled":
                    continue
                found = rows_of(unit, [{"status": "error", "error": sentence_of(error)} for _ in unit.rows])
            rows += found
            self.errors += sum(row["status"] == "error" for row in found)
            self.done += len(found)
            cost = operations(unit)
            self.work_done += cost
            self.work_left -= cost
        if rows:
            self.store.add(rows)

    def tell(self, state: str) -> Progress:
        self._told = time.monotonic()
        spent = self._told - self.started
        left = None if not self.work_done else spent * max(self.work_left, 0.0) / self.work_done
        if state != "running":
            left = 0.0 if state == "finished" else None
        found = Progress(self.done, self.total, self.errors, self.running, left, state)
        numbers = {k: v for k, v in vars(found).items() if k != "state"}
        self.store.report(self.spec.to_dict(), state, **numbers)
        if self.on_progress is not None:
            self.on_progress(found)
        return found


def _forget(request: Path) -> None:
    with contextlib.suppress(OSError):  # another user's, in a folder that keeps it
        request.unlink(missing_ok=True)


def _drain(arrived: queue.SimpleQueue[Any]) -> list[Any]:
    """What has arrived; if nothing has, wait a moment for it."""
    try:
        found = [arrived.get(timeout=POLL_SECONDS)]
    except queue.Empty:
        return []
    with contextlib.suppress(queue.Empty):
        while True:
            found.append(arrived.get_nowait())
    return found
