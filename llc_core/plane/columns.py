"""What the compiled loop needs of a sampler: its numbers as an affine function of the heat, for every step of a period."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from llc_core.interactions import Interaction, Layout
from llc_core.samplers import Sampler, hyperparameters
from llc_core.types import Hp, State


class Columns(NamedTuple):
    """p(heat) = fixed + heat·per_heat, both [S, P, K], with S steps of a period; table: weights of these steps, [S].

    memories: names of the sampler's memories, two at most.
    """

    fixed: np.ndarray
    per_heat: np.ndarray
    table: np.ndarray
    memories: tuple[str, ...]


def first_state(sampler: Sampler, normals: np.ndarray) -> State:
    """The sampler's state at the start, tensors [P, …], from normals [P, 2]."""
    places = torch.zeros(normals.shape, dtype=torch.float64)
    return sampler.init(places, torch.from_numpy(normals), _hp(sampler, len(normals)))


def columns(sampler: Sampler, interaction: Interaction, layout: Layout, localization: float) -> Columns:
    """The same for all trials of a run. Raises ValueError where the sampler has no such form."""
    cell = sampler.cell()
    if cell is None or cell.scalars is not None or sampler.noises != 1:
        raise ValueError(
            f"{sampler.name} has no form on the plane; use SGLD, SGHMC or UnderdampedLangevin, or `estimate`."
        )
    if getattr(sampler, "step_size", None) is None:
        raise ValueError(f"{sampler.name}.step_size is automatic; a run on the plane needs a number, for example 6e-3.")
    members, period = layout.shape[1], interaction.period
    sizes, weights = torch.ones(period, members, dtype=torch.float64), np.ones(period)
    for step in range(period):
        size, temperature = interaction.pace(step, layout)
        if isinstance(temperature, Tensor) or temperature != 1:
            raise ValueError(
                f"{interaction.name} changes the noise's temperature, which a run on the plane cannot; use `estimate`."
            )
        sizes[step] = size[0] if isinstance(size, Tensor) else size
        if period > 1:
            log = interaction.log_weight(step, {}, layout)
            weights[step] = 1.0 if log is None else float(log[0, 0].exp())
    # All steps of the period lie below each other, as if they were so many chains.
    hp = _hp(sampler, period * members)
    hp = Hp(**{**vars(hp), "step_size": hp.step_size * sizes.reshape(-1, 1)})
    state = first_state(sampler, np.zeros((members, 2)))
    n_beta = layout.n_beta[0].repeat(period).unsqueeze(1)
    gamma = torch.full_like(n_beta, localization)
    at = [_numbers(cell, state, heat * n_beta, gamma, hp) for heat in (0.0, 1.0, 2.0)]
    if not np.allclose(at[2] - at[1], at[1] - at[0], rtol=1e-9, atol=1e-300):
        raise ValueError(
            f"{sampler.name} depends on nβ in a way that a run on the plane does not know; use `estimate`."
        )
    fixed, per_heat = (np.ascontiguousarray(part.reshape(period, members, -1)) for part in (at[0], at[1] - at[0]))
    return Columns(fixed, per_heat, weights, cell.memories)


def _hp(sampler: Sampler, rows: int) -> Hp:
    hp = hyperparameters(sampler, rows, torch.empty(0, dtype=torch.float64))
    hp.adapting = torch.zeros_like(hp.adapting)
    return hp


def _numbers(cell: Any, state: State, n_beta: Tensor, gamma: Tensor, hp: Hp) -> np.ndarray:
    found = cell.numbers(state, n_beta, gamma, hp)
    return torch.cat([column.expand(len(n_beta), 1) for column in found], dim=1).double().numpy()
