"""What a network gives for one draw of its weights, in whatever form draws come."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call

from llc_core.compute.precision import EXACT
from llc_core.fields import short
from llc_core.potentials.module.network import NetworkPotential
from llc_core.potentials.module.parameters import Piece, choose
from llc_core.potentials.module.passes.any_module import Position

Output = Callable[[Tensor], Tensor]


def as_rows(draws: Any) -> Tensor:
    """[S, D] of an array or tensor [D] or […, D]."""
    try:
        rows = draws.detach() if isinstance(draws, Tensor) else torch.as_tensor(np.asarray(draws), device="cpu")
    except (TypeError, ValueError):
        raise ValueError(f"draws is {short(draws)}; give state dicts, or rows of all parameters.") from None
    if not rows.is_floating_point() or rows.dim() == 0:
        raise ValueError(f"draws holds {rows.dtype} in shape {tuple(rows.shape)}; give rows of real numbers.")
    if rows.numel() == 0:
        raise ValueError("draws is empty; give at least one draw.")
    return rows.reshape(-1, rows.shape[-1])


def observed(found: Mapping[str, Any], weights: Any) -> tuple[Tensor, Any]:
    """Rows and their weights from what WeightDraws gave, without those of dead chains. weights: in place of its own."""
    if "draws" not in found:
        raise ValueError("draws has no entry 'draws'; pass what the observable WeightDraws gave, or rows.")
    rows = as_rows(found["draws"])
    own = found.get("weights") if weights is None else weights
    alive = torch.isfinite(rows).all(dim=1)
    every = bool(alive.all())  # then no copy is made of rows that may lie on disk
    if own is None:
        return rows if every else rows[alive], None
    each = torch.as_tensor(np.asarray(own), **EXACT).reshape(-1)
    if len(each) != len(rows):
        raise ValueError(f"weights has {len(each)} numbers for {len(rows)} draws; give one for each draw.")
    return (rows, each) if every else (rows[alive], each[alive])


def of_draws(model: Any, draws: Any) -> list[Output]:
    """For each draw a function from inputs [P, …] to outputs [P, K]. See `predictive` for what draws may be."""
    if isinstance(model, NetworkPotential):
        rows = as_rows(draws)
        _check_width(rows, model.dim, "δ")
        return [_at_displacement(model, row) for row in rows]
    if not isinstance(model, nn.Module):
        raise ValueError(f"model is a {type(model).__name__}; pass a torch.nn.Module or a NetworkPotential.")
    if isinstance(draws, Sequence) and draws and all(isinstance(draw, Mapping) for draw in draws):
        return [_of_state(model, draw, number) for number, draw in enumerate(draws)]
    rows = as_rows(draws)
    pieces = choose(model, "*")
    _check_width(rows, pieces[-1].stop, "the parameters")
    return [_of_row(model, pieces, row) for row in rows]


def _check_width(rows: Tensor, dim: int, what: str) -> None:
    if rows.shape[1] != dim:
        raise ValueError(f"draws has rows of {rows.shape[1]} numbers; {what} of this network are {dim}.")


def _at_displacement(network: NetworkPotential, row: Tensor) -> Output:
    def output(inputs: Tensor) -> Tensor:
        delta = row.to(inputs.dtype if inputs.is_floating_point() else row.dtype).unsqueeze(0)
        weights = network._place(delta).weights
        moved = {name: value[0] for name, value in weights.at(Position(delta)).items()}
        given: Tensor = functional_call(network.module, {**weights.still, **moved}, (inputs,))
        return given

    return output


def _of_row(model: nn.Module, pieces: list[Piece], row: Tensor) -> Output:
    def output(inputs: Tensor) -> Tensor:
        like = next(model.parameters())
        numbers = {piece.name: row[piece.start : piece.stop].view(piece.shape).to(like) for piece in pieces}
        given: Tensor = functional_call(model, numbers, (inputs,), tie_weights=True)
        return given

    return output


def _of_state(model: nn.Module, state: Mapping[str, Tensor], number: int) -> Output:
    missing = [name for name, _ in model.named_parameters() if name not in state]
    if missing:
        raise ValueError(f"draws[{number}] has no {missing[0]}; give the state_dict of a network like model.")

    def output(inputs: Tensor) -> Tensor:
        given: Tensor = functional_call(model, dict(state), (inputs,), tie_weights=True)
        return given

    return output
