"""Top curvature of the target along the chains, by power iteration: what limits every sampler's step size."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from llc_core.engine.target import Target, hp_of
from llc_core.samplers.base import Sampler
from llc_core.types import Hp, State


def top_curvature(
    target: Target,
    z: Tensor,
    vector: Tensor,
    metric: Tensor | None = None,
    iterations: int = 3,
    rise: float = 0.0,
    rough: bool = False,
) -> tuple[Tensor, Tensor]:
    """Largest |eigenvalue| of G^½·∇²U·G^½ at each point z, [C, 1], and the vector [C, D] to go on from.

    G is the sampler's diagonal `metric`, or the identity. Power iteration approaches the value from below; warm starts
    (the returned vector) make few iterations enough. It ends earlier where one adds no more than this `rise`, a share.
    """
    root = None if metric is None else metric.sqrt()
    size = torch.zeros_like(target.n_beta)
    for _ in range(iterations):
        vector = vector / vector.norm(dim=1, keepdim=True).clamp_min(1e-30)
        image = target.curvature(z, vector if root is None else root * vector, rough)
        vector = image if root is None else root * image
        before, size = size, vector.norm(dim=1, keepdim=True)
        if _at_rest(before, size, rise):
            break
    return size, vector


def top_curvature_in_place(
    target: Target,
    z: Tensor,
    vector: Tensor,
    metric: Tensor | None = None,
    iterations: int = 3,
    rise: float = 0.0,
    rough: bool = False,
) -> Tensor:
    """The same value, [C, 1]; `vector` itself is changed, which spares copies of it. Not in adapted coordinates."""
    root = None if metric is None else metric.sqrt()
    size = torch.zeros_like(target.n_beta)
    for _ in range(iterations):
        vector.div_(vector.norm(dim=1, keepdim=True).clamp_min(1e-30))
        if root is not None:
            vector.mul_(root)
        hvp = target.potential.rough_hvp if rough else target.potential.hvp
        image = hvp(z, vector).mul_(target.n_beta).addcmul_(target.localization, vector)
        vector.copy_(image if root is None else image.mul_(root))
        del image
        before, size = size, vector.norm(dim=1, keepdim=True)
        if _at_rest(before, size, rise):
            break
    return size


def _at_rest(before: Tensor, size: Tensor, rise: float) -> bool:
    return rise > 0 and bool((size <= (1 + rise) * before).all())


class Curvature:
    """The top curvature at the chains of a run. Remembers the directions that it found, from which the next look goes on.

    rough: whether it is for an automatic step alone, for which few rows do: their largest curvature is too high, and a step that was
    given would be called too large.
    """

    rough = False

    def __init__(self, target: Target, sampler: Sampler, random: torch.Generator):
        self.target, self.sampler, self.random = target, sampler, random
        self._vector: Tensor | None = None

    def at(self, state: State, hp: Hp, iterations: int, rise: float = 0.0) -> Tensor:
        """Top curvature where the chains are, [C, 1], with the sampler's metric; not finite where it overflows."""
        if self._vector is None:
            self._vector = self._normals_like(state["delta"])
        metric = self.sampler.metric(state, hp)
        size, vector = top_curvature(self.target, state["delta"], self._vector, metric, iterations, rise, self.rough)
        # An exactly flat point (w0 = 0, γ = 0) maps every vector to 0, from where no iteration would come back.
        lost = vector.norm(dim=1, keepdim=True) == 0
        known = torch.where(torch.isfinite(size), vector, self._vector)
        self._vector = torch.where(lost, self._normals_like(vector), known)
        return size

    def away(self, state: State, hp: Hp, iterations: int, rise: float = 0.0) -> Tensor:
        """The same at random points a typical distance away from w0. To be asked at the start, after `at`."""
        assert self._vector is not None
        z = state["delta"]
        away = self._normals_like(z) * self.target.potential.typical_scale(z)
        return top_curvature(
            self.target, away, self._vector, self.sampler.metric(state, hp), iterations, rise, self.rough
        )[0]

    def forget(self) -> None:
        """The directions are no longer those of the coordinates."""
        self._vector = None

    def release(self) -> None:
        """No look will follow soon: give back memory that counts. Here there is none, and the directions stay known."""

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """What is done inside has no influence on later looks."""
        vector, stream = self._vector, self.random.get_state()
        yield
        self._vector = vector
        self.random.set_state(stream)

    def _normals_like(self, z: Tensor) -> Tensor:
        return torch.randn(z.shape, generator=self.random, device=z.device, dtype=z.dtype)


class CurvatureInTurn(Curvature):
    """The same, one chain after the other and in place, with one direction [1, D] for all: one chain's is a good start
    for the next."""

    def at(self, state: State, hp: Hp, iterations: int, rise: float = 0.0) -> Tensor:
        known = self._vector
        if known is None or not 0 < float(known.norm()) < math.inf:
            self._vector = self._normals_like(state["delta"][:1])
        return self._sizes(state, hp, iterations, rise)

    def away(self, state: State, hp: Hp, iterations: int, rise: float = 0.0) -> Tensor:
        """The state is still at w0, so its own memory can hold the points."""
        z = state["delta"]
        z.add_(self.target.potential.typical_scale(z))
        for row in z:
            row.mul_(self._normals_like(row))
        size = self._sizes(state, hp, iterations, rise)
        z.zero_()
        return size

    def release(self) -> None:
        self._vector = None

    def _sizes(self, state: State, hp: Hp, iterations: int, rise: float) -> Tensor:
        assert self._vector is not None
        sizes = []
        for chain in range(len(state["delta"])):
            row = slice(chain, chain + 1)
            mine = {name: value[row] for name, value in state.items()}
            metric = self.sampler.metric(mine, hp_of(hp, row))
            target = self.target.of(row)
            sizes.append(
                top_curvature_in_place(target, mine["delta"], self._vector, metric, iterations, rise, self.rough)
            )
        return torch.cat(sizes)
