"""Conditions under which convergence of SGLD is proved, held against deep linear networks by numbers (Hitchcock & Hoogland, appendix E)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.precision import EXACT
from llc_core.compute.streams import torch_stream
from llc_core.fields import hyper, numbers
from llc_core.potentials import DeepLinearNetwork
from llc_core.studies.papers.claims import Claim, Measured, at_least, at_most, near
from llc_core.studies.papers.local_sampling.volumes import FAR, NEAR
from llc_core.studies.papers.study import Cost, Found, Place, Study, register

SAMPLES = 500
"""Rows of a minibatch, as in the paper."""
REACH = np.logspace(-2, 4, 25)
"""Distances along a ray at which dissipativity is looked at; weights are about 1."""
SHARES = np.linspace(0.0, 1.0, 21)
"""Of w0, between the saddle at 0 and w0, where curvatures are looked at."""
STEPS = 60
QUIET = 1e-12
FLAT = 1e-9
"""Of the largest curvature: a direction that is flat, but for rounding."""
ROUNDING = 1e-6
"""Of ⟨w, ∇U⟩/‖w‖² far out, where the loss gives 10⁵."""


@register
@dataclass(frozen=True)
class Conditions(Study):
    """U = nβ·L + (γ/2)‖w − w0‖² of networks of M layers, w0 its own teacher.

    Lipschitz gradients (Raginsky, Rakhlin & Telgarsky 2017, A.2), dissipativity ⟨w, ∇U⟩ ≥ m‖w‖² − b (A.3), noise of gradients that grows no
    faster than ‖w‖² (A.4), and strong convexity (Dalalyan 2017). Of deep linear networks of M ≥ 2 layers all fail for the loss alone, and
    the pull γ repairs one: ⟨w, ∇L⟩ = M·⟨P, ∂L/∂P⟩, since the product P has degree M, so that
    ⟨w, ∇U⟩ ≥ (γ/2)‖w‖² − nβ(M/2)‖P̂‖²_S − (γ/2)‖w0‖² with the least squares' P̂ and S = XᵀX/n.

    layers: M.  width: of all layers.  rays: random directions.
    """

    layers: tuple[float, ...] = hyper((1, 2, 3), read=numbers("a list of numbers of layers"))
    width: int = hyper(4, 1, 60)
    rays: int = hyper(40, 4, 10_000)
    n: int = hyper(10_000, 100, 10**8)
    localization: float = hyper(1.0, 0.0, 1e6, open_low=True)
    seed: int = hyper(0, 0, 2**31)

    def cost(self) -> Cost:
        dims = [int(m) * self.width**2 for m in self.layers]
        seconds = 5.0 + sum(2e-8 * len(SHARES) * d**3 + 1e-6 * self.rays * d * 100 for d in dims)
        return Cost(seconds, 300 + 24 * max(dims) ** 2 / 2**20, f"{len(self.layers)} networks, {self.rays} rays each")

    def run(self, at: Place) -> Found:
        rows = {}
        for m in map(int, self.layers):
            asked = ["conditions", m, self.width, self.rays, self.n, self.localization, self.seed]
            rows[m] = at.part(asked, partial(self._looked, m), f"M = {m}")
        claims = [claim for m, row in rows.items() for claim in self._judged(m, row)]
        table = [
            "M    powers: curvature, noise    dissipative with γ, without    flat of d, least curvature    lost far out"
        ]
        for m, row in rows.items():
            table.append(
                f"{m}   {Measured.of(row['curvature'])}, {Measured.of(row['noise'])}   {min(row['slack']):.3g}, {row['without']:.3g}   "
                f"{row['flat']} of {row['dim']}, {row['least']:.3g}   {np.mean(row['lost']):.0%}"
            )
        return Found(claims, {f"M = {m}": row for m, row in rows.items()}, lambda: self._figure(rows), table)

    def _looked(self, m: int) -> dict[str, Any]:
        problem = DeepLinearNetwork.random(widths=[self.width] * (m + 1), n=self.n, seed=self.seed)
        w0 = torch.cat([torch.as_tensor(w, **EXACT).flatten() for w in problem.weights])
        n_beta, gamma = problem.n_beta, self.localization
        rays = torch.randn(self.rays, problem.dim, generator=torch_stream(self.seed, "rays"), **EXACT)
        rays /= rays.norm(dim=1, keepdim=True)
        scale = float(w0.norm())

        def force(w: Tensor, pull: float = gamma) -> Tensor:
            """∇U at parameters w [C, d]."""
            return n_beta * problem.excess_loss_and_grad(w - w0)[1] + pull * (w - w0)

        # least squares: ‖P̂‖²_S, where the excess loss at P is ⟨P − P0, (P − P0)S⟩ − 2⟨P − P0, snx⟩
        product = torch.as_tensor(reduce(lambda below, w: w @ below, problem.weights), **EXACT)
        sxx, snx = problem.data.sxx.to(**EXACT), problem.data.snx.to(**EXACT)
        best = product + torch.linalg.solve(sxx, snx.T).T
        constant = n_beta * m / 2 * float((best @ sxx * best).sum()) + gamma / 2 * scale**2
        points = torch.cat([rays * float(reach) * scale for reach in REACH])
        slack = (points * force(points)).sum(dim=1) - gamma / 2 * points.square().sum(dim=1) + constant
        # without the pull: far out where the first layer is 0, and with it the product
        flat = rays * FAR[1]
        if m > 1:
            flat[:, : self.width**2] = 0
        without = (flat * force(flat, 0.0)).sum(dim=1) / flat.square().sum(dim=1)
        # Noise moves the minimum a little away from w0, and what is flat at the minimum is then not quite flat at w0.
        quiet = DeepLinearNetwork(problem.weights, n=self.n, noise_std=QUIET, seed=self.seed)
        at_w0 = self._curvatures(quiet, torch.zeros(1, problem.dim, **EXACT))
        between = [self._curvatures(problem, (share - 1) * w0[None]).min() for share in SHARES]
        ratio = math.log(FAR[1] / FAR[0])
        bend = [problem.hvp(rays * far, rays).norm(dim=1) for far in FAR]
        batches = [DeepLinearNetwork(problem.weights, n=SAMPLES, seed=self.seed + each) for each in (1, 2)]
        noise = [
            (batches[0].excess_loss_and_grad(rays * far)[1] - batches[1].excess_loss_and_grad(rays * far)[1])
            .square()
            .sum(dim=1)
            for far in FAR
        ]
        step = 0.1 * 4 / (n_beta * float(at_w0.max()) + gamma)
        w = rays * FAR[0]
        for _ in range(STEPS):
            w = w - step / 2 * force(w)
        return {
            "dim": problem.dim,
            "curvature": ((bend[1] / bend[0]).log() / ratio).tolist(),
            "noise": ((noise[1] / noise[0]).log() / ratio).tolist(),
            "slack": (slack / constant).tolist(),
            "without": float(without.max()),
            "flat": int((at_w0.abs() < FLAT * at_w0.max()).sum()),
            "least": n_beta * float(min(between)) + gamma,
            "lost": [float(not each) for each in torch.isfinite(w).all(dim=1) & (w.norm(dim=1) < FAR[0])],
        }

    def _curvatures(self, problem: DeepLinearNetwork, delta: Tensor) -> Tensor:
        """Eigenvalues of ∇²L at δ [1, d], in rising order."""
        every = torch.eye(problem.dim, **EXACT)
        hessian = problem.hvp(delta.expand(problem.dim, -1).contiguous(), every)
        return torch.linalg.eigvalsh((hessian + hessian.T) / 2)

    def _judged(self, m: int, row: Mapping[str, Any]) -> list[Claim]:
        name, deep = f"M = {m}", m > 1
        flat, least = Measured(float(row["flat"])), Measured(row["least"])
        lost, without = Measured.of(row["lost"]), Measured(row["without"])
        claims = [
            near(
                f"{name}: curvature grows with the power 2M − 2, and gradients are Lipschitz for M = 1 alone",
                Measured.of(row["curvature"]), 2 * m - 2, NEAR, "2M − 2",
            ),
            near(
                f"{name}: noise of gradients grows with the power 4M − 2, and 2 is allowed",
                Measured.of(row["noise"]), 4 * m - 2, NEAR, "4M − 2",
            ),
            at_least(f"{name}: with γ the loss is dissipative (least slack over b)", Measured(min(row["slack"])), 0.0),
        ]  # fmt: skip
        if deep:
            claims += [
                at_most(f"{name}: without γ it is not (⟨w, ∇U⟩/‖w‖² where the first layer is 0)", without, ROUNDING),
                at_least(f"{name}: directions are flat at w0, of {row['dim']}", flat, (m - 1) * self.width**2),
                at_most(f"{name}: U is not convex between w0 and 0 (least curvature)", least, 0.0),
                at_least(f"{name}: steps of a tenth of the stable size are lost far out (share of rays)", lost, 1.0),
            ]
        else:
            claims += [
                at_least(f"{name}: without γ it is as well (⟨w, ∇U⟩/‖w‖²)", without, 0.0),
                at_most(f"{name}: directions are flat at w0, of {row['dim']}", flat, 0.0),
                at_least(f"{name}: U is convex (least curvature)", least, self.localization),
                at_most(f"{name}: steps of a tenth of the stable size are lost far out (share of rays)", lost, 0.0),
            ]
        return claims

    def _figure(self, rows: Mapping[int, Mapping[str, Any]]) -> Any:
        """Powers by M, and what the conditions allow."""
        from llc_core.plots.kinds import curves

        m = list(rows)
        named: dict[str, Any] = {
            "curvature": (m, [float(np.mean(row["curvature"])) for row in rows.values()]),
            "noise of gradients": (m, [float(np.mean(row["noise"])) for row in rows.values()]),
            "curvature allowed": (m, [0.0] * len(m)),
            "noise allowed": (m, [2.0] * len(m)),
        }
        dashes = ("solid", "solid", "dashed", "dotted")
        return curves(
            named,
            dashes=dashes,
            dots=True,
            xlabel="layers M",
            ylabel="power of the distance",
            legend_position="top_left",
        )
