"""Browsers import the scripts of components themselves.

Panel has each script rewritten in the browser, for the sake of browsers that know no import maps and of components that import
by bare names. Scripts here import nothing, so that the script of the Material components, 1.4 MB of it, was read, copied and
compiled anew at every visit. Imported by its address it comes from the browser's cache, compiled.
"""

from __future__ import annotations

from typing import Any

from panel.models.esm import ReactiveESM
from panel_material_ui.base import BUNDLE_PATH, MaterialComponent

MARK = {"imports": {"@mui/material": ""}}
"""By this name in a component's import map the browser knows that it is a Material component. Nothing is imported by it."""


def import_natively() -> None:
    """From now on, for all pages that this process serves (`opening.html` has the browser's side)."""
    ReactiveESM.__javascript_raw__ = []

    def mark(cls: type[MaterialComponent]) -> dict[str, Any]:
        return MARK if cls._bundle == BUNDLE_PATH else whole(cls)

    whole = MaterialComponent._process_importmap.__func__
    MaterialComponent._process_importmap = classmethod(mark)
