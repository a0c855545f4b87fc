"""Declared fields: what a check, a slider, a command line and a file need to know of a setting, kept beside its default. Long,
since all that derives from a declaration is here: checks and their sentences, JSON, and classes that are found by name."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Self, TypeVar


class FieldError(ValueError):
    """A refusal that names a field: one sentence that begins with it.

    label: the field, with places in it counted from 0, such as "k[1]".  rest: of the sentence, which may begin with a colon.
    """

    def __init__(self, label: str, rest: str):
        super().__init__(label, rest)
        self.label, self.rest = label, rest

    @property
    def field(self) -> str:
        return re.split(r"[\[:,]", self.label)[0]

    @property
    def places(self) -> list[int]:
        return list(map(int, re.findall(r"\[(\d+)\]", self.label)))

    def about(self, name: str) -> str:
        """The sentence with another name for the field."""
        return f"{name}{'' if self.rest.startswith(':') else ' '}{self.rest}"

    def __str__(self) -> str:
        return self.about(self.label)


@dataclass(frozen=True)
class Hyper:
    """Description of one field.

    low, high: the range a user may choose from (also the range of the slider); `open_low` and `open_high` exclude the ends.
    log: logarithmic scale.  symbol: LaTeX.  help: one sentence.  auto: None is allowed and means "chosen by the engine".
    choices: for named options instead of numbers.  read: (label, value) → what is kept, for lists, tables and the like.
    kind: "float", "int" or "bool". It and `auto` are those of the annotation where the field belongs to a class.
    """

    low: float = -math.inf
    high: float = math.inf
    log: bool = False
    symbol: str = ""
    help: str = ""
    auto: bool = False
    open_low: bool = False
    open_high: bool = False
    choices: tuple[str, ...] = ()
    read: Callable[[str, Any], Any] | None = None
    kind: str = "float"


def hyper(default: Any, low: float = -math.inf, high: float = math.inf, **about: Any) -> Any:
    """A dataclass field that carries its `Hyper` description. A default that is called, such as `dict`, makes the default."""
    made = {"default_factory": default} if callable(default) else {"default": default}
    return dataclasses.field(**made, metadata={"hyper": Hyper(low, high, **about)})


def hyper_of(owner: Any, name: str, default: Any) -> Any:
    """A field that is declared as that of another class, with a default of its own."""
    return dataclasses.field(default=default, metadata=owner.__dataclass_fields__[name].metadata)


def hyper_fields(owner: Any) -> Mapping[str, Hyper]:
    """name → description, in the order of definition, for a dataclass or an instance of one."""
    return _hyper_fields(owner if isinstance(owner, type) else type(owner))


@functools.cache
def _hyper_fields(owner: type) -> Mapping[str, Hyper]:
    found = {}
    lines = [vars(base).get("__dataclass_fields__", {}) for base in owner.__mro__]
    for f in dataclasses.fields(owner):
        # A derived class may give a field another default without declaring it again.
        own = (line[f.name].metadata for line in lines if f.name in line)
        if about := next((each["hyper"] for each in own if "hyper" in each), None):
            kind = f.type if isinstance(f.type, str) else getattr(f.type, "__name__", str(f.type))
            auto = about.auto or kind.endswith(" | None")
            found[f.name] = dataclasses.replace(about, kind=kind.removesuffix(" | None"), auto=auto)
    return found


class Settings:
    """Base of dataclasses whose fields are declared with `hyper`: checked when one is made, and from and to JSON.

    what: how sentences call one.
    """

    what: ClassVar[str] = "configuration"

    def __post_init__(self) -> None:
        owner = self._owner
        for name, about in hyper_fields(self).items():
            value = getattr(self, name)
            if value is not None or not about.auto:
                self._put(name, check_hyper(owner, name, value, about))
        self.agree()

    def agree(self) -> None:
        """ValueError where fields that are right by themselves do not fit together; here also what follows from others is put.
        Where a base has one, call it too."""

    @property
    def _owner(self) -> str:
        """What stands before the name of a field in sentences."""
        return ""

    def _put(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)  # instances are frozen once they are made

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """From parsed JSON; ValueError, one sentence, for anything else."""
        if not isinstance(data, Mapping):
            raise ValueError(f"A {cls.what} must be a JSON object, not a {type(data).__name__}.")
        known_keys(f"the {cls.what}", data, field_names(cls))
        return cls(**data)

    def to_dict(self) -> dict[str, Any]:
        """Every field, as JSON has it."""
        return {name: plain(getattr(self, name)) for name in field_names(self)}

    @classmethod
    def read_from(cls, label: str, value: Any) -> Self:
        """For `Hyper.read`: settings that are one field of others."""
        return value if isinstance(value, cls) else cls.from_dict(value)

    def key(self) -> str:
        """One text for equal settings."""
        return json.dumps(self.to_dict(), sort_keys=True)

    def changed(self) -> dict[str, Any]:
        """What of `to_dict` differs from the defaults."""
        kind: Any = type(self)
        usual = _usual(kind)
        return {name: value for name, value in self.to_dict().items() if value != usual.get(name)}

    def replace(self, **changes: Any) -> Self:
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]


@functools.cache
def _usual(kind: Any) -> dict[str, Any]:
    found: dict[str, Any] = kind().to_dict()
    return found


class Named(Settings):
    """Settings of one of several classes of a family, told apart by their names: {"name": "SGLD", fields…}."""

    @property
    def name(self) -> str:
        return type(self).__name__

    @property
    def _owner(self) -> str:
        return self.name

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, **super().to_dict()}


N = TypeVar("N", bound=Named)


class Family(dict[str, type[N]], Generic[N]):
    """The classes of a family by their names.

    base: what all derive from.  kind: how sentences call one, with `example` of it.
    """

    def __init__(self, base: type[N], kind: str, example: str):
        super().__init__()
        self.base, self.kind, self.example = base, kind, example

    def register(self, cls: type[N]) -> type[N]:
        """Make the class known by its name. TypeError where it is not a dataclass of its own."""
        if "__dataclass_fields__" not in vars(cls):
            raise TypeError(
                f"{cls.__name__} must be a dataclass: write @dataclass below @register, so that it has fields."
            )
        self[cls.__name__] = cls
        return cls

    def build(self, description: N | Mapping[str, Any] | str) -> N:
        """One from itself, its class, its name, or {"name": …, fields…}; ValueError names what is wrong."""
        if isinstance(description, self.base):
            return description
        if isinstance(description, type) and issubclass(description, self.base):
            return description()
        given = {"name": description} if isinstance(description, str) else description
        if not isinstance(given, Mapping):
            raise ValueError(
                f"{self.kind} is {short(given)}; give one such as {self.example}, its name, or a table with a name."
            )
        if "name" not in given:
            raise ValueError(f"{self.kind} {short(dict(given))} has no name; add one of {', '.join(self)}.")
        name = given["name"]
        if not isinstance(name, str) or name not in self:
            raise ValueError(f"Unknown {self.kind} {short(name)}; choose one of {', '.join(self)}.")
        values = {key: value for key, value in given.items() if key != "name"}
        known_keys(name, values, field_names(self[name]))
        return self[name](**values)


def field_names(owner: Any) -> tuple[str, ...]:
    """Of a dataclass or an instance of one."""
    return tuple(f.name for f in dataclasses.fields(owner))


def default_of(owner: Any, name: str) -> Any:
    """What a field of a dataclass is where nothing is said."""
    field = owner.__dataclass_fields__[name]
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


def known_keys(where: str, given: Iterable[Any], known: Iterable[str]) -> None:
    """ValueError that names a key which is none of the known ones."""
    known = sorted(known)
    unknown = sorted(str(key) for key in given if key not in known)
    if unknown:
        raise ValueError(f"Unknown key {short(unknown[0])} in {where}; known keys: {', '.join(known)}.")


def plain(value: Any) -> Any:
    """As JSON has it: tables and lists are new ones all the way down."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Settings):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


