"""Pages of these tests have no browser, so that their runs would begin as they are built, and go on beside what is tested."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import pytest


@pytest.fixture(autouse=True, scope="module")
def unseen() -> Iterator[None]:
    """No page is on a screen. A test that asks for a run starts it: `manager().submit(view._live._build)`."""
    if find_spec("panel") is None:  # tests of the core alone open no page
        yield
        return
    from app.session.live import Live

    on_load = Live._on_load
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Live, "_on_load", lambda live: on_load(live) if live._document is not None else None)
        yield
