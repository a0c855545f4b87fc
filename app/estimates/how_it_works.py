"""What λ̂ is, in three steps, for who sees a page for the first time."""

from __future__ import annotations

from html import escape

import panel as pn

from app.style import theme
from app.style.layout import prose

WHY = (
    "λ, the local learning coefficient, measures how many parameters a solution really uses. Lower means simpler, and theory "
    "ties that to how well a network does on new data."
)
STEPS = (
    "A chain begins at w0, where the loss is lowest. Each step goes a little downhill and is pushed about by noise.",
    "Steep walls or gentle ones: the chain pays the same on average, ½ for each direction with walls. A flat direction costs "
    "nothing.",
    "λ̂ adds these up. All d weights matter: d/2. Some directions are flat: less.",
)


def how_it_works() -> pn.pane.HTML:
    """Folded below two words, since one reads it once."""
    steps = "".join(f"<li>{escape(step)}</li>" for step in STEPS)
    pane = prose(theme.ASIDE, margin=(0, 2))
    pane.object = f"<details><summary>How this works</summary><p>{escape(WHY)}</p><ol>{steps}</ol></details>"
    return pane
