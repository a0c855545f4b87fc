"""How far the distribution that the chains follow puts λ̂ off, and how many directions they have not spread along, by Stein's identity."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.streams import torch_stream
from llc_core.groups import Groups
from llc_core.observables.base import Observable
from llc_core.observables.curvature_roots import DenseRoot, KroneckerRoot, LanczosRoot, Root
from llc_core.observables.data_noise import Influences, SampleLosses
from llc_core.observables.look import Group, Look, RunShape
from llc_core.potentials.module.network import NetworkPotential

EXACT_TRACE = 16
"""Up to this many parameters the trace is exact: all its terms are one call."""
AT_ONCE = 1 << 18
"""Numbers of the Hessian's columns that are evaluated in one call."""


MOST_LOOKS = 200
DENSE_PLACES, KEPT = 1024, 1 << 22
"""Up to so many parameters the places of the looks are kept, and so many numbers of them at most (16 MB)."""


class Plan(NamedTuple):
    """What is affordable. every: kept steps between looks.  root: "dense", "kronecker" or "lanczos".  vectors: of Lanczos.
    looks: about how many there will be."""

    every: int
    root: str
    vectors: int = 0
    looks: int = MOST_LOOKS


class BiasLooks(NamedTuple):
    """Of a group's chains at the looks, [looks, C'].

    bias: b, whose mean is the bias.  loss: nβ·ΔL.  weights: of the states in averages.
    unspread: D − δ·∇U.  pull: γ‖δ‖².  chains: which of the group's chains these are, [C'] bool.
    """

    bias: np.ndarray
    loss: np.ndarray
    weights: np.ndarray
    unspread: np.ndarray
    pull: np.ndarray
    chains: np.ndarray

    def without(self, chain: int) -> BiasLooks:
        """All but one of the chains that are seen."""
        return self._replace(**{name: np.delete(getattr(self, name), chain, 1) for name in self._fields[:-1]})


