"""A configuration from a file, read as a whole before anything of it is applied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from app.runs.allowance import check_allowance
from llc_core import Potential, RunConfig
from llc_core.engine.resolve import resolve

MAX_CHARACTERS = 100_000
OFFERED = (
    "sampler",
    "gradient",
    "chains",
    "steps",
    "burn_in",
    "continued_from",
    "localization",
    "n_beta",
    "batch_size",
    "seed",
    "dtype",
)
"""Fields of RunConfig that the page "Local geometry" has a control for, the problem aside."""
IGNORED = ("problem", "device")


@dataclass(frozen=True)
class PageConfig:
    """problem: description of a deep linear network.  settings: values for the side bar, keys as in OFFERED."""

    problem: Mapping[str, Any]
    settings: Mapping[str, Any]


def refuse_unoffered(config: RunConfig) -> None:
    """ValueError where a field of the configuration has no control on a page."""
    defaults = RunConfig()
    for field in fields(config):
        name, value = field.name, getattr(config, field.name)
        if name not in (*OFFERED, *IGNORED) and value != getattr(defaults, name):
            raise ValueError(f"{name} is {value!r}; this page has no control for it: use llc_core.estimate instead.")


def page_config(config: RunConfig, problem: Potential) -> PageConfig:
    """What a page has to show for `config` of `problem`; ValueError where it cannot be run here."""
    complete = resolve(config.replace(device=None), problem).config
    check_allowance(complete, problem)
    assert complete.sampler is not None and complete.steps is not None
    settings = {name: getattr(complete, name) for name in OFFERED}
    settings["n_beta"] = config.n_beta
    automatic = resolve(config.replace(device=None, dtype=None), problem).config.dtype
    settings["dtype"] = None if config.dtype == automatic else config.dtype
    if isinstance(config.burn_in, int) and config.continued_from is None:
        settings["burn_in"] = config.burn_in / complete.steps
    description = {name: value for name, value in config.problem.items() if value is not None}
    return PageConfig(description, settings)
