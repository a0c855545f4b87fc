"""`llc-lab estimate`: one estimate, of a random deep linear network or of a configuration file."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from llc_core.cli.outputs import check_out, say
from llc_core.config import DTYPES, GRADIENTS, RunConfig
from llc_core.extras import needs
from llc_core.fields import short, whole
from llc_core.interactions import build as build_interaction
from llc_core.interactions.registry import interactions
from llc_core.potentials.deep_linear.random_networks import RANKS, SIZE_CLASSES
from llc_core.samplers import samplers


def add_estimate(commands: Any) -> None:
    one = commands.add_parser("estimate", help="one estimate of a deep linear network, or of a configuration file")
    one.add_argument("config", nargs="?", type=Path, help="a run configuration (JSON), as the app saves it")
    one.add_argument("--size-class", choices=tuple(SIZE_CLASSES), help="a random network of this class (default 1K)")
    one.add_argument("--widths", type=int, nargs="+", metavar="H", help="its widths instead, from inputs to outputs")
    one.add_argument("--ranks", choices=RANKS, help="how ranks are reduced")
    one.add_argument("--problem", type=int, default=0, metavar="SEED", help="seed of the network (default 0)")
    one.add_argument("--virtual", action="store_true", help="make every row of its data where it is used, keep none")
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
    one.add_argument("--gradient", choices=GRADIENTS)
    one.add_argument("--chains", type=int, default=4)
    one.add_argument("--steps", type=int)
    one.add_argument(
        "--max-steps",
        type=int,
        metavar="N",
        help="go on while the verdict asks for more steps: twice as long each time, and at most N steps",
    )
    one.add_argument("--seed", type=int, default=0, help="of the chains (default 0)")
    one.add_argument("--device", help='"cpu" or "cuda"')
    one.add_argument("--dtype", choices=DTYPES, help="precision of the chains (default: what suits the sampler)")
    one.add_argument("--json", action="store_true", help="print the result as JSON")
    one.add_argument("--out", type=Path, metavar="FILE.nc", help="write traces and numbers as NetCDF")
    one.set_defaults(handle=_estimate)


def _estimate(options: argparse.Namespace) -> int:
    from llc_core.estimating import run, until_settled

    config = _config(options)
    current = run(config)
    if options.out is not None:  # before the run, not after it
        many = len(current.settings) * current.problems
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
    found = current.estimates()
    try:
        if options.out is not None:  # a file first: a terminal may be closed by now
            found[0].to_dataset().to_netcdf(options.out, engine="h5netcdf")
    except OSError as error:
        raise ValueError(f"--out {str(options.out)!r} cannot be written ({error.strerror or error}).") from None
    finally:  # also where the file could not be written
        for index, each in enumerate(found):
            if len(found) > 1:
                names = [] if current.problems == 1 else [f"problem {index // len(current.settings)}"]
                say(", ".join(names + [f"{name} = {value:g}" for name, value in each.setting.items()]))
            say(each.to_json() if options.json else str(each))
    return 0


def _config(options: argparse.Namespace) -> RunConfig:
    whole("--problem", options.problem, 0)
    if options.config is not None:
        for name in ("size_class", "widths", "ranks", "virtual"):
            if getattr(options, name):
                raise ValueError(
                    f"--{name.replace('_', '-')} is of a network made here; with a file, write it into its problem."
                )
        try:
            text = options.config.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{str(options.config)!r} cannot be read ({error}); check the path.") from None
        config = RunConfig.from_json(text)
        asked = {"device": options.device, "dtype": options.dtype, "interaction": _interaction(options.interaction)}
        return config.replace(**{name: value for name, value in asked.items() if value})
    problem: dict[str, Any] = {"kind": "dln", "seed": options.problem}
    if options.widths is not None:
        problem["widths"] = options.widths
    else:
        problem["size_class"] = options.size_class or "1K"
    if options.ranks is not None:
        problem["ranks"] = options.ranks
    if options.virtual:
        problem["virtual"] = True
    sampler = None if options.sampler is None else {"name": options.sampler}
    if options.step_size is not None:
        if sampler is None:
            raise ValueError(
                f"step_size is {options.step_size:g}, but what a step is depends on the sampler; add --sampler."
            )
        sampler["step_size"] = options.step_size
    return RunConfig(
        problem=problem,
        sampler=sampler,
        interaction=_interaction(options.interaction),
        gradient=options.gradient,
        chains=options.chains,
        steps=options.steps,
        seed=options.seed,
        device=options.device,
        dtype=options.dtype,
    )


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
