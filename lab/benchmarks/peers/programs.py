"""Other people's programs in environments of their own, driven over JSON lines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from lab.benchmarks.smoke import running

CACHE = Path(tempfile.gettempdir())
DEVINTERP = ("torch==2.13.0", "devinterp==1.3.2")
BLACKJAX = ("jax==0.10.2", "blackjax==1.7.1")


def environment(folder: Path, packages: tuple[str, ...]) -> Path:
    """The Python of a virtual environment with `packages`, made where it is missing."""
    python = folder / "bin" / "python"
    if not python.exists():
        if running():
            raise SystemExit(f"{packages[-1]} is not in {folder}; without --smoke this command installs it there.")
        print(f"making {', '.join(packages)} in {folder}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "--prefer-binary", *packages], check=True)
    return python


class Peer:
    """A program that reads one JSON object a line and answers with one, after it has said "ready"."""

    def __init__(self, module: str, packages: tuple[str, ...], cache: Path, threads: int):
        python = environment(cache / ("llc-lab-" + packages[-1].replace("==", "-")), packages)
        variables = {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
        if threads == 1:  # XLA asks for no number of threads: it takes the processors it is allowed to use
            variables["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [str(python), "-m", module], stdin=pipe, stdout=pipe, text=True, env={**os.environ, **variables}
        )
        if threads == 1:
            os.sched_setaffinity(self.process.pid, {sorted(os.sched_getaffinity(0))[-1]})
        assert self.process.stdout is not None
        if self.process.stdout.readline().strip() != "ready":
            raise SystemExit(
                f"{packages[-1]} does not start with {python}; remove its folder, and this command makes it anew."
            )

    def ask(self, **message: Any) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the peer ended at {message}")
        return json.loads(answer)

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
