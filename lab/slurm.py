"""A sweep on a SLURM cluster: workers are jobs, the client stays where it is started and is the only one that writes.

`python -m lab.slurm FILE.toml --store PATH --jobs 20 --walltime 02:00:00 [--gpu] [--directive=--partition=short]`
`--print-script` shows the job script and submits nothing. Needs the extra "cluster" (dask-jobqueue).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llc_core import SweepSpec, run_sweep
from llc_core.cli.sweep import Shown
from llc_core.extras import needs


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, metavar="FILE.toml")
    parser.add_argument("--store", type=Path)
    parser.add_argument("--jobs", type=int, default=4, help="jobs to ask for (default 4)")
    parser.add_argument("--workers-per-job", type=int, default=1, help="workers in each job, one core each (default 1)")
    parser.add_argument("--memory", default="4GB", help="of a job (default 4GB)")
    parser.add_argument("--walltime", default="01:00:00", help="of a job (default 01:00:00); lost units run again")
    parser.add_argument("--gpu", action="store_true", help="one GPU for each job; the sweep's device must be cuda")
    parser.add_argument("--print-script", action="store_true", help="show the job script and submit nothing")
    parser.add_argument("--directive", action="append", default=[], help="a further #SBATCH line; may be repeated")
    options = parser.parse_args(argv)
    try:
        return _run(options)
    except ValueError as error:
        parser.exit(2, f"lab.slurm: {error}\n")


def _run(options: argparse.Namespace) -> int:
    spec = SweepSpec.from_toml(options.file)
    if options.gpu and not str(spec.device or "").startswith("cuda"):
        raise ValueError('--gpu asks for GPUs, but the sweep runs on the CPU; add device = "cuda" to its file.')
    if options.gpu and options.workers_per_job != 1:
        raise ValueError(
            f"--workers-per-job is {options.workers_per_job}; with --gpu a job has one GPU and one worker."
        )
    if not options.print_script and options.store is None:
        raise ValueError("--store is missing; name the file that the results go to.")
    with cluster(options) as found:
        if options.print_script:
            print(found.job_script())
            return 0
        found.scale(jobs=options.jobs)
        last = run_sweep(spec, options.store, scheduler=found.scheduler_address, on_progress=Shown(sys.stderr))
    return 0 if last.state == "finished" else 1


def cluster(options: argparse.Namespace) -> Any:
    """The cluster, with no job yet."""
    with needs("a SLURM cluster", extra="cluster"):
        from dask_jobqueue import SLURMCluster
    return SLURMCluster(
        cores=options.workers_per_job,
        processes=options.workers_per_job,
        memory=options.memory,
        walltime=options.walltime,
        job_extra_directives=[*options.directive, *(["--gres=gpu:1"] if options.gpu else [])],
        worker_extra_args=["--resources", "GPU=1"] if options.gpu else [],
        job_script_prologue=["export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1"],  # same threads, same numbers
        scheduler_options={"dashboard_address": ":0"},
    )


if __name__ == "__main__":
    sys.exit(main())
