"""Blocked Gibbs sweeps of a deep linear network, and moves along the symmetries that leave its product alone. Long, since both
move the same chains; with the exact distribution of a layer that they draw from, and how many sweeps a run takes where none are asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.precision import EXACT
from llc_core.compute.streams import torch_stream


def cayley(x: Tensor) -> tuple[Tensor, Tensor]:
    """(I − x)⁻¹(I + x) − I for x [C, H, H] (the Cayley map of 2x, less the identity), and log|det(I − x)| [C].

    The logarithm is nan, and the move refused, where x is not finite, as of a trajectory that has run away, or LAPACK gives pivots that
    it does not take back.
    """
    # A sum is finite only where all entries are: one call for all chains, since most of the time of small matrices is that of calls.
    finite = x.sum().isfinite()
    sound = None if finite else x.isfinite().flatten(1).all(dim=1)
    kept = x if sound is None else torch.where(sound.view(-1, 1, 1), x, 0.0)
    factors, pivots = torch.linalg.lu_factor(torch.eye(x.shape[-1], dtype=x.dtype, device=x.device) - kept)
    log_det = factors.diagonal(dim1=1, dim2=2).abs().log().sum(dim=1)
    if pivots.min() < 1:
        taken = (pivots >= 1).all(dim=1)
        sound, pivots = taken if sound is None else sound & taken, pivots.clamp_min(1)
    turn = torch.linalg.lu_solve(factors, pivots, 2 * x)
    return turn, log_det if sound is None else torch.where(sound, log_det, math.nan)


class Conditional(NamedTuple):
    """A normal distribution of a matrix Δ: left·Z·rightᵀ with independent Z_ij ~ N(mean_ij, 1/precision_ij).

    left [C, p, p], right [C, q, q]: orthogonal.  mean, precision: [C, p, q].
    curvature: [C, p, q], with which the excess loss grows: by curvature·(Z − mean)² along each entry.
    """

    left: Tensor
    right: Tensor
    mean: Tensor
    precision: Tensor
    curvature: Tensor

    def draw(self, normals: Tensor) -> Tensor:
        """Δ [C, p, q] from standard normals [C, p, q]."""
        return self.left @ (self.mean + normals / self.precision.sqrt()) @ self.right.mT


class Basis(NamedTuple):
    """Orthogonal eigenvectors [C, q, q] (in columns) and eigenvalues [C, q] of a positive semidefinite matrix."""

    vectors: Tensor
    values: Tensor


def gram_basis(factor: Tensor) -> Basis:
    """Eigenbasis of factorᵀ·factor for factor [C, p, q].

    From the singular values of the factor: those of the product would lose half the digits, and an eigenvalue of
    size 10⁻¹⁶ in place of 0 matters once it is multiplied by a large nβ.
    """
    rows, columns = factor.shape[-2:]
    if rows > columns:
        factor = torch.linalg.qr(factor, mode="r")[1]
    _, singular, vectors = torch.linalg.svd(factor, full_matrices=True)
    values = torch.nn.functional.pad(singular.square(), (0, columns - singular.shape[-1]))
    return Basis(vectors.mT, values)


LARGEST = 1_000_000
SWEEPS = ((200, 1600), (5_000, 300), (50_000, 160), (math.inf, 100))


def gibbs_is_cheap(dim: int) -> bool:
    """Whether `Gibbs` is the cheapest way to λ̂: the decompositions of a sweep grow faster than the cost of Langevin steps."""
    return dim <= LARGEST


def usual_sweeps(dim: int) -> int:
    """Sweeps, burn-in included, of a network with `dim` parameters.

    Draws are nearly independent, and λ̂ has a relative error of 1/√(λ·draws): small networks need more of them.
    """
    return next(sweeps for largest, sweeps in SWEEPS if dim <= largest)


LEAPFROG_STEPS = 5
TARGET_ACCEPTANCE = 0.8
SAME_MASS = 1.03
"""Up to this ratio of the largest to the smallest, the masses of a gauge move count as one. In wide networks what the prior's
spread adds is hundreds of times the curvature at w0, and its bases would only cost products."""
ADAPTATION = 0.1
"""How far the logarithm of a gauge step moves per unit of missed acceptance, during burn-in."""


class Linear(Protocol):
    """What is asked of a deep linear network."""

    @property
    def weights(self) -> Sequence[np.ndarray]: ...
    @property
    def widths(self) -> Sequence[int]: ...
    @property
    def data(self) -> Any: ...


class BlockedGibbs:
    """The chains of a blocked Gibbs sampler, all starting at w0.

    deltas: displacements δ_l [C, H_l, H_{l−1}] of every layer.  weights: W_l = W⁰_l + δ_l.
    difference: W_M ⋯ W_1 − P0 there, [C, H_M, H_0].
    expected_loss: [C], E[ΔL] under the distributions from which the last sweep drew, each of one layer given the others; their mean.
        Its mean over a chain is that of ΔL, with less noise (Rao and Blackwell). 0 unless `tells_expected`: it costs four
        products of matrices a layer.
    """

    tells_expected = False

    def __init__(
        self,
        problem: Linear,
        chains: int,
        n_beta: float | Tensor,
        localization: float | Tensor,
        seed: int,
        gauge_moves: bool = True,
        companies: int = 1,
    ):
        """n_beta, localization: numbers, or for every chain its own, [C, 1, 1].

        companies: parts of the chains, one after another, each of which draws the random numbers it would draw alone.
        """
        self.moves_gauge = gauge_moves
        self.chains = chains
        self.n_beta, self.localization = (
            torch.as_tensor(value, **EXACT).expand(chains, 1, 1) for value in (n_beta, localization)
        )
        self.w0 = [torch.from_numpy(w) for w in problem.weights]
        self.deltas = [torch.zeros(chains, *w.shape, **EXACT) for w in self.w0]
        self.products0 = [torch.eye(problem.widths[0], **EXACT)]
        for w in self.w0[:-1]:
            self.products0.append(w @ self.products0[-1])
        self.sxx, self.snx = problem.data.sxx, problem.data.snx
        values, vectors = torch.linalg.eigh(self.sxx)
        self.root = vectors * values.clamp_min(0).sqrt()  # root·rootᵀ = Sxx
        self.difference = torch.zeros(chains, problem.widths[-1], problem.widths[0], **EXACT)
        self.expected_loss = torch.zeros(chains, **EXACT)
        self.random = [torch_stream(seed, "gibbs") for _ in range(companies)]
        inner = len(self.w0) - 1
        self._gauge_step = [torch.full((chains, 1, 1), 0.5, **EXACT) for _ in range(inner)]
        self._gauge_metric = [self._metric(vertex) for vertex in range(1, inner + 1)]
        self._accepted, self._tried = 0.0, 0

    @property
    def weights(self) -> list[Tensor]:
        return [w + d for w, d in zip(self.w0, self.deltas, strict=True)]

    @property
    def delta(self) -> Tensor:
        """w − w0 of the chains, [C, D], layer by layer."""
        return torch.cat([delta.flatten(1) for delta in self.deltas], dim=1)

    def place(self, delta: Tensor) -> Tensor:
        """Put the chains at the displacements δ [C, D]; returns ΔL [C] there."""
        parts = delta.to(self.root).split([w.numel() for w in self.w0], dim=1)
        self.deltas = [part.reshape(-1, *w.shape) for part, w in zip(parts, self.w0, strict=True)]
        error = torch.zeros_like(self.products0[0]).unsqueeze(0)
        for w, delta, product in zip(self.w0, self.deltas, self.products0, strict=True):
            error = (w + delta) @ error + delta @ product
        self.difference = error
        return self._excess_loss()

    def _excess_loss(self) -> Tensor:
        return ((self.difference @ self.sxx - 2 * self.snx) * self.difference).sum(dim=(1, 2))

    def move(self, adapt: bool) -> Tensor:
        """A sweep, then moves along the symmetries if there are to be any; returns ΔL [C]. adapt: see `gauge_moves`."""
        loss = self.sweep()
        if self.moves_gauge:
            self.gauge_moves(adapt)
        return loss

    def sweep(self) -> Tensor:
        """Draw every layer once, the first layer first; returns ΔL [C]."""
        weights = self.weights
        aboves = [torch.eye(self.difference.shape[1], **EXACT).unsqueeze(0)]
        for w in weights[:0:-1]:
            aboves.append(aboves[-1] @ w)
        below = self.products0[0].unsqueeze(0)
        error = torch.zeros_like(below)
        expected = torch.zeros(self.chains, **EXACT)
        for layer, above in enumerate(reversed(aboves)):
            law = self.conditional(layer, above, below)
            if self.tells_expected:
                expected += self._expected(law, above, below)
            change = law.draw(self.normals(self.deltas[layer].shape))
            self.deltas[layer] = self.deltas[layer] + change
            self.difference = self.difference + above @ change @ below
            # The difference from w0 is propagated, never found by subtracting two products.
            error = (self.w0[layer] + self.deltas[layer]) @ error + self.deltas[layer] @ self.products0[layer]
            if layer + 1 < len(weights):
                below = self.products0[layer + 1] + error
        self.difference = error
        self.expected_loss = expected / len(weights)
        return self._excess_loss()

    def _expected(self, law: Conditional, above: Tensor, below: Tensor) -> Tensor:
        """E[ΔL] under a layer's law: ΔL at its mean, and half of what each entry's variance adds; [C]."""
        mean = self.difference + above @ (law.left @ law.mean @ law.right.mT) @ below
        return ((mean @ self.sxx - 2 * self.snx) * mean).sum(dim=(1, 2)) + (law.curvature / law.precision).sum(
            dim=(1, 2)
        )

    def conditional(self, layer: int, above: Tensor, below: Tensor) -> Conditional:
        """The distribution of the change Δ of one layer (counted from 0) given all other layers.

        With B = `above` = W_M ⋯ W_{l+1} [C, H_M, H_l], A = `below` = W_{l−1} ⋯ W_1 [C, H_{l−1}, H_0],
        D = W_M ⋯ W_1 − P0 and the layer's displacement δ, all as they are now,

            U(Δ) = nβ[tr((D + BΔA) Sxx (D + BΔA)ᵀ) − 2 tr((D + BΔA) Snxᵀ)] + (γ/2)‖δ + Δ‖²,

        which is normal with precision 2nβ (A Sxx Aᵀ) ⊗ (BᵀB) + γI: diagonal in the eigenbases of BᵀB and A Sxx Aᵀ.
        The expansion is about the present point, where D Sxx − Snx is small, and not about Δ = −δ: the rounding error
        of the mean then stays far below its standard deviation.
        """
        left, right = gram_basis(above), gram_basis((below @ self.root).mT)
        pull = above.mT @ (self.difference @ self.sxx - self.snx) @ below.mT
        force = 2 * self.n_beta * pull + self.localization * self.deltas[layer]
        curvature = left.values.unsqueeze(-1) * right.values.unsqueeze(-2)
        precision = 2 * self.n_beta * curvature + self.localization
        mean = -(left.vectors.mT @ force @ right.vectors) / precision
        return Conditional(left.vectors, right.vectors, mean, precision, curvature)

    def gauge_moves(self, adapt: bool) -> None:
        """One gauge move at every hidden vertex; with `adapt` the step sizes learn from the acceptance."""
        for vertex in range(1, len(self.w0)):
            step = self._gauge_step[vertex - 1]
            rate = self.gauge_move(vertex, step * (0.8 + 0.4 * self._uniforms(step.shape)))
            if adapt:
                self._gauge_step[vertex - 1] = step * torch.exp(ADAPTATION * (rate - TARGET_ACCEPTANCE))
            else:
                self._accepted += float(rate.mean())
                self._tried += 1

    def gauge_move(self, vertex: int, step: Tensor) -> Tensor:
        """Hamiltonian move of G in W_l → G W_l, W_{l+1} → W_{l+1} G⁻¹ at hidden vertex l; returns acceptance rates [C, 1, 1].

        The product and so the loss stay as they are; what changes is the prior. As a linear map of the weights the move
        has determinant |det G|^(H_{l−1} − H_{l+1}) (G acts on the H_{l−1} columns of W_l and, inverted, on the H_{l+1}
        rows of W_{l+1}), so with respect to Haar measure G has the potential

            V(G) = (γ/2)(‖G W_l − W⁰_l‖² + ‖W_{l+1} G⁻¹ − W⁰_{l+1}‖²) − (H_{l−1} − H_{l+1}) log|det G|,

        and moving G by any chain that keeps exp(−V)·Haar leaves the posterior invariant (Liu & Sabatti 2000).
        Leapfrog steps G ← cay(εX) G with the Cayley map keep Haar measure and are reversible, since cay(−X) = cay(X)⁻¹;
        the Metropolis test does the rest. step: [C, 1, 1].
        """
        bases, mass = self._gauge_metric[vertex - 1]
        exponent = self.w0[vertex - 1].shape[1] - self.w0[vertex].shape[0]
        eye = torch.eye(len(self.w0[vertex - 1]), **EXACT)
        shift, root = exponent * eye, mass.sqrt()
        lower, upper = self.deltas[vertex - 1], self.deltas[vertex]
        log_det = torch.zeros(self.chains, **EXACT)

        def potential() -> Tensor:
            return self.localization.view(-1) / 2 * (_square(lower) + _square(upper)) - exponent * log_det

        def slope(below: Tensor, above: Tensor) -> Tensor:
            """Derivative of V along X ↦ exp(tX)G, in the coordinates of the metric; below, above: the two layers' weights."""
            direct = self.localization * (lower @ below.mT - above.mT @ upper) - shift
            return direct if bases is None else bases[0].mT @ direct @ bases[1]

        momentum = self.normals((self.chains, *eye.shape)) * root
        start = potential() + _square(momentum / root) / 2
        below, above = self.w0[vertex - 1] + lower, self.w0[vertex] + upper
        half_step = step / 2
        momentum = momentum - half_step * slope(below, above)
        for index in range(LEAPFROG_STEPS):
            speed = momentum / mass
            half = half_step * (speed if bases is None else bases[0] @ speed @ bases[1].mT)
            # Together, since most of the time of small matrices is that of the calls.
            turns, logs = cayley(torch.cat([half, -half]))
            (forth, back), (log_minus, log_plus) = turns.chunk(2), logs.chunk(2)
            lower, upper, log_det = lower + forth @ below, upper + above @ back, log_det + log_plus - log_minus
            below, above = self.w0[vertex - 1] + lower, self.w0[vertex] + upper
            momentum = momentum - (step if index < LEAPFROG_STEPS - 1 else half_step) * slope(below, above)
        gain = start - potential() - _square(momentum / root) / 2
        rate = torch.nan_to_num(gain, nan=-math.inf).clamp_max(0).exp().view(-1, 1, 1)
        accept = self._uniforms(rate.shape) < rate
        self.deltas[vertex - 1] = torch.where(accept, lower, self.deltas[vertex - 1])
        self.deltas[vertex] = torch.where(accept, upper, self.deltas[vertex])
        return rate

    def gauge_acceptance(self) -> float:
        """Mean acceptance of the gauge moves since burn-in; nan if there were none."""
        return self._accepted / self._tried if self._tried else math.nan

    def _metric(self, vertex: int) -> tuple[tuple[Tensor, Tensor] | None, Tensor]:
        """(left, right), orthogonal [H, H], and the mass [C, H, H] of the gauge moves in the coordinates Z of X = left·Z·rightᵀ.

        The mass is the curvature of V at w0, diagonal in these bases, plus what the prior's spread adds on average. Where it is
        nearly the same for all entries it is their mean, [C, 1, 1], and Z is X: None for the bases.
        """
        lower, upper = self.w0[vertex - 1], self.w0[vertex]
        left, right = gram_basis(upper), gram_basis(lower.mT)
        curvature = self.localization * (left.values.unsqueeze(-1) + right.values.unsqueeze(-2))
        mass = curvature + lower.shape[1] + upper.shape[0]
        if mass.max() <= SAME_MASS * mass.min():
            return None, mass.mean(dim=(1, 2), keepdim=True)
        return (left.vectors, right.vectors), mass

    def normals(self, shape: Any) -> Tensor:
        """Standard normals from the chains' own random streams; the first dimension is that of chains."""
        return self._drawn(torch.randn, shape)

    def _uniforms(self, shape: Any) -> Tensor:
        return self._drawn(torch.rand, shape)

    def _drawn(self, draw: Callable[..., Tensor], shape: Any) -> Tensor:
        part = shape[0] // len(self.random)
        found = [draw(part, *shape[1:], generator=stream, **EXACT) for stream in self.random]
        return found[0] if len(found) == 1 else torch.cat(found)


def _square(matrices: Tensor) -> Tensor:
    return matrices.square().sum(dim=(1, 2))
