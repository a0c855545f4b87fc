"""Where arviz-stats is missing, as on machines lent for their GPU, a test that fails and has asked for R-hat or ESS is skipped.

The engine works there, with nan for both and verdicts that say so; what is asked of them is asked where the library is.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import Any

import pytest

IS_HERE = importlib.util.find_spec("arviz_stats") is not None  # to import it takes 1.4 seconds
ASKED = pytest.StashKey[bool]()


@pytest.fixture(autouse=not IS_HERE)
def asked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Notes whether the test, or what its file keeps for several, has asked for what only the library has."""
    import llc_core.diagnostics.convergence as convergence

    found = convergence._call

    def noting(name: str, trace: Any) -> float:
        request.node.parent.stash[ASKED] = True
        return found(name, trace)

    monkeypatch.setattr(convergence, "_call", noting)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if not IS_HERE and report.failed and item.parent is not None and item.parent.stash.get(ASKED, False):
        report.outcome, report.longrepr = "skipped", (str(item.path), 0, "It wants R-hat or ESS: install arviz-stats.")
    return report
