"""The mushroom bandit: eat, or leave it. Long, since its data come in three forms and their letters stand for words.

Mushrooms are rows of letters: the UCI file, a copy with a header, or libsvm's sparse form; and made ones with a known rule. What
the letters stand for is as the data's description lists it (Schlimmer 1987, UCI).
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from llc_core.compute.precision import EXACT, SINGLE
from llc_core.compute.streams import numpy_stream
from llc_core.decisions.environment import Environment, Pulls
from llc_core.fields import choice, one_line, short, whole

_COLORS = {
    "n": "brown", "b": "buff", "c": "cinnamon", "g": "gray", "r": "green", "o": "orange", "p": "pink", "u": "purple",
    "e": "red", "w": "white", "y": "yellow", "k": "black", "h": "chocolate",
}  # fmt: skip
_STALK = {"f": "fibrous", "y": "scaly", "k": "silky", "s": "smooth"}
MEANINGS: Mapping[str, Mapping[str, str]] = {
    "cap-shape": {"b": "bell", "c": "conical", "x": "convex", "f": "flat", "k": "knobbed", "s": "sunken"},
    "cap-surface": {"f": "fibrous", "g": "grooved", "y": "scaly", "s": "smooth"},
    "cap-color": _COLORS,
    "bruises": {"t": "bruises", "f": "no bruises"},
    "odor": {
        "a": "almond", "l": "anise", "c": "creosote", "y": "fishy", "f": "foul", "m": "musty", "n": "none",
        "p": "pungent", "s": "spicy",
    },
    "gill-attachment": {"a": "attached", "f": "free"},
    "gill-spacing": {"c": "close", "w": "crowded"},
    "gill-size": {"b": "broad", "n": "narrow"},
    "gill-color": _COLORS,
    "stalk-shape": {"e": "widening", "t": "tapering"},
    "stalk-root": {"b": "bulbous root", "c": "club root", "e": "equal root", "r": "rooted", "?": "root unknown"},
    "stalk-surface-above-ring": _STALK,
    "stalk-surface-below-ring": _STALK,
    "stalk-color-above-ring": _COLORS,
    "stalk-color-below-ring": _COLORS,
    "veil-type": {"p": "partial"},
    "veil-color": _COLORS,
    "ring-number": {"n": "no ring", "o": "one ring", "t": "two rings"},
    "ring-type": {"e": "evanescent", "f": "flaring", "l": "large", "n": "none", "p": "pendant"},
    "spore-print-color": _COLORS,
    "population": {
        "a": "abundant", "c": "clustered", "n": "numerous", "s": "scattered", "v": "several", "y": "solitary",
    },
    "habitat": {
        "g": "grasses", "l": "leaves", "m": "meadows", "p": "paths", "u": "urban", "w": "waste", "d": "woods",
    },
}  # fmt: skip
"""Feature → letter → word."""
PARTS: Mapping[str, Sequence[str]] = {
    "odor": ("odor",),
    "cap": ("cap-shape", "cap-surface", "cap-color", "bruises"),
    "gills": ("gill-attachment", "gill-spacing", "gill-size", "gill-color"),
    "stalk": (
        "stalk-shape", "stalk-root", "stalk-surface-above-ring", "stalk-color-above-ring", "stalk-surface-below-ring",
        "stalk-color-below-ring",
    ),
    "veil": ("veil-type", "veil-color"),
    "ring": ("ring-number", "ring-type"),
    "spore print": ("spore-print-color",),
    "lives": ("population", "habitat"),
}  # fmt: skip
"""Parts of a mushroom, and the features that describe each."""


def in_words(letters: Mapping[str, str]) -> dict[str, str]:
    """Part → words, such as "cap" → "convex, smooth, yellow, bruises".

    ValueError where the letters are not those of the UCI file: libsvm's form has numbers in their place.
    """
    try:
        return {
            part: ", ".join(MEANINGS[feature][letters[feature]] for feature in features)
            for part, features in PARTS.items()
        }
    except KeyError as missing:
        raise ValueError(
            f"letters has nothing known for {missing}; give those of a mushroom of the UCI file, one for each feature."
        ) from None


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
    """features: [n, d] zeros and ones, single precision; `one_number_each` has other numbers.  edible: [n].
    columns: names of the d columns, "odor=n".

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


def one_number_each(table: MushroomTable) -> MushroomTable:
    """The same mushrooms with one column a feature, 22 in all: the place of its letter in the alphabet of the feature, standardised.

    Deng et al. 2022 print 22 features and not how they are coded; this coding is ours. A feature with one letter only is 0.
    ValueError for libsvm's form, whose columns name no features.
    """
    if table.columns != column_names():
        raise ValueError(f"The table {table.name!r} has no letters; give one of the UCI file, or a made one.")
    ends = np.cumsum([len(letters) for letters in LETTERS.values()])
    parts = np.split(table.features, ends[:-1], axis=1)
    places = np.stack([part.argmax(axis=1) for part in parts], axis=1).astype(float)
    spread = places.std(axis=0)
    features = (places - places.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return replace(table, features=features.astype(np.float32), columns=tuple(LETTERS))


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


LEAVE, EAT = 0, 1
GOOD, BAD = 5.0, -35.0


class Mushrooms(Environment):
    """One mushroom at a time, drawn with replacement. Leaving it gives 0; eating gives 5 if it is edible, and otherwise −35 or 5
    with equal chance, −15 on average. Action 0 leaves, action 1 eats.

    table: rows, or a file that `read_mushrooms` reads; None: `made_mushrooms()`, labelled made.
    Source: Blundell, Cornebise, Kavukcuoglu & Wierstra 2015, section 5.3; Deng et al. 2022, D.3.
    """

    actions = 2

    def __init__(self, table: MushroomTable | str | Path | None = None):
        if table is None:
            table = made_mushrooms()
        self.table = table if isinstance(table, MushroomTable) else read_mushrooms(table)
        self.name, self.dim = self.table.name, self.table.features.shape[1]
        self._features = torch.from_numpy(self.table.features)
        self._edible = torch.from_numpy(self.table.edible)
        share = float(self.table.edible.mean())
        self.random_regret = share * GOOD / 2 - (1 - share) * (GOOD + BAD) / 4

    def draw(self, random: torch.Generator, count: int) -> Pulls:
        rows = torch.randint(len(self.table), (count,), generator=random, device="cpu")
        lucky = torch.rand(count, generator=random, **SINGLE) < 0.5
        edible = self._edible[rows]
        rewards, means = (torch.zeros(count, 2, **EXACT) for _ in range(2))
        rewards[:, EAT] = torch.where(edible | lucky, GOOD, BAD).double()
        means[:, EAT] = torch.where(edible, GOOD, (GOOD + BAD) / 2).double()
        return Pulls(self._features[rows], rewards, means)
