"""Mushrooms as rows of letters: the UCI file, a copy with a header, or libsvm's sparse form; and made ones with a known rule."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from llc_core.compute.streams import numpy_stream
from llc_core.fields import choice, one_line, short, whole

LETTERS = {
    "cap-shape": "bcfksx",
    "cap-surface": "fgsy",
    "cap-color": "bcegnpruwy",
    "bruises": "ft",
    "odor": "acflmnpsy",
    "gill-attachment": "af",
    "gill-spacing": "cw",
    "gill-size": "bn",
    "gill-color": "beghknopruwy",
    "stalk-shape": "et",
    "stalk-root": "?bcer",
    "stalk-surface-above-ring": "fksy",
    "stalk-surface-below-ring": "fksy",
    "stalk-color-above-ring": "bcegnopwy",
    "stalk-color-below-ring": "bcegnopwy",
    "veil-type": "p",
    "veil-color": "nowy",
    "ring-number": "not",
    "ring-type": "eflnp",
    "spore-print-color": "bhknoruwy",
    "population": "acnsvy",
    "habitat": "dglmpuw",
}
"""The 22 features and the letters that occur in the UCI file, 117 in all."""
PLEASANT = "aln"
"""Almond, anise, none."""
RULES = ("pleasant", "exclusive")
LARGEST = 1 << 26
"""Most bytes of a file."""
AGARICUS = 126
"""Columns of the sparse one-hot form (agaricus.txt): those of the letters that the data's description lists."""


@dataclass(frozen=True)
class MushroomTable:
    """features: [n, d] zeros and ones, single precision.  edible: [n].  columns: names of the d columns, "odor=n".

    made: whether it was made here by a rule, and is no data.
    """

    name: str
    features: np.ndarray
    edible: np.ndarray
    columns: tuple[str, ...]
    made: bool = False

    def __len__(self) -> int:
        return len(self.edible)

    def words(self, row: int) -> dict[str, str]:
        """Feature → letter of one mushroom."""
        return letters_of(self.columns, self.features[row])


def letters_of(columns: Sequence[str], features: np.ndarray) -> dict[str, str]:
    """Feature → letter of one row [d] of zeros and ones, by the names of its columns, "odor=n"."""
    named = [columns[int(k)].partition("=") for k in np.flatnonzero(features)]
    return {name: letter for name, _, letter in named}


def read_mushrooms(path: str | Path) -> MushroomTable:
    """The Mushroom data: the UCI file agaricus-lepiota.data, a CSV of it with a header, or libsvm's agaricus.txt.

    Letters become one column each, in the order of the alphabet, 117 in all as in the released code of Deng et al. 2022.
    Source: Schlimmer 1987, UCI Machine Learning Repository (CC BY 4.0).
    Raises ValueError with one sentence for a file that is absent, cut off or of another format.
    """
    path = Path(path)
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError(
                f"The file {path} has {path.stat().st_size:,} bytes; a file of mushrooms has at most {LARGEST:,}."
            )
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ValueError(f"The file {path} does not exist; name a file of the UCI Mushroom data.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(
            f"The file {path} cannot be read ({type(error).__name__}); name a file of the UCI Mushroom data."
        ) from None
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and ":" in lines[0]:
        return _sparse(path, lines)
    return _letters(path, list(csv.reader(lines)))


def _letters(path: Path, rows: list[list[str]]) -> MushroomTable:
    names = list(LETTERS)
    if rows and len(rows[0]) == 23 and len(rows[0][1]) > 1:  # a header
        first = rows.pop(0)
        if first[0] not in ("edible", "class") or sorted(first[1:]) != sorted(LETTERS):
            raise ValueError(
                f"The file {path} names its columns {short(first[:3])} …; they must be those of the UCI Mushroom data."
            )
        names = first[1:]
    if not rows:
        raise ValueError(f"The file {path} holds no mushroom; name a file of the UCI Mushroom data.")
    for at, row in enumerate(rows):
        if len(row) != 23 or row[0] not in ("e", "p"):
            raise ValueError(
                f"The file {path} has {short(','.join(row))} as mushroom {at + 1}; it must be e or p and 22 letters: "
                "take the file from its source again."
            )
        for name, letter in zip(names, row[1:], strict=True):
            if letter not in LETTERS[name] or len(letter) != 1:
                raise ValueError(
                    f"The file {path} has {name} {short(letter)} in mushroom {at + 1}; it is one of {LETTERS[name]}."
                )
    columns = {name: [row[1 + k] for row in rows] for k, name in enumerate(names)}
    edible = np.array([row[0] == "e" for row in rows])
    return MushroomTable("mushrooms (UCI)", one_hot(columns), edible, column_names())


def _sparse(path: Path, lines: list[str]) -> MushroomTable:
    """1 is poisonous, as in agaricus.txt of libsvm and XGBoost."""
    features = np.zeros((len(lines), AGARICUS), dtype=np.float32)
    poisonous = np.zeros(len(lines), dtype=bool)
    for at, line in enumerate(lines):
        label, *parts = line.split()
        try:
            poisonous[at] = {"0": False, "1": True, "-1": False, "+1": True}[label]
            places = [int(place) for place, value in (part.split(":") for part in parts) if float(value) == 1.0]
        except (KeyError, ValueError):
            raise ValueError(
                f"The file {path} has {one_line(line)!r} in line {at + 1}; libsvm's form is a label and place:1."
            ) from None
        if len(places) != 22 or min(places) < 1 or max(places) > AGARICUS:
            raise ValueError(
                f"The file {path} has {len(places)} features in line {at + 1}; a mushroom has 22 of {AGARICUS}."
            )
        features[at, np.array(places) - 1] = 1
    names = tuple(f"{k + 1}=1" for k in range(AGARICUS))
    return MushroomTable("mushrooms (libsvm)", features, ~poisonous, names)


def column_names() -> tuple[str, ...]:
    return tuple(f"{name}={letter}" for name, letters in LETTERS.items() for letter in sorted(letters))


def one_hot(columns: Mapping[str, Sequence[str]]) -> np.ndarray:
    """[n, 117] from the letters of every feature."""
    parts = [np.array(columns[name])[:, None] == np.array(sorted(letters))[None] for name, letters in LETTERS.items()]
    return np.concatenate(parts, axis=1).astype(np.float32)


def made_mushrooms(count: int = 8124, rule: str = "pleasant", seed: int = 0) -> MushroomTable:
    """Made, no data: the same 22 columns, independent letters, and a rule that is known.

    rule: "pleasant": edible where the odor is a, l or n and the spore print not r (a rule of Schlimmer's kind, which a linear
    model can learn); "exclusive": edible where exactly one of two holds, a pleasant odor and bruises (which it cannot).
    Odors are pleasant, and bruises there, half of the time; other letters are equally likely.
    """
    count, rule = whole("count", count, 1, 1_000_000), choice("rule", rule, RULES)
    random = numpy_stream(whole("seed", seed), "made mushrooms")
    columns = {name: random.choice(list(letters), count) for name, letters in LETTERS.items()}
    others = [letter for letter in LETTERS["odor"] if letter not in PLEASANT]
    pleasant = random.random(count) < 0.5
    columns["odor"] = np.where(pleasant, random.choice(list(PLEASANT), count), random.choice(others, count))
    if rule == "pleasant":
        edible = pleasant & (columns["spore-print-color"] != "r")
    else:
        edible = pleasant ^ (columns["bruises"] == "t")
    table = one_hot({name: list(letters) for name, letters in columns.items()})
    return MushroomTable(f"made mushrooms, rule “{rule}”", table, edible, column_names(), made=True)
