"""Scripts and style sheets travel compressed: four megabytes of them are a third of that to a class on one wireless network.

A file is compressed when it is first asked for, in a thread, since doing so would hold up the event loop. Who asks first gets it
as it is.
"""

from __future__ import annotations

import gzip
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tornado.web import StaticFileHandler

KINDS = (".js", ".css", ".svg", ".json")
SMALLEST = 4096
"""Bytes below which compressing saves less than a packet."""


class Shelf:
    """Compressed copies of files, in a folder that goes with the process."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="llc-lab-")
        self.root = str(Path(self._folder.name).resolve())
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="compressing")
        self._copies: dict[str, str] = {}
        """The copy of each file; empty while there is none, or where it would save nothing."""

    def copy_of(self, path: str) -> str:
        """Where a copy lies; empty if there is none yet, and then one is made."""
        found = self._copies.get(path)
        if found is None and path.endswith(KINDS):
            self._copies[path] = ""
            self._thread.submit(self._make, path, len(self._copies))
        return found or ""

    def wait(self) -> None:
        """Until all copies that were asked for are made."""
        self._thread.submit(int).result()

    def _make(self, path: str, number: int) -> None:
        # A folder for each: the name says what kind of file it is, and two may have the same.
        copy = Path(self.root, str(number), Path(path).name)
        size = Path(path).stat().st_size
        if size < SMALLEST:
            return
        copy.parent.mkdir()
        with open(path, "rb") as plain, gzip.open(copy, "wb", compresslevel=6) as packed:
            shutil.copyfileobj(plain, packed)
        if copy.stat().st_size < 0.8 * size:
            self._copies[path] = str(copy)


def serve_compressed() -> Shelf:
    """From now on, in all handlers of static files of this process. Returns the copies."""
    shelf, find = Shelf(), StaticFileHandler.validate_absolute_path

    def validate_absolute_path(self: StaticFileHandler, root: str, absolute_path: str) -> str | None:
        path = find(self, root, absolute_path)
        if path is None or "gzip" not in self.request.headers.get("Accept-Encoding", ""):
            return path
        if not (copy := shelf.copy_of(path)):
            return path
        self.set_header("Content-Encoding", "gzip")
        self.set_header("Vary", "Accept-Encoding")
        return find(self, shelf.root, copy)  # the handler learns its size here

    replaced: Any = validate_absolute_path
    StaticFileHandler.validate_absolute_path = replaced  # type: ignore[method-assign]
    return shelf
