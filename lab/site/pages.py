"""The Markdown of the project as pages of the site: as it lies in the tree, with its pictures, and a front page around README."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lab.site import citations

LINK = re.compile(r"(\]\()([^)\s]+)(\))")
FENCE = re.compile(r"^(```.*?^```[ ]*$)", re.S | re.M)
ENTRY = re.compile(r"^- \[([^\]]+)\]\(([^)#\s]+)\)", re.M)
SINGLE_FILE = """
## Try it here

```{raw} html
<p><a href="llc.html">One file, which needs no server</a>, shows in three minutes what λ counts.
To measure a model of your own, <a href="docs/install.html">install the package</a>.</p>
<div class="single-file"><iframe src="llc.html" title="What λ counts, in six steps" loading="lazy"></iframe></div>
<p><a href="docs/papers-small.html">Five papers at a small size</a>: their figures as they come out here, and which claims hold.</p>
```

"""
HANDOUTS = """
## Hand-outs

```{raw} html
<p><a href="../../handouts.html">The hand-outs as one page</a>, which a browser prints.</p>
```
"""
PACKAGE = """
## From this site

```{{raw}} html
<p>The package is one file: <a href="../{wheel}">{wheel}</a>. Put it into an empty folder, and there:</p>
```

```bash
python3 -m venv llc
. llc/bin/activate
pip install torch --index-url https://download.pytorch.org/whl/cpu    # without a GPU this spares gigabytes
pip install "{wheel}[networks]"     # [app] brings the app too
```

Then go on with [my own model](how-to/my-own-model.md).

"""

Entries = Sequence[tuple[str, str]]


def documents(root: Path) -> list[Path]:
    """The pages that people wrote, README last."""
    found = [*sorted((root / "docs").rglob("*.md")), *sorted((root / "lab/benchmarks").rglob("*.md"))]
    found += [root / "lab/data/README.md", root / "CONTRIBUTING.md", root / "CHANGELOG.md", root / "README.md"]
    return found


def write(root: Path, folder: Path, more: Mapping[str, Entries], wheel: str = "") -> None:
    """Write all pages below `folder`.

    more: section of docs/README.md → further entries (title, page) of the site's menu.
    wheel: name of the package's file that lies beside the front page; empty: none does.
    """
    for path in documents(root):
        text = rewritten(path, path.read_text(encoding="utf-8"), root, folder)
        name = path.relative_to(root).as_posix()
        if name == "README.md":
            name, text = "index.md", front_page(text, (root / "docs/README.md").read_text(encoding="utf-8"), more)
        elif name == "lab/benchmarks/RESULTS.md":
            text += menu("", [("", f"results/{each.stem}") for each in sorted(path.parent.glob("results/*.md"))])
        elif name == "docs/notebooks.md":
            text += menu("", [("", f"../lab/notebooks/{each.stem}") for each in notebooks(root)])
        elif name == "docs/course/README.md":
            others = [each for each in sorted(path.parent.glob("*.md")) if each != path]
            text += HANDOUTS + menu("", [("", each.stem) for each in others])
        elif name == "docs/install.md" and wheel:
            before, mark, after = text.partition("\n## ")
            text = before + PACKAGE.format(wheel=wheel) + mark.lstrip("\n") + after
        elif name == "docs/paper/paper.md":
            text = citations.page(text, path.with_suffix(".bib").read_text(encoding="utf-8"))
        elif name == "lab/data/README.md":
            text = f"---\norphan: true\n---\n\n# Data\n\n{text}"
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def notebooks(root: Path) -> list[Path]:
    return sorted((root / "lab/notebooks").glob("*.ipynb"))


def rewritten(path: Path, text: str, root: Path, folder: Path) -> str:
    """The text with links to README and to notebooks as links to their pages. Other files that it links to come along."""

    def one(match: re.Match[str]) -> str:
        target, _, heading = match[2].partition("#")
        if not target or "://" in target:
            return match[0]
        file = Path(os.path.normpath(path.parent / target))
        if file == root / "README.md":
            target = os.path.relpath(root / "index.md", path.parent)
        elif file.suffix == ".ipynb":
            target = target.removesuffix(".ipynb") + ".md"
        elif file.suffix != ".md" and file.is_file():
            copy = folder / file.relative_to(root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy)
        return f"{match[1]}{target}{'#' if heading else ''}{heading}{match[3]}"

    return "".join(part if part.startswith("```") else LINK.sub(one, part) for part in FENCE.split(text))


def front_page(readme: str, index: str, more: Mapping[str, Entries]) -> str:
    """README with the single file on it, and with the menu of docs/README.md.

    Raises ValueError where README has no second heading, before which the single file stands.
    """
    before, mark, after = readme.partition("\n## ")
    if not mark:
        raise ValueError("README.md has no heading of the second rank; the site puts the single file before the first.")
    return before + SINGLE_FILE + mark.lstrip("\n") + after + "".join(menus(index, more))


def menus(index: str, more: Mapping[str, Entries]) -> Iterator[str]:
    """One menu for each section of docs/README.md. ValueError where `more` names a section that it has not."""
    sections = re.split(r"^## ", index, flags=re.M)[1:]
    titles = [section.splitlines()[0].strip() for section in sections]
    if unknown := set(more) - set(titles):
        raise ValueError(f"docs/README.md has no section {min(unknown)!r}; it has {', '.join(titles)}.")
    for title, section in zip(titles, sections, strict=True):
        found = [
            (name, os.path.normpath(f"docs/{page}").removesuffix(".md"))
            for name, page in ENTRY.findall(section)
            if page.endswith(".md")
        ]
        yield menu(title, [*found, *more.get(title, ())])
    yield menu("", [("All pages", "docs/README")])


def menu(caption: str, entries: Entries) -> str:
    """A list of pages for the side of the window, and for it alone."""
    lines = [f"{title} <{page}>" if title else page for title, page in entries]
    return "\n".join(
        ["", "", "```{toctree}", ":hidden:", *([f":caption: {caption}"] if caption else []), "", *lines, "```", ""]
    )
