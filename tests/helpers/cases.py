"""Cases that `make test` takes, and those that `make test-rest` takes besides."""

from collections.abc import Iterable
from typing import Any

import pytest


def few(cases: Iterable[Any], first: int) -> list[Any]:
    """The first cases as they are, and the others marked slow: each shows the same of another member of a family."""
    return [case if k < first else pytest.param(case, marks=pytest.mark.slow) for k, case in enumerate(cases)]
