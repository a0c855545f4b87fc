"""Numbers with a label under each."""

from __future__ import annotations

import param
from panel.custom import JSComponent

from app.components.base import BASE, text_beside


class Numbers(JSComponent):
    """Labelled numbers with explanations on hover or focus.

    items: key, label, tip and optionally wide, main, hero, detail (bool) each; details are folded under "Diagnostics".  values: key → text.
    """

    items = param.List([])
    values = param.Dict({})
    columns = param.String("auto-fit")
    least = param.String("5.75rem", doc="Least width of a column.")
    early = param.List([], doc="Keys of values that are only what there is so far: they are grey.")
    row = param.Boolean(False, doc="One row where there is room, the hero first.")
    reasons = param.Dict({}, doc="Key → what stands before its tip, such as why a value is not known.")
    withheld = param.List([], doc="Keys of cells that are not shown.")

    _stylesheets = [BASE, text_beside(__file__, "readouts.css")]

    _esm = text_beside(__file__, "readouts.js")
