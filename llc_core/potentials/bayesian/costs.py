"""Bayesian networks as a class of problems for sweeps, and what their steps cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llc_core.fields import choice, short
from llc_core.potentials.base import Workload
from llc_core.potentials.bayesian.activations import ACTIVATIONS
from llc_core.potentials.bayesian.likelihoods import LIKELIHOODS
from llc_core.potentials.bayesian.network import BayesianNetwork, checked_widths

PREFIX = "bayesian-"
EXAMPLE = "bayesian-1-20-20-1"


class BayesianNetworks:
    """Bayesian networks of one architecture on the paper's curve; a `ProblemClass`. Its seeds are those of the noise in the data.

    name: "bayesian-" and the widths, then what differs from the defaults of `BayesianNetwork`: an activation, a likelihood, and n of the
    data, such as "bayesian-1-20-20-1", or "bayesian-1-50-1-erf-laplace-n12".
    Raises ValueError, one sentence, for a name that cannot be.
    """

    of_one_shape = False

    def __init__(self, name: str, ranks: str):
        if ranks != "equal":
            raise ValueError(f"ranks is {short(ranks)}, but {short(name)} has none; leave ranks out.")
        widths: list[int] = []
        self._values: dict[str, Any] = {"activation": "selu", "likelihood": "gaussian"}
        self._points = 7
        for part in name.removeprefix(PREFIX).split("-"):
            if part.isascii() and part.isdigit() and len(part) < 6:
                widths.append(int(part))
            elif part in ACTIVATIONS:
                self._values["activation"] = part
            elif part in LIKELIHOODS:
                self._values["likelihood"] = part
            elif part[:1] == "n" and part[1:].isascii() and part[1:].isdigit() and len(part) < 6:
                self._points = int(part[1:])
            else:
                raise ValueError(
                    f"size_class is {short(name)}, in which {short(part)} means nothing; write it as {EXAMPLE!r}."
                )
        self.widths = checked_widths(widths)
        if self.widths[0] != 1:
            raise ValueError(f"size_class is {short(name)}; its networks have 1 input: write it as {EXAMPLE!r}.")
        self._built = BayesianNetwork.described(self._described(0))
        named = [part for part in self._values.values() if part not in ("selu", "gaussian")]
        points = [f"n{self._points}"] if self._points != 7 else []
        self.name = PREFIX + "-".join([*map(str, self.widths), *named, *points])

    def description(self, seeds: Sequence[int]) -> dict[str, Any]:
        (seed,) = seeds
        return {"kind": BayesianNetwork.kind, **self._described(seed)}

    def layers(self, seed: int) -> tuple[tuple[int, int], ...]:
        """Of the weights with their biases."""
        return tuple((rows, columns + 1) for columns, rows in zip(self.widths, self.widths[1:], strict=False))

    def step_operations(self, seed: int, work: Workload) -> float:
        """Three products with every weight for each point: one forward, two backward."""
        choice("gradient", work.gradient, ("full",))
        return 6.0 * self._built.dim * self._built.n

    def batch_operations(self, seeds: Sequence[int], work: Workload) -> float:
        return 0.0

    def most_side_by_side(self, work: Workload) -> int:
        return 1

    def _described(self, seed: int) -> dict[str, Any]:
        return {**self._values, "widths": list(self.widths), "data": {"name": "wave", "n": self._points, "seed": seed}}
