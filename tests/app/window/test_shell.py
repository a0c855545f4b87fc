"""The window of a session that is over opens nothing more: nobody would ever close it."""

from __future__ import annotations

import pytest

from app.pages.base import PageInfo
from app.window.shell import Shell


def test_a_page_asked_for_as_the_visitor_left_is_not_built():
    shell = Shell()
    first = shell._view
    shell._pages = [PageInfo("Late", "late", 1, lambda: pytest.fail("built for nobody"))]
    shell.leave()
    shell._open("Late")
    assert shell._view is first
