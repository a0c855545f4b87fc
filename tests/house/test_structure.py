"""The house: imports point downward only, heavy libraries are imported lazily."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import extras
import house
import privates
import pytest

ROOT = Path(__file__).resolve().parents[2]

CODE = house.read(ROOT, "llc_core", "app", "lab")
TESTS = house.read(ROOT, "tests")
SCRIPTS = {**house.read(ROOT, "app", ending=".js"), **house.read(ROOT, "app", ending=".html")}
RUFF = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]["lint"]
LAZY_IN_CORE = {
    name for name in RUFF["flake8-tidy-imports"]["banned-module-level-imports"] if not name.startswith("llc_core")
}


RULES = {
    "the engine's imports point downward": lambda tree: house.arrows_up(tree, "llc_core", house.CORE_FLOORS),
    "the app's imports point downward": lambda tree: house.arrows_up(tree, "app", house.APP_FLOORS),
    "no circles": lambda tree: house.circles(tree),
    "engine, app and runs keep to themselves": lambda tree: house.foreign_imports(tree),
    "no page imports another": lambda tree: house.pages_that_import_pages(tree),
    "a page's imports point downward": lambda tree: house.page_arrows_up(tree),
    "no test imports a test": lambda tree: house.tests_that_import_tests(tree),
    "no module hides a public name": lambda tree: house.names_hidden_by_modules(tree),
    "large files say why": lambda tree: house.large_without_a_reason(tree),
    "no folder is full": lambda tree: house.full_folders(tree),
    "strings describe the name above them": lambda tree: house.stray_descriptions(tree),
    "the engine's lines are wrapped": lambda tree: house.lines_that_are_not_wrapped(tree),
    "no issue has a number": lambda tree: house.numbers_of_issues(tree),
    "other libraries' private parts": lambda tree: privates.foreign_privates(tree),
}
PLANTED = {
    "the engine's imports point downward": {
        "llc_core/theory/quadrature.py": "def f():\n    from llc_core.engine.run import Run",
        "llc_core/engine/run.py": "",
    },
    "the app's imports point downward": {
        "app/session/live.py": "import app.window.shell",
        "app/window/shell.py": "",
    },
    "no circles": {
        "llc_core/compute/philox.py": "def f():\n    from llc_core.compute import philox_kernel",
        "llc_core/compute/philox_kernel.py": "from llc_core.compute.philox import ROUNDS",
    },
    "engine, app and runs keep to themselves": {"app/runs/manager.py": "def f():\n    import panel as pn"},
    "no page imports another": {
        "app/pages/landscapes/page.py": "from app.pages.benchmark.texts import verdict",
        "app/pages/benchmark/texts.py": "",
    },
    "a page's imports point downward": {
        "app/pages/landscapes/scene.py": "from app.pages.landscapes import texts",
        "app/pages/landscapes/texts.py": "",
    },
    "no test imports a test": {"tests/llc_core/test_a.py": "from test_b import helper", "tests/app/test_b.py": ""},
    "strings describe the name above them": {"llc_core/types.py": 'A = 1\n"""A."""\n"""B."""\n'},
    "the engine's lines are wrapped": {"llc_core/types.py": f'"""{"a" * 160}"""\n'},
    "no issue has a number": {"tests/llc_core/test_types.py": f'"""By quadrature ({"issue"} 7)."""\n'},
    "other libraries' private parts": {"app/window/shell.py": "import panel as pn\npn.state._views[0]\n"},
    "large files say why": {"llc_core/types.py": '"""All types."""\n' + "x = 1\n" * 300},
    "no folder is full": {f"lab/benchmarks/speed/{name}.py": "" for name in ("__init__", *"abcdefghijklmnop")},
    "no module hides a public name": {
        "llc_core/__init__.py": "from llc_core.diagnostics.signals import health",
        "llc_core/diagnostics/signals.py": "",
        "llc_core/health.py": "",
    },
}


@pytest.mark.parametrize("rule", RULES)
def test_the_house_keeps(rule):
    assert not list(RULES[rule]({**CODE, **TESTS}))


@pytest.mark.parametrize("rule", RULES)
def test_a_planted_violation_is_found(rule):
    assert len(list(RULES[rule](PLANTED[rule]))) == 1


def test_a_folder_that_may_be_full_is(monkeypatch):
    kept = set(house.FLAT)
    monkeypatch.setattr(house, "FLAT", {})
    assert {text.split()[0] for text in house.full_folders({**CODE, **TESTS})} == kept


TAKEN = {
    "from panel._param import Margin": ["_param"],
    "import torch._inductor.config": ["_inductor"],
    "import torch\ndef f():\n    torch.zeros(2)._mine = 1": ["_mine"],
    "from bokeh.core import has_props as h\nh.HasProps._clone()": ["_clone"],
    "import panel as pn\ngetattr(pn.state, '_views', None)": ["_views"],
    "def f(layout):\n    return layout._models": ["_models"],
    "def f(module):\n    return hasattr(module, '_orig_mod')": ["_orig_mod"],
    "import os\nfrom llc_core.run import Run\nos._exit(1)\nRun()._mine": [],
    "class A(pn.Column):\n    def f(self, other):\n        return self._models, other._mine, super()._init()": [],
}
"""Text → private names of other libraries in it, where `_mine` is a name of this project."""
INHERITED = {
    "import panel as pn\nclass A(pn.Column):\n    def _get_model(self, doc):\n        return doc": ["_get_model"],
    "import panel as pn\nclass A(pn.Column):\n    _linked_properties = ()": ["_linked_properties"],
    "from panel.layout import Column\nclass A(Column):\n    def f(self):\n        self._rename = {}": ["_rename"],
    "import panel\nclass A(panel.Column):\n    def f(self):\n        return super()._cleanup(), self._set_in_init": [
        "_cleanup",
        "_set_in_init",
    ],
    "from panel.custom import JSComponent\nclass A(JSComponent):\n    _esm = ''\n    def _own(self):\n        self._send_msg(self._own)": [],
    "from app.components.base import B\nclass A(B):\n    def _get_model(self):\n        return self._models": [],
}
"""The same of classes whose base is another library's."""


