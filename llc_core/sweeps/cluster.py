"""The Dask workers of a sweep: on this machine, or those of a scheduler that is there already."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

from llc_core.compute.cores import available_cores
from llc_core.extras import needs
from llc_core.fields import whole

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
