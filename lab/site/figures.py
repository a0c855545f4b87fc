"""Bokeh figures, of a notebook's outputs or of a page of their own, as a page of files can show them: without a kernel, and without
styles of other machines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any

DOCUMENT = re.compile(r"(?:var|const) docs_json = (\{.*?\}|'.*?');\s*\n", re.S)
ITEMS = re.compile(r"(?:var|const) render_items = (\[.*?\]);\s*\n", re.S)
KERNELS = "panel."
"""Models whose names begin so are Panel's: they talk to a kernel."""
UNSEEN = {"panel.models.browser.BrowserInfo", "panel.models.comm_manager.CommManager"}
"""What Panel shows of itself in a notebook, which nobody sees."""


class NeedsKernel(Exception):
    """The output is a window that is empty without a kernel."""


def figure(html: str) -> str | None:
    """HTML that draws the figure of an output, once Bokeh's script is loaded; None where the output shows nothing.

    Raises as `parts`.
    """
    found = parts(html)
    return None if found is None else f"{found[0]}\n<script>{found[1]}</script>"


def parts(html: str) -> tuple[str, str] | None:
    """The same in two parts: the places on the page, and the script that draws there.

    Raises NeedsKernel for a window of Panel, and ValueError where the output is no document of Bokeh.
    """
    found, listed = DOCUMENT.search(html), ITEMS.search(html)
    if not found or not listed:
        raise ValueError("The output has no document of Bokeh.")
    documents, items = json.loads(quoted(found[1])), json.loads(listed[1])
    roots = [root for document in documents.values() for root in document["roots"]]
    if all(root["name"] in UNSEEN for root in roots):
        return None
    for document in documents.values():
        bare(document)
    if any(str(node.get("name", "")).startswith(KERNELS) for node in nodes(roots)):
        raise NeedsKernel
    places = [(root, place) for item in items for root, place in item["roots"].items()]
    divs = "".join(
        f'<div id="{place}" data-root-id="{root}" style="display: contents"></div>' for root, place in places
    )
    data = json.dumps(documents).replace("</", "<\\/")
    kept = [{name: item[name] for name in ("docid", "roots", "root_ids") if name in item} for item in items]
    return divs, f"Bokeh.embed.embed_items({data}, {json.dumps(kept)})"


def quoted(text: str) -> str:
    """JSON out of a string of JavaScript, as `bokeh.embed.components` writes it; other text as it is."""
    return unescape(re.sub(r"\\(.)", r"\1", text[1:-1])) if text.startswith("'") else text


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Every table in parsed JSON, those inside others too."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from nodes(each)


def bare(document: dict[str, Any]) -> None:
    """Take out style sheets that lie on other machines, and definitions of models that the figure does not use."""
    away = {
        node["id"]
        for node in nodes(document["roots"])
        if node.get("name") == "ImportedStyleSheet" and "://" in node.get("attributes", {}).get("url", "")
    }
    for node in nodes(document["roots"]):
        for name, value in node.items():
            if isinstance(value, list):
                node[name] = [each for each in value if not (isinstance(each, dict) and each.get("id") in away)]
    used = {node.get("name") for node in nodes(document["roots"])}
    document["defs"] = [each for each in document.get("defs", []) if each["name"] in used]