@pytest.mark.parametrize("text", TAKEN)
def test_private_parts_of_other_libraries_are_told_from_own_ones(text):
    assert [name for _, name in sorted(privates.privates_taken(ast.parse(text), {"_mine"}))] == TAKEN[text]


@pytest.mark.parametrize("text", INHERITED)
def test_private_parts_of_a_base_are_told_from_own_ones(text):
    assert [name for _, name in sorted(privates.privates_inherited(ast.parse(text)))] == INHERITED[text]


def test_what_may_use_a_private_part_does_so(monkeypatch):
    kept = privates.KEPT.copy()
    monkeypatch.setattr(privates, "KEPT", {})
    found = list(privates.foreign_privates(CODE))
    assert len(found) >= len(kept)
    for path, name in kept:
        assert any(text.startswith(f"{path}, ") and f": {name} is" in text for text in found), (path, name)


def test_scripts_use_no_private_parts():
    assert not list(privates.foreign_privates_of_scripts(SCRIPTS))
    assert list(
        privates.foreign_privates_of_scripts({"app/components/window/navigation.js": "view.model.document._all_models"})
    )


@pytest.mark.parametrize(
    "tree, folder, floors",
    [
        ({"llc_core/novel.py": ""}, "llc_core", house.CORE_FLOORS),
        ({"app/pages/benchmark/other.py": ""}, "app/pages/benchmark", house.PAGE_FLOORS),
    ],
)
def test_a_module_without_a_floor_is_found(tree, folder, floors):
    assert len(list(house.arrows_up(tree, folder, floors))) == 1