class LawBias(Observable):
    """b(w) = ½nβ·[∇Lᵀ M ∇U − tr(M∇²L)] along the chains, with a fixed symmetric M near the inverse curvature of U.

    For every vector field v, E[v·∇U − div v] = 0 under the target exp(−U) (Stein 1972); v = ½M·nβ∇L gives b. So the mean of b
    is 0 for any M if the chains follow the target. Where U is a quadratic and M its inverse curvature, b = nβΔL − λ: then the
    mean of b over the chains is what is wrong with λ̂, whatever the cause: the step's size, a moving metric, a thermostat, or
    the noise of minibatches, since gradients are those of all data here. Chains that have not reached a part of the target,
    but are in equilibrium in the part where they are, do not show. (Gorham & Mackey 2015 measure samples in this way.)

    The trace is exact for few parameters, and else from one vector of signs at each look (Hutchinson 1990): R·z, whose images
    hardly vary where R·Rᵀ = M is right. M is made when burn-in ends, from the curvature where the chains then are.
    With v = δ the identity is E[δ·∇U] = D: every direction of the target adds 1. One that is flat, and along which chains have
    not spread from w0 as far as γ lets them, adds next to nothing, so that D − E[δ·∇U] counts such directions. For chains that
    follow the gradient it is half of how fast their squared distance from w0 still grows.

    Each look keeps a few numbers for each chain, and of small problems its place.
    """

    def __init__(self, plan: Plan, groups: Groups, n_beta: Tensor, localization: Tensor, seed: int):
        """n_beta, localization: [C, 1]."""
        super().__init__(plan.every)
        self.plan, self.groups, self.seed = plan, groups, seed
        self.n_beta, self.localization = n_beta, localization

    def begin(self, setup: RunShape) -> None:
        self.problem = setup.problem
        self._stream = torch_stream(self.seed, "law", setup.device)
        self._wide = setup.wide
        self._root: Root | None = None
        self._rows: list[Tensor] = []
        self._places: list[Tensor] = []
        self._samples: SampleLosses | None = None

    def look(self, seen: Look) -> None:
        delta = seen.delta
        if self._root is None:
            self._root = self._make_root(delta)
            if isinstance(self.problem, NetworkPotential):
                self._samples = SampleLosses(self.problem, self.plan.looks, delta)
        loss, grad = self.problem.excess_loss_and_grad(delta)
        force = (self.localization * delta).addcmul_(self.n_beta, grad)
        prior = self.problem.prior_energy_and_grad(delta)
        if prior is not None:
            force += prior[1]
        product = self._gathered_product(grad, force)
        bias = product.sum(dim=1, dtype=self._wide) - self._trace(delta)
        n_beta = self.n_beta.squeeze(1).to(self._wide)
        spread = (delta * force).sum(dim=1, dtype=self._wide)
        pull = self.localization.squeeze(1).to(self._wide) * delta.square().sum(dim=1, dtype=self._wide)
        numbers = n_beta / 2 * bias, n_beta * loss, seen.weights, self.problem.dim - spread, pull
        self._rows.append(torch.stack(numbers))
        if self.problem.dim <= DENSE_PLACES and len(self._rows) * delta.numel() <= KEPT:
            self._places.append(delta.detach().clone())
        if self._samples is not None:
            self._samples.look(delta)

    def seen(self, group: Group) -> BiasLooks:
        """What was seen of the group's living chains that weigh something."""
        rows = torch.stack(self._rows)[:, :, group.rows].double().cpu().numpy()
        good = group.living & (rows[:, 2].sum(axis=0) > 0)
        bias, loss, weights, unspread, pull = rows[:, :, good].transpose(1, 0, 2)
        return BiasLooks(bias, loss, weights, unspread, pull, good)

    def influences(self, group: Group) -> Influences | None:
        """What other data would change of the group's λ̂; None where that is not known, as where states weigh differently."""
        if self._samples is None:
            return None
        seen = self.seen(group)
        if not seen.chains.any() or np.ptp(seen.weights) > 0:
            return None
        return self._samples.influences(group.rows, seen.chains, seen.loss, group.n_beta)

    def places(self, group: Group) -> Tensor | None:
        """δ [looks, C', D] of the chains that are `seen`; None where they are too many to be kept."""
        if not self._rows or len(self._places) < len(self._rows):
            return None
        good = torch.as_tensor(self.seen(group).chains)
        return torch.stack([place[group.rows][good] for place in self._places])

    @property
    def looks(self) -> int:
        return len(self._rows)

    # -- the trace ----------------------------------------------------------------------------------------------------

    def _trace(self, delta: Tensor) -> Tensor:
        """tr(M∇²L) at δ [C, D], [C]. By `hvp_on`, since the identity holds for the Hessian of the very loss that is in U."""
        dim = delta.shape[1]
        if dim <= EXACT_TRACE:
            units = torch.eye(dim, dtype=delta.dtype, device=delta.device)
            columns = self._spread(units.repeat(len(delta), 1), dim)
            images = self.problem.hvp_on(delta.repeat_interleave(dim, 0), None, columns)
            return (columns * images).view(len(delta), -1).sum(dim=1, dtype=self._wide)
        signs = torch.randint(0, 2, delta.shape, generator=self._stream, device=delta.device, dtype=delta.dtype)
        probe = self._spread(signs.mul_(2).sub_(1))
        return (probe * self.problem.hvp_on(delta, None, probe)).sum(dim=1, dtype=self._wide)

    # -- the matrix ---------------------------------------------------------------------------------------------------

    def _make_root(self, delta: Tensor) -> Root:
        """From the chains' places at the end of burn-in, those left out that are lost."""
        fine = torch.isfinite(delta).all(dim=1) & torch.isfinite(self.problem.excess_loss_and_grad(delta)[0])
        places = torch.where(fine.unsqueeze(1), delta, torch.zeros_like(delta))
        weights = self._by_group(fine.to(delta.dtype))
        share = weights / weights.sum(dim=1, keepdim=True).clamp_min(1)
        gamma = self._by_group(self.localization.squeeze(1))[:, 0]
        if self.plan.root == "dense":
            return DenseRoot(self._curvature(places, share), gamma)
        if self.plan.root == "kronecker":
            factors = [
                tuple((self._by_group(part) * share[:, :, None, None]).sum(dim=1) for part in pair)
                for pair in self.problem.kronecker_factors(places)
            ]
            n_beta = self._by_group(self.n_beta.squeeze(1))[:, 0]
            return KroneckerRoot([(b, a) for b, a in factors], n_beta, gamma, delta)
        chains = share.shape[1]

        def apply(vector: Tensor) -> Tensor:
            same = self._in_rows(vector.unsqueeze(1).expand(-1, chains, -1))
            image = self._by_group(self.n_beta * self.problem.hvp(places, same))
            return (image * share.unsqueeze(2)).sum(dim=1) + gamma.unsqueeze(1) * vector

        starts = torch.randn(
            2, len(share), delta.shape[1], generator=self._stream, dtype=delta.dtype, device=delta.device
        )
        return LanczosRoot(apply, starts[0], starts[1], gamma, self.plan.vectors)

    def _curvature(self, delta: Tensor, share: Tensor) -> Tensor:
        """[G, D, D] of U, the mean over the chains of each group; several columns at a time."""
        chains, dim = delta.shape
        units = torch.eye(dim, dtype=delta.dtype, device=delta.device)
        columns = []
        for part in units.split(max(1, AT_ONCE // (chains * dim))):
            many = len(part)
            image = self.problem.hvp(delta.repeat_interleave(many, 0), part.repeat(chains, 1))
            image = self._by_group(self.n_beta.unsqueeze(2) * image.view(chains, many, dim))
            columns.append((image * share[:, :, None, None]).sum(dim=1))
        gamma = self._by_group(self.localization.squeeze(1))[:, 0]
        return torch.cat(columns, dim=1) + gamma[:, None, None] * units

    def _spread(self, z: Tensor, many: int = 1) -> Tensor:
        """R·z of vectors [C·many, D], `many` of each chain one after the other."""
        assert self._root is not None
        return self._in_rows(self._root.spread(self._by_group(z, many)), many)

    def _gathered_product(self, one: Tensor, other: Tensor) -> Tensor:
        """Rᵀ·one · Rᵀ·other, parameter by parameter: both in one call, since calls are what it takes on a small network."""
        assert self._root is not None
        a, b = self._root.gather(torch.cat([self._by_group(one), self._by_group(other)], dim=1)).chunk(2, dim=1)
        return self._in_rows(a * b)

    def _by_group(self, values: Tensor, many: int = 1) -> Tensor:
        """[G, c·many, …] of values [C·many, …]."""
        split = self.groups.split(values.view(self.groups.count, many, *values.shape[1:])).transpose(1, 2)
        return split.reshape(-1, self.groups.chains * many, *values.shape[1:])

    def _in_rows(self, values: Tensor, many: int = 1) -> Tensor:
        """The other way round, [G, c·many, D] → [C·many, D]."""
        groups = self.groups
        apart = values.reshape(groups.problems, groups.settings, groups.chains, many, values.shape[-1])
        return apart.transpose(1, 2).reshape(-1, values.shape[-1])
