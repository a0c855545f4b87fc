"""The house: imports point downward only, heavy libraries are imported lazily, and the two environments agree."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]

FLOORS = [
    {
        "version",
        "types",
        "rank_tables",
        "multiplicity",
        "aoyagi",
        "streams",
        "caught",
        "fields",
        "blas",
        "philox",
        "philox_kernel",
        "products",
        "single_precision",
        "ways",
    },
    {"config", "results", "histogram", "quadrature"},
    {"potentials"},
    {"samplers"},
    {"target", "estimators", "diagnostics", "volume", "observing", "information", "temperatures"},
    {"curvature", "verdict", "defaults", "health"},
    {"update_kernel"},
    {"one_loop"},
    {"by_chain", "recorded"},
    {"control", "added", "bursts"},
    {"stationary", "line"},
    {"engine", "gibbs", "nuts"},
    {"estimating"},
    {"explain", "calibration", "networks"},
    {"sweeps"},
    {"cli"},
    {"__main__"},
]
NEVER_IN_CORE = {"panel", "bokeh", "holoviews", "param", "app", "lab"}
COMPILED = {"philox_kernel.py", "update_kernel.py"}
"""Loops for numba, in files of their own that are imported when they are first needed."""
LAZY_IN_CORE = {
    "xarray",
    "arviz_stats",
    "arviz_base",
    "numba",
    "dask",
    "distributed",
    "pyarrow",
    "h5netcdf",
    "h5py",
    "pyro",
    "sklearn",
    "safetensors",
    "threadpoolctl",
}


def imports(path: Path, top_level_only: bool = False) -> set[str]:
    tree = ast.parse(path.read_text())
    nodes = tree.body if top_level_only else ast.walk(tree)
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} uses a relative import"
            names.add(node.module or "")
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def floor_of(module: str) -> int:
    return next(i for i, floor in enumerate(FLOORS) if module in floor)


def core_files() -> list[Path]:
    return [p for p in sorted((ROOT / "llc_core").rglob("*.py")) if p != ROOT / "llc_core/__init__.py"]


def test_names_of_test_files_are_unique():
    """Folders of tests are no packages: two files of one name cannot be collected together."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert len(names) == len(set(names))


def test_every_core_module_has_a_floor():
    for path in core_files():
        floor_of(path.relative_to(ROOT / "llc_core").parts[0].removesuffix(".py"))


@pytest.mark.parametrize("path", core_files(), ids=lambda p: str(p.relative_to(ROOT)))
def test_core_imports_point_downward(path):
    mine = path.relative_to(ROOT / "llc_core").parts[0].removesuffix(".py")
    for name in imports(path):
        top = name.split(".")[0]
        assert top not in NEVER_IN_CORE, f"{path} imports {name}"
        if name.startswith("llc_core."):
            other = name.split(".")[1]
            if other != mine and any(other in floor for floor in FLOORS):
                assert floor_of(other) <= floor_of(mine), f"{path}: {mine} must not import {other}"


@pytest.mark.parametrize("path", core_files(), ids=lambda p: str(p.relative_to(ROOT)))
def test_heavy_libraries_are_imported_lazily(path):
    if path.name in COMPILED:
        plain = [p for p in core_files() if p.name not in COMPILED]
        importers = [p for p in plain if f"llc_core.{path.stem}" in imports(p, top_level_only=True)]
        assert not importers, "it must itself be imported inside functions"
        return
    assert not {n.split(".")[0] for n in imports(path, top_level_only=True)} & LAZY_IN_CORE


def test_core_runs_without_the_optional_libraries():
    code = (
        "import sys\n"
        f"for name in {sorted(NEVER_IN_CORE | LAZY_IN_CORE)!r}: sys.modules[name] = None\n"
        "import llc_core, math, warnings\n"
        "warnings.simplefilter('ignore')\n"
        "e = llc_core.estimate(llc_core.DeepLinearNetwork.random(widths=[3, 2], n=100, seed=0), steps=100)\n"
        "assert math.isfinite(e.llc) and math.isnan(e.r_hat), e\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_app_uses_absolute_imports_and_leaves_mathematics_to_the_engine():
    for path in sorted((ROOT / "app").rglob("*.py")):
        top = {n.split(".")[0] for n in imports(path)}
        assert "scipy" not in top, f"{path} does mathematics"


def requirement(text: str) -> tuple[str, str]:
    match = re.fullmatch(r"\s*([A-Za-z0-9_.-]+)\s*(.*?)\s*", text)
    assert match
    name = match[1].lower().replace("_", "-")
    return {"pytorch": "torch"}.get(name, name), match[2]


def test_environment_yml_is_in_step_with_pyproject():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"], f"python{project['requires-python']}"]
    conda: list[str] = []
    for item in yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]:
        conda += item["pip"] if isinstance(item, dict) else [item]
    given = [requirement(line) for line in conda if line not in ("-e .", "pip")]
    assert sorted(given) == sorted(requirement(line) for line in wanted)


def test_constraints_pin_every_direct_dependency():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pins = {
        requirement(line)[0]
        for line in (ROOT / "constraints.txt").read_text().split()
        if "==" in line
        for line in [line.split("==")[0]]
    }
    for line in [*project["dependencies"], *project["optional-dependencies"]["dev"]]:
        assert requirement(re.split(r"[><=]", line)[0])[0] in pins, line


def test_nothing_unpickles_or_evaluates():
    for folder in ("llc_core", "app", "lab"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    assert node.func.id not in ("eval", "exec"), path
            assert not {"pickle", "dill", "cloudpickle", "joblib"} & {n.split(".")[0] for n in imports(path)}, path
