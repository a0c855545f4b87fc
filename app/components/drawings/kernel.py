"""Which rows go together: a matrix of correlations whose cells are chosen, and the rows that matter most for the chosen one."""

from __future__ import annotations

import param
from panel.custom import JSComponent

from app.components.base import BASE, text_beside

STEPS = 127
"""Steps of a correlation to either side of 0."""


class Kernel(JSComponent):
    """names: of the R rows, in the order in which they are drawn.  shades: their pictures, side × side bytes each (255 is black), or
    empty.  matrix: R × R correlations as signed bytes, in `STEPS` steps.

    effects, errors: R × R float32: by how much the loss of the row (first index) rises where the other one (second index) is left out.
    chosen: place of the row whose most influential rows are listed.
    """

    names = param.List([])
    side = param.Integer(0)
    shades = param.Bytes(b"")
    matrix = param.Bytes(b"")
    effects = param.Bytes(b"")
    errors = param.Bytes(b"")
    chosen = param.Integer(0)

    _stylesheets = [BASE, text_beside(__file__, "kernel.css")]

    _esm = text_beside(__file__, "kernel.js")
