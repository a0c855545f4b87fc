"""Draws of a network's outputs, jointly over all inputs that are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from llc_core.fields import hyper, short
from llc_core.observables.base import register
from llc_core.observables.draws.kept_rows import KeptRows
from llc_core.observables.look import Look
from llc_core.potentials.base import Potential


def _rows(label: str, value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"{label} is {short(value)}; give a list of rows or of numbers.")
    return [list(row) if isinstance(row, list | tuple) else row for row in value]


@register
@dataclass
class Predictions(KeptRows):
    """f(x) of every chain at `inputs`, rows [P, …] or numbers [P] where d = 1: draws [T, C, P], or [T, C, P, k] of a network with
    k outputs, all inputs of a draw from the same weights."""

    inputs: Sequence[Any] = hyper((), read=_rows)

    def check(self, problem: Potential, second: Potential | None) -> None:
        if not hasattr(problem, "predict"):
            raise ValueError(
                f"{self.name} needs the outputs of a network, which a problem of kind {problem.kind} does not give: "
                "leave it out of observables."
            )
        if not self.inputs:
            raise ValueError(f"{self.name}.inputs is empty; give the inputs at which the network is to be seen.")
        _at_w0(problem, self.inputs)

    def numbers(self, problem: Potential) -> int:
        if not hasattr(problem, "predict") or not self.inputs:
            return 0
        return len(self.inputs) * _at_w0(problem, self.inputs[:1]).numel()

    def measure(self, seen: Look) -> Tensor:
        found: Tensor = seen.problem.predict(seen.delta, self.inputs)  # type: ignore[attr-defined]
        return found


def _at_w0(problem: Potential, inputs: Sequence[Any]) -> Tensor:
    found: Tensor = problem.predict(torch.zeros(1, problem.dim), inputs)  # type: ignore[attr-defined]
    return found
