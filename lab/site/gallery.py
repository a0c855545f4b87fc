"""The notebooks as pages with their figures.

    python -m lab.site.gallery [FOLDER]    runs each notebook that has changed, and keeps it in build/gallery, or FOLDER

To run them all takes twenty minutes of a core, so the site only shows what was kept; a notebook without a kept run is shown
without figures, and says so. Figures stay alive: Bokeh's own script draws them, from a file of the site.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lab.site import figures

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "build" / "gallery"
LONGEST = 1200
"""Seconds that one cell may take."""
MARK = "llc_lab_source"
"""Where a kept notebook has the digest of the cells that it was run with."""
WIDGET = "application/vnd.jupyter.widget-view+json"
LOADING = "application/vnd.holoviews_load.v0+json"
OPTIONS = "esms-options"
"""What Panel says to the browser before it loads."""
DRAWN = "Bokeh.embed.embed_items"
NOT_RUN = """```{note}
This copy of the notebook was not run, so it has no figures. `make gallery` runs it.
```"""
NEEDS_KERNEL = """```{note}
This cell shows a window that needs a running kernel. Open the notebook in JupyterLab to see it.
```"""
SCRIPT = """```{raw} html
<script src="../../_static/bokeh.min.js"></script>
```"""


def notebooks() -> list[Path]:
    return sorted((ROOT / "lab" / "notebooks").glob("*.ipynb"))


def digest(notebook: dict[str, Any]) -> str:
    """Of what a notebook's cells say, without their outputs."""
    cells = [[cell["cell_type"], "".join(cell["source"])] for cell in notebook["cells"]]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()


def run(path: Path, target: Path) -> None:
    """Run one notebook from top to bottom, and keep it at `target`.

    Raises nbclient's CellExecutionError where a cell fails; nothing is kept then.
    """
    import nbformat
    from nbclient import NotebookClient

    found = nbformat.read(path, as_version=4)
    found.metadata[MARK] = digest(found)
    NotebookClient(found, timeout=LONGEST, resources={"metadata": {"path": str(path.parent)}}).execute()
    for cell in found.cells:  # scripts of libraries, megabytes in each notebook: the site has them once
        if "outputs" in cell:
            cell["outputs"] = [each for each in cell["outputs"] if LOADING not in each.get("data", {})]
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(found, target)


def current(path: Path, folder: Path) -> dict[str, Any] | None:
    """The kept run of a notebook, where its cells are still the same."""
    kept = folder / path.name
    if not kept.exists():
        return None
    found: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
    now = json.loads(path.read_text(encoding="utf-8"))
    return found if found["metadata"].get(MARK) == digest(now) else None


def write(folder: Path, executed: Path) -> bool:
    """Write a page for each notebook into `folder`. executed: kept runs. Returns whether one of them draws with Bokeh."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = False
    for path in notebooks():
        found = current(path, executed)
        text = page(found or json.loads(path.read_text(encoding="utf-8")), folder, path.stem, found is not None)
        drawn = drawn or SCRIPT in text
        (folder / f"{path.stem}.md").write_text(text, encoding="utf-8")
    return drawn


def page(notebook: dict[str, Any], folder: Path, stem: str, executed: bool) -> str:
    """Markdown of a notebook. Pictures go into `folder` under names that begin with `stem`."""
    parts: list[str] = []
    for number, cell in enumerate(notebook["cells"]):
        source = "".join(cell["source"]).strip()
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif cell["cell_type"] == "code" and source:
            parts.append(fenced(source, "python"))
            parts += outputs(cell.get("outputs", []), folder, f"{stem}-{number}")
    text = "\n\n".join(part for part in parts if part)
    first, _, rest = text.partition("\n")
    before = [] if executed else [NOT_RUN]
    if DRAWN in text:
        before.append(SCRIPT)
    return "\n\n".join([first, *before, rest.strip()]) + "\n"


def outputs(given: Sequence[dict[str, Any]], folder: Path, stem: str) -> Iterator[str]:
    for number, output in enumerate(given):
        if output["output_type"] == "stream":
            if output["name"] == "stdout":
                yield fenced("".join(output["text"]).rstrip(), "text")
        elif output["output_type"] in ("display_data", "execute_result"):
            yield from shown(output["data"], folder, f"{stem}-{number}")


def shown(data: dict[str, Any], folder: Path, name: str) -> Iterator[str]:
    """The richest form of one output that a page can hold."""
    texts = {kind: "".join(value) if isinstance(value, list) else value for kind, value in data.items()}
    html = texts.get("text/html", "")
    if LOADING in texts or OPTIONS in html:
        return
    if WIDGET in texts:
        yield NEEDS_KERNEL
    elif "docs_json" in html:
        try:
            drawn = figures.figure(html)
        except figures.NeedsKernel:
            drawn = None
            yield NEEDS_KERNEL
        if drawn:
            yield raw(f'<div class="output">\n{drawn}\n</div>')
    elif html:
        yield raw(f'<div class="output">\n{html}\n</div>')
    elif "image/png" in texts:
        (folder / f"{name}.png").write_bytes(base64.b64decode(texts["image/png"]))
        yield f"![Figure]({name}.png)"
    elif "text/markdown" in texts:
        yield texts["text/markdown"]
    elif "text/plain" in texts:
        yield fenced(texts["text/plain"], "text")


def fenced(text: str, language: str) -> str:
    """A block of code, whose fence is longer than any in the text."""
    longest = max((len(found) for found in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def raw(html: str) -> str:
    return fenced(html, "{raw} html")


def main(words: Sequence[str]) -> None:
    folder = Path(words[0]) if words else KEPT
    os.environ.setdefault("PYTHONPATH", str(ROOT))
    for path in notebooks():
        if current(path, folder) is not None:
            print(f"{path.name}: kept", flush=True)
            continue
        start = time.monotonic()
        run(path, folder / path.name)
        print(f"{path.name}: {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
