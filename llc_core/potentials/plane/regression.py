"""Landscapes over the plane: regressions y = ρ(w)·x + noise of two parameters (or one). Long, since it is one class and its
descriptions."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.precision import lasting
from llc_core.fields import FieldError, choice, is_list, known_keys, number, whole
from llc_core.potentials.base import Batch, Potential
from llc_core.potentials.plane.data import PlanarData
from llc_core.potentials.plane.models import MODELS, Model
from llc_core.theory import quadrature
from llc_core.theory.adaptive_quadrature import adaptive_mean
from llc_core.theory.rank_checks import show
from llc_core.types import LearningCoefficient

PLANAR = tuple(MODELS)
Statistics = tuple[Tensor, tuple[Tensor, ...], tuple[Tensor, ...]]
COMMON_KEYS = ("name", "n", "noise_std", "data_sets", "start", "seed")


class Planar(Potential):
    """A regression y = ρ(w)·x + noise_std·N(0, 1), x ~ N(0, 1), whose truth is ρ = 0, at a w0 with ρ(w0) = 0.

    Loss: the mean negative log-likelihood (a true one, so that β = 1 is Bayes), on R = `data_sets` data sets of n samples
    at once: chain c uses data set c // (C/R), as chains use batches, so the number of chains is a multiple of R.
    The default γ is 1 and chains begin at w0 + `start`. Source: Lau, Murfet & Wei, section 5 and appendix.
    """

    kind = "planar"
    start: tuple[float, ...]
    gradients = ("full",)
    localization = 1.0

    def __init__(
        self,
        model: Model,
        n: int = 1000,
        noise_std: float = 0.5,
        data_sets: int = 1,
        start: Any = None,
        seed: int = 0,
    ):
        self.model, self.dim = model, model.dim
        self.n = self.samples = whole("n", n, 3, 10**8)
        self.noise_std = number("noise_std", noise_std, 1e-6, 1e6)
        self.data_sets = whole("data_sets", data_sets, 1, 100_000)
        self.seed = whole("seed", seed, 0, 2**63 - 1)
        self.data = PlanarData(self.data_sets, self.n, model.outputs, self.noise_std, self.seed)
        self.start = _start(model, start)
        if self.dim == 1:
            self.mode = model.w0[0]
        self._of_rows: dict[tuple[int, torch.device, torch.dtype], Statistics] = {}
        self._expected: dict[tuple[float, float, Callable[..., Any]], float] = {}

    @property
    def learning_coefficient(self) -> LearningCoefficient | None:  # type: ignore[override]
        """The least over the plane, that of the whole posterior as n → ∞; None where it is not known."""
        return self.model.overall

    @property
    def local_learning_coefficient(self) -> LearningCoefficient | None:  # type: ignore[override]
        return self.model.local

    @property
    def baseline_loss(self) -> float:  # type: ignore[override]
        """L_n(w0), mean over the data sets."""
        return float(self.data.baseline_losses.mean())

    @property
    def has_prior(self) -> bool:
        return any(self.model.powers)

    def expected_llc(self, n_beta: float | None = None) -> float | None:
        return self.expected_llc_at(self.n_beta if n_beta is None else n_beta, self.localization)

    def expected_llc_at(self, n_beta: float, localization: float) -> float | None:
        """The exact finite-n value by quadrature, mean over the data sets; None without a localisation, and where the
        quadrature of a formula does not settle."""
        return self._quadrature(n_beta, localization, quadrature.posterior)

    def one_sided_llc_at(self, n_beta: float, localization: float) -> float | None:
        """The same for chains that never cross an axis on which the prior vanishes: of the side where they begin."""
        return self._quadrature(n_beta, localization, quadrature.one_sided_posterior)

    def _quadrature(self, n_beta: float, localization: float, posterior: Callable[..., Any]) -> float | None:
        n_beta, localization = number("n_beta", n_beta, above=0), number("localization", localization)
        if localization <= 0:
            return None
        if not self.model.on_axes:
            return self._of_formula(n_beta, localization)
        if not self.has_prior:  # without walls there is one side only
            posterior = quadrature.posterior
        key = n_beta, localization, posterior
        if key not in self._expected:
            self._expected[key] = float(posterior(self, n_beta, localization).llc.mean())
        return self._expected[key]

    def _of_formula(self, n_beta: float, localization: float) -> float | None:
        key = n_beta, localization, adaptive_mean
        if key not in self._expected:
            found = [adaptive_mean(self, mean, n_beta, localization) for mean in self.data.mean]
            self._expected[key] = math.nan if any(value is None for value in found) else float(np.mean(found))  # type: ignore[arg-type]
        value = self._expected[key]
        return value if math.isfinite(value) else None

    # -- evaluation ---------------------------------------------------------------------------------------------------

    @property
    def own_gradients(self) -> bool:  # type: ignore[override]
        """A model that a user wrote may take its slopes by autograd."""
        return getattr(self.model.with_slopes, "__module__", "").startswith("llc_core.")

    def excess_loss_and_grad(self, delta: Tensor, batch: Batch | None = None) -> tuple[Tensor, Tensor]:
        zero, constant, factor = self._statistics(delta)
        loss = grad = zero
        values, rows = self.model.with_slopes(delta.unbind(dim=1))
        for j, (rho, row) in enumerate(zip(values, rows, strict=True)):
            mean, slope = (constant[j] + factor[j] * rho).unbind()
            along, across = slope.unsqueeze(1), torch.stack(row, dim=1)
            # 0 + a·b is exact where the product is rounded once, which `addcmul` does on all processors; other sums it may not.
            loss = torch.addcmul(zero, rho, mean) if loss is zero else loss + rho * mean
            grad = torch.addcmul(zero, along, across) if grad is zero else grad + along * across
        return loss, grad

    def per_sample_loss(self, delta: Tensor, start: int, stop: int) -> Tensor:
        """−log p(y_i | x_i, w) of samples start … stop − 1 of each chain's data set, [C, stop − start]."""
        each = self._each(len(delta))
        rho = torch.stack(self.model.rho(delta.unbind(dim=1)), dim=1)
        features = torch.cat([rho, rho * rho], dim=1).view(self.data_sets, each, -1)
        c, constant = self.data.coefficients(start, stop).to(delta), self.data.constants(start, stop).to(delta)
        return (constant.unsqueeze(1) - torch.bmm(features, c)).flatten(0, 1)

    def prior_energy_and_grad(self, delta: Tensor) -> tuple[Tensor, Tensor] | None:
        if not self.has_prior:
            return None
        energy = torch.zeros_like(delta[:, 0])
        grad = torch.zeros_like(delta)
        for i, power in enumerate(self.model.powers):
            if power:
                w = delta[:, i] + self.model.w0[i]
                energy -= power * w.abs().log()
                grad[:, i] = -power / w
        return energy, grad

    def prior_prox(self, before: Tensor, moved: Tensor, size: Tensor) -> Tensor:
        """x − size·h/x = y: x = (y ± √(y² + 4·size·h))/2, written so that no digits are lost where y points at the wall."""
        result = moved.clone()
        for i, power in enumerate(self.model.powers):
            if power:
                center = self.model.w0[i]
                side = (before[:, i] + center).sign()
                y = (moved[:, i] + center) * side
                reach = 4 * power * size[:, 0]
                root = (y * y + reach).sqrt()
                inside = torch.where(y > 0, y + root, reach / (root - y))
                # A chain beside a wall that lies far from w0 must not be rounded onto it.
                inside = inside.mul_(0.5).clamp_min(2 * torch.finfo(moved.dtype).eps * abs(center))
                result[:, i] = inside * side - center
        return result

    def _each(self, rows: int) -> int:
        if rows % self.data_sets:
            raise ValueError(
                f"{rows} chains cannot be shared out over {self.data_sets} data sets; use chains a multiple of data_sets."
            )
        return rows // self.data_sets

    def _statistics(self, like: Tensor) -> Statistics:
        """0, a and b so that −c₁ρ − c₂ρ² = ρ·(a + b·ρ)₁ and its slope is (a + b·ρ)₂, with means c of each row's data set.

        a and b are [2, C], one for each of q outputs.
        """
        key = (len(like), like.device, like.dtype)
        if key not in self._of_rows:
            with lasting():
                mean = torch.as_tensor(self.data.mean, device="cpu").to(like)
                linear, square = mean.repeat_interleave(self._each(len(like)), 0).T.view(2, self.model.outputs, -1)
                constant, factor = torch.stack([-linear, -linear], 1), torch.stack([-square, -2 * square], 1)
                self._of_rows[key] = like.new_zeros(()), constant.unbind(), factor.unbind()
        return self._of_rows[key]

    # -- for quadrature and pictures ------------------------------------------------------------------------------------

    def features(self, delta: list[np.ndarray]) -> np.ndarray:
        """φ = (ρ, ρ²) at displacements given as one array [G] per parameter, [2q, G]."""
        rho = np.stack([np.broadcast_to(r, delta[0].shape) for r in self.model.rho(delta)])
        return np.concatenate([rho, rho * rho])

    def population_loss(self, delta: list[np.ndarray]) -> np.ndarray:
        """K(w) = Σ ρ_j²/(2·noise_std²), the expected excess loss of new data; any shape."""
        with np.errstate(under="ignore"):
            return sum(np.square(r) for r in self.model.rho(delta)) / (2 * self.noise_std**2)

    def typical_scale(self, like: Tensor) -> float:
        return 0.3

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "name": self.model.name,
            **self.model.parameters,
            "n": self.n,
            "noise_std": self.noise_std,
            "data_sets": self.data_sets,
            "start": [a + b for a, b in zip(self.model.w0, self.start, strict=True)],
            "seed": self.seed,
        }

    def __repr__(self) -> str:
        return f"planar_landscape({self.to_dict()!r})"


