"""One thread per process: the tests' networks are tiny, and waiting threads would only fight over the cores."""

import pytest
import torch

torch.set_num_threads(1)

LONGEST_FIRST = (
    "lab/",
    "tests/browser/",
    "tests/lab/",
    "tests/llc_core/references/",
    "tests/llc_core/engine/",
    "tests/app/pages/",
    "tests/llc_core/samplers/",
)
"""Whole notebooks take minutes: begun last, one would keep a single core busy while the other waits."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    rooms = LONGEST_FIRST
    items.sort(key=lambda item: next((k for k, r in enumerate(rooms) if item.nodeid.startswith(r)), len(rooms)))
