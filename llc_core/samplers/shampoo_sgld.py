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
from llc_core.samplers.correction import gamma_field, kept
from llc_core.samplers.forms import Law, Line
from llc_core.samplers.psgld import alpha_field, remember_square
from llc_core.samplers.registry import register
from llc_core.samplers.spectrum import TINY, Spectrum
from llc_core.types import Energy, Hp, State

FULL_MODE = 128
"""Modes up to this size keep a full matrix, longer ones its diagonal: an eigendecomposition costs size³ per step."""
MOST_CORRECTED = 64
"""Parameters up to which Γ is given: a step takes a product with the Hessian for each, and matrices for each pair of them."""


@register
@dataclass(frozen=True)
class ShampooSGLD(Sampler):
    """For a block of shape (rows, columns), with g as such a matrix:

        L ← αL + (1 − α)ggᵀ;  R ← αR + (1 − α)gᵀg;  G = L^{−¼} ⊗ R^{−¼};  w ← w + (ε/2)(−G∇U + Γ) + √ε·G^½·N(0, I).

    A vector has one mode: H ← αH + (1 − α)ggᵀ, G = H^{−½}. Blocks with more than two axes are matrices with all axes
    but the first taken together; `hp.layers` None is one vector. g is the gradient of the mean loss alone; all factors
    start at H₀·I, which is forgotten within a few times 1/(1 − α) steps.
    Modes longer than 128 keep the diagonal of their matrix. In more than one dimension eigenvalues count as at least 10⁻⁶
    of the largest.

    gamma_term: how much there is of Γ = ∇·G, from the derivatives of L and R by g and the columns of the mean loss's Hessian,
    on the rows that g is of. "dropped": nothing. "published": 1 − α, the old L and R held fixed. "corrected": the whole of ∇·G
    once they have followed the chain. In one dimension the whole is −V^{−3/2}·g·∂g/∂w. At most 64 parameters.

    Distribution: in one dimension, where G = V^{−½}, ∝ exp(−U)·|U′|^(1−c) as ε → 0, with c the share of Γ: no mass at the
    modes, but for c = 1. There is no stability constant: G grows without bound where the gradient stays small, so the first metric
    is not the largest of the run and a λ̂ from this sampler is far too large. Nor can V follow the chain there, whatever ε:
    within about ε^⅓ of a mode one step is as long as the way to it. So with the whole Γ the distance to the target falls like ε^⅓.
    In a block of more than one parameter L and R would be of rank one if they followed the chain, which no usual step lets them: on a
    standard normal of two the whole Γ gave E w² = 0.80 and 0.71 at ε = 10⁻³ and 10⁻⁴ (α = ½), and 30 and 23 without Γ.
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
    gamma_term: str = gamma_field()

    label: ClassVar[str] = "Shampoo SGLD"
    formula: ClassVar[str] = (
        r"L\leftarrow\alpha L+(1-\alpha)gg^\top,\quad R\leftarrow\alpha R+(1-\alpha)g^\top g,\quad "
        r"G=L^{-1/4}\otimes R^{-1/4},\quad "
        r"w\leftarrow w+\tfrac{\epsilon}{2}\left(-G\,\nabla U+\Gamma\right)+\sqrt{\epsilon}\,G^{1/2}\xi"
    )
    about: ClassVar[str] = (
        "SGLD with the preconditioner of the optimiser Shampoo: a matrix for the rows of a layer, one for its "
        "columns. A moving metric needs a correction Γ, which is left out unless you ask for it. In one dimension "
        "the density is then the target times the slope's size, with a hole at every peak. The whole Γ closes "
        "it, slowly as ε falls. Each step decomposes every one of these "
        "matrices, for every chain: rows³ + columns³ operations, and only the diagonal beyond 128."
    )
    source: ClassVar[str] = "Yu et al. 2023; Rensmeyer & Niggemann 2025"
    safety: ClassVar[float] = 0.1
    bias_expected: ClassVar[bool] = False
    """With the whole of Γ too the metric is late at the modes, of which `stable_step` knows nothing."""

    @property
    def needs_hvp(self) -> bool:
        return self.gamma_term != "dropped"

    def init(self, delta: Tensor, noise: Tensor, hp: Hp) -> State:
        dim = delta.shape[1]
        if self.gamma_term != "dropped" and dim > MOST_CORRECTED:
            raise ValueError(
                f"gamma_term is {self.gamma_term!r}, which works up to {MOST_CORRECTED} parameters, and here are {dim:,}; "
                "use 'dropped'."
            )
        state = {"delta": delta}
        for block, shape, _ in _blocks(hp, dim):
            for mode, size in enumerate(shape):
                start = hp.stability.to(delta).expand(-1, size)
                state[_name(block, mode)] = torch.diag_embed(start) if size <= FULL_MODE else start.clone()
        return state

    def update(self, state: State, energy: Energy, noise: Tensor, hp: Hp) -> State:
        grad, force, kick = energy.statistics_grad, energy.force, noise[0]
        delta = state["delta"].clone()
        after = {"delta": delta}
        columns = _hessian(energy) if hp.gamma_term != "dropped" else None
        for block, shape, part in _blocks(hp, delta.shape[1]):
            matrix = grad[:, part].view(-1, *shape)
            spectra = []
            for mode in range(len(shape)):
                name = _name(block, mode)
                factor = torch.lerp(state[name], *_gram(matrix, mode, state[name].dim() == 3, hp))
                after[name] = factor
                spectra.append(Spectrum.of(factor))
            roots = [spectrum.power(-1 / (4 * len(shape))) for spectrum in spectra]
            # G∇U and G^½ξ share the outer root: −(ε/2)G∇U + √ε·G^½ξ = G^½(−(ε/2)G^½∇U + √ε·ξ).
            inner = _apply(roots, force[:, part].view(-1, *shape)).flatten(1)
            inner = hp.step_size.sqrt() * kick[:, part] - hp.step_size / 2 * inner
            delta[:, part] += _apply(roots, inner.view(-1, *shape)).flatten(1)
            if columns is not None:
                gamma = _divergence(spectra, matrix, columns[:, part, part].unflatten(2, shape))
                delta[:, part] += hp.step_size / 2 * kept(hp.gamma_term, hp.alpha) * gamma.flatten(1)
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
        return Law(lambda slope: 1 / np.maximum(np.abs(slope), math.sqrt(TINY)), kept(self.gamma_term, self.alpha))

    def line(self) -> Line:
        start, share = (self.stability, 0.0), kept(self.gamma_term, self.alpha)
        if share == 0:
            return Line(remember_square, _move, (self.alpha,), start, remembered=1)
        return Line(remember_square, _move_corrected, (self.alpha, share), start, remembered=1, uses_curvature=True)


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


def _rows(matrix: Tensor, mode: int) -> Tensor:
    """Blocks [C, rows] or [C, rows, columns] as matrices whose rows are those of one mode."""
    return matrix.movedim(mode + 1, 1).flatten(2) if matrix.dim() > 2 else matrix.unsqueeze(2)


def _gram(matrix: Tensor, mode: int, full: bool, hp: Hp) -> tuple[Tensor, Tensor]:
    """g·gᵀ along one mode, or its diagonal, and the rate 1 − α in the same number of axes."""
    rows = _rows(matrix, mode)
    rate = 1 - hp.alpha
    if full:
        return rows @ rows.transpose(1, 2), rate.unsqueeze(2)
    return rows.square().sum(dim=2), rate


def _largest(factor: Tensor, exponent: float) -> Tensor:
    """Largest eigenvalue of factor^exponent (exponent < 0) for every index of the mode, [C, n]."""
    spectrum = Spectrum.of(factor)
    if spectrum.vectors is None:
        return spectrum.values**exponent
    return (spectrum.values[:, :1] ** exponent).expand(-1, factor.shape[1])


def _apply(roots: list[Tensor], block: Tensor) -> Tensor:
    """The roots of all modes on a block [C, rows] or [C, rows, columns]."""
    first = roots[0]
    if block.dim() == 2:
        return first * block if first.dim() == 2 else (first @ block.unsqueeze(2)).squeeze(2)
    block = first.unsqueeze(2) * block if first.dim() == 2 else first @ block
    second = roots[1]
    return block * second.unsqueeze(1) if second.dim() == 2 else block @ second


def _hessian(energy: Energy) -> Tensor:
    """∂g/∂w_n in row n, [C, D, D]."""
    assert energy.hvp is not None
    like = energy.delta
    units = torch.eye(like.shape[1], dtype=like.dtype, device=like.device)
    return torch.stack([energy.hvp(unit.expand_as(like).contiguous()) for unit in units], dim=1)


def _divergence(spectra: list[Spectrum], block: Tensor, slopes: Tensor) -> Tensor:
    """Σ_n ∂G_in/∂w_n of one block of gradients [C, *shape], for means of its products that follow it: [C, *shape].

    slopes: ∂block/∂w_n, [C, N, *shape], for each of its N parameters.
    """
    modes, changes = len(spectra), []
    for mode, spectrum in enumerate(spectra):
        moved = _rows(slopes.flatten(0, 1), mode).unflatten(0, slopes.shape[:2])
        half = moved @ _rows(block, mode).transpose(1, 2).unsqueeze(1)
        changes.append(spectrum.change_of_inverse_root(2 * modes, half + half.transpose(2, 3)))
    if modes == 1:
        return torch.einsum("cnin->ci", changes[0])
    left, right = (change.unflatten(1, block.shape[1:]) for change in changes)
    first, second = (spectrum.power(-1 / 4) for spectrum in spectra)
    return torch.einsum("cklik,cjl->cij", left, second) + torch.einsum("cik,ckljl->cij", first, right)


def _move(a: Any, b: Any, g: Any, h: Any, p: Any) -> Any:
    metric = 1 / np.sqrt(np.maximum(a, TINY))
    return -metric * g, metric


def _move_corrected(a: Any, b: Any, g: Any, h: Any, p: Any) -> Any:
    square = np.maximum(a, TINY)
    metric = 1 / np.sqrt(square)
    return -metric * g - p[1] * (g / square) * h * metric, metric
