"""The prior at the warm end of a ladder, from which chains are drawn exactly: a Gaussian around w0, or a box."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from llc_core.compute.precision import EXACT
from llc_core.fields import number
from llc_core.potentials.base import Potential


@dataclass(frozen=True)
class Prior:
    """localization: γ of N(w0, 1/γ), or None for a box.  low, high: [D] bounds of δ = w − w0; infinite for the Gaussian."""

    localization: float | None
    low: Tensor
    high: Tensor

    def draw(self, rows: int, generator: torch.Generator) -> Tensor:
        """Independent draws δ [rows, D]."""
        shape = rows, len(self.low)
        if self.localization is None:
            return self.low + (self.high - self.low) * torch.rand(shape, generator=generator, **EXACT)
        return torch.randn(shape, generator=generator, **EXACT) / self.localization**0.5

    def log_density(self, delta: Tensor) -> Tensor:
        """log φ(δ) up to a constant, over the last dimension; −∞ outside the box."""
        if self.localization is not None:
            return -0.5 * self.localization * delta.square().sum(-1)
        inside = ((delta >= self.low) & (delta <= self.high)).all(-1)
        return torch.where(inside, 0.0, -torch.inf).to(delta)

    def slope(self, delta: Tensor) -> Tensor:
        """∇ log φ, as δ."""
        return torch.zeros_like(delta) if self.localization is None else -self.localization * delta

    def field(self, delta: Tensor) -> tuple[Tensor, Tensor]:
        """A field f that points away from w0 and does not cross the walls, and each ∂f_i/∂δ_i, as δ."""
        if self.localization is not None:
            return delta, torch.ones_like(delta)
        middle, half = (self.high + self.low) / 2, (self.high - self.low) / 2
        place = (delta - middle) / half
        inward = 1 - place.square()
        return delta * inward, inward - 2 * delta * place / half


def prior_of(problem: Potential, localization: float | None, box: float | None) -> Prior:
    """The prior that was asked for; else the problem's own box, else its localisation. ValueError where there is none."""
    if problem.prior_energy_and_grad(torch.zeros(1, problem.dim, **EXACT)) is not None:
        raise ValueError(f"{problem.kind} has a prior of its own, which cannot be drawn from; use one without.")
    if localization is not None and box is not None:
        raise ValueError("localization and box are both given; the prior is the one or the other.")
    center = torch.as_tensor(getattr(problem, "w0", [0.0] * problem.dim) if problem.walls else [0.0], **EXACT)
    own = getattr(problem, "box", None) if problem.walls else None
    if own is not None and (localization is not None or box is not None):
        raise ValueError(f"{problem.kind} has a box of its own, {own:g}; leave out localization and box.")
    half = own if own is not None else box
    if half is not None:
        half = number("box", half)
        if half <= 0:
            raise ValueError(f"box is {half:g}; half the side of the box must be greater than 0.")
        return Prior(None, (-half - center).expand(problem.dim).clone(), (half - center).expand(problem.dim).clone())
    gamma = number("localization", problem.localization if localization is None else localization)
    if gamma <= 0:
        raise ValueError(f"localization is {gamma:g}; a ladder begins at the prior, so give γ > 0 or a box.")
    far = torch.full((problem.dim,), torch.inf, **EXACT)
    return Prior(gamma, -far, far)
