"""What a command gives: files whose paths are checked before the work and not after it, and words in the terminal."""

from __future__ import annotations

import sys
from pathlib import Path

from llc_core.fields import short


def check_out(path: Path) -> None:
    if not path.parent.is_dir():
        raise ValueError(f"--out is {str(path)!r}, but there is no such folder; make it first.")
    try:
        is_folder = path.is_dir()
    except OSError as error:  # a name longer than there can be
        raise ValueError(
            f"--out is {short(str(path))}, which cannot be ({error.strerror}); give another name."
        ) from None
    if is_folder:
        raise ValueError(f"--out is {str(path)!r}, which is a folder; give the name of a file in it.")


def say(text: str, flush: bool = False) -> None:
    """Print; what the output's encoding has no letters for becomes "?": no result is lost for its λ."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding), flush=flush)
