"""The density that the samplers see: exp(−U) in coordinates that may be adapted during burn-in. Long, since the
coordinates are here too: those of a Gaussian prior, and those that follow a Kronecker model of the curvature.

A constant linear change of variables δ = R·z turns any sampler into its preconditioned version with the constant
metric G = R·Rᵀ (for Langevin dynamics with momentum: a mass matrix), and leaves the distribution of δ exactly as it was. So
samplers never know of it: they move z, and what they see is U(R·z).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.cores import over_chains
from llc_core.compute.matrices import prefers_numpy, single_threaded
from llc_core.groups import Groups
from llc_core.potentials.base import Batch, Factors, Potential
from llc_core.types import Energy, Hp

SHARE = 0.1
"""Weight of the mean over chains that is added to each chain's own factors. Directions that carry the posterior of one
chain in a deep, low-rank network are other ones in the next chain. One metric for all chains is too heavy (the estimate
then stalls up to 15% too high). Each chain's own alone is too light for directions it turns into later (it then overflows)."""


SPREAD = 4_000
"""From this many parameters on chains are worth spreading over the cores."""


class Coordinates(Protocol):
    """A linear change of variables δ = R·z, the same or another one for each chain."""

    def to_delta(self, z: Tensor) -> Tensor:
        """δ = R·z, [C, D]."""
        ...

    def from_delta(self, delta: Tensor) -> Tensor:
        """z = R⁻¹·δ, [C, D]."""
        ...

    def pull_back(self, gradient: Tensor) -> Tensor:
        """Rᵀ·g: a gradient in δ as a gradient in z, [C, D]."""
        ...


class PriorCoordinates:
    """z = δ·√precision, in which a Gaussian prior is N(0, I). precision: [C, D] or [C, 1], above 0."""

    def __init__(self, precision: Tensor):
        self.scale, self.root = precision.rsqrt(), precision.sqrt()

    def to_delta(self, z: Tensor) -> Tensor:
        return z * self.scale

    def from_delta(self, delta: Tensor) -> Tensor:
        return delta * self.root

    def pull_back(self, gradient: Tensor) -> Tensor:
        return gradient * self.scale


class KroneckerCoordinates:
    """δ_l = P_l (z_l ∘ s_l) Q_lᵀ for every layer, from a Kronecker model of the curvature.

    With ∇²L ≈ B_l ⊗ A_l on layer l (B = P·diag(b)·Pᵀ, A = Q·diag(a)·Qᵀ) and s = 1/√(nβ·b·aᵀ + γ), the curvature of U
    in z is the identity wherever the model is right. The idea is that of K-FAC (Martens & Grosse 2015).
    """

    def __init__(
        self,
        factors: list[Factors],
        n_beta: Tensor,
        localization: Tensor,
        groups: Groups,
        like: Tensor,
    ):
        """n_beta, localization: [C, 1]; each chain gets its own coordinates.  like: of the device and precision wanted."""
        n_beta, localization = n_beta.double().unsqueeze(2), localization.double().unsqueeze(2)
        self.left, self.right, self.slices = [], [], []
        scales, start = [], 0
        for out_factor, in_factor in factors:
            b, p = torch.linalg.eigh(_with_mean(out_factor.double(), groups))
            a, q = torch.linalg.eigh(_with_mean(in_factor.double(), groups))
            curvature = n_beta * b.clamp_min(0)[:, :, None] * a.clamp_min(0)[:, None, :] + localization
            least = 1e-12 * curvature.amax(dim=(1, 2), keepdim=True) + 1e-300
            scales.append(curvature.maximum(least).rsqrt().flatten(1))
            self.left.append(p.to(like))
            self.right.append(q.to(like))
            rows, columns = b.shape[1], a.shape[1]
            self.slices.append((start, start + rows * columns, rows, columns))
            start += rows * columns
        self.scale = torch.cat(scales, dim=1).to(like)
        self._sizes = [stop - start for start, stop, *_ in self.slices]
        self._kept: dict[tuple[int, bool], list[tuple[Tensor, Tensor]]] = {}
        # Where numpy's products are the faster ones (`llc_core.compute.matrices`): the factors as arrays, and their transposes.
        self._arrays: list[Any] = []
        if like.device.type == "cpu" and prefers_numpy():
            for p, q in zip(self.left, self.right, strict=True):
                left, right = (f.expand(len(self.scale), -1, -1).numpy() for f in (p, q))
                self._arrays.append((left, right.transpose(0, 2, 1), left.transpose(0, 2, 1), right))

    def to_delta(self, z: Tensor) -> Tensor:
        """δ = R·z, [C, D]."""
        return self._rotate(z * self.scale, transpose=False)

    def from_delta(self, delta: Tensor) -> Tensor:
        """z = R⁻¹·δ, [C, D]."""
        return self._rotate(delta, transpose=True).div_(self.scale)

    def pull_back(self, gradient: Tensor) -> Tensor:
        """Rᵀ·g: a gradient in δ as a gradient in z, [C, D]."""
        return self._rotate(gradient, transpose=True).mul_(self.scale)

    def _rotate(self, flat: Tensor, transpose: bool) -> Tensor:
        result = torch.empty_like(flat)
        count = flat.shape[0]
        if self._arrays:
            source, target = flat.numpy(), result.numpy()

            def work(chains: Sequence[int]) -> None:
                part, some = slice(chains[0], chains[-1] + 1), len(chains) < count
                given, made = (source[part], target[part]) if some else (source, target)
                with np.errstate(all="ignore"):
                    for (start, stop, rows, columns), pair in zip(self.slices, self._arrays, strict=True):
                        left, right = pair[2:] if transpose else pair[:2]
                        if some:
                            left, right = left[part], right[part]
                        shape = (len(chains), rows, columns)
                        inner = np.matmul(left, given[:, start:stop].reshape(shape))
                        np.matmul(inner, right, out=made[:, start:stop].reshape(shape))

            with single_threaded():
                if self.slices[-1][1] < SPREAD:
                    work(range(count))
                else:
                    over_chains(count, work)
            return result
        given, made = (torch.split_with_sizes(each, self._sizes, 1) for each in (flat, result))
        pairs = self._pairs(count, transpose)
        for (_, _, *shape), (left, right), before, after in zip(self.slices, pairs, given, made, strict=True):
            torch.bmm(torch.bmm(left, before.view(count, *shape)), right, out=after.view(count, *shape))
        return result

    def _pairs(self, count: int, transpose: bool) -> list[tuple[Tensor, Tensor]]:
        """What a layer of `count` chains is multiplied by, on the left and on the right. Kept: to make views takes as long as products."""
        key = count, transpose
        if key not in self._kept:
            self._kept[key] = [
                (
                    (p.transpose(1, 2) if transpose else p).expand(count, -1, -1),
                    (q if transpose else q.transpose(1, 2)).expand(count, -1, -1),
                )
                for p, q in zip(self.left, self.right, strict=True)
            ]
        return self._kept[key]


