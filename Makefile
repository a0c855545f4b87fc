# `make app` and `make test` are all a fresh machine needs: each builds .venv first if it must.
PYTHON ?= python3
PORT ?= 5006
BIN := .venv/bin
CORE := .venv-core/bin

.PHONY: env app test test-fast test-rest test-all test-core tests fast-tests lint docs gallery papers dist clean

env: .venv/.ready

# torch is asked for by its pin so that no open range pulls in gigabytes of accelerator libraries. The pip of an old system, as
# Debian's 23.0, does not come to an end with what is asked for, so a newer one comes first.
NEWER_PIP := "pip>=24"
# pip compiles what it installs on one core; afterwards all cores do. Some files are templates, and no Python.
.venv/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade $(NEWER_PIP)
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt "torch==2.13.0"
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e ".[all,dev,docs]"
	$(BIN)/python -m compileall -qq -j 0 .venv/lib/python3*/site-packages || true
	@touch .venv/.ready

# The engine alone, as `pip install llc-lab` brings it, and what its tests need, with triton (200 MB, five seconds) for those of the
# kernel of a GPU. They import a part of it once, so that to compile all of it took two thirds of the time.
.venv-core/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-core
	$(CORE)/python -m pip install --quiet --disable-pip-version-check --upgrade $(NEWER_PIP)
	$(CORE)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt "torch==2.13.0"
	$(CORE)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e ".[test,kernels]"
	@touch .venv-core/.ready

app: env
	$(BIN)/llc-lab serve --port $(PORT)

lint: env
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Everything keeps to one thread, notebooks and servers too, so two cores take two files at a time: threads that wait for a
# busy core made notebooks ten times slower.
# tests/conftest.py puts the longest files first, so that no worker is left alone with one at the end.
# Lint and types take one core, so they go beside the tests, which begin on one core too.
test test-fast test-rest test-all tests fast-tests: export OMP_NUM_THREADS = 1
# Workers, kernels and servers of the tests import the same files: compiled once, they are kept, also where the surroundings say
# that none should be. Collecting the tests then takes a third less from the second time on.
test test-fast test-rest test-all test-core tests fast-tests: export PYTHONDONTWRITEBYTECODE =
PYTEST := $(BIN)/python -m pytest -p tests.helpers.plain_schemas
# On two cores three took a minute longer. `make test WORKERS=4` where there are more, and 3 GB for each.
WORKERS ?= 2
SIDE_BY_SIDE := -n $(WORKERS) --dist loadfile --no-loadscope-reorder
test: env
	$(MAKE) --no-print-directory -j2 lint tests

# For daily work: no browser, and no single test that takes long.
test-fast: env
	$(MAKE) --no-print-directory -j2 lint fast-tests

tests: env
	$(PYTEST) $(SIDE_BY_SIDE) --durations=30

fast-tests: env
	$(PYTEST) $(SIDE_BY_SIDE) -m "not slow and not long"

# What `.ci/run` asks besides: notebooks, long statistics, scripts of pages, the core alone.
test-rest: env
	$(PYTEST) $(SIDE_BY_SIDE) --durations=30 -m "slow and not rare" lab tests/llc_core tests/app tests/house tests/lab/sweeps tests/lab/site \
		--ignore tests/house/test_publishing.py
	$(MAKE) --no-print-directory test-core

# All that `make test` leaves out: also further members of families, whatever else is asked of browsers, every command at its
# smallest size, and a wheel in an empty environment.
test-all: test-rest
	$(PYTEST) $(SIDE_BY_SIDE) --durations=30 -m rare lab tests/llc_core tests/app
	$(PYTEST) $(SIDE_BY_SIDE) --durations=30 -m slow tests/browser tests/lab tests/house/test_publishing.py

# The engine with the core alone: its fast tests, and those of the command line. `make test` runs all of them in .venv, so
# these only show that nothing of an extra is needed; what needs one is skipped and counted.
CORE_TESTS := tests/app/server/test_core_only.py $(addprefix tests/llc_core/,test_extras.py compute diagnostics networks \
	sweeps theory engine/test_run.py potentials/deep_linear/test_network.py potentials/module/test_network.py)
test-core: export OMP_NUM_THREADS = 1
test-core: .venv-core/.ready
	$(CORE)/python -m pytest -o addopts="--import-mode=importlib -p no:cacheprovider" -q -m "not slow" \
		-n 2 --dist loadfile $(CORE_TESTS)

# The site, in build/site, from files alone, with the package to download. Notebooks have figures where they have run: `make docs EXECUTE=1` runs those that
# have changed first, which takes twenty minutes of a core for all of them. What `make papers` has run is shown too; it goes on
# where it was ended. PAPERS names another folder of `llc-lab paper all`.
PAPERS ?= build/papers
docs gallery papers: export OMP_NUM_THREADS = 1
docs: env dist $(if $(EXECUTE),gallery)
	$(BIN)/python -m lab.site.build build/site $(PAPERS)

gallery: env
	$(BIN)/python -m lab.site.gallery

papers: env
	$(BIN)/llc-lab paper all --size small --out $(PAPERS)

# The two archives that an index takes, in dist.
dist: env
	rm -rf dist build/lib build/bdist.*
	$(BIN)/python -c "from setuptools import build_meta; build_meta.build_sdist('dist')"
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .

clean:
	rm -rf .venv .venv-core .pytest_cache .mypy_cache .ruff_cache build dist
