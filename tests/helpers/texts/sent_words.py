"""What a browser is sent of a page, as text, without the scripts of components: these have numbers in them, and no answers."""

from __future__ import annotations

import json
import re
from typing import Any

from bokeh.document import Document


def sent_words(document: Document) -> str:
    """JSON. Where a view was shown in a notebook before, in the same process, its answer is wrapped, and has
    the scripts themselves."""
    sent: Any = document.to_json()
    return without_cards(json.dumps(_without_scripts(getattr(sent, "content", sent)), default=str, ensure_ascii=False))


def without_cards(words: str) -> str:
    """HTML, or JSON with HTML in it, without the meanings of terms that `app.style.glossary` puts into lessons."""
    return re.sub(r"<abbr [^>]*>|</abbr>", "", words)


def _without_scripts(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_scripts(part) for key, part in value.items() if key not in ("esm", "bundle")}
    return [_without_scripts(part) for part in value] if isinstance(value, (list, tuple)) else value
