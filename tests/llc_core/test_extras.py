"""The engine alone: what `import llc_core` leaves alone, and what is said where a library of an extra is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from llc_core import DeepLinearNetwork, estimate
from llc_core.extras import MissingExtra, needs
from llc_core.networks import digits, load_state, mnist
from llc_core.sweeps import SweepSpec, run_sweep
from llc_core.sweeps.export import export

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {
    "arviz_base", "arviz_stats", "bokeh", "dask", "distributed", "h5netcdf", "h5py", "holoviews", "IPython", "numba", "openpyxl",
    "pandas", "panel", "param", "pyarrow", "safetensors", "scipy", "sklearn", "threadpoolctl", "xarray", "xlrd",
}  # fmt: skip
"""Libraries that take long to import, or that the core does not bring."""


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)


@pytest.mark.slow
def test_importing_the_engine_imports_no_heavy_library():
    done = python("import sys, llc_core; print(*{name.split('.')[0] for name in sys.modules})")
    assert done.returncode == 0, done.stderr
    found = set(done.stdout.split())
    assert "torch" in found and not found & HEAVY


def test_a_heavy_import_would_be_found():
    assert "scipy" in python("import sys, scipy; print(*{n.split('.')[0] for n in sys.modules})").stdout.split()


def result():
    return estimate(DeepLinearNetwork.random(widths=[3, 2], n=100, seed=0), steps=20)


def weights(folder: Path):
    path = folder / "w.safetensors"
    path.write_bytes(b"")
    return load_state(path)


def sweep(folder: Path):
    spec = {"size_class": "1K", "problems": 1, "samplers": ["SGLD"], "step_sizes": [1e-9], "gradients": ["full"]}
    return run_sweep(SweepSpec.from_dict(spec), folder / "a.sqlite")


@pytest.mark.parametrize(
    ("missing", "extra", "call"),
    [
        ("sklearn", "networks", lambda folder: digits()),
        ("sklearn", "networks", lambda folder: mnist()),
        ("safetensors", "networks", weights),
        ("distributed", "sweeps", sweep),
        ("pyarrow", "sweeps", lambda folder: export([], folder / "a.parquet")),
        ("h5netcdf", "netcdf", lambda folder: export([], folder / "a.nc")),
        ("xarray", "netcdf", lambda folder: result().to_dataset()),
        ("holoviews", "plots", lambda folder: result().plot()),
    ],
)
def test_a_missing_library_is_one_sentence(monkeypatch, tmp_path, missing, extra, call):
    for name in [name for name in sys.modules if name.split(".")[0] == missing]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtra) as caught:
        call(tmp_path)
    said = str(caught.value)
    assert said.endswith(f'needs {missing}; install it with: pip install "llc-lab[{extra}]"') and "\n" not in said
    assert isinstance(caught.value, ImportError) and isinstance(caught.value, ValueError)


def test_our_own_faults_are_not_called_missing_libraries():
    with pytest.raises(ModuleNotFoundError, match="llc_core.nowhere") as caught, needs("this", extra="app"):
        import llc_core.nowhere  # noqa: F401
    assert not isinstance(caught.value, MissingExtra)
    with pytest.raises(ImportError, match="cannot import name"), needs("this", extra="app"):
        from numpy import nothing_of_this_name  # noqa: F401
