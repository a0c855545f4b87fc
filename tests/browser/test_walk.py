"""One walk through each page in a real browser; what else browsers are asked belongs to `make test-all`."""

from __future__ import annotations

import pytest
from walks import WALKS, through, through_benchmark, through_start

pytestmark = pytest.mark.long


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.key)
def test_a_page_is_opened_changed_paused_run_shared_and_saved(app, walk):
    through(app, walk)


def test_the_benchmark_is_opened_filtered_run_shared_and_saved(app):
    through_benchmark(app)


def test_the_valley_is_bent_paused_shared_and_left(app):
    through_start(app)
