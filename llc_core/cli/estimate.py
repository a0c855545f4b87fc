"""`llc-lab estimate`: one estimate, of a random deep linear network or of a configuration file."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from llc_core.cli.outputs import check_out, say
from llc_core.cli.problems import add_fields, add_problem, fields_of, network, read_config
from llc_core.config import RunConfig
from llc_core.extras import needs
from llc_core.fields import short
from llc_core.interactions import build as build_interaction
from llc_core.interactions.registry import interactions
from llc_core.samplers import samplers

FIELDS = ("gradient", "chains", "steps", "polish", "seed", "device", "dtype")
"""Of RunConfig, as flags."""


def add_estimate(commands: Any) -> None:
    one = commands.add_parser("estimate", help="one estimate of a deep linear network, or of a configuration file")
    add_problem(one)
    one.add_argument(
        "--sampler", choices=tuple(samplers(conditionals=True, priors=True)), help="default: what suits the problem"
    )
    one.add_argument(
        "--interaction",
        metavar="NAME",
        help=f"how chains interact: one of {', '.join(interactions())}, or JSON such as "
        """'{"name": "ReplicaExchange", "hottest": 30}'; needs --sampler""",
    )
    one.add_argument("--step-size", type=float, help="default: a share of the stability limit")
    add_fields(one, RunConfig, *FIELDS)
    one.add_argument(
        "--max-steps",
        type=int,
        metavar="N",
        help="go on while the verdict asks for more steps: twice as long each time, and at most N steps",
    )
    one.add_argument(
        "--temperatures",
        type=float,
        nargs="+",
        metavar="T",
        help="such as 1 .25: λ̂ also from the mean losses at these temperatures, which needs no minimum at w0",
    )
    one.add_argument("--json", action="store_true", help="print the result as JSON")
    one.add_argument("--out", type=Path, metavar="FILE.nc", help="write traces and numbers as NetCDF")
    one.set_defaults(handle=_estimate)


def _estimate(options: argparse.Namespace) -> int:
    from llc_core.engine.machine import check_problem
    from llc_core.estimating import of_target, run, until_settled, with_temperatures

    config = _config(options)
    config = config.replace(grid=with_temperatures(config.grid, options.temperatures))
    check_problem(config.problem, config.device)
    current = run(config)
    if options.out is not None:  # before the run, not after it
        many = sum(each.get("temperature", 1) == 1 for each in current.settings) * current.problems
        if many > 1:
            raise ValueError(
                f"--out holds one estimate, and this configuration has {many}; give one problem and leave its grid out."
            )
        check_out(options.out)
        with needs("--out", extra="netcdf"):
            import h5netcdf  # noqa: F401
            import xarray  # noqa: F401
    shown = sys.stderr.isatty()
    for snapshot in until_settled(current, options.max_steps):
        if shown:
            sys.stderr.write(
                f"\r{snapshot.steps / snapshot.total_steps:4.0%}  {snapshot.steps_per_second:,.0f} steps/s "
            )
    if shown:
        sys.stderr.write("\r")
    found = of_target(current)
    try:
        if options.out is not None:  # a file first: a terminal may be closed by now
            found[0].to_dataset().to_netcdf(options.out, engine="h5netcdf")
    except OSError as error:
        raise ValueError(f"--out {str(options.out)!r} cannot be written ({error.strerror or error}).") from None
    finally:  # also where the file could not be written
        for index, each in enumerate(found):
            if len(found) > 1:
                names = [] if current.problems == 1 else [f"problem {index // (len(found) // current.problems)}"]
                say(", ".join(names + [f"{name} = {value:g}" for name, value in each.setting.items()]))
            say(each.to_json() if options.json else str(each))
    return 0


def _config(options: argparse.Namespace) -> RunConfig:
    config = read_config(options)
    if config is not None:
        interaction = _interaction(options.interaction) or config.interaction
        return config.replace(
            interaction=interaction, sampler=_sampler(options, config.sampler), **fields_of(options, *FIELDS)
        )
    interaction = _interaction(options.interaction)
    return RunConfig(
        problem=network(options),
        sampler=_sampler(options, None),
        interaction=interaction,
        **fields_of(options, *FIELDS),
    )


def _sampler(options: argparse.Namespace, described: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The file's sampler, or that of --sampler; either with the step size that is given."""
    sampler = described if options.sampler is None else {"name": options.sampler}
    if options.step_size is not None:
        if sampler is None:
            raise ValueError(
                f"step_size is {options.step_size:g}, but what a step is depends on the sampler; add --sampler."
            )
        sampler = {**sampler, "step_size": options.step_size}
    return sampler


def _interaction(text: str | None) -> dict[str, Any] | None:
    """The description that a name or JSON stands for."""
    if text is None:
        return None
    if not text.lstrip().startswith("{"):
        return build_interaction(text).to_dict()
    try:
        return build_interaction(json.loads(text)).to_dict()
    except (json.JSONDecodeError, RecursionError):
        raise ValueError(f"--interaction is {short(text)}, which is no JSON; give a name or a table in JSON.") from None
