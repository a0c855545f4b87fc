"""Bokeh figures, of a notebook's outputs or of a page of their own, as a page of files can show them: without a kernel, and without
styles of other machines."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import Any

DOCUMENT = re.compile(r"(?:var|const) docs_json = (\{.*?\}|'.*?');\s*\n", re.S)
ITEMS = re.compile(r"(?:var|const) render_items = (\[.*?\]);\s*\n", re.S)
KERNELS = "panel."
"""Models whose names begin so are Panel's: they talk to a kernel."""
UNSEEN = {"panel.models.browser.BrowserInfo", "panel.models.comm_manager.CommManager"}
"""What Panel shows of itself in a notebook, which nobody sees."""

LEAST = 300
"""Pixels below which a figure of a page of files does not become narrower."""


@dataclass(frozen=True)
class Drawn:
    """places: HTML of where a figure stands.  script: what draws there once Bokeh's is loaded.
    height: pixels, of figures whose size is set; 0 where it is not."""

    places: str
    script: str
    height: int


class NeedsKernel(Exception):
    """The output is a window that is empty without a kernel."""


def figure(html: str) -> str | None:
    """HTML that draws the figure of an output, once Bokeh's script is loaded; None where the output shows nothing.

    Raises as `parts`.
    """
    found = parts(html)
    return None if found is None else f"{found.places}\n<script>{found.script}</script>"


def parts(html: str, fit: bool = False) -> Drawn | None:
    """The same in its parts.

    fit: as `fitted` for each document.
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
        if fit:
            fitted(document)
    if any(str(node.get("name", "")).startswith(KERNELS) for node in nodes(roots)):
        raise NeedsKernel
    places = [(root, place) for item in items for root, place in item["roots"].items()]
    divs = "".join(
        f'<div id="{place}" data-root-id="{root}" style="display: contents"></div>' for root, place in places
    )
    data = json.dumps(documents).replace("</", "<\\/")
    kept = [{name: item[name] for name in ("docid", "roots", "root_ids") if name in item} for item in items]
    return Drawn(divs, f"Bokeh.embed.embed_items({data}, {json.dumps(kept)})", sum(map(height, roots)))


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


def fitted(document: dict[str, Any]) -> None:
    """Let figures of one size become as narrow as their column, down to LEAST pixels. Their height stays, so that they can be read."""
    for node in nodes(document["roots"]):
        said = node.get("attributes", {})
        if node.get("name") == "Figure" and said.get("sizing_mode") == "fixed" and said.get("width"):
            said |= {"sizing_mode": "stretch_width", "max_width": said["width"], "min_width": min(LEAST, said["width"])}
        elif node.get("name") == "GridPlot":
            said["sizing_mode"] = "stretch_width"


def height(root: dict[str, Any]) -> int:
    """Pixels of a figure, or of the rows of a grid, each as high as its highest."""
    said = root.get("attributes", {})
    if root.get("name") != "GridPlot":
        return int(said.get("height") or 0)
    rows = defaultdict[int, int](int)
    for child, row, _ in said["children"]:
        rows[row] = max(rows[row], height(child))
    return sum(rows.values())
