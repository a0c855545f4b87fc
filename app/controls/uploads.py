"""Files that a visitor opens."""

from __future__ import annotations

from typing import Any


def taken(upload: Any) -> tuple[bytes, str]:
    """Content and name of the file that a `pmui.FileInput` holds, no bytes where it holds none. It lets go of it, so that the same
    file can be opened again."""
    content, name = upload.value or b"", str(upload.filename or "")
    if content:
        upload.value = None
    return content, name
