"""Without a chain: how the volume of small losses scales, how fast deep linear losses grow, and the random networks of each class. Long,
since each of the three is small."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from llc_core.compute.precision import EXACT
from llc_core.fields import Settings, hyper, is_list, numbers, short
from llc_core.potentials import DeepLinearNetwork, problem_class
from llc_core.potentials.plane.regression import Planar, planar_landscape
from llc_core.references.volume import local_radius, volume_scaling
from llc_core.studies.papers.claims import Claim, Measured, at_least, near
from llc_core.studies.papers.study import Cost, Found, Place, Study, register

NEAR = 0.02
"""The fit of λ to the curve is that good at 600 cells, and a power far out at these distances."""
FAR = (1e5, 1e6)
"""Distances from w0 between which powers are taken; weights are about 1."""


@dataclass(frozen=True)
class Loss(Settings):
    """ρ = w₁^k₁·w₂^k₂ with the prior |w₁|^h₁·|w₂|^h₂.  scales: a regular minimum instead, ρ = (s₁·w₁, s₂·w₂)."""

    what = "loss"

    k: tuple[float, ...] = hyper((1, 1), read=numbers("two exponents"))
    h: tuple[float, ...] = hyper((0, 0), read=numbers("two exponents"))
    scales: tuple[float, ...] = hyper((), read=numbers("none or two scales"))

    @property
    def name(self) -> str:
        if self.scales:
            return f"scales = {[float(each) for each in self.scales]}"
        k, h = ([int(each) for each in pair] for pair in (self.k, self.h))
        return f"k = {k}, h = {h}"

    def problem(self) -> Planar:
        if self.scales:
            return planar_landscape("quadratic", scales=list(self.scales))
        return planar_landscape("normal_crossing", k=[int(each) for each in self.k], h=[int(each) for each in self.h])


def read_losses(label: str, value: Any) -> tuple[Loss, ...]:
    if not is_list(value) or not len(value):
        raise ValueError(f"{label} is {short(value)}; give a list of tables with k and h.")
    return tuple(Loss.read_from(label, each) for each in value)


@register
@dataclass(frozen=True)
class Volumes(Study):
    """V(ε) of a loss whose λ is known, beside its fit.  points: cells along one axis."""

    losses: tuple[Loss, ...] = hyper((), read=read_losses)
    points: int = hyper(600, 100, 6000)

    def cost(self) -> Cost:
        return Cost(len(self.losses) * (self.points / 600) ** 2, self.points**2 * 1e-4, f"{len(self.losses)} curves")

    def run(self, at: Place) -> Found:
        claims: list[Claim] = []
        rows = {}
        for loss in self.losses:
            row, truth = self._row(loss, at)
            name = loss.name
            rows[name] = row
            claims += [
                near(f"{name}: the volume scales as ε^λ", Measured(row["slope"]), float(truth), NEAR, "λ"),
                near(
                    f"{name}: the power of −log ε is m − 1",
                    Measured(row["m"] - 1),
                    truth.multiplicity - 1,
                    0.0,
                    "m − 1",
                ),
            ]
            constant = regular_constant(loss.problem())
            if constant is not None:
                row = rows[name] = {**row, "constant": constant}
                epsilon, volume = np.array(row["epsilon"]), np.array(row["volume"])
                found = float(np.mean(volume / epsilon ** float(truth)))
                text = f"{name}: V(ε)/ε^λ is what the Hessian says (ratio)"
                claims.append(near(text, Measured(found / constant), 1.0, NEAR, "Hessian"))
        return Found(
            claims,
            {name: {"slope": row["slope"], "m": row["m"]} for name, row in rows.items()},
            lambda: self._figure(rows),
        )

    def _row(self, loss: Loss, at: Place) -> tuple[Any, Any]:
        problem = loss.problem()

        def make() -> dict[str, Any]:
            found = volume_scaling(problem, points=self.points)
            return {
                "epsilon": found.epsilon.tolist(), "volume": found.volume.tolist(), "slope": found.learning_coefficient,
                "m": found.multiplicity,
            }  # fmt: skip

        return at.part(["volume", loss.to_dict(), self.points], make, loss.name), problem.learning_coefficient

    def _figure(self, rows: dict[str, Any]) -> Any:
        from llc_core.plots.kinds import curves

        named = {f"{name}: slope {row['slope']:.3f}": (row["epsilon"], row["volume"]) for name, row in rows.items()}
        return curves(
            named, logx=True, logy=True, xlabel="ε", ylabel="V(ε)", legend_position="bottom_right", height=380
        )


def regular_constant(problem: Planar) -> float | None:
    """c of V(ε) → c·ε^(r/2), r the rank of the Hessian of K at w0; None where that does not give λ.

    {½δᵀHδ < ε} is an ellipsoid in the r directions that are curved and all of the box in the others, of volume
    (2ε)^(r/2)·π^(r/2)/Γ(r/2 + 1)/√det H; V is that over (2R)^r of the box. Source: Hitchcock & Hoogland, equation 3.2.
    """
    truth, step = problem.learning_coefficient, 1e-3
    moves = step * np.eye(problem.dim)

    def loss(place: np.ndarray) -> float:
        return float(problem.population_loss(list(place)))

    def mixed(a: np.ndarray, b: np.ndarray) -> float:
        return (loss(a + b) - loss(a - b) - loss(b - a) + loss(-a - b)) / (4 * step * step)

    curvature = np.linalg.eigvalsh(np.array([[mixed(a, b) for b in moves] for a in moves]))
    curved = curvature[curvature > 1e-3 * max(1.0, curvature.max())]
    rank = len(curved)
    if problem.has_prior or truth is None or truth.multiplicity != 1 or rank != 2 * float(truth):
        return None
    ball = (2 * math.pi) ** (rank / 2) / math.gamma(rank / 2 + 1) / math.sqrt(curved.prod())
    return float(ball / (2 * local_radius(problem)) ** rank)


@dataclass(frozen=True)
class SizeClass(Settings):
    """A row of the printed table. name: such as "1M".  layers, widths: the least and the most."""

    what = "size class"

    name: str = hyper("1K", read=lambda label, value: problem_class(str(value)).name)
    layers: tuple[float, ...] = hyper((2, 10), read=numbers("the least and the most"))
    widths: tuple[float, ...] = hyper((50, 500), read=numbers("the least and the most"))


def read_classes(label: str, value: Any) -> tuple[SizeClass, ...]:
    if not is_list(value) or not len(value):
        raise ValueError(f"{label} is {short(value)}; give a list of tables with name, layers and widths.")
    return tuple(SizeClass.read_from(label, each) for each in value)


@register
@dataclass(frozen=True)
class Classes(Study):
    """The random networks that the sweeps draw, beside the printed ranges of their sizes.  problems: networks of each class."""

    classes: tuple[SizeClass, ...] = hyper((), read=read_classes)
    problems: int = hyper(100, 1, 10_000)

    def cost(self) -> Cost:
        return Cost(
            0.002 * len(self.classes) * self.problems,
            200,
            f"{self.problems} networks of each class, their widths alone",
        )

    def run(self, at: Place) -> Found:
        claims, table, rows = [], [f"{'class':8}{'layers':>10}{'widths':>14}{'parameters, quartiles':>40}"], {}
        for each in self.classes:
            known = problem_class(each.name, "paper")
            drawn = [known.layers(seed) for seed in range(self.problems)]
            depth = [len(layers) for layers in drawn]
            widths = [width for layers in drawn for pair in layers for width in pair]
            sizes = [sum(a * b for a, b in layers) for layers in drawn]
            inside = sum(each.layers[0] <= count <= each.layers[1] for count in depth) + sum(
                each.widths[0] <= width <= each.widths[1] for width in widths
            )
            share = Measured(inside / (len(depth) + len(widths)))
            claims.append(at_least(f"{each.name}: layers and widths lie in the printed ranges (share)", share, 1.0))
            quartiles = np.quantile(sizes, (0.25, 0.5, 0.75)).astype(int).tolist()
            rows[each.name] = {"layers": _ends(depth), "widths": _ends(widths), "parameters": quartiles}
            table.append(
                f"{each.name:8}{' – '.join(map(str, _ends(depth))):>10}{' – '.join(map(str, _ends(widths))):>14}"
                f"{', '.join(f'{size:,}' for size in quartiles):>40}"
            )
        return Found(claims, rows, None, table)


@register
@dataclass(frozen=True)
class Growth(Study):
    """How the loss of deep linear networks of M layers and its gradient grow along random rays from w0: with powers 2M and 2M − 1.

    A gradient that grows faster than the distance has no global Lipschitz constant, which conditions of convergence ask for.
    layers: M.  width: of all layers.  rays: random directions, for the errors.
    """

    layers: tuple[float, ...] = hyper((1, 2, 3, 4), read=numbers("a list of numbers of layers"))
    width: int = hyper(8, 1, 500)
    rays: int = hyper(20, 2, 10_000)

    def cost(self) -> Cost:
        return Cost(2.0 + len(self.layers), 200, f"{len(self.layers)} networks, {self.rays} rays each")

    def run(self, at: Place) -> Found:
        rows = {}
        for count in map(int, self.layers):
            asked = ["growth", count, self.width, self.rays]
            rows[str(count)] = at.part(asked, partial(self._powers, count), f"M = {count}")
        claims: list[Claim] = []
        for layers, row in rows.items():
            m = int(layers)
            loss, grad = Measured.of(row["loss"]), Measured.of(row["gradient"])
            claims.append(near(f"M = {m}: along rays the loss has degree 2M", loss, 2 * m, NEAR, "2M"))
            if m > 1:
                claims.append(at_least(f"M = {m}: the gradient grows faster than the distance (power)", grad, 1 + NEAR))
        return Found(claims, rows, lambda: self._figure(rows))

    def _powers(self, layers: int) -> dict[str, Any]:
        """Slopes of log ΔL and of log ‖∇L‖ in the logarithm of the distance, [rays] each, far out."""
        problem = DeepLinearNetwork.random(widths=[self.width] * (layers + 1), seed=0)
        rays = torch.randn(self.rays, problem.dim, generator=torch.Generator().manual_seed(0), **EXACT)
        (near_loss, near_grad), (far_loss, far_grad) = (problem.excess_loss_and_grad(rays * far) for far in FAR)
        ratio = math.log(FAR[1] / FAR[0])
        norms = far_grad.norm(dim=1) / near_grad.norm(dim=1)
        return {"loss": ((far_loss / near_loss).log() / ratio).tolist(), "gradient": (norms.log() / ratio).tolist()}

    def _figure(self, rows: dict[str, Any]) -> Any:
        from llc_core.plots.kinds import curves

        m = [int(each) for each in rows]
        named: dict[str, Any] = {
            name: (m, [np.mean(row[key]) for row in rows.values()])
            for name, key in (("loss", "loss"), ("gradient", "gradient"))
        }
        named["linear growth"] = (m, [1.0] * len(m))
        return curves(named, dots=True, xlabel="layers M", ylabel="power of the distance", legend_position="top_left")


def _ends(values: Sequence[int]) -> list[int]:
    return [min(values), max(values)]