def test_every_folder_of_tests_has_what_it_tests():
    folders = {p.relative_to(ROOT).as_posix() for top in ("llc_core", "app", "lab") for p in (ROOT / top).rglob("*")}
    rooms = folders | {"llc_core", "app", "lab"}
    tests = [path for path in TESTS if "/test_" in path]
    assert not list(house.tests_without_a_room(tests, rooms))
    assert list(house.tests_without_a_room(["tests/llc_core/cellar/test_wine.py"], rooms))


PLANTED_FOR_RUFF = {
    "app/a.py": "from . import layout\n\nprint(layout)\n",
    "app/b.py": "import pickle\n\nprint(pickle)\n",
    "lab/a.py": "print(eval('1'))\n",
    "lab/b.py": "exec('x = 1')\n",
    "llc_core/a.py": "import numba\n\nprint(numba)\n",
    "llc_core/b.py": "from llc_core.compute import philox_kernel\n\nprint(philox_kernel)\n",
}
"""What ruff looks for in place of rules of the house: absolute imports, lazy ones, nothing that unpickles or evaluates."""


@pytest.mark.parametrize("path", PLANTED_FOR_RUFF)
def test_ruff_finds_a_planted_violation(path):
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--stdin-filename", path, "-"]
    done = subprocess.run(command, input=PLANTED_FOR_RUFF[path], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 1 and "Found 1 error" in done.stdout, done.stdout


def test_core_runs_without_the_optional_libraries():
    code = (
        "import sys\n"
        f"for name in {sorted(house.FOREIGN['llc_core'] | LAZY_IN_CORE)!r}: sys.modules[name] = None\n"
        "import llc_core, math, warnings\n"
        "warnings.simplefilter('ignore')\n"
        "e = llc_core.estimate(llc_core.DeepLinearNetwork.random(widths=[3, 2], n=100, seed=0), steps=100)\n"
        "assert math.isfinite(e.llc) and math.isnan(e.r_hat), e\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_app_leaves_mathematics_to_the_engine():
    for path in CODE:
        if path.startswith("app/"):
            assert "scipy" not in {n.split(".")[0] for n in house.imports(CODE, path)}, f"{path} does mathematics"


ENTRIES = ("app/__init__.py", "app/server/cli.py", "app/server/jupyter.py", "lab/slurm.py")
"""What may run where only the core is installed; the rest of the app and the benchmarks need their extra anyhow."""
IMPORTED_AS = {"scikit-learn": "sklearn"}
WITH_FALLBACK = ("speed", "kernels")
"""Extras that the engine uses where they are there; without them the same is done more slowly."""
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def brought() -> dict[str, frozenset[str]]:
    """Extra → packages, as they are imported, that it brings and the core does not."""
    core = extras.requirements(PROJECT)
    found = {}
    for extra in PROJECT["optional-dependencies"]:
        names = [extras.requirement(line)[0] for line in extras.requirements(PROJECT, extra) if line not in core]
        found[extra] = frozenset(IMPORTED_AS.get(name, name.replace("-", "_")) for name in names)
    used = frozenset().union(*(found[extra] for extra in WITH_FALLBACK))
    return {extra: names - used for extra, names in found.items()}


def test_a_missing_extra_is_one_sentence_everywhere():
    tree = {path: text for path, text in CODE.items() if path.startswith("llc_core/") or path in ENTRIES}
    assert set(ENTRIES) <= set(tree)
    assert not list(extras.unguarded_imports(tree, brought()))


@pytest.mark.parametrize(
    "text",
    ["import xarray", "with needs('NetCDF', extra='networks'):\n    import xarray", "def f():\n  import xarray.x"],
)
def test_an_unguarded_import_is_found(text):
    assert len(list(extras.unguarded_imports({"llc_core/results.py": text}, brought()))) == 1


def test_the_engine_s_own_dependencies_are_few():
    assert {extras.requirement(line)[0] for line in extras.requirements(PROJECT)} == {
        "arviz-stats",
        "numpy",
        "scipy",
        "torch",
    }
