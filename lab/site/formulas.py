"""Formulas as the browser's own MathML, which needs no fonts: the pages hold LaTeX, and site.js has KaTeX turn it into that."""

from __future__ import annotations

from html import escape
from typing import Any


def setup(app: Any) -> dict[str, bool]:
    """For Sphinx, which calls it once."""
    app.add_html_math_renderer("katex", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(translator: Any, node: Any) -> None:
    _put(translator, "span", node)


def _block(translator: Any, node: Any) -> None:
    _put(translator, "div", node)


def _put(translator: Any, tag: str, node: Any) -> None:
    from docutils.nodes import SkipNode

    translator.body.append(f'<{tag} class="math">{escape(node.astext())}</{tag}>')
    raise SkipNode