def _with_mean(factor: Tensor, groups: Groups) -> Tensor:
    """Each chain's own factor plus SHARE of the mean over the chains of its group."""
    split = groups.split(factor)
    return (split + SHARE * split.mean(dim=1, keepdim=True)).view(factor.shape)


@dataclass
class Target:
    """U = nβ·ΔL + (γ/2)‖δ‖² − log φ of a potential, for C chains, in the samplers' coordinates.

    n_beta, localization: [C, 1].
    """

    potential: Potential
    n_beta: Tensor
    localization: Tensor
    coordinates: Coordinates | None = None

    def of(self, row: slice) -> Target:
        """The same for one chain; without adapted coordinates."""
        assert self.coordinates is None
        return Target(self.potential, self.n_beta[row], self.localization[row])

    def delta(self, z: Tensor) -> Tensor:
        return z if self.coordinates is None else self.coordinates.to_delta(z)

    def position(self, delta: Tensor) -> Tensor:
        """z of δ, [C, D]."""
        return delta if self.coordinates is None else self.coordinates.from_delta(delta)

    @property
    def prior_precision(self) -> Tensor:
        """Of the Gaussian part of the target beside the loss, γ among it: [C, D], or [C, 1] where it is γ alone."""
        own = self.potential.prior_precision(self.n_beta)
        return self.localization if own is None else self.localization + own

    def use_prior_coordinates(self) -> None:
        """Samplers move in z with the prior N(0, I), for good."""
        self.coordinates = PriorCoordinates(self.prior_precision)

    def evaluate(
        self,
        z: Tensor,
        batch: Batch | None,
        metric_batch: Batch | Literal["full"] | None = None,
        probe: torch.Generator | None = None,
        hvp: bool = False,
    ) -> Energy:
        """The energy at z, [C, D]. metric_batch: what the metric's own gradient is taken on; None: it has none.

        probe: random numbers for the Hessian's diagonal; None: the diagonal is not wanted.  hvp: whether its products are.
        """
        delta = self.delta(z)
        loss, grad = self.potential.excess_loss_and_grad(delta, batch)
        prior, prior_grad = self.potential.prior_energy_and_grad(delta) or (None, None)
        if self.coordinates is None:
            metric_grad = diagonal = product = None
            if metric_batch is not None:
                on = None if metric_batch == "full" else metric_batch
                metric_grad = self.potential.excess_loss_and_grad(delta, on)[1]
            if probe is not None:
                diagonal = self.potential.hessian_diagonal(delta, batch, probe)
            if hvp:
                on = batch if metric_batch is None else None if metric_batch == "full" else metric_batch
                product = partial(self.potential.hvp_on, delta, on)
            return Energy(
                loss,
                grad,
                delta,
                self.n_beta,
                self.localization,
                metric_grad=metric_grad,
                hessian_diagonal=diagonal,
                hvp=product,
                prior_energy=prior,
                prior_grad=prior_grad,
                prior_prox=None if prior is None else partial(self.potential.prior_prox, delta),
            )
        total = (self.localization * delta).addcmul_(self.n_beta, grad)
        if prior_grad is not None:
            total += prior_grad
        pulled = self.coordinates.pull_back(total)
        return Energy(
            loss, grad, delta, self.n_beta, self.localization, pulled, prior_energy=prior, prior_grad=prior_grad
        )

    def curvature(self, z: Tensor, vector: Tensor, rough: bool = False) -> Tensor:
        """∇²U·vector in z, [C, D].  rough: on no more rows than a step size needs."""
        hvp = self.potential.rough_hvp if rough else self.potential.hvp
        if self.coordinates is None:
            return self.n_beta * hvp(z, vector) + self.prior_precision * vector
        move = self.coordinates.to_delta(vector)
        image = self.n_beta * hvp(self.delta(z), move) + self.prior_precision * move
        return self.coordinates.pull_back(image)

    def recoordinate(self, z: Tensor, factors: list[Factors], groups: Groups) -> Tensor:
        """Change to coordinates made from `factors`; returns the new z of the same points."""
        delta = self.delta(z)
        self.coordinates = KroneckerCoordinates(factors, self.n_beta, self.localization, groups, delta)
        return self.coordinates.from_delta(delta)


def hp_of(hp: Hp, row: slice) -> Hp:
    """The hyperparameters of some of the chains, beside `Target.of`."""
    return Hp(**{name: value[row] if isinstance(value, Tensor) else value for name, value in vars(hp).items()})
