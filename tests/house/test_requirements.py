"""What is installed: conda's list and the pins agree with pyproject.toml, and any Python that it promises can install them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from importlib.metadata import distributions
from pathlib import Path

import extras
import yaml
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OLDEST = f"{PROJECT['requires-python'].removeprefix('>=')}.0"
"""The first Python that pyproject.toml promises; Debian 12 has 3.11.2."""


def test_environment_yml_is_in_step_with_pyproject():
    wanted = [*extras.requirements(PROJECT, "all", "dev", "docs"), f"python{PROJECT['requires-python']}"]
    conda: list[str] = []
    for item in yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]:
        conda += item["pip"] if isinstance(item, dict) else [item]
    given = [extras.requirement(line) for line in conda if line not in ("-e .", "pip")]
    assert sorted(given) == sorted(extras.requirement(line) for line in wanted)


def test_the_extra_all_holds_every_extra_of_the_app_and_the_notebooks():
    everything = set(extras.requirements(PROJECT, "all"))
    for extra in ("app", "lab", "networks", "netcdf", "speed", "sweeps"):
        assert set(extras.requirements(PROJECT, extra)) <= everything


def test_constraints_pin_every_direct_dependency():
    """Of both environments of the Makefile."""
    pins = {
        extras.requirement(line)[0]
        for line in (ROOT / "constraints.txt").read_text().split()
        if "==" in line
        for line in [line.split("==")[0]]
    }
    installed = re.findall(r'-e "\.\[([\w,]+)\]"', (ROOT / "Makefile").read_text())
    assert installed == ["all,dev,docs", "test,kernels"]
    for line in extras.requirements(PROJECT, *",".join(installed).split(",")):
        assert extras.requirement(re.split(r"[><=]", line)[0])[0] in pins, line


def wanting_newer(packages: Iterable[tuple[str, str]]) -> list[str]:
    """Packages, given with the Pythons that they ask for, that the oldest promised Python cannot install."""
    return [name for name, pythons in packages if OLDEST not in SpecifierSet(pythons)]


def test_the_oldest_promised_python_can_install_every_pin():
    """pip looks for a way around one such pin for minutes, and ends in an error."""
    installed = [(d.metadata["Name"], d.metadata.get("Requires-Python") or "") for d in distributions()]
    assert len(installed) > 20
    assert not wanting_newer(installed)
    assert wanting_newer([("soupsieve", ">=3.11.5"), ("torch", ">=3.10")]) == ["soupsieve"]
