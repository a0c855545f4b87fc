"""Cases that `make test` takes, and those that `make test-all` takes besides."""

from collections.abc import Iterable
from typing import Any

import pytest


def few(cases: Iterable[Any], first: int, unpack: bool = False) -> list[Any]:
    """The first cases as they are, and the others marked slow and rare: each shows the same of another member of a family.

    unpack: whether a case is a tuple of several arguments.
    """
    marks = pytest.mark.slow, pytest.mark.rare
    return [
        case if k < first else pytest.param(*(case if unpack else (case,)), marks=marks) for k, case in enumerate(cases)
    ]
