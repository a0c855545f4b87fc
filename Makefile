# `make app` and `make test` are all a fresh machine needs: each builds .venv first if it must.
PYTHON ?= python3
PORT ?= 5006
BIN := .venv/bin
CORE := .venv-core/bin

.PHONY: env app test test-all lint clean

env: .venv/.ready

# torch is asked for by its pin so that no open range pulls in gigabytes of accelerator libraries.
.venv/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt "torch==2.13.0"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[all,dev]"
	@touch .venv/.ready

# The engine alone, as `pip install llc-lab` brings it, and what its tests need.
.venv-core/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-core
	$(CORE)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt "torch==2.13.0"
	$(CORE)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[test]"
	@touch .venv-core/.ready

app: env
	@echo "LLC Lab: http://localhost:$(PORT)/app"
	$(BIN)/panel serve app --port $(PORT)

lint: env
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Everything keeps to one thread, notebooks and servers too, so two cores take two files at a time: threads that wait for a
# busy core made notebooks ten times slower.
test test-all: export OMP_NUM_THREADS = 1
test: lint
	$(BIN)/python -m pytest -n 2 --dist loadfile --durations=30

# Also every control of every page by mouse and by keyboard, and the dark phone: about ten minutes more.
test-all: test
	$(BIN)/python -m pytest tests/browser -m slow

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache
