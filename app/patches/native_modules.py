"""Browsers import the scripts of components themselves.

Panel has each script rewritten in the browser, for the sake of browsers that know no import maps and of components that import
by bare names. Scripts here import nothing, so that the script of the Material components, 1.4 MB of it, was read, copied and
compiled anew at every visit. Imported by its address it comes from the browser's cache, compiled.

Holds for panel 1.9.4, panel-material-ui 0.16.6.
Gains: Many modes moves after 1.8 s in place of 2.1 s, Weights and functions after 1.1 s in place of 1.5 s
(`lab/benchmarks/results/served.md`).
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from panel.models.esm import ReactiveESM
from panel_material_ui.base import BUNDLE_PATH, MaterialComponent

MARK = {"imports": {"@mui/material": ""}}
"""By this name in a component's import map the browser knows that it is a Material component. Nothing is imported by it."""


def apply() -> None:
    """From now on, for all pages that this process serves (`app/window/opening.html` has the browser's side)."""
    ReactiveESM.__javascript_raw__ = []

    whole = MaterialComponent._process_importmap.__func__

    @wraps(whole)
    def mark(cls: type[MaterialComponent]) -> dict[str, Any]:
        return MARK if cls._bundle == BUNDLE_PATH else whole(cls)

    MaterialComponent._process_importmap = classmethod(mark)
