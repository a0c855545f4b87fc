"""The command line where only the core is installed: the engine's commands work, the others say what to install."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
MISSING = (
    "panel", "panel_material_ui", "bokeh", "holoviews", "param", "jupyter_bokeh", "numba", "threadpoolctl", "safetensors",
    "sklearn", "xarray", "h5netcdf", "h5py", "pandas", "distributed", "dask", "pyarrow",
)  # fmt: skip
START = f"import sys\nfor name in {MISSING!r}: sys.modules[name] = None\n"


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", START + code], capture_output=True, text=True, cwd=ROOT, check=False)


def llc_lab(*words: str) -> subprocess.CompletedProcess[str]:
    return run(f"from app.server.cli import main\nsys.exit(main({list(words)!r}))")


@pytest.mark.long
def test_an_estimate_needs_the_core_alone():
    done = llc_lab("estimate", "--widths", "3", "2", "--steps", "200", "--chains", "2", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert 0 < found["llc"] < 100 and found["r_hat"] > 0.9 and found["ess"] > 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["serve", "--port", "0"], 'llc-lab serve needs panel; install it with: pip install "llc-lab[app]"'),
        (["report", "a.sqlite", "--out", "a.html"], 'llc-lab report needs bokeh; install it with: pip install "llc-lab[app]"'),
        (["estimate", "--out", "a.nc"], '--out needs h5netcdf; install it with: pip install "llc-lab[netcdf]"'),
    ],
)  # fmt: skip
def test_other_commands_name_what_to_install(words, said):
    done = llc_lab(*words)
    assert (done.returncode, done.stderr) == (2, f"llc-lab: {said}\n")


@pytest.mark.long
def test_the_view_in_a_notebook_names_what_to_install():
    done = run("import app\napp.view()")
    assert done.stderr.splitlines()[-1].endswith(
        'MissingExtra: app.view() needs panel; install it with: pip install "llc-lab[app]"'
    )
