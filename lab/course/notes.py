"""The moments and the questions of the course, read and checked."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.course.numbers import numbers

HERE = Path(__file__).parent
ADDRESS = "http://localhost:5006/app"


@dataclass(frozen=True)
class Moment:
    """show: what is done, in steps.  ask: before it is shown.  answer, why: what is known, and the reason.  notebook: to go on with."""

    key: str
    title: str
    minutes: int
    page: str
    preset: str
    show: tuple[str, ...]
    ask: str
    answer: str
    why: str
    source: str
    notebook: str

    def link(self, address: str = ADDRESS, *, hidden: bool = False) -> str:
        """Opens the moment.  hidden: with exact answers left out, for the class."""
        return f"{address}?page={self.page}&preset={self.preset}{'&hide=answers' if hidden else ''}"


@dataclass(frozen=True)
class Question:
    """options: of which `right` is the place of the right one.  moment: key of the one whose page gives the answer."""

    text: str
    options: tuple[str, ...]
    right: int
    moment: str


def moments() -> list[Moment]:
    """In their order, with the numbers that they name. Raises ValueError for a file that is no course."""
    known = numbers()
    return [Moment(**_filled(each, known)) for each in _read("moments.toml", "moment")]


def questions() -> list[Question]:
    found = [Question(**_tuples(each)) for each in _read("quiz.toml", "question")]
    for each in found:
        if not 0 <= each.right < len(each.options):
            raise ValueError(f"right is {each.right} in “{each.text}”; it counts options from 0.")
    return found


def _read(name: str, key: str) -> list[dict[str, Any]]:
    found = tomllib.loads((HERE / name).read_text(encoding="utf-8"))[key]
    assert isinstance(found, list)
    return found


def _tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}


def _filled(values: Mapping[str, Any], known: Mapping[str, str]) -> dict[str, Any]:
    return {**_tuples(values), "answer": values["answer"].format_map(known)}
