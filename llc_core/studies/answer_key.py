"""An answer key: problems whose local learning coefficient is known exactly, each with its source and one call that builds it.

For tests of an estimator, of this project or of another one. Nothing here was fitted or sampled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import torch
from torch import nn

from llc_core.fields import choice
from llc_core.potentials.base import Potential
from llc_core.potentials.deep_linear.network import DeepLinearNetwork
from llc_core.potentials.module.network import NetworkPotential
from llc_core.potentials.plane.regression import planar_landscape
from llc_core.potentials.polygons import polygon_coefficient, superposition
from llc_core.theory.quadratic import quadratic_network_coefficient
from llc_core.types import LearningCoefficient

WATANABE = "Watanabe 2009: the least of (h + 1)/(2k) over the axes"
AOYAGI = "Aoyagi 2024 at the generic point; the local formula of this project elsewhere"


@dataclass(frozen=True)
class Answer:
    """name: its key.  words: what it is.  parameters: d.  coefficient: λ and m at w0.  source: of the value.

    n_beta, localization: some at which λ̂ is near λ, or None for the problem's own. With m > 1 it comes near as 1/log n only.
    """

    name: str
    words: str
    parameters: int
    coefficient: LearningCoefficient
    source: str
    make: Callable[[], Potential]
    n_beta: float | None = None
    localization: float | None = None

    @property
    def learning_coefficient(self) -> float:
        return float(self.coefficient)

    def problem(self) -> Potential:
        """A new potential at the w0 that the answer is of, for `llc_core.estimate` or for any other program."""
        return self.make()


class Answers(Mapping[str, Answer]):
    """All answers by name. Printed, it is a table."""

    def __init__(self, found: Mapping[str, Answer]):
        self._found = dict(found)

    def __getitem__(self, name: str) -> Answer:
        return self._found[choice("name", name, tuple(self._found))]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def rows(self) -> list[dict[str, Any]]:
        """The table: one dictionary for each answer, as pandas.DataFrame takes them."""
        return [
            {
                "name": each.name,
                "d": each.parameters,
                "λ": each.learning_coefficient,
                "m": each.coefficient.multiplicity,
                "what": each.words,
                "source": each.source,
            }
            for each in self._found.values()
        ]

    def __repr__(self) -> str:
        wide = max(map(len, self._found))
        lines = [f"{'name':<{wide}} {'d':>4} {'λ':>7} {'m':>2}  what"]
        lines += [
            f"{row['name']:<{wide}} {row['d']:>4} {row['λ']:>7.4g} {row['m']:>2}  {row['what']}" for row in self.rows()
        ]
        return "\n".join(lines)


def answers() -> Answers:
    """The answer key, see `Answer`."""
    found = [*_planar(), *_linear(), *_networks()]
    return Answers({each.name: each for each in found})


def _planar() -> Iterator[Answer]:
    cases: dict[str, tuple[str, str, dict[str, Any]]] = {
        "bowl": ("a minimum curved in both directions", "quadratic", {"scales": [1.0, 1.0]}),
        "line": ("a valley with a flat floor: w1", "normal_crossing", {"k": [1, 0]}),
        "crossing": ("two valleys that cross: w1·w2", "normal_crossing", {"k": [1, 1]}),
        "flatter crossing": ("w1·w2²", "normal_crossing", {"k": [1, 2]}),
        "flattest crossing": ("w1·w2³", "normal_crossing", {"k": [1, 3]}),
        "equal powers": ("(w1·w2)³", "normal_crossing", {"k": [3, 3]}),
        "beside a crossing": ("w1·w2³ at (0, 1.5)", "normal_crossing", {"k": [1, 3], "at": [0.0, 1.5]}),
        "crossing with a prior": ("w1³·w2 under the prior |w1·w2|³", "normal_crossing", {"k": [3, 1], "h": [3, 3]}),
    }
    for name, (words, model, own) in cases.items():
        # At γ = 1 chains beside the crossing reach the axis of λ = 1/6.
        pull = 30.0 if "at" in own else None
        yield replace(_of(name, words, WATANABE, partial(planar_landscape, model, **own)), localization=pull)


def _linear() -> Iterator[Answer]:
    cases: dict[str, tuple[str, list[int], list[int]]] = {
        "one layer": ("8 inputs, 6 outputs: linear regression", [8, 6], [6]),
        "two layers": ("a product of rank 3", [4, 3, 4], [3, 3]),
        "2-2-2, ranks 2 and 0": ("the product is 0, one layer is not: above the least of 3/2", [2, 2, 2], [2, 0]),
        "2-2-2, ranks 0 and 0": ("the product is 0 and so are both layers", [2, 2, 2], [0, 0]),
        "2-2-2, ranks 1 and 1": ("both layers have lost a rank", [2, 2, 2], [1, 1]),
        "8-8-8, ranks 8 and 3": ("above the least of 29", [8, 8, 8], [8, 3]),
        "10-10-10, ranks 2 and 2": ("all layers have lost rank", [10, 10, 10], [2, 2]),
        "four layers": ("all layers of rank 2", [10, 4, 10, 4, 10], [2, 2, 2, 2]),
        "wide": ("more hidden units than can matter", [6, 20, 6], [6, 6]),
        "adapter": ("a LoRA of rank 2 at its start, on a linear layer 6 to 6", [6, 2, 6], [2, 0]),
    }
    for name, (words, widths, ranks) in cases.items():
        yield _of(
            name, words, AOYAGI, partial(DeepLinearNetwork.random, widths=widths, layer_ranks=ranks, n=10**6, seed=0)
        )


def _networks() -> Iterator[Answer]:
    def known(name: str, words: str, source: str, make: Callable[[], Potential], value: LearningCoefficient) -> Answer:
        return Answer(name, words, make().dim, value, source, make)

    yield known(
        "linear regression", "6 inputs, 1 output, no noise", "half of d", _regression, LearningCoefficient(Fraction(3))
    )
    yield known(
        "a unit too many",
        "a·tanh(b·x) where nothing is to be learned, at a = b = 0",
        "Watanabe 2009: near 0 the loss is (a·b)² times a constant",
        _spare_unit,
        LearningCoefficient(Fraction(1, 2), 2),
    )
    for name, words, units, rank in (
        ("quadratic", "Σ(w·x)² of 3 inputs, as many units as its rank of 2", 2, 2),
        ("quadratic, spare units", "the same with three units more, each of which costs a quarter", 5, 2),
        ("quadratic, full rank", "the same of rank 3, where more units cost nothing", 5, 3),
    ):
        value = quadratic_network_coefficient(3, units, rank)
        source = "the form of degree four that is left, see quadratic_network_coefficient"
        yield known(name, words, source, partial(_quadratic, units, rank), value)
    yield from _degenerate()
    polygons = {
        "pentagon": ("superposition: five of six features, the sixth silent", 5, "silent"),
        "pentagon and a mean": ("superposition: five of six features, the sixth a constant", 5, "mean"),
        "hexagon": ("superposition: six of six features", 6, "silent"),
    }
    for name, (words, sides, left_out) in polygons.items():
        make = partial(superposition, sides, left_out=left_out)
        value = polygon_coefficient(sides, left_out=left_out)
        yield Answer(name, words, make().dim, value, "Chen et al. 2023 (arXiv 2310.06301)", make, 5e4)


def _degenerate() -> Iterator[Answer]:
    """ReLU networks beside two ordinary units each. Flat directions are long, so that chains need a large γ to stay near."""
    from llc_core.studies.papers.local_sampling.degeneracies import LOCALIZATION, N_BETA, Degeneracies, cases

    source = "half the rank of the Jacobian: the zeros are a manifold (Hitchcock & Hoogland 2025, appendix A)"
    for case in cases():
        make = partial(Degeneracies().problem, case)
        value = LearningCoefficient(Fraction(case.matters, 2))
        yield Answer(
            f"ReLU, {case.name}",
            "two ReLU units and a degeneracy",
            len(case.parameters),
            value,
            source,
            make,
            N_BETA,
            LOCALIZATION,
        )


def _of(name: str, words: str, source: str, make: Callable[[], Potential]) -> Answer:
    """An answer that its potential knows itself."""
    problem = make()
    assert problem.local_learning_coefficient is not None
    return Answer(name, words, problem.dim, problem.local_learning_coefficient, source, make)


def _grid(count: int, columns: int) -> torch.Tensor:
    """Inputs that are the same everywhere: sines of whole numbers, whose columns have no part in common."""
    return torch.sin(torch.outer(torch.arange(1.0, count + 1), torch.arange(1.0, columns + 1)))


def _regression() -> NetworkPotential:
    layer, inputs = nn.Linear(6, 1, bias=False), _grid(200, 6)
    with torch.no_grad():
        layer.weight.copy_(_grid(1, 6))
        return NetworkPotential(layer, "mse", (inputs, layer(inputs)), n=10**5)


class _Squares(nn.Module):
    """Σ_k (w_k·x)²."""

    def __init__(self, weight: torch.Tensor):
        super().__init__()
        self.weight = nn.Parameter(weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x @ self.weight.T).square().sum(dim=-1, keepdim=True)


def _quadratic(units: int, rank: int) -> NetworkPotential:
    # Sines of 1, 2 and 3 are none in general position: sin² 2 = sin 1 · sin 3 + sin² 1, and λ is less by a half.
    weight, inputs = torch.zeros(units, 3), 2 * _grid(100, 5)[:, [0, 1, 4]]
    weight[:rank] = torch.eye(3)[:rank] + 0.3 * _grid(rank, 3)
    with torch.no_grad():
        net = _Squares(weight)
        return NetworkPotential(net, "mse", (inputs, net(inputs)), n=10**5)


def _spare_unit() -> NetworkPotential:
    unit = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Tanh(), nn.Linear(1, 1, bias=False))
    for weight in unit.parameters():
        nn.init.zeros_(weight)
    inputs = torch.linspace(-2, 2, 101).unsqueeze(1)
    return NetworkPotential(unit, "mse", (inputs, torch.zeros_like(inputs)), n=10**5)
