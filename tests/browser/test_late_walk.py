"""The walks through all pages where every callback of the server is half a second late: they wait for nothing that may be there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from late_callbacks import VARIABLE
from served_panel import served_panel
from walks import WALKS, through, through_benchmark, through_start

LATE = 0.5


@pytest.fixture(scope="module")
def address(browser_type_launch_args, tmp_path_factory, stores) -> Iterator[str]:
    with served_panel(tmp_path_factory.mktemp("late") / "log.txt", stores, **{VARIABLE: str(LATE)}) as url:
        yield url


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.key)
def test_a_page_is_walked_through(app, walk):
    through(app, walk)


def test_the_benchmark_is_walked_through(app):
    through_benchmark(app)


def test_the_valley_is_walked_through(app):
    through_start(app)
