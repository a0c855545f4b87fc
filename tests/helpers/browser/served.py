"""The app served as `llc-lab serve` does it, in a process of its own."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


class Served:
    """words: options of `llc-lab serve`.  before: Python that is run first.  base: the address without "/app"."""

    def __init__(self, *words: str, before: str = "", **environment: str):
        code = f"import sys\n{before}\nfrom app.server.cli import main\nsys.exit(main({['serve', '--port', '0', *words]!r}))"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        )  # fmt: skip
        assert self.process.stdout is not None and self.process.stderr is not None
        found = re.search(r"https?://\S+", self.process.stdout.readline())
        self.log: list[str] = []
        if found is None:
            raise RuntimeError(self.process.stderr.read())
        self.url = found[0]
        self.base = self.url.removesuffix("/app")
        self.port = int(re.search(r":(\d+)", self.url.removeprefix("http"))[1])  # type: ignore[index]
        for line in self.process.stderr:
            self.log.append(line)
            if "Bokeh app running at" in line:
                break
        threading.Thread(target=self._drain, daemon=True).start()

    def close(self) -> None:
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(20)
        self.process.kill()

    def _drain(self) -> None:
        """A full pipe would stop the server."""
        assert self.process.stderr is not None
        self.log.extend(self.process.stderr)
