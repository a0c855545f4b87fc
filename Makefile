# `make app` and `make test` are all a fresh machine needs: each builds .venv first if it must.
PYTHON ?= python3
PORT ?= 5006
BIN := .venv/bin

.PHONY: env app test test-fast test-all lint clean

env: .venv/.ready

# torch is asked for by its pin so that no open range pulls in gigabytes of accelerator libraries.
.venv/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt "torch==2.13.0"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch .venv/.ready

app: env
	@echo "LLC Lab: http://localhost:$(PORT)/app"
	$(BIN)/panel serve app --port $(PORT)

lint: env
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Everything keeps to one thread, notebooks and servers too, so two cores take two files at a time: threads that wait for a
# busy core made notebooks ten times slower.
# tests/conftest.py puts the longest files first, so that no worker is left alone with one at the end.
test test-fast test-all: export OMP_NUM_THREADS = 1
PYTEST := $(BIN)/python -m pytest
SIDE_BY_SIDE := -n 2 --dist loadfile --no-loadscope-reorder
test: lint
	$(PYTEST) $(SIDE_BY_SIDE) --durations=30

# For daily work: neither browsers nor notebooks, and no single test that takes long.
test-fast: lint
	$(PYTEST) $(SIDE_BY_SIDE) tests --ignore=tests/browser -m "not slow and not long"

# Also every control of every page by mouse and by keyboard, and the dark phone: about ten minutes more.
test-all: test
	$(PYTEST) tests/browser -m slow

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache
