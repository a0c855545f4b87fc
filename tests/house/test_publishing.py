"""What is published is in step with the code: citation, archives, recipe, Binder, workflows; and the wheel works by itself."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import documents
import extras
import pytest
import yaml

from llc_core.version import __version__

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
ZENODO = json.loads((ROOT / ".zenodo.json").read_text())
RECIPE = yaml.safe_load((ROOT / "recipe/recipe.yaml").read_text())
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PAPER = (ROOT / "docs/paper/paper.md").read_text()
BIBLIOGRAPHY = (ROOT / "docs/paper/paper.bib").read_text()
PAPERS = ("2507.21449", "2308.12108", "2202.09867", "2403.08609", "WFh1NO8hxcE")
"""The five whose experiments are repeated: numbers at arXiv, the last one at OpenReview."""

# -- citation -----------------------------------------------------------------------------------------------------------


def test_the_citation_has_what_its_format_requires():
    assert {"cff-version", "message", "title", "authors"} <= set(CITATION)
    assert CITATION["cff-version"] == "1.2.0" and CITATION["type"] == "software"
    assert CITATION["license"] == PROJECT["license"]
    for reference in CITATION["references"]:
        assert {"type", "title", "authors", "year"} <= set(reference)
        assert all({"family-names", "given-names"} <= set(author) for author in reference["authors"])


def test_versions_are_equal():
    changes = (ROOT / "CHANGELOG.md").read_text()
    written = {CITATION["version"], ZENODO["version"], RECIPE["context"]["version"]}
    assert written == {__version__} and f"## {__version__}" in changes


def test_the_five_papers_are_cited_everywhere():
    for text in (*(json.dumps(each) for each in (CITATION, ZENODO)), BIBLIOGRAPHY):
        assert [paper for paper in PAPERS if paper not in text] == []
    assert [paper for paper in PAPERS if paper not in (ROOT / "docs/ours-and-others.md").read_text()] == []
    assert len(CITATION["references"]) == len(PAPERS) == len(ZENODO["related_identifiers"])


def test_zenodo_has_what_it_asks_for():
    assert {"title", "description", "upload_type", "creators", "license"} <= set(ZENODO)
    assert ZENODO["title"] == CITATION["title"] and ZENODO["license"].lower() == PROJECT["license"].lower()
    assert all(each.keys() == {"identifier", "relation", "scheme"} for each in ZENODO["related_identifiers"])


# -- the paper ----------------------------------------------------------------------------------------------------------


def test_the_paper_has_the_sections_of_its_journal():
    head = yaml.safe_load(PAPER.split("---\n")[1])
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= set(head)
    assert {each["index"] for each in head["affiliations"]} == {each["affiliation"] for each in head["authors"]}
    for section in ("Summary", "Statement of need", "State of the field", "Limits", "References"):
        assert f"\n# {section}\n" in PAPER
    assert 500 < len(PAPER.split()) < 1750


def test_the_paper_cites_what_its_bibliography_has_and_all_of_it():
    cited = set(re.findall(r"@(\w+)", PAPER.split("---\n", 2)[2]))
    assert cited == set(re.findall(r"^@\w+\{(\w+),", BIBLIOGRAPHY, re.M))


FIGURES = {
    "lab/benchmarks/results/accuracy.md": ("0.37%", "0.36%", "0.21%", "0.23%", "1.92%", "1.3 / 3.3", "6.2 / 16.5"),
    "lab/benchmarks/RESULTS.md": ("163 of 168", "163 of 217"),
    "lab/benchmarks/results/peers.md": ("18.7", "10.4", "3.56", "1.99", "1.72", "1.52", "1.78", "1.56"),
}
"""File → measurements that the paper rounds: where one has changed, the paper must follow."""


@pytest.mark.parametrize("path", FIGURES)
def test_figures_of_the_paper_are_measured(path):
    text = (ROOT / path).read_text()
    assert [figure for figure in FIGURES[path] if figure not in text] == []


# -- conda and Binder ---------------------------------------------------------------------------------------------------


def required(lines: Iterable[str], torch: str = "pytorch") -> list[tuple[str, str]]:
    """Names and ranges as pyproject.toml has them."""
    return sorted(("torch", text) if name == torch else (name, text) for name, text in map(extras.requirement, lines))


def test_the_recipe_is_in_step():
    assert RECIPE["schema_version"] == 1 and RECIPE["package"]["name"] == PROJECT["name"]
    needs = [line for line in RECIPE["requirements"]["run"] if not line.startswith("python ")]
    assert required(needs) == required(extras.requirements(PROJECT, "app"))
    assert PROJECT["requires-python"] == f">={RECIPE['context']['python_min']}"
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert set(required(asked)) <= set(required(RECIPE["requirements"]["host"]))
    (entry,) = RECIPE["build"]["python"]["entry_points"]
    name, _, place = entry.partition(" = ")
    assert PROJECT["scripts"] == {name: place}
    assert RECIPE["about"]["license"] == PROJECT["license"] and (ROOT / RECIPE["about"]["license_file"]).exists()


def test_binder_is_in_step():
    found = yaml.safe_load((ROOT / "binder/environment.yml").read_text())["dependencies"]
    needs = [line for line in found if line != "pip" and not line.startswith("python>")]
    assert required(needs, "pytorch-cpu") == required(extras.requirements(PROJECT, "all"))
    after = ROOT / "binder/postBuild"
    assert os.access(after, os.X_OK) and "--no-deps" in after.read_text()
    assert "jupyter_serverproxy_servers" in PROJECT["entry-points"]


# -- workflows ----------------------------------------------------------------------------------------------------------


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in yaml.safe_load(path.read_text())["jobs"].values() for step in job["steps"]]


def unknown(commands: Iterable[str], makefile: str) -> list[str]:
    """Goals of make in commands that the Makefile has not."""
    asked = [word for command in commands for word in re.findall(r"\bmake ([\w-]+)", command)]
    return [goal for goal in asked if not re.search(rf"^(?:[\w -]+ )?{goal}(?: [\w -]+)?:", makefile, re.M)]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_commands_of_a_workflow_are_there(path):
    ran = [step["run"] for step in steps(path) if "run" in step]
    assert unknown(ran, (ROOT / "Makefile").read_text()) == []
    files = [word for command in ran for word in re.findall(r"\btests/\S+\.py", command)]
    assert all((ROOT / file).exists() for file in files)
    found = yaml.safe_load(path.read_text())
    assert found["permissions"] == {"contents": "read"}
    assert True in found, "YAML reads `on` as true"
    assert all(step.get("uses", "@v").partition("@")[2] for step in steps(path))


def test_a_planted_goal_is_found():
    assert unknown(["make nothing", "make lint"], (ROOT / "Makefile").read_text()) == ["nothing"]


def test_every_promised_python_is_tested():
    jobs = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())["jobs"]
    tested = jobs["test"]["strategy"]["matrix"]["python"]
    promised = [each.rpartition(" ")[2] for each in PROJECT["classifiers"] if "Python :: 3." in each]
    assert tested == promised and PROJECT["requires-python"] == f">={tested[0]}"


def test_publishing_keeps_no_password():
    publish = yaml.safe_load((ROOT / ".github/workflows/publish.yml").read_text())["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"} and publish["environment"] == "pypi"
    assert "password" not in json.dumps(publish) and "secrets" not in json.dumps(publish)


# -- archives -----------------------------------------------------------------------------------------------------------

MOST_BYTES = 3_000_000
DATA = (".json", ".css", ".js", ".html", ".svg")
ELSEWHERE = ("lab/results/", "lab/notebooks/", "lab/sweeps/", "lab/benchmarks/", "lab/data/", "lab/pictures/")
"""What only a clone has: measurements, notebooks and what belongs to them."""
MADE = ("lab/page/llc.html",)


@pytest.fixture(scope="module")
def archives(tmp_path_factory) -> dict[str, Path]:
    """Both archives, built from a copy of the files that git knows: nothing that lies about gets in."""
    folder, copy = tmp_path_factory.mktemp("dist"), tmp_path_factory.mktemp("tree")
    known = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    for name in filter(None, known.split("\0")):
        if not name.startswith(("lab/results/", "tests/")) and (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
    code = f"from setuptools import build_meta as b; b.build_sdist({str(folder)!r}); b.build_wheel({str(folder)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=copy, check=True, capture_output=True, text=True)
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return {"wheel": wheel, "sdist": source}


@pytest.mark.slow
def test_the_wheel_is_small_and_holds_every_data_file(archives):
    assert archives["wheel"].stat().st_size <= MOST_BYTES
    with zipfile.ZipFile(archives["wheel"]) as archive:
        inside = set(archive.namelist())
    files = [path for top in ("llc_core", "app", "lab") for path in (ROOT / top).rglob("*") if path.suffix in DATA]
    names = [path.relative_to(ROOT).as_posix() for path in files]
    wanted = [name for name in names if not name.startswith(ELSEWHERE) and name not in MADE]
    assert len(wanted) > 50
    assert [name for name in wanted if name not in inside] == []
    modules = [path.relative_to(ROOT).as_posix() for path in (ROOT / "llc_core").rglob("*.py")]
    assert [name for name in modules if name not in inside] == []
    assert not [name for name in inside if name.startswith(("tests/", "docs/", "build/"))]


@pytest.mark.slow
def test_the_source_archive_can_be_built_again(archives):
    with tarfile.open(archives["sdist"]) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "CITATION.cff", "CHANGELOG.md", "constraints.txt"} <= inside
    assert {"llc_core/__init__.py", "app/components/drawings/valley.js", "lab/page/page.html"} <= inside


@pytest.mark.slow
def test_the_wheel_works_in_an_empty_environment(archives, tmp_path):
    """The engine alone, with the pins, away from the tree: the command line answers, and README's first example runs."""
    venv.create(tmp_path / "venv", with_pip=True)
    scripts = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    pins = ["-c", str(ROOT / "constraints.txt")]
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def ran(*words: object, needed: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*map(str, words)], cwd=tmp_path, env=alone, capture_output=True, text=True, check=False, timeout=1200
        )
        assert done.returncode == 0 or not needed, done.stderr[-2000:]
        return done

    pip = (scripts / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *pins)
    torch = next(line for line in (ROOT / "constraints.txt").read_text().split() if line.startswith("torch=="))
    if ran(*pip, torch, needed=False).returncode and not os.environ.get("CI"):
        pytest.skip("torch cannot be installed here: no index of packages answers.")
    ran(*pip, archives["wheel"])
    assert ran(scripts / "llc-lab", "--version").stdout.strip() == f"llc-lab {__version__}"
    assert "serve" in ran(scripts / "llc-lab", "--help").stdout
    example = documents.blocks((ROOT / "README.md").read_text(), "python")[0]
    (tmp_path / "first.py").write_text(example)
    said = ran(scripts / "python", "first.py").stdout
    assert said.startswith("72") and "λ̂" in said
    assert str(tmp_path) in ran(scripts / "python", "-c", "from llc_core import __file__ as place; print(place)").stdout
