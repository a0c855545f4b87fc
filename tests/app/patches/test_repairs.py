"""What is repaired is called so in the library; that it needs it, `tests/browser/test_patches.py` sees."""

from __future__ import annotations

import pytest
from panel_material_ui.base import BUNDLE_PATH

from app.patches.repairs import Repairs

BUNDLE = BUNDLE_PATH.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["Resize sidebar", "progressbar", "menuitem", "listbox", "combobox", "MuiSelect"])
def test_what_is_repaired_is_there(name):
    assert name in Repairs._esm and name in BUNDLE
