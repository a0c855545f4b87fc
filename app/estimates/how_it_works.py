"""What λ̂ is, in three steps, for who sees a page for the first time."""

from __future__ import annotations

from html import escape

import panel as pn

from app.style import theme
from app.style.layout import prose

STEPS = (
    "A chain begins at w0, where the loss is lowest. Each step goes a little downhill and is pushed about by noise.",
    "Across a valley it meets the same loss on average however steep the walls are: between steep ones it stays nearer. "
    "Along a flat floor it meets none.",
    "λ̂ is that average loss times nβ: 1/2 for each direction with walls, less for flatter ones. If all d parameters count it "
    "is d/2; a degenerate model reads less.",
)


def how_it_works() -> pn.pane.HTML:
    """Folded below two words, since one reads it once."""
    steps = "".join(f"<li>{escape(step)}</li>" for step in STEPS)
    pane = prose(theme.ASIDE, margin=(0, 2))
    pane.object = f"<details><summary>How this works</summary><ol>{steps}</ol></details>"
    return pane
