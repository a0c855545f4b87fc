"""A file for each table: what is learned, by which networks and methods, over how many seeds, and what differs from the settings."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from llc_core.fields import short, whole
from llc_core.networks.published import PUBLISHED, SIZES, PictureSettings, picture_settings
from llc_core.studies.pictures.methods import METHODS
from llc_core.studies.pictures.task import DATA


@dataclass(frozen=True)
class PictureTable:
    """data: of `picture_task` at the paper's size.  small_data: the same at the small one.  seeds: how many at each size.

    changes: by size, fields of `PictureSettings` that differ from the network's own.
    """

    data: str
    networks: tuple[str, ...]
    methods: tuple[str, ...]
    small_data: str = "digits"
    seeds: int = 1
    changes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def settings(self, network: str, size: str) -> PictureSettings:
        return picture_settings(network, size).replace(**self.changes.get(size, {}))

    def data_of(self, size: str) -> str:
        return self.data if size == "paper" else self.small_data


def read_table(path: Path) -> PictureTable:
    """ValueError with one sentence for what is no table.

    Keys: data, networks, methods; perhaps small_data, seeds, and tables [paper] and [small] of settings.
    """
    try:
        given = tomllib.loads(path.read_text())
        networks, methods = (_names(name, given.pop(name)) for name in ("networks", "methods"))
        data, small_data = str(given.pop("data")), str(given.pop("small_data", "digits"))
    except (OSError, KeyError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{path.name} is no table of pictures ({error}); it has data, networks and methods.") from None
    seeds = whole("seeds", given.pop("seeds", 1), 1, 1000)
    changes = {size: given.pop(size) for size in SIZES if size in given}
    for name, known, values in (
        ("data", DATA, (data, small_data)),
        ("networks", tuple(PUBLISHED), networks),
        ("methods", tuple(METHODS), methods),
        ("keys", (), tuple(given)),
    ):
        wrong = [value for value in values if value not in known]
        if wrong:
            raise ValueError(f"{path.name} has {wrong[0]!r} among its {name}; choose of {', '.join(known) or 'none'}.")
    table = PictureTable(data, networks, methods, small_data, seeds, changes)
    for size, own in changes.items():
        if not isinstance(own, Mapping):
            raise ValueError(f"{path.name} has {short(own)} as [{size}]; give a table of settings.")
        for network in networks:
            table.settings(network, size)
    return table


def _names(name: str, given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or not given or not all(isinstance(each, str) for each in given):
        raise ValueError(f"{name} is {short(given)}; give a list of names.")
    return tuple(given)
