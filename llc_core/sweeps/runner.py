"""The client of a sweep: it hands units to workers and records what they return. It alone writes to the store. Long, since the Dask
workers are found here, and which unit a worker gets next is chosen here: units of one problem go to one worker, which then makes
the problem's data only once.
"""

from __future__ import annotations

import contextlib
import json
import queue
import re
import threading
import time
import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llc_core.compute.cores import available_cores
from llc_core.extras import needs
from llc_core.fields import whole
from llc_core.sweeps.costs import operations
from llc_core.sweeps.spec import SweepSpec
from llc_core.sweeps.stopping import request_of
from llc_core.sweeps.store import Store
from llc_core.sweeps.unit import Unit
from llc_core.sweeps.worker import Cancelled, cancel, rows_of, run_unit, sentence_of

GPU = {"GPU": 1.0}
"""The Dask resource that units of a sweep with device="cuda" ask for."""
MOST_WORKERS = 10_000
ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss|ucx)://)?[^\s/]+:\d+|inproc://\S+")


def is_gpu(device: str | None) -> bool:
    return str(device or "").startswith("cuda")


def worker_count(wished: int | None, device: str | None) -> int:
    """Workers on this machine: as many as wished; None: one for each core, or one for a GPU."""
    return wished or (1 if is_gpu(device) else available_cores())


def check_cluster(scheduler: str | None, workers: int | None) -> None:
    """ValueError with one sentence for a number of workers or an address that cannot be."""
    if workers is not None:
        whole("workers", workers, 1, MOST_WORKERS)
    if scheduler is not None and not ADDRESS.fullmatch(scheduler):
        raise ValueError(f"scheduler is {scheduler!r}; give its address with the port, such as tcp://localhost:8786.")


@contextlib.contextmanager
def client_of(scheduler: str | None, workers: int | None, device: str | None) -> Iterator[Any]:
    """A Dask client: of the scheduler at this address, or of workers on this machine, which end with it."""
    with needs("a sweep", extra="sweeps"):
        from distributed import Client, LocalCluster

    if scheduler is not None:
        try:
            client = Client(scheduler, timeout="20s", set_as_default=False)
        except (OSError, ValueError) as error:
            raise ValueError(
                f"No Dask scheduler answers at {scheduler!r} ({error}); start one with `dask scheduler`."
            ) from None
        with client:
            yield client
        return
    with (
        LocalCluster(
            n_workers=worker_count(workers, device),
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",  # a free port: other clusters may run here
            resources=GPU if is_gpu(device) else None,
            silence_logs=40,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


class Assignment:
    """Units that are not given out yet, by problem.

    A worker stays with its problem until that is done. It then takes the next problem that no other worker has, and if there
    is none it helps with the problem of which most is left.
    """

    def __init__(self, units: Iterable[Unit]):
        self._left: dict[str, deque[Unit]] = {}
        self._at: dict[str | None, str] = {}
        for unit in units:
            self._left.setdefault(json.dumps(unit.description, sort_keys=True), deque()).append(unit)

    def next(self, worker: str | None) -> Unit | None:
        """The next unit for this worker, which is then given out; None when all are."""
        if not self._left:
            return None
        problem = self._at.get(worker)
        if problem not in self._left:
            taken = set(self._at.values())
            free = (p for p in self._left if p not in taken)
            problem = next(free, None) or max(self._left, key=lambda p: len(self._left[p]))
            self._at[worker] = problem
        assert problem is not None
        unit = self._left[problem].popleft()
        if not self._left[problem]:
            del self._left[problem]
        return unit

    def forget(self, workers: Iterable[str | None]) -> None:
        """Forget all workers but these: other workers may take their problems."""
        there = set(workers)
        self._at = {worker: problem for worker, problem in self._at.items() if worker in there}


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
