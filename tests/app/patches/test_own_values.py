"""The text of Panel's that is changed is there, once; what comes of it, `tests/browser/test_window.py` shows."""

from __future__ import annotations

import re
from pathlib import Path

import panel

from app.patches.own_values import SCRIPT

SOUGHT = re.findall(r"^ +\[/(.*)/, [`']", SCRIPT, re.MULTILINE)
PANEL = (Path(panel.__file__).parent / "models" / "react_component.ts").read_text(encoding="utf-8")


def test_what_is_swapped_is_there_once():
    assert len(SOUGHT) == 3 and [len(re.findall(each, PANEL)) for each in SOUGHT] == [1, 1, 1]


def test_panel_itself_still_gives_back_every_value_that_it_has_drawn():
    start = PANEL.index("const [value, setValue] = React.useState(targetModel")
    given = PANEL[start : PANEL.index("return [value, setValue]", start)]
    assert given.count("React.useEffect") == 2 and "initialized.current) {\n              targetModel.setv" in given
