"""`llc-lab free-energy`: λ, its multiplicity and log Z from a ladder of temperatures."""

from __future__ import annotations

import argparse
from typing import Any

from llc_core.cli.outputs import say
from llc_core.cli.problems import OF_A_NETWORK, add_problem, network, read_config
from llc_core.potentials.plane.surface_shapes import SHAPES


def add_free_energy(commands: Any) -> None:
    one = commands.add_parser("free-energy", help="λ, multiplicity and log Z from a ladder of temperatures")
    add_problem(one)
    one.add_argument("--surface", choices=tuple(SHAPES), help="a surface of two parameters instead of a network")
    one.add_argument("--exponents", type=int, nargs=2, metavar="K", help='of the surfaces "sum" and "product"')
    one.add_argument(
        "--ladder", type=float, nargs="+", metavar="NBETA", help="levels of nβ (one whole number: how many levels)"
    )
    one.add_argument("--chains", type=int, default=32, help="independent ladders (default 32)")
    one.add_argument("--steps", type=int, default=2500, help="of each ladder, 2/5 of them burn-in (default 2500)")
    one.add_argument("--n-beta", type=float, help="nβ of the coldest level (default: the problem's)")
    one.add_argument("--localization", type=float, help="precision γ of a Gaussian prior around w0")
    one.add_argument("--box", type=float, help="half side of a box around w0 as the prior, in place of a Gaussian")
    one.add_argument("--multiplicity", type=int, metavar="M", help="where it is known (default: it is fitted)")
    one.add_argument("--seed", type=int, help="of the ladders (default 0, or that of the file)")
    one.add_argument("--json", action="store_true", help="print the result as JSON")
    one.set_defaults(handle=_free_energy)


def _free_energy(options: argparse.Namespace) -> int:
    from llc_core.engine.machine import check_problem
    from llc_core.potentials import build
    from llc_core.studies.tempering.measuring import free_energy

    config = read_config(options)
    problem, own = (network(options), {}) if config is None else (config.problem, config.to_dict())
    if options.surface is not None:
        problem = _surface(options)
    elif options.exponents is not None:
        raise ValueError("--exponents are those of a surface; add --surface sum or --surface product.")
    check_problem(problem)
    given = options.ladder
    ladder: Any = int(given[0]) if given and len(given) == 1 and given[0].is_integer() else given
    n_beta, localization = options.n_beta, options.localization
    if n_beta is None and not isinstance(ladder, list):  # whose last level is the coldest
        n_beta = own.get("n_beta")
    if localization is None:
        localization = own.get("localization") or None  # 0 in the file of a problem with a box
    found = free_energy(
        build(problem),
        ladder,
        chains=options.chains,
        steps=options.steps,
        n_beta=n_beta,
        localization=localization,
        box=options.box,
        multiplicity=options.multiplicity,
        seed=own.get("seed", 0) if options.seed is None else options.seed,
    )
    say(found.to_json() if options.json else str(found))
    return 0


def _surface(options: argparse.Namespace) -> dict[str, Any]:
    for name in ("config", *OF_A_NETWORK):
        if getattr(options, name):
            raise ValueError(f"--surface is given beside {name.replace('_', '-')}; give one of the two.")
    exponents = {} if options.exponents is None else {"exponents": options.exponents}
    return {"kind": "surface", "name": options.surface, **exponents}
