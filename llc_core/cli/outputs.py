"""Where a command writes to: checked before the work, not after it."""

from __future__ import annotations

from pathlib import Path


def check_out(path: Path) -> None:
    if not path.parent.is_dir():
        raise ValueError(f"--out is {str(path)!r}, but there is no such folder; make it first.")
    if path.is_dir():
        raise ValueError(f"--out is {str(path)!r}, which is a folder; give the name of a file in it.")
