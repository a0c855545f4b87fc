"""Cases that `make test` takes, and those that `make test-all` takes besides."""

from collections.abc import Iterable
from typing import Any

import pytest


def few(cases: Iterable[Any], first: int, unpack: bool = False, rare: bool = True) -> list[Any]:
    """The first cases as they are, and the others marked slow: each shows the same of another member of a family.

    unpack: whether a case is a tuple of several arguments. rare: whether the others are for `make test-all` alone, and not for
    `make test-rest`.
    """
    marks = (pytest.mark.slow, pytest.mark.rare) if rare else pytest.mark.slow
    return [
        case if k < first else pytest.param(*(case if unpack else (case,)), marks=marks) for k, case in enumerate(cases)
    ]
