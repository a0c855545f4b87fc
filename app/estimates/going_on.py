"""A finished run goes on from where it is: the same on every page that estimates λ̂."""

from __future__ import annotations

from app.components.transport import Transport
from app.controls.run_controls import LENGTH, Controls
from app.estimates.curves import Curves
from app.session.live import Live
from llc_core import RunConfig


def go_on(live: Live, config: RunConfig, controls: Controls, curves: Curves, transport: Transport) -> RunConfig | None:
    """Make the page's run twice as long, and show that. Returns what it is now; None where there is nothing to make longer.

    ValueError, one sentence, where it would be longer than the page takes; nothing has changed then.
    """
    if live.run is None or not live.can_go_on:
        return None
    longer = config.longer()
    controls.check({name: getattr(longer, name) for name in LENGTH})
    if not live.run.go_on():
        return None
    assert longer.steps is not None
    total, burn_in = longer.steps, longer.burn_in_steps(longer.steps)
    controls.go_on(longer)
    curves.frame(total, burn_in)
    transport.lengthen(total, burn_in)
    return longer
