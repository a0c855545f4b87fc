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

    state: the sampler's state at the start, tensors [P, …].  memories: names of its memories, two at most.
    """

    fixed: np.ndarray
    per_heat: np.ndarray
    table: np.ndarray
    state: State
    memories: tuple[str, ...]


def columns(
    sampler: Sampler, interaction: Interaction, layout: Layout, localization: float, normals: np.ndarray
) -> Columns:
    """normals: [P, 2] for the start. Raises ValueError where the sampler has no such form."""
    cell = sampler.cell()
    if cell is None or cell.scalars is not None or sampler.noises != 1:
        raise ValueError(
            f"{sampler.name} has no form on the plane; use SGLD, SGHMC or UnderdampedLangevin, or `estimate`."
        )
    if getattr(sampler, "step_size", None) is None:
        raise ValueError(f"{sampler.name}.step_size is automatic; a run on the plane needs a number, for example 6e-3.")
    members = layout.shape[1]
    like = torch.empty(0, dtype=torch.float64)
    hp = hyperparameters(sampler, members, like)
    hp.adapting = torch.zeros_like(hp.adapting)
    state = sampler.init(torch.zeros(members, 2, dtype=torch.float64), torch.from_numpy(normals), hp)
    n_beta, gamma = layout.n_beta[0].unsqueeze(1), torch.full((members, 1), localization, dtype=torch.float64)
    steps, weights = [], []
    for step in range(interaction.period):
        size, temperature = interaction.pace(step, layout)
        if isinstance(temperature, Tensor) or temperature != 1:
            raise ValueError(
                f"{interaction.name} changes the noise's temperature, which a run on the plane cannot; use `estimate`."
            )
        own = Hp(
            **{**vars(hp), "step_size": hp.step_size * (size[0].unsqueeze(1) if isinstance(size, Tensor) else size)}
        )
        at = [_numbers(cell, state, heat * n_beta, gamma, own) for heat in (0.0, 1.0, 2.0)]
        if not np.allclose(at[2] - at[1], at[1] - at[0], rtol=1e-9, atol=1e-300):
            raise ValueError(
                f"{sampler.name} depends on nβ in a way that a run on the plane does not know; use `estimate`."
            )
        steps.append((at[0], at[1] - at[0]))
        log = interaction.log_weight(step, interaction.init(layout), layout) if interaction.period > 1 else None
        weights.append(1.0 if log is None else float(log.exp()[0, 0]))
    fixed, per_heat = (np.ascontiguousarray(np.stack(part)) for part in zip(*steps, strict=True))
    return Columns(fixed, per_heat, np.array(weights), state, cell.memories)


def _numbers(cell: Any, state: State, n_beta: Tensor, gamma: Tensor, hp: Hp) -> np.ndarray:
    found = cell.numbers(state, n_beta, gamma, hp)
    return torch.cat([column.expand(len(n_beta), 1) for column in found], dim=1).double().numpy()
