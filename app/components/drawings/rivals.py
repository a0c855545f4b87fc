"""Two solutions of one weight, one perfect and one with a smaller λ: which of them n samples choose is guessed, then moved by sliders."""

from __future__ import annotations

from typing import Any

from panel.custom import JSComponent

from app.components.base import BASE, text_beside


class Rivals(JSComponent):
    """Exact by quadrature in the browser (rivals_math.js). Nothing is sent back: a guess stays with the visitor."""

    _stylesheets = [BASE, text_beside(__file__, "rivals.css")]

    _esm = text_beside(__file__, "rivals_math.js", "chart.js", "rivals.js")

    def _handle_msg(self, msg: Any) -> None:
        """There is nothing to hear."""
