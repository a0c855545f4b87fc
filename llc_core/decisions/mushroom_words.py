"""What the letters of the Mushroom data stand for, as its description lists them (Schlimmer 1987, UCI)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
