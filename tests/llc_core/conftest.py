"""Where arviz-stats is missing, as on machines lent for their GPU, a test that fails and has asked for R-hat or ESS is skipped.

The engine works there, with nan for both and verdicts that say so; what is asked of them is asked where the library is.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import Any

import pytest

IS_HERE = importlib.util.find_spec("arviz_stats") is not None  # to import it takes 1.4 seconds
ASKED = set()
"""Files whose tests, or what they keep for several of them, have asked for what only the library has."""
NOW: dict[str, Any] = {}
"""file: of the test that runs.  call: the way to the library, which `_noting` stands before."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if IS_HERE:
        return
    import llc_core.diagnostics.convergence as convergence

    NOW["file"] = item.path
    if "call" not in NOW:
        NOW["call"], convergence._call = convergence._call, _noting


def _noting(name: str, trace: Any) -> float:
    ASKED.add(NOW["file"])
    found: float = NOW["call"](name, trace)
    return found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if not IS_HERE and report.failed and item.path in ASKED:
        report.outcome, report.longrepr = "skipped", (str(item.path), 0, "It wants R-hat or ESS: install arviz-stats.")
    return report