def planar_landscape(name: Any, **values: Any) -> Planar:
    """A planar landscape by name: "normal_crossing" (k, h, at), "line_and_point" (at), "quadratic" (scales),
    "formula" (rho, at), "drawn" (strokes, at).

    Also n, noise_std, data_sets, start (where chains begin: coordinates of w, one per parameter) and seed.
    Reduced-rank regression y = B·A·x, the other classic, is `DeepLinearNetwork` with two layers.
    λ and multiplicity are exact, see `llc_core.potentials.plane.models`. ValueError says what does not fit.
    """
    own = tuple(inspect.signature(MODELS[choice("planar landscape", name, tuple(MODELS))]).parameters)
    known_keys("the planar landscape", values, own + COMMON_KEYS)
    model = MODELS[name](**{key: value for key, value in values.items() if key in own})
    return Planar(model, **{key: value for key, value in values.items() if key not in own})


def planar_from(description: Mapping[str, Any]) -> Planar:
    """A planar landscape from its JSON description."""
    values = {str(key): value for key, value in description.items() if key != "kind"}
    if "name" not in values:
        raise ValueError(f"A planar landscape needs a name: one of {', '.join(MODELS)}.")
    return planar_landscape(values.pop("name"), **values)


def _start(model: Model, start: Any) -> tuple[float, ...]:
    """The displacement at which chains begin, from the coordinates of w."""
    if start is None:
        return model.start
    if not is_list(start) or len(start) != model.dim:
        raise FieldError("start", f"is {show(start)}; give {model.dim} coordinate(s) of w.")
    point = [number(f"start[{i}]", value) for i, value in enumerate(start)]
    for i, (value, power) in enumerate(zip(point, model.powers, strict=True)):
        if power and value == 0:
            raise FieldError(
                f"start[{i}]", f"is 0, where the prior |w|^{power:g} vanishes; start beside it, say at 0.1."
            )
    return tuple(value - center for value, center in zip(point, model.w0, strict=True))
