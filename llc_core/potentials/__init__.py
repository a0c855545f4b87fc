"""Potentials: losses with a point w0. One file each; `build` makes one from its JSON description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llc_core.fields import known_keys, short
from llc_core.potentials.base import Batch, Potential, ProblemClass, Workload
from llc_core.potentials.bayesian.costs import PREFIX, BayesianNetworks
from llc_core.potentials.bayesian.network import BayesianNetwork
from llc_core.potentials.bayesian.prices import bayesian_price
from llc_core.potentials.deep_linear.costs import RandomLinearNetworks, linear_price
from llc_core.potentials.deep_linear.family import DeepLinearFamily
from llc_core.potentials.deep_linear.network import DeepLinearNetwork
from llc_core.potentials.line.build import landscape, line_price
from llc_core.potentials.line.landscape import Landscape
from llc_core.potentials.line.named import LANDSCAPES
from llc_core.potentials.module.network import NetworkPotential
from llc_core.potentials.plane.prices import planar_price
from llc_core.potentials.plane.regression import PLANAR, Planar, planar_from, planar_landscape
from llc_core.potentials.plane.surfaces import SURFACES, Surface, surface
from llc_core.potentials.polygons import Superposition, superposition
from llc_core.potentials.prices import Price

__all__ = [
    "LANDSCAPES",
    "PLANAR",
    "SURFACES",
    "Batch",
    "BayesianNetwork",
    "DeepLinearFamily",
    "DeepLinearNetwork",
    "Landscape",
    "NetworkPotential",
    "Planar",
    "Potential",
    "Price",
    "ProblemClass",
    "Superposition",
    "Surface",
    "Workload",
    "build",
    "landscape",
    "planar_landscape",
    "price",
    "problem_class",
    "superposition",
    "surface",
]

MOST_NETWORKS = 10_000
KINDS = ("bayesian_network", "dln", "dln_family", "landscape", "planar", "superposition", "surface")
_DLN_KEYS = {"size_class", "ranks", "widths", "layer_ranks", "n", "noise_std", "seed", "virtual"}


def build(description: Mapping[str, Any]) -> Potential:
    """The potential that a JSON description stands for; ValueError says what is wrong with it."""
    kind, values = _kind(description)
    if kind == "landscape":
        return landscape(values)
    if kind == "planar":
        return planar_from(values)
    if kind == "surface":
        return surface(values)
    if kind == "superposition":
        return superposition(values)
    if kind == "bayesian_network":
        return BayesianNetwork.described(values)
    if kind == "dln_family":
        return DeepLinearFamily([DeepLinearNetwork.random(**member) for member in _members(values)])
    return DeepLinearNetwork.random(**_known(values))


def price(
    description: Mapping[str, Any],
    *,
    gradient: str | None = None,
    batch_size: int | None = None,
    dtype: str | None = None,
) -> Price:
    """What the described potential takes in memory, with nothing of it made; ValueError as `build`.

    It counts what is made once, for a run on a CPU: w0, ranks, data, products, and one chain's evaluation. The states of
    the chains come on top, see `llc_core.engine.machine`.
    gradient, batch_size, dtype: as in RunConfig; where they are None, the cheapest: full gradients in single precision.
    """
    kind, values = _kind(description)
    if kind == "landscape":
        return line_price(values)
    if kind == "planar":
        return planar_price(values)
    if kind == "superposition":
        return Price(superposition(values).dim, 4096, 4096)  # at most 60 parameters
    if kind == "surface":
        surface(values)
        return Price(2, 4096, 4096)  # a few numbers: at most 63 components of four
    if kind == "bayesian_network":
        return bayesian_price(values)
    run: dict[str, Any] = {"gradient": gradient or "full", "batch_size": batch_size, "dtype": dtype or "float32"}
    members = _members(values) if kind == "dln_family" else [_known(values)]
    prices = [linear_price(**member, **run) for member in members]
    # Those of a family are evaluated together.
    sums = (sum(getattr(each, name) for each in prices) for name in ("parameters", "held", "peak"))
    return Price(*sums)


def problem_class(name: str, ranks: str = "equal", virtual: bool = False) -> ProblemClass:
    """The random problems that a sweep calls by this name, such as "1K", "10-8-10" or "bayesian-1-20-20-1"; ValueError where there are
    none.

    ranks, virtual: as in `DeepLinearNetwork.random`.
    """
    if name.startswith(PREFIX):
        return BayesianNetworks(name, ranks)
    return RandomLinearNetworks(name, ranks, virtual)


def _known(values: dict[str, Any]) -> dict[str, Any]:
    values.pop("kind", None)
    known_keys("the problem", values, _DLN_KEYS)
    return values


def _kind(description: Any) -> tuple[str, dict[str, Any]]:
    """The kind of a described potential, and everything else in its description."""
    if not isinstance(description, Mapping):
        raise ValueError(
            f"problem must be a mapping such as {{'kind': 'dln', 'size_class': '1K'}}, not a {type(description).__name__}."
        )
    values = dict(description)
    kind = values.pop("kind", None)
    if kind == "object":
        raise ValueError(
            "This configuration describes a problem that exists only as an object; pass the object beside it."
        )
    if kind not in KINDS:
        raise ValueError(f"Unknown problem kind {short(kind)}; known: {', '.join(KINDS)}.")
    return kind, values


def _members(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    members = values.get("networks")
    if set(values) != {"networks"} or not isinstance(members, list | tuple) or not 0 < len(members) <= MOST_NETWORKS:
        raise ValueError(
            f"A problem of kind 'dln_family' has the key networks alone, a list of 1 to {MOST_NETWORKS:,}."
        )
    for member in members:
        if not isinstance(member, Mapping) or member.get("kind") != "dln":
            raise ValueError("Every one of networks must be a mapping such as {'kind': 'dln', 'widths': [10, 8, 10]}.")
    return [_known(dict(member)) for member in members]
