"""Python that pages give away, run as it is pasted: all scripts of a file in one process, which loads the engine only once."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

# Each script has names of its own, as in a process of its own, and one that fails leaves the others alone.
RUNNER = """
import contextlib, io, json, sys, traceback
said = {}
for name, code in json.load(sys.stdin).items():
    out, fault = io.StringIO(), ""
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(code, name, "exec"), {"__name__": "__main__"})
        except BaseException:
            fault = traceback.format_exc()
    said[name] = out.getvalue(), fault
print(json.dumps(said))
"""
ROOT = Path(__file__).resolve().parents[2]


class Pasted:
    """What scripts printed, by their names.  codes: the scripts."""

    def __init__(self, codes: Mapping[str, str]):
        done = subprocess.run(
            [sys.executable, "-c", RUNNER],
            input=json.dumps(codes),
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
        )
        assert done.returncode == 0, done.stderr
        self.codes, self._said = codes, json.loads(done.stdout)

    def printed(self, name: str) -> str:
        """The output of a script that ended well; else an AssertionError with its traceback."""
        out, fault = self._said[name]
        assert not fault, fault
        return str(out)
