"""The page without a server: one HTML file with its scripts, its styles and its runs inside.

    python -m lab.page.build [FILE]        writes lab/page/llc.html, or FILE

The valley and the drawing of weights are the app's own components, as they are, with all that their scripts are made of. So this
needs the extra app.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.components.drawings.valley import Valley
from app.components.drawings.weights import Weights

HERE = Path(__file__).parent
COMPONENTS = HERE.parents[1] / "app" / "components"
TARGET = HERE / "llc.html"


def read(folder: Path, *names: str) -> str:
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def component(of: type[Any]) -> str:
    """A component's script as an expression: the function that it exports."""
    script = str(of._esm)
    if script.count("export ") != 1 or "export function render(" not in script:
        raise ValueError(f"{of.__name__} must export one function, render, and nothing else.")
    return "(() => {\n" + script.replace("export function render(", "function render(") + "\nreturn render\n})()"


def text(words: str) -> str:
    """A string of JavaScript."""
    return "`" + words.replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${") + "`"


def script() -> str:
    base = read(COMPONENTS, "base.css")
    parts = [
        "const valley = " + component(Valley),
        "const weights = " + component(Weights),
        "const VALLEY_STYLE = " + text(base + read(COMPONENTS, "drawings/valley.css")),
        "const WEIGHTS_STYLE = " + text(base + read(COMPONENTS, "drawings/weights.css")),
        "const RUNS = " + read(HERE, "runs.json").strip(),
        read(HERE, "svg.js", "exact.js", "line.js", "guess.js", "hole.js", "replay.js", "page.js"),
    ]
    return "'use strict'\n{\n" + "\n".join(parts) + "\n}"


def build() -> str:
    """The whole file. ValueError where a part would end the script or the style that it stands in."""
    page, style, code = read(HERE, "page.html"), read(HERE, "page.css"), script()
    if "</script" in code or "<!--" in code or "</style" in style:
        raise ValueError("A script or a style holds a tag that would end it; write the tag in two pieces.")
    for mark, content in (("STYLE", style), ("SCRIPT", code)):
        before, after = page.split(f">{mark}<")
        page = f"{before}>\n{content}\n<{after}"
    return page


def main(words: Sequence[str]) -> None:
    target = Path(words[0]) if words else TARGET
    target.write_text(build(), encoding="utf-8")
    print(f"{target}: {target.stat().st_size / 1e3:.0f} kB. Open it in a browser; it needs nothing else.")


if __name__ == "__main__":
    main(sys.argv[1:])
