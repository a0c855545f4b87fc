"""Prepares LaTeX for the browser's own mathematics (MathML), which needs no fonts from the network.

Browsers draw a stretched root sign only with a mathematical font, which many systems lack: roots become √(…).
"""

from __future__ import annotations

import re


def displayable(latex: str) -> str:
    """One step of a sampler as text with inline formulas, so that long ones wrap between their parts."""
    parts = re.split(r",?\s*\\q?quad\s*", _without_roots(latex))
    return " &emsp; ".join(f"${part.strip()}$" for part in parts if part.strip())


def _without_roots(latex: str) -> str:
    while (start := latex.find(r"\sqrt{")) >= 0:
        open_brace = start + len(r"\sqrt")
        end = _closing(latex, open_brace)
        inner = latex[open_brace + 1 : end]
        body = inner if re.fullmatch(r"\\?[A-Za-z]+", inner) and (inner[0] == "\\" or len(inner) == 1) else f"({inner})"
        latex = f"{latex[:start]}\\surd {body}{latex[end + 1 :]}"
    return latex.replace(r"\sqrt ", r"\surd ")


def _closing(text: str, open_brace: int) -> int:
    """Index of the brace that closes the one at `open_brace`; the end of the text if there is none."""
    depth = 0
    for index in range(open_brace, len(text)):
        depth += {"{": 1, "}": -1}.get(text[index], 0)
        if depth == 0:
            return index
    return len(text)
