"""Faults of the widget library that shut out screen readers and keyboards, mended in the browser.

Holds for panel-material-ui 0.16.6, panel 1.9.4.
Gains: nothing that axe-core calls serious is left, and choices open by keyboard (`tests/browser/test_accessibility.py`).
"""

from __future__ import annotations

from pathlib import Path

from panel.custom import JSComponent


class Repairs(JSComponent):
    """Looks through the page a few times after it has changed and mends what axe-core calls serious.

    The library's choices open by mouse only, and what they list is not called an option. Its loading bar has no name, its
    tooltips name a bare span, and so does the handle of the side bar; formulas and tables that are wider than the
    page cannot be scrolled by keyboard.
    """

    _esm = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
