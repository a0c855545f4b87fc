# `make app` and `make test` are all a fresh machine needs: each builds .venv first if it must.
PYTHON ?= python3
PORT ?= 5006
BIN := .venv/bin
# Every test keeps to one thread. One worker drives the browser, the others take the rest, a file at a time (tests/conftest.py).
TEST_WORKERS ?= 2

.PHONY: env app test lint clean

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

test: lint
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadgroup

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache
