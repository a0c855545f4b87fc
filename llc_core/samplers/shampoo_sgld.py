"""SGLD preconditioned as in Shampoo: one factor of the metric for every mode of a block of parameters."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from llc_core.fields import hyper
from llc_core.samplers.base import Sampler, step_size_field
from llc_core.samplers.forms import Law, Line
from llc_core.samplers.psgld import alpha_field, remember_square
from llc_core.samplers.registry import register
from llc_core.types import Energy, Hp, State

FULL_MODE = 128
"""Modes up to this size keep a full matrix, longer ones its diagonal: an eigendecomposition costs size³ per step."""
CONDITION = 1e-6
"""Eigenvalues of a mode's matrix count as at least this share of the largest. The matrix averages few steps, so that most of its
eigenvalues are near 0, and single precision cannot tell them from 0."""
TINY = 1e-30


@register
@dataclass(frozen=True)
class ShampooSGLD(Sampler):
    """For a block of shape (rows, columns), with g as such a matrix:

        L ← αL + (1 − α)ggᵀ;  R ← αR + (1 − α)gᵀg;  G = L^{−¼} ⊗ R^{−¼};  w ← w − (ε/2)G∇U + √ε·G^½·N(0, I).

    A vector has one mode: H ← αH + (1 − α)ggᵀ, G = H^{−½}. Blocks with more than two axes are matrices with all axes
    but the first taken together; `hp.layers` None is one vector. g is the gradient of the mean loss alone; all factors
    start at H₀·I, which is forgotten within a few times 1/(1 − α) steps. The term ∇·G is left out.
    Modes longer than 128 keep the diagonal of their matrix. In more than one dimension eigenvalues count as at least 10⁻⁶
    of the largest.

    Distribution: in one dimension, where G = V^{−½}, ∝ exp(−U)·|U′| as ε → 0: no mass at the modes. There is no stability
    constant: G grows without bound where the gradient stays small, so the first metric is not the largest of the run
    and a λ̂ from this sampler is far too large.
    Source: Yu et al. 2023; Rensmeyer & Niggemann 2025, whose code counts in the step η = ε/2 with H₀ = 10⁻³.
    """

    step_size: float | None = step_size_field()
    alpha: float = alpha_field()
    stability: float = hyper(
        1e-3,
        1e-12,
        1e3,
        log=True,
        symbol="H_0",
        help="Where the mean of the squared gradients starts; it is forgotten and does not bound the metric later.",
    )

    label: ClassVar[str] = "Shampoo SGLD"
    formula: ClassVar[str] = (
        r"L\leftarrow\alpha L+(1-\alpha)gg^\top,\quad R\leftarrow\alpha R+(1-\alpha)g^\top g,\quad "
        r"G=L^{-1/4}\otimes R^{-1/4},\quad w\leftarrow w-\tfrac{\epsilon}{2}\,G\,\nabla U+\sqrt{\epsilon}\,G^{1/2}\xi"
    )
    about: ClassVar[str] = (
        "SGLD with the preconditioner of the optimiser Shampoo: a matrix for the rows of a layer, one for its "
        "columns. The correction term for the moving metric is left out. In one dimension the density is then "
        "the target times the slope's size, with a hole at every peak. Each step decomposes every one of these "
        "matrices, for every chain: rows³ + columns³ operations, and only the diagonal beyond 128."
    )
    source: ClassVar[str] = "Yu et al. 2023; Rensmeyer & Niggemann 2025"
    safety: ClassVar[float] = 0.1

    def init(self, delta: Tensor, noise: Tensor, hp: Hp) -> State:
        state = {"delta": delta}
        for block, shape, _ in _blocks(hp, delta.shape[1]):
            for mode, size in enumerate(shape):
                start = hp.stability.to(delta).expand(-1, size)
                state[_name(block, mode)] = torch.diag_embed(start) if size <= FULL_MODE else start.clone()
        return state

    def update(self, state: State, energy: Energy, noise: Tensor, hp: Hp) -> State:
        grad, force, kick = energy.statistics_grad, energy.force, noise[0]
        delta = state["delta"].clone()
        after = {"delta": delta}
        for block, shape, part in _blocks(hp, delta.shape[1]):
            matrix = grad[:, part].view(-1, *shape)
            roots = []
            for mode in range(len(shape)):
                name = _name(block, mode)
                factor = torch.lerp(state[name], *_gram(matrix, mode, state[name].dim() == 3, hp))
                after[name] = factor
                roots.append(_power(factor, -1 / (4 * len(shape))))
            # G∇U and G^½ξ share the outer root: −(ε/2)G∇U + √ε·G^½ξ = G^½(−(ε/2)G^½∇U + √ε·ξ).
            inner = _apply(roots, force[:, part].view(-1, *shape)).flatten(1)
            inner = hp.step_size.sqrt() * kick[:, part] - hp.step_size / 2 * inner
            delta[:, part] += _apply(roots, inner.view(-1, *shape)).flatten(1)
        return after

    def metric(self, state: State, hp: Hp) -> Tensor:
        """G where it is diagonal; where it is not, its largest eigenvalue along each full mode: a bound from above."""
        parts = []
        for block, shape, _ in _blocks(hp, state["delta"].shape[1]):
            sizes = [_largest(state[_name(block, mode)], -1 / (2 * len(shape))) for mode in range(len(shape))]
            parts.append(sizes[0] if len(sizes) == 1 else (sizes[0][:, :, None] * sizes[1][:, None, :]).flatten(1))
        return torch.cat(parts, dim=1)

    def stable_step(self, curvature: Tensor, hp: Hp) -> Tensor:
        return 4 / curvature

    def law(self) -> Law:
        return Law(lambda slope: 1 / np.maximum(np.abs(slope), math.sqrt(TINY)), 0.0)

    def line(self) -> Line:
        return Line(remember_square, _move, (self.alpha,), (self.stability, 0.0), remembered=1)


def _name(block: int, mode: int) -> str:
    return f"factor{block}_{mode}"


def _blocks(hp: Hp, dim: int) -> Iterator[tuple[int, tuple[int, ...], slice]]:
    """Number, shape (one or two modes) and place of every block."""
    layers = hp.layers or ((dim,),)
    if sum(math.prod(shape) for shape in layers) != dim:
        raise ValueError(f"layers is {layers}, which is not {dim} parameters; give the shapes of all blocks, or None.")
    start = 0
    for block, shape in enumerate(layers):
        stop = start + math.prod(shape)
        yield block, (shape[0], math.prod(shape[1:])) if len(shape) > 1 else (stop - start,), slice(start, stop)
        start = stop


def _gram(matrix: Tensor, mode: int, full: bool, hp: Hp) -> tuple[Tensor, Tensor]:
    """g·gᵀ along one mode, or its diagonal, and the rate 1 − α in the same number of axes."""
    rows = matrix.movedim(mode + 1, 1).flatten(2) if matrix.dim() > 2 else matrix.unsqueeze(2)
    rate = 1 - hp.alpha
    if full:
        return rows @ rows.transpose(1, 2), rate.unsqueeze(2)
    return rows.square().sum(dim=2), rate


def _power(factor: Tensor, exponent: float) -> Tensor:
    """factor^exponent of symmetric matrices [C, n, n] or diagonals [C, n]; NaN where a chain is not finite."""
    if factor.dim() == 2:
        return factor.clamp_min(TINY) ** exponent
    values, vectors = _eigh(factor)
    return (vectors * (values**exponent).unsqueeze(1)) @ vectors.transpose(1, 2)


def _largest(factor: Tensor, exponent: float) -> Tensor:
    """Largest eigenvalue of factor^exponent (exponent < 0) for every index of the mode, [C, n]."""
    if factor.dim() == 2:
        return factor.clamp_min(TINY) ** exponent
    values, _ = _eigh(factor)
    return (values[:, :1] ** exponent).expand(-1, factor.shape[1])


def _eigh(factor: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvalues in rising order, cut off from below, and eigenvectors. The decomposition raises for a matrix that is
    not finite: a chain that overflowed must not end the others."""
    fine = torch.isfinite(factor).flatten(1).all(dim=1)[:, None, None]
    unit = torch.eye(factor.shape[1], dtype=factor.dtype, device=factor.device)
    values, vectors = torch.linalg.eigh(torch.where(fine, factor, unit))
    values = torch.maximum(values, CONDITION * values[:, -1:]).clamp_min(TINY)
    return torch.where(fine.squeeze(2), values, torch.nan), vectors


def _apply(roots: list[Tensor], block: Tensor) -> Tensor:
    """The roots of all modes on a block [C, rows] or [C, rows, columns]."""
    first = roots[0]
    if block.dim() == 2:
        return first * block if first.dim() == 2 else (first @ block.unsqueeze(2)).squeeze(2)
    block = first.unsqueeze(2) * block if first.dim() == 2 else first @ block
    second = roots[1]
    return block * second.unsqueeze(1) if second.dim() == 2 else block @ second


def _move(a: Any, b: Any, g: Any, h: Any, p: Any) -> Any:
    metric = 1 / np.sqrt(np.maximum(a, TINY))
    return -metric * g, metric
