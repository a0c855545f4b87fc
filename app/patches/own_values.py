"""Panel's components written in React give back to the model only what a visitor has set. What they do and why: `own_values.js`.

Holds for panel 1.9.4.
Gains: a value that changes twice in a row stays what it became; a button went on saying "Stop" when all was done.
"""

from pathlib import Path

SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
"""Must run in a window, or a notebook, before the first component is drawn."""
