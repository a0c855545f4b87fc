"""One thread per process: the tests' networks are tiny, and waiting threads would only fight over the cores."""

from pathlib import Path

import pytest
import torch

torch.set_num_threads(1)
BROWSER = Path(__file__).parent / "browser"


@pytest.hookimpl(tryfirst=True)  # before the plugin that reads the marks
def pytest_collection_modifyitems(items):
    """Whole files to one worker, and all of the browser's to the same one, first: they take the longest."""
    items.sort(key=lambda item: BROWSER not in item.path.parents)
    for item in items:
        group = "browser" if BROWSER in item.path.parents else str(item.path)
        item.add_marker(pytest.mark.xdist_group(group))
