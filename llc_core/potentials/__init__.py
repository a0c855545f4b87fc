"""Potentials: losses with a point w0. One file each; `build` makes one from its JSON description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llc_core.fields import short
from llc_core.potentials.base import Batch, Potential, ProblemClass, Workload
from llc_core.potentials.deep_linear.costs import RandomLinearNetworks
from llc_core.potentials.deep_linear.family import DeepLinearFamily
from llc_core.potentials.deep_linear.network import DeepLinearNetwork
from llc_core.potentials.line.build import landscape
from llc_core.potentials.line.landscape import Landscape
from llc_core.potentials.line.named import LANDSCAPES
from llc_core.potentials.module.network import NetworkPotential
from llc_core.potentials.plane.regression import PLANAR, Planar, planar_from, planar_landscape

__all__ = [
    "LANDSCAPES",
    "PLANAR",
    "Batch",
    "DeepLinearFamily",
    "DeepLinearNetwork",
    "Landscape",
    "NetworkPotential",
    "Planar",
    "Potential",
    "ProblemClass",
    "Workload",
    "build",
    "landscape",
    "planar_landscape",
    "problem_class",
]

MOST_NETWORKS = 10_000
_DLN_KEYS = {"size_class", "ranks", "widths", "layer_ranks", "n", "noise_std", "seed", "virtual"}


def build(description: Mapping[str, Any]) -> Potential:
    """The potential that a JSON description stands for; ValueError says what is wrong with it."""
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
    if kind == "landscape":
        return landscape(values)
    if kind == "planar":
        return planar_from(values)
    if kind == "dln_family":
        return _family(values)
    if kind != "dln":
        raise ValueError(f"Unknown problem kind {short(kind)}; known: dln, dln_family, landscape, planar.")
    return DeepLinearNetwork.random(**_known(values))


def problem_class(name: str, ranks: str = "equal", virtual: bool = False) -> ProblemClass:
    """The random problems that a sweep calls by this name, such as "1K" or "10-8-10"; ValueError where there are none.

    ranks, virtual: as in `DeepLinearNetwork.random`.
    """
    return RandomLinearNetworks(name, ranks, virtual)


def _known(values: dict[str, Any]) -> dict[str, Any]:
    values.pop("kind", None)
    unknown = sorted(set(map(str, values)) - _DLN_KEYS)
    if unknown:
        raise ValueError(f"Unknown key {short(unknown[0])} in the problem; known keys: {', '.join(sorted(_DLN_KEYS))}.")
    return values


def _family(values: Mapping[str, Any]) -> DeepLinearFamily:
    members = values.get("networks")
    if set(values) != {"networks"} or not isinstance(members, list | tuple) or not 0 < len(members) <= MOST_NETWORKS:
        raise ValueError(
            f"A problem of kind 'dln_family' has the key networks alone, a list of 1 to {MOST_NETWORKS:,}."
        )
    for member in members:
        if not isinstance(member, Mapping) or member.get("kind") != "dln":
            raise ValueError("Every one of networks must be a mapping such as {'kind': 'dln', 'widths': [10, 8, 10]}.")
    return DeepLinearFamily([DeepLinearNetwork.random(**_known(dict(member))) for member in members])
