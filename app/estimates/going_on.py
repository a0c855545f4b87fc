"""A finished run goes on from where it is: the same on every page that estimates λ."""

from __future__ import annotations

from typing import TypeVar

from app.components.transport import Transport
from app.controls.run_controls import LENGTH, Controls
from app.estimates.curves import Curves
from app.session.live import Live
from app.sharing.reading import PageConfig

Config = TypeVar("Config", bound=PageConfig)


def go_on(live: Live, config: Config, controls: Controls, curves: Curves, transport: Transport) -> Config | None:
    """Make the page's run twice as long, and show that. Returns what it is now; None where there is nothing to continue.

    Raises ValueError, one sentence, where it would be longer than the page takes; nothing has changed then.
    """
    if not live.can_go_on:
        return None
    longer = config.longer()
    controls.check({name: longer.settings[name] for name in LENGTH})
    if not live.go_on():
        return None
    controls.go_on(longer.complete)
    curves.frame(*longer.lengths)
    transport.lengthen(*longer.lengths)
    return longer
