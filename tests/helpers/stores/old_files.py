"""Files that earlier versions handed out (`tests/data/README.md`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

OLD = Path(__file__).resolve().parents[2] / "data" / "before_the_moves"


def text(name: str) -> str:
    return (OLD / name).read_text()


def content(name: str) -> Any:
    return json.loads(text(name))
