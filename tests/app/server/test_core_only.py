"""The command line where only the core is installed: the engine's commands work, the others say what to install."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cases import few

ROOT = Path(__file__).resolve().parents[3]
MISSING = (
    "panel", "panel_material_ui", "bokeh", "holoviews", "param", "jupyter_bokeh", "numba", "threadpoolctl", "safetensors",
    "sklearn", "xarray", "h5netcdf", "h5py", "pandas", "distributed", "dask", "pyarrow", "openpyxl", "xlrd",
)  # fmt: skip
# All in one process, which loads the engine only once: what is missing stays missing for each of them.
RUNNER = f"""
import sys
for name in {MISSING!r}: sys.modules[name] = None
import app
try:
    app.view()
except ImportError as error:
    said = [f"{{type(error).__name__}}: {{error}}"]
import contextlib, io, json
from app.server.cli import main
for words in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(words)
        except SystemExit as end:
            status = end.code
    said.append([status, out.getvalue(), err.getvalue()])
print(json.dumps(said))
"""
OTHERS = [
    (["serve", "--port", "0"], 'llc-lab serve needs panel; install it with: pip install "llc-lab[app]"'),
    (["report", "a.sqlite", "--out", "a.html"], 'llc-lab report needs bokeh; install it with: pip install "llc-lab[app]"'),
    (["estimate", "--out", "a.nc"], '--out needs h5netcdf; install it with: pip install "llc-lab[netcdf]"'),
]  # fmt: skip
ESTIMATE = ["estimate", "--widths", "3", "2", "--steps", "200", "--chains", "2", "--json"]


@pytest.fixture(scope="module")
def said() -> list[Any]:
    """What the view in a notebook raised; status, output and errors of each of the other commands, and last of the estimate."""
    commands = json.dumps([*(words for words, _ in OTHERS), ESTIMATE])
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, commands], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return list(json.loads(done.stdout))


@pytest.mark.slow
def test_an_estimate_needs_the_core_alone(said):
    status, out, err = said[-1]
    assert status == 0, err
    found = json.loads(out)
    assert 0 < found["llc"] < 100 and found["r_hat"] > 0.9 and found["ess"] > 0


@pytest.mark.long
@pytest.mark.parametrize("at", few(range(len(OTHERS)), 1))
def test_other_commands_name_what_to_install(said, at):
    assert said[1 + at] == [2, "", f"llc-lab: {OTHERS[at][1]}\n"]


@pytest.mark.long
def test_the_view_in_a_notebook_names_what_to_install(said):
    assert said[0] == 'MissingExtra: app.view() needs panel; install it with: pip install "llc-lab[app]"'
