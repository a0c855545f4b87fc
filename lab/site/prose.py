"""Docstrings of the project as Markdown: their words as they are, with parameters as a list."""

from __future__ import annotations

import re
from collections.abc import Iterable

SPECIAL = re.compile(r"([\\*_<>|$\[\]#~^{}])")
PARAMETER = re.compile(r"(?:^|(?<=  ))((?:\w+, )*\w+(?: and \w+)?):[ \n]", re.M)
LABEL = re.compile(r"^(Distribution|Source|Sources|Raises|Returns):? ", re.M)


def plain(text: str) -> str:
    """Words in which Markdown sees nothing but code between backticks."""
    parts = re.split(r"(`[^`\n]+`)", text)
    return "".join(part if part.startswith("`") and len(part) > 2 else SPECIAL.sub(r"\\\1", part) for part in parts)


def cell(text: str) -> str:
    """The same in one line, for a table."""
    return " ".join(plain(text).split())


def markdown(docstring: str, parameters: Iterable[str] = ()) -> str:
    """A docstring as Markdown.

    parameters: names that begin the description of a parameter where a colon follows them.
    """
    known = set(parameters)
    return "\n\n".join(_paragraph(each, known) for each in re.split(r"\n\s*\n", docstring.strip()))


def _paragraph(text: str, known: set[str]) -> str:
    if all(line.startswith("    ") for line in text.splitlines()):
        return f"```text\n{text}\n```"
    marks = [match for match in PARAMETER.finditer(text) if set(re.split(r", | and ", match[1])) & known]
    if not marks:
        return LABEL.sub(r"**\1** ", _lines(text))
    ends = [match.start() for match in marks[1:]] + [len(text)]
    before = _lines(text[: marks[0].start()].strip())
    items = [f"- `{mark[1]}`: {cell(text[mark.end() : end])}" for mark, end in zip(marks, ends, strict=True)]
    return "\n".join([*([before, ""] if before else []), *items])


def _lines(text: str) -> str:
    """Lines without the spaces before them, so that none is taken for code."""
    return "\n".join(plain(line.strip()) for line in text.splitlines())
