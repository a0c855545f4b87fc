"""Tables of plain text: columns of words and numbers, with places for the letters that have some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from unicodedata import combining


def wide(text: str) -> int:
    """Places of a line: a hat over a letter has none of its own."""
    return sum(not combining(letter) for letter in text)


def aligned(rows: Sequence[Sequence[str]], right: bool = False, between: str = "  ") -> list[str]:
    """A line for each row, which all have the same number of cells.  right: cells end, and do not begin, below each other."""
    widths = [max(map(wide, column)) for column in zip(*rows, strict=True)]
    spaces = [[" " * (most - wide(cell)) for cell, most in zip(row, widths, strict=True)] for row in rows]
    return [
        between.join(space + cell if right else cell + space for cell, space in zip(row, some, strict=True)).rstrip()
        for row, some in zip(rows, spaces, strict=True)
    ]


def grouped(groups: Mapping[str, Mapping[str, Sequence[str]]]) -> list[str]:
    """Lines of columns under their names, and above them the names of their groups."""
    blocks = []
    for group, columns in groups.items():
        rows = zip(*([name, *cells] for name, cells in columns.items()), strict=True)
        blocks.append([group, *aligned(list(rows), right=True, between=" ")])
    return aligned(list(zip(*blocks, strict=True)))
