"""--smoke: a benchmark at its smallest size, in seconds, so that a command that no longer runs is found before it is needed.

Its figures mean nothing, and it writes to no file of the project.
"""

from __future__ import annotations

import argparse
import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
OUTPUTS = ("out", "output", "keep", "kept", "results", "json")
"""Options that name a file to write to."""
GUARDED = (".json", ".jsonl", ".sqlite", ".md", ".csv", ".toml")
"""Endings of the project's files of results and settings."""
_folder: Path | None = None


def parse(parser: argparse.ArgumentParser, names: dict[str, Any], **small: Any) -> argparse.Namespace:
    """What the command line says, as `parser.parse_args()` has it, and --smoke beside.

    names: globals() of the benchmark.  small: what --smoke puts in place of what was asked: options, and names of the module;
    a function makes it of what stood there. Files to write to become others in a temporary folder.
    """
    parser.add_argument("--smoke", action="store_true", help="the smallest size, in seconds; nothing is overwritten")
    options = parser.parse_args()
    if options.smoke:
        _begin()
        for name, value in small.items():
            where = vars(options) if name in vars(options) else names
            usual = where[name]
            where[name] = value(usual) if callable(value) else value
        for name in OUTPUTS:
            if isinstance(path := getattr(options, name, None), Path) and not path.is_relative_to(_temporary()):
                setattr(options, name, elsewhere(path))
    _check_device(getattr(options, "device", None), options.smoke)
    return options


def running() -> bool:
    """Whether this process was started with --smoke."""
    return _folder is not None


def elsewhere(path: Path) -> Path:
    """With --smoke a copy of a file in a temporary folder, so that what is known is read and nothing overwritten; else the file."""
    if not running():
        return path
    if (copy := fresh(path)) != path and path.is_file():
        shutil.copyfile(path, copy)
    return copy


def fresh(path: Path) -> Path:
    """With --smoke a place in a temporary folder where nothing is yet; else the path itself."""
    return _temporary() / path.name if running() else path


def passed_on() -> list[str]:
    """For the command of a process that a benchmark starts of itself."""
    return ["--smoke"] if running() else []


def status(missed: bool) -> int:
    """Exit status of a benchmark that judges its own figures: with --smoke there is nothing to judge."""
    return int(missed and not running())


def _begin() -> None:
    global _folder
    _folder = Path(tempfile.mkdtemp(prefix="llc-lab-smoke-"))
    atexit.register(shutil.rmtree, _folder, ignore_errors=True)
    sys.addaudithook(_refuse)


def _temporary() -> Path:
    assert _folder is not None
    return _folder


def _refuse(event: str, found: tuple[Any, ...]) -> None:
    """An audit hook: whoever opens a guarded file of the project to write to it ends in an error."""
    if event != "open" or not isinstance(found[0], str | bytes | os.PathLike):
        return
    path, mode, flags = Path(os.fsdecode(found[0])), found[1] or "", found[2] if isinstance(found[2], int) else 0
    writes = set(mode) & set("wax+") if mode else flags & (os.O_WRONLY | os.O_RDWR)
    if writes and path.suffix in GUARDED and path.absolute().is_relative_to(ROOT):
        raise PermissionError(f"With --smoke nothing of the project is overwritten, and {path} would be.")


def _check_device(device: Any, smoke: bool) -> None:
    if device != "cuda" or not smoke:
        return
    import torch

    if not torch.cuda.is_available():
        raise SystemExit("--device is cuda, and this machine has no CUDA device; use cpu.")
