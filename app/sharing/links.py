"""The whole state of a page in one link: `?c=` carries a version, the page, its configuration and what to hide.

`?page=…&preset=…&hide=answers` is the short form for what a page offers itself.
A link is read as a whole before anything of it is applied. The text is base64url of compact JSON: no objects, no code.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from app.sharing.json_files import is_deep

VERSION = 1
PARAMETER = "c"
MAX_LENGTH = 8000
"""Browsers and proxies cut addresses much longer than this."""
HIDEABLE = {
    "controls": "the settings",
    "presets": "the row of presets",
    "texts": "explanations and formulas",
    "answers": "exact answers, to let a class guess",
    "pages": "the other pages",
}
"""What a teacher can leave out of the page that a link opens."""


@dataclass(frozen=True)
class Link:
    """page: name of the page in links.  config: JSON-able, checked by the page.  hide: keys of HIDEABLE."""

    page: str
    config: Mapping[str, Any] = field(default_factory=dict)
    hide: tuple[str, ...] = ()


def encode(link: Link) -> str:
    """The value of `?c=`; ValueError where the configuration is too long for an address."""
    content = {"v": VERSION, "page": link.page, "config": dict(link.config)}
    if link.hide:
        content["hide"] = list(link.hide)
    packed = json.dumps(content, separators=(",", ":"), sort_keys=True, allow_nan=False)
    text = base64.urlsafe_b64encode(packed.encode()).decode().rstrip("=")
    if len(text) > MAX_LENGTH:
        raise ValueError(
            f"This configuration needs a link of {len(text):,} characters, but browsers take {MAX_LENGTH:,}. "
            "Export it as a file instead."
        )
    return text


def decode(text: str) -> Link:
    """What a `?c=` value says; ValueError with one sentence for anything that is not a link of this version."""
    if len(text) > MAX_LENGTH:
        raise ValueError(f"This link has {len(text):,} characters; links of this app have at most {MAX_LENGTH:,}.")
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        content = json.loads(packed.decode(), parse_constant=_no_constant, object_pairs_hook=_unique)
    except (binascii.Error, UnicodeError, ValueError, RecursionError):
        raise ValueError("This link is damaged: it was cut or changed on its way. Ask for it again.") from None
    if not isinstance(content, dict):
        raise ValueError("This link does not hold a configuration.")
    if is_deep(content):
        raise ValueError("This link is nested too deeply for a configuration of this app. Ask for it again.")
    version = content.get("v")
    if version != VERSION or isinstance(version, bool):
        raise ValueError(
            f"This link is of version {_short(version)}; this app reads version {VERSION}. Update the app or the link."
        )
    unknown = sorted(set(content) - {"v", "page", "config", "hide"})
    if unknown:
        raise ValueError(f"This link holds {_short(unknown[0])}, which this app does not know.")
    page, config, hide = content.get("page"), content.get("config"), content.get("hide", [])
    if not isinstance(page, str):
        raise ValueError("This link does not say which page it opens.")
    if not isinstance(config, dict):
        raise ValueError("The configuration in this link must be a mapping of names to values.")
    if not isinstance(hide, list) or not all(isinstance(name, str) and name in HIDEABLE for name in hide):
        raise ValueError(f"“hide” in this link must list some of {', '.join(HIDEABLE)}.")
    return Link(page, config, tuple(dict.fromkeys(hide)))


def from_arguments(arguments: Mapping[str, Sequence[bytes]]) -> Link | None:
    """The link in the arguments of an address, or None where there is none; ValueError as `decode`."""
    values = arguments.get(PARAMETER)
    if not values:
        return None
    if len(values) != 1:
        raise ValueError(f"The address of this page has {len(values)} configurations; open a link with one.")
    return decode(values[0].decode(errors="replace"))


@dataclass(frozen=True)
class Named:
    """An address that people can read and write.  page, preset: empty where it names none.  hide: keys of HIDEABLE."""

    page: str = ""
    preset: str = ""
    hide: tuple[str, ...] = ()


def named(arguments: Mapping[str, Sequence[bytes]]) -> Named:
    """Of `?page=landscapes&preset=crossing&hide=answers,texts`; ValueError where something is to be hidden that this app does not know."""
    page, preset, hide = (arguments.get(name, [b""])[0].decode(errors="replace") for name in ("page", "preset", "hide"))
    parts = tuple(dict.fromkeys(hide.split(","))) if hide else ()
    for part in parts:
        if part not in HIDEABLE:
            raise ValueError(f"hide is {_short(part)} in this address; this app can leave out {', '.join(HIDEABLE)}.")
    return Named(page, preset, parts)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("duplicate key")
    return result


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
