"""Energies over the plane whose distribution is known by quadrature: many modes, mixtures, and singular minima; some within a box."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.fields import choice, is_list, known_keys, number, short, whole
from llc_core.potentials.base import Batch, Potential
from llc_core.potentials.plane.surface_shapes import SHAPES, SURFACES
from llc_core.types import LearningCoefficient

KNOTS = 64
"""Numbers that a surface's parameters hold at most."""


class Surface(Potential):
    """An energy U(x, y), seen from w0 = (0, 0), a minimum; nβ is 1 and γ is 0 unless given.

    name: "modes25", U = 0.2·(x² + y²) − 2·(cos 2πx + cos 2πy) + L, where L is x² + y² − 20 if that is above 0, and 0 otherwise, as
    in the box |x|, |y| ≤ 2.5 (Deng et al. 2022, appendix D.2);
    "mixture" of Gaussians, `components` [[weight, x, y, sd], …] around w0 = the first; "sum", |x|^a + |y|^b; "product",
    |x|^a·|y|^b; "two_basins", (x − 1)²·(x² + y²)⁴, whose basins are a line (λ = ½) and a point (λ = ¼).
    box: half the side of a square outside of which the target is 0; None: there is none.
    noise: standard deviation of normal noise on the loss and on each slope, drawn as "minibatch" gradients.
    """

    kind = "surface"
    dim = 2
    own_gradients = True
    localization = 0.0
    batch_size = 1

    def __init__(
        self,
        name: str = "modes25",
        *,
        exponents: Any = (2, 4),
        components: Any = ((0.4, -3.0, 0.0, 1.0), (0.6, 3.0, 0.0, 1.0)),
        box: Any = "default",
        noise: float = 0.0,
        n_beta: float = 1.0,
    ):
        self.name = choice("surface", name, tuple(SURFACES))
        self.shape = SHAPES[name]
        self.noise = number("noise", noise, 0, 1e6)
        self.gradients = ("minibatch", "full") if self.noise else ("full",)
        self.n, self._n_beta = 1, number("n_beta", n_beta)
        if isinstance(box, str) and box == "default":
            box = {"modes25": 2.5, "mixture": None}.get(name, 2.0)
        self.box = None if box is None else number("box", box, high=1e6, above=0)
        self.walls = self.box is not None
        self._own: dict[str, Any] = {}
        self.parameters = np.zeros(1)
        self.w0 = np.zeros(2)
        if name in ("sum", "product"):
            self._exponents(exponents)
        if name == "mixture":
            self._components(components)
        if name == "two_basins":
            self.learning_coefficient = self.local_learning_coefficient = LearningCoefficient(Fraction(1, 4))
        self.bottom = float(self.shape.energy(*self.w0, self.parameters))

    def _exponents(self, exponents: Any) -> None:
        if not is_list(exponents) or len(exponents) != 2:
            raise ValueError(f"exponents is {short(exponents)}; give two whole numbers from 2 to 24.")
        a, b = (whole("exponents", e, 2, 24) for e in exponents)
        self.parameters = np.array([a, b], dtype=float)
        self._own = {"exponents": [a, b]}
        if self.name == "sum":
            truth = LearningCoefficient(Fraction(1, a) + Fraction(1, b))
        else:
            truth = LearningCoefficient(Fraction(1, max(a, b)), 2 if a == b else 1)
        self.learning_coefficient = self.local_learning_coefficient = truth

    def _components(self, components: Any) -> None:
        try:
            rows = [[number("components", v) for v in row] for row in components]
        except TypeError:
            rows = []
        if not 0 < len(rows) < KNOTS or any(len(row) != 4 or row[0] <= 0 or row[3] <= 0 for row in rows):
            raise ValueError(
                f"components is {short(components)}; give rows [weight, x, y, sd], with weights and sds above 0, fewer than {KNOTS}."
            )
        self.parameters = np.array([len(rows), *np.ravel(rows)])
        self._own = {"components": rows}
        self.w0 = np.array(rows[0][1:3])

    @property
    def n_beta(self) -> float:
        return self._n_beta

    # -- evaluation ---------------------------------------------------------------------------------------------------

    def excess_loss_and_grad(self, delta: Tensor, batch: Batch | None = None) -> tuple[Tensor, Tensor]:
        x, y = delta[:, 0] + float(self.w0[0]), delta[:, 1] + float(self.w0[1])
        if self.shape.tensor is not None:
            energy, along_x, along_y = self.shape.tensor(x, y, self.parameters)
        else:
            energy, along_x, along_y = self.shape.with_slopes(x, y, self.parameters.tolist())
        loss, grad = energy - self.bottom, torch.stack([along_x, along_y], dim=1)
        if batch is not None:
            noise = batch.data["noise"].to(delta)
            noise = noise.repeat_interleave(len(delta) // len(noise), dim=0)
            loss, grad = loss + noise[:, 0], grad + noise[:, 1:]
        return loss, grad

    def draw(
        self, generator: torch.Generator, chains: int, batch_size: int, gradient: str, dtype: torch.dtype
    ) -> Batch:
        """The noise of the loss and of both slopes, [chains, 3]."""
        noise = torch.randn(chains, 3, generator=generator, dtype=dtype, device=generator.device)
        return Batch({"noise": self.noise * noise}, noise.new_zeros(chains))

    def inside(self, delta: Tensor) -> Tensor | None:
        if self.box is None:
            return None
        place = delta + torch.as_tensor(self.w0, dtype=delta.dtype, device=delta.device)
        return (place.abs() <= self.box).all(dim=1)

    def energy(self, x: Any, y: Any) -> np.ndarray:
        """U − U(w0) without noise, at arrays of any shape."""
        with np.errstate(over="ignore", under="ignore"):
            return (
                np.asarray(self.shape.energy(np.asarray(x, float), np.asarray(y, float), self.parameters)) - self.bottom
            )

    def typical_scale(self, like: Tensor) -> float:
        return 0.3

    def to_dict(self) -> dict[str, Any]:
        common = {"box": self.box, "noise": self.noise, "n_beta": self._n_beta}
        return {"kind": self.kind, "name": self.name, **self._own, **common}

    def __repr__(self) -> str:
        return f"surface({self.to_dict()!r})"


def surface(description: Mapping[str, Any] | str = "modes25", **values: Any) -> Surface:
    """A `Surface` by its name and fields, or from its JSON description; ValueError says what does not fit."""
    if isinstance(description, Mapping):
        values = {**{str(key): value for key, value in description.items() if key != "kind"}, **values}
        name = values.pop("name", "modes25")
    else:
        name = description
    known_keys("the surface", values, ("exponents", "components", "box", "noise", "n_beta"))
    return Surface(name, **values)
