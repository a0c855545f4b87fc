"""What a command is about: a random deep linear network, or the problem of a configuration file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from llc_core.config import RunConfig
from llc_core.fields import default_of, hyper_fields, whole
from llc_core.potentials.deep_linear.random_networks import RANKS, SIZE_CLASSES

OF_A_NETWORK = ("size_class", "widths", "ranks", "virtual")


def add_problem(one: argparse.ArgumentParser) -> None:
    one.add_argument("config", nargs="?", type=Path, help="a run configuration (JSON), as the app saves it")
    one.add_argument("--size-class", choices=tuple(SIZE_CLASSES), help="a random network of this class (default 1K)")
    one.add_argument("--widths", type=int, nargs="+", metavar="H", help="its widths instead, from inputs to outputs")
    one.add_argument("--ranks", choices=RANKS, help="how ranks are reduced")
    one.add_argument("--problem", type=int, default=0, metavar="SEED", help="seed of the network (default 0)")
    one.add_argument("--virtual", action="store_true", help="make every row of its data where it is used, keep none")


def add_fields(one: argparse.ArgumentParser, owner: type, *names: str) -> None:
    """A flag for each of these declared fields, in the words of its declaration. What is not given is no attribute of the options."""
    for name in names:
        about, default = hyper_fields(owner)[name], default_of(owner, name)
        how: dict[str, Any] = {"action": "store_true"}
        if about.kind != "bool":
            how = {"type": {"int": int, "float": float}.get(about.kind), "choices": about.choices or None}
        shown = about.help if default is None or default is False else f"{about.help} (default {default})"
        one.add_argument(f"--{name.replace('_', '-')}", help=shown, default=argparse.SUPPRESS, **how)


def fields_of(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """What was given of the flags of `add_fields`."""
    return {name: getattr(options, name) for name in names if hasattr(options, name)}


def read_config(options: argparse.Namespace) -> RunConfig | None:
    """The configuration file's; None where none is given. ValueError where a network is described beside it."""
    whole("--problem", options.problem, 0)
    if options.config is None:
        return None
    for name in OF_A_NETWORK:
        if getattr(options, name):
            raise ValueError(
                f"--{name.replace('_', '-')} is of a network made here; with a file, write it into its problem."
            )
    try:
        text = options.config.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{str(options.config)!r} cannot be read ({error}); check the path.") from None
    return RunConfig.from_json(text)


def network(options: argparse.Namespace) -> dict[str, Any]:
    """The description of the random network that is asked for."""
    problem: dict[str, Any] = {"kind": "dln", "seed": options.problem}
    if options.widths is not None:
        problem["widths"] = options.widths
    else:
        problem["size_class"] = options.size_class or "1K"
    if options.ranks is not None:
        problem["ranks"] = options.ranks
    if options.virtual:
        problem["virtual"] = True
    return problem
