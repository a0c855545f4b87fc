"""What all components share: their scripts and style sheets are files beside them.

A component names its files with `text_beside`, which reads them when the module is imported: a file that is missing is seen
at once, and the text travels with the page, in a browser as in a notebook. Panel itself would take a missing file's name for
the script.
"""

from __future__ import annotations

from pathlib import Path


def text_beside(module_file: str, *names: str) -> str:
    """The text of files in a module's folder, one after the other. Browsers get each component as one script.

    module_file: the module's `__file__`.
    """
    return "\n".join((Path(module_file).parent / name).read_text(encoding="utf-8") for name in names)


BASE = text_beside(__file__, "base.css")
"""The style that components share."""
FIND_DEEP = text_beside(__file__, "find_deep.js")
"""A function for scripts that look for an element on the whole page."""
