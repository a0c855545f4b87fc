"""Hyperparameter fields: what a slider, a command line and a validator need to know, kept beside the default."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Hyper:
    """Description of one hyperparameter.

    low, high: the range a user may choose from (also the range of the slider); `open_low` excludes `low` itself.
    log: logarithmic scale.  symbol: LaTeX.  help: one sentence.  auto: None is allowed and means "chosen by the engine".
    choices: for named options instead of numbers.
    """

    low: float = -math.inf
    high: float = math.inf
    log: bool = False
    symbol: str = ""
    help: str = ""
    auto: bool = False
    open_low: bool = False
    choices: tuple[str, ...] = ()


def hyper(default: Any, low: float = -math.inf, high: float = math.inf, **about: Any) -> Any:
    """A dataclass field that carries its `Hyper` description."""
    return dataclasses.field(default=default, metadata={"hyper": Hyper(low, high, **about)})


def hyper_fields(owner: Any) -> dict[str, Hyper]:
    """name → description, in the order of definition, for a dataclass or an instance of one."""
    return {f.name: f.metadata["hyper"] for f in dataclasses.fields(owner) if "hyper" in f.metadata}


def of_environment(variable: str, choices: Sequence[str]) -> str:
    """The choice that an environment variable makes; if it is not set, the first of `choices`. ValueError for another text."""
    wish = os.environ.get(variable, "") or choices[0]
    if wish not in choices:
        raise ValueError(f"{variable} is {wish!r}; it must be one of {', '.join(choices)}.")
    return wish


def number(name: str, value: Any) -> float:
    """`value` as a finite float, or a ValueError that names the field."""
    if isinstance(value, (bool, str | bytes)) or value is None:
        raise ValueError(f"{name} must be a number, not {short(value)}.")
    try:
        result = float(value)
    except (TypeError, ValueError, ArithmeticError, RuntimeError):  # Decimals and tensors raise the latter two
        raise ValueError(f"{name} must be a number, not {short(value)}.") from None
    if not math.isfinite(result):
        raise ValueError(f"{name} must be a finite number, not {short(value)}.")
    return result


def whole(name: str, value: Any, low: int | None = None, high: int | None = None) -> int:
    """`value` as an int within [low, high], or a ValueError that names the field, the value and the remedy."""
    result = number(name, value)
    if result != int(result):
        raise ValueError(f"{name} must be a whole number, not {short(value)}.")
    result_int = int(value)
    if low is not None and result_int < low:
        raise ValueError(f"{name} is {short(value)}; it must be at least {low}.")
    if high is not None and result_int > high:
        raise ValueError(f"{name} is {short(value)}; it must be at most {high}.")
    return result_int


def truth(name: str, value: Any) -> bool:
    """`value` if it is true or false, or a ValueError that names the field."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} is {short(value)}; it must be true or false.")
    return value


def is_list(value: Any) -> bool:
    """Whether it has entries one after the other: a text has none here, and an array or tensor without a dimension has none."""
    if isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
        return False
    try:
        len(value)
    except TypeError:
        return False
    return True


def choice(name: str, value: Any, options: tuple[str, ...]) -> str:
    """`value` if it is one of `options`, or a ValueError that lists them."""
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{name} is {short(value)}; choose one of {', '.join(options)}.")
    return value


def check_hyper(owner: str, name: str, value: Any, about: Hyper) -> Any:
    """The validated value of one hyperparameter (a float, a choice, or None where that means automatic)."""
    label = f"{owner}.{name}"
    if about.choices:
        return choice(label, value, about.choices)
    if value is None:
        if about.auto:
            return None
        raise ValueError(f"{label} must be a number, not None.")
    result = number(label, value)
    too_low = result <= about.low if about.open_low else result < about.low
    if too_low or result > about.high:
        left = "greater than" if about.open_low else "at least"
        raise ValueError(f"{label} is {short(value)}; it must be {left} {about.low:g} and at most {about.high:g}.")
    return result


def short(value: Any) -> str:
    """`value` as a sentence shows it: in one line of at most 60 characters, whatever it is."""
    try:
        text = repr(value)
    except Exception:  # nested too deeply, or a number of too many digits
        text = f"a {type(value).__name__}"
    return one_line(text)


def one_line(text: str) -> str:
    """A text from elsewhere, such as the name of a file, in one line of at most 60 characters."""
    text = " ".join("".join(c if c.isprintable() or c.isspace() else "?" for c in text[:1000]).split())
    return text if len(text) <= 60 else text[:57] + "..."