def of_environment(variable: str, choices: Sequence[str]) -> str:
    """The choice that an environment variable makes; if it is not set, the first of `choices`. ValueError for another text."""
    wish = os.environ.get(variable, "") or choices[0]
    if wish not in choices:
        raise ValueError(f"{variable} is {wish!r}; it must be one of {', '.join(choices)}.")
    return wish


def number(
    name: str,
    value: Any,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    above: float = -math.inf,
    below: float = math.inf,
) -> float:
    """`value` as a finite float within [low, high] and (above, below), or a ValueError that names the field."""
    if isinstance(value, (bool, str | bytes)) or value is None:
        raise FieldError(name, f"must be a number, not {short(value)}.")
    try:
        result = float(value)
    except (TypeError, ValueError, ArithmeticError, RuntimeError):  # Decimals and tensors raise the latter two
        raise FieldError(name, f"must be a number, not {short(value)}.") from None
    if not math.isfinite(result):
        raise FieldError(name, f"must be a finite number, not {short(value)}.")
    if not (low <= result <= high and above < result < below):
        ends = {"at least": low, "greater than": above, "at most": high, "less than": below}
        words = " and ".join(f"{word} {end:g}" for word, end in ends.items() if math.isfinite(end))
        given = f"{value:.12g}" if isinstance(value, float) else short(value)  # -1, though it came as -1.0
        raise FieldError(name, f"is {given}; it must be {words}.")
    return result


def whole(name: str, value: Any, low: float = -math.inf, high: float = math.inf) -> int:
    """`value` as an int within [low, high], or a ValueError that names the field, the value and the remedy."""
    result = number(name, value)
    if result != int(result):
        raise FieldError(name, f"must be a whole number, not {short(value)}.")
    result_int = int(value)
    if result_int < low:
        raise FieldError(name, f"is {short(value)}; it must be at least {low:.12g}.")
    if result_int > high:
        raise FieldError(name, f"is {short(value)}; it must be at most {high:.12g}.")
    return result_int


def truth(name: str, value: Any) -> bool:
    """`value` if it is true or false, or a ValueError that names the field."""
    if not isinstance(value, bool):
        raise FieldError(name, f"is {short(value)}; it must be true or false.")
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


def numbers(wanted: str) -> Callable[[str, Any], tuple[float, ...]]:
    """What reads a list of finite numbers.  wanted: what the sentence asks for where there is none."""

    def read(label: str, value: Any) -> tuple[float, ...]:
        if not is_list(value):
            raise FieldError(label, f"is {short(value)}; give {wanted}.")
        return tuple(number(label, each) for each in value)

    return read


def choice(name: str, value: Any, options: tuple[str, ...]) -> str:
    """`value` if it is one of `options`, or a ValueError that lists them."""
    if not isinstance(value, str) or value not in options:
        raise FieldError(name, f"is {short(value)}; choose one of {', '.join(options)}.")
    return value


def check_hyper(owner: str, name: str, value: Any, about: Hyper) -> Any:
    """The validated value of one field (a number, a choice, or None where that means automatic, …)."""
    if value is None and about.auto:
        return None
    label = f"{owner}.{name}" if owner else name
    if about.read is not None:
        return about.read(label, value)
    if about.choices:
        return choice(label, value, about.choices)
    if about.kind == "bool":
        return truth(label, value)
    if about.kind == "int":
        return whole(label, value, about.low, about.high)
    ends = {"above" if about.open_low else "low": about.low, "below" if about.open_high else "high": about.high}
    return number(label, value, **ends)


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
