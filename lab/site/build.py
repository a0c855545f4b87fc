"""The whole site as files that ask no other machine for anything.

    python -m lab.site.build [FOLDER [RESULTS]]     writes build/site, or FOLDER; needs the extra docs

The pages are the Markdown of the project, gathered into build/pages as it lies in the tree, so that its links hold; the
samplers, the reference and the notebooks are written beside it. Sphinx makes HTML of them. A warning or a broken link is an
error. Figures of notebooks are there where `python -m lab.site.gallery` has run before, the package where `make dist` has, and
the papers' where RESULTS, build/papers unless given, is a folder of `llc-lab paper`.
"""

from __future__ import annotations

import io
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from app.style.theme import ICON
from lab.course import handouts
from lab.page import build as single_file
from lab.site import gallery, links, pages, papers, reference, samplers
from llc_core.version import __version__

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build"
TARGET = BUILD / "site"


def settings(static: Path, extra: Path) -> dict[str, Any]:
    """What Sphinx is told.  static: folder of scripts and styles.  extra: what is copied beside the pages as it is."""
    return {
        "project": "LLC Lab",
        "author": "the LLC Lab developers",
        "copyright": "2026, the LLC Lab developers",
        "release": __version__,
        "language": "en",
        "root_doc": "index",
        "source_suffix": {".md": "markdown"},
        "extensions": ["myst_parser", "lab.site.formulas"],
        "myst_enable_extensions": ["dollarmath"],
        "myst_heading_anchors": 6,
        "html_theme": "furo",
        "html_title": f"LLC Lab {__version__}",
        "html_static_path": [str(static)],
        "html_extra_path": [str(extra)],
        "html_favicon": str(static / "icon.svg"),
        "html_css_files": ["site.css"],
        "html_js_files": [("katex.min.js", {"defer": "defer"}), ("site.js", {"defer": "defer"})],
        "html_math_renderer": "katex",
        "html_copy_source": False,
        "html_show_sphinx": False,
        "html_use_index": False,
        # A block of code with "…" or in a language of ours is shown all the same, only with fewer colours.
        "suppress_warnings": ["misc.highlighting_failure"],
    }


def assets(folder: Path, bokeh: bool) -> None:
    """Scripts and styles. KaTeX is the copy that Panel brings, and Bokeh's script that of the library, for the figures."""
    import panel

    folder.mkdir(parents=True)
    for name in ("site.css", "site.js"):
        shutil.copy(HERE / name, folder)
    (folder / "icon.svg").write_text(unquote(ICON.partition(",")[2]), encoding="utf-8")
    (katex,) = (Path(panel.__file__).parent / "dist" / "bundled" / "katex").glob("*/dist/katex.min.js")
    shutil.copy(katex, folder)
    if bokeh:
        from bokeh.util.paths import bokehjs_path

        shutil.copy(bokehjs_path() / "js" / "bokeh.min.js", folder)


def gathered(folder: Path, extra: Path, executed: Path, results: Path, wheel: str) -> bool:
    """Write the Markdown of all pages into an empty folder. Returns whether one of them draws with Bokeh.

    extra: gets what lies beside the pages.  executed, results: as in `build`.  wheel: as in `pages.write`.
    """
    drawn = gallery.write(folder / "lab" / "notebooks", executed)
    reference.write(folder / "docs" / "reference")
    (folder / "docs" / "samplers.md").write_text(samplers.page(), encoding="utf-8")
    written = [(papers.TITLE, papers.PAGE), ("Samplers", "samplers"), ("Reference", "reference/index")]
    pages.write(ROOT, folder, {"To look up": [(title, f"docs/{page}") for title, page in written]}, wheel)
    return papers.write(folder / "docs", results, extra / papers.FILES) or drawn


def rendered(source: Path, target: Path, kept: Path, options: dict[str, Any]) -> list[str]:
    """HTML of the pages in `source`. kept: a folder for what Sphinx has read.  options: `settings`. Returns its warnings."""
    from sphinx.application import Sphinx
    from sphinx.util.console import nocolor
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    nocolor()
    warnings = io.StringIO()
    # What extensions register ends with the build: a second one in the same process would warn of it.
    with patch_docutils(), docutils_namespace():
        sphinx = Sphinx(source, None, target, kept, "html", options, status=None, warning=warnings, freshenv=True)
        sphinx.build(force_all=True)
    return [line for line in warnings.getvalue().splitlines() if line.strip()]


def build(
    target: Path = TARGET,
    work: Path = BUILD,
    executed: Path | None = None,
    results: Path | None = None,
    packages: Path | None = None,
) -> list[str]:
    """Make the site anew.

    target: the folder that it becomes; what was in it is gone.  work: where what is on the way lies.
    executed: notebooks with their outputs; `work`/gallery unless given.
    results: of the papers; `work`/papers unless given.
    packages: folder with the wheel of this version, which the site then offers; none unless given.
    Returns one sentence for each warning of Sphinx, each link without an end, and each file asked of another machine.
    """
    source, static, extra, kept = (work / name for name in ("pages", "static", "extra", "doctrees"))
    for folder in (source, static, extra, kept, target):
        shutil.rmtree(folder, ignore_errors=True)
    extra.mkdir(parents=True)
    wheels = [] if packages is None else sorted(packages.glob(f"llc_lab-{__version__}-*.whl"))
    for wheel in wheels:
        shutil.copy(wheel, extra)
    wheel = wheels[0].name if wheels else ""
    bokeh = gathered(source, extra, executed or work / "gallery", results or work / "papers", wheel)
    assets(static, bokeh)
    single_file.main([str(extra / "llc.html")])
    handouts.main([str(extra / "handouts.html")])
    return [*rendered(source, target, kept, settings(static, extra)), *links.faults(target)]


def main(words: Sequence[str]) -> int:
    target, results = (Path(words[at]) if len(words) > at else None for at in (0, 1))
    target = target or TARGET
    start = time.monotonic()
    faults = build(target, results=results, packages=ROOT / "dist")
    for fault in faults:
        print(fault, file=sys.stderr)
    count = sum(1 for _ in target.rglob("*.html"))
    print(f"{target}: {count} pages in {time.monotonic() - start:.0f} s, {len(faults)} faults. Open index.html.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
