"""Chains of weights that are chains of functions: paths on the same noise, laws from far starts, and particles that collapse (paper 004,
examples 2.1 to 2.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from llc_core.compute.precision import EXACT
from llc_core.fields import hyper
from llc_core.references.functions.equivalences import (
    linear_equivalence,
    repelling_particles,
    sines_force,
    sorted_equivalence,
    torus_equivalence,
    von_mises_force,
    wrap,
)
from llc_core.stationary.distances import total_variation
from llc_core.studies.papers.claims import Claim, Measured, at_least, at_most, ours
from llc_core.studies.papers.study import Cost, Found, Place, Study, register

ROUNDING = 1e-9
"""Paths that differ by less are the same up to rounding."""
FAR, CELLS, CONCENTRATION = 10**7, 50, 3.0
"""Chains on the torus begin within so many cells; bins of the angle; κ of the von Mises target."""
PROCESS_CHAINS, PROCESS_STEPS, PROCESS_STEP, PROCESS_NOISE = 3_000, 1_000, 4e-3, 0.5
"""Of the linear model's ensemble that is held against the posterior of the Gaussian process; the last one is a variance."""
FIVE = 5.0
"""Standard errors that the farthest of some dozen means and covariances may lie away."""
GROUPS = 4


@register
@dataclass(frozen=True)
class SameChains(Study):
    """steps: of the paths.  chains: on the torus, from cells far apart.  close: total variation of an ensemble that has the law."""

    steps: int = hyper(2_000, 100, 10_000_000)
    chains: int = hyper(20_000, 1_000, 1_000_000)
    close: float = hyper(0.04, 0.0, 1.0)
    seed: int = hyper(0, 0, 2**31)

    def cost(self) -> Cost:
        words = f"three pairs of paths of {self.steps:,} steps, {self.chains:,} chains on the torus, and particles"
        return Cost(5e-4 * self.steps + 800 * self.chains * 1e-7 + 8, 400, words)

    def run(self, at: Place) -> Found:
        pairs = at.part(["same paths", self.steps, self.seed], self._paths, "paths on the same noise")
        law = at.part(["torus", self.chains, self.seed], self._law, "distributions from far cells")
        ends = at.part(["particles", self.seed], self._particles, "particles")
        process = at.part(["Gaussian process", self.seed], self._process, "the posterior of a Gaussian process")
        claims: list[Claim] = [
            at_most("linear model: the posterior of the Gaussian process is that of the weights, mapped", Measured(process["apart"]), ROUNDING),
            *(
                at_most(f"linear model, own noise: {name} have its {what} (farthest, in standard errors)", Measured(process[f"{name}, {what}"]), FIVE)
                for name in ("weights, mapped", "functions")
                for what in ("means", "covariances")
            ),
        ]  # fmt: skip
        for name, row in pairs.items():
            text = f"{name}: the image of the chain of weights is the chain of functions (largest distance)"
            claims.append(at_most(text, Measured(row["difference"]), ROUNDING))
            if name != "linear model":
                claims += ours([at_least(f"{name}: weights change their cell meanwhile", Measured(row["moves"]), 1)])
        edges, exact = np.linspace(-0.5, 0.5, CELLS + 1), self._exact()
        apart = Measured.of([total_variation(counts, exact) for counts in law["counts"]])
        claims += [
            at_most("torus: functions have the exact distribution (total variation)", apart, self.close),
            at_least("torus: most weights are still in the cell that they began in", Measured(law["stayed"]), 0.5),
            at_most("particles that repel as weights collapse as functions (sd)", Measured(ends["weights"]), 1e-6),
            at_least("particles that repel as functions keep the width (sd over the exact one)", Measured(ends["functions"] / ends["exact"]), 0.9),
        ]  # fmt: skip
        return Found(
            claims,
            {**pairs, "torus law": law, "particles": ends, "process": process},
            lambda: self._figure(edges, law, exact),
        )

    def _paths(self) -> dict[str, Any]:
        random = torch.Generator().manual_seed(self.seed)
        x = torch.tensor([-2.0, -1.0, 0.5, 1.5], **EXACT)
        y = x * torch.sin(1.5 * x) + 0.125 * x**3
        features = torch.randn(4, 12, generator=random, **EXACT) / 12**0.5
        starts = torch.rand(4, 4, generator=random, **EXACT) + 0.5
        pairs = {
            "linear model": linear_equivalence(features, y, steps=self.steps),
            "torus": torus_equivalence(torch.zeros(4, 1), von_mises_force(1.0), step_size=4e-3, steps=self.steps),
            "sum of sines": sorted_equivalence(starts, sines_force(x, y, 0.3), step_size=0.004, steps=self.steps),
        }
        return {name: {"difference": pair.difference, "moves": pair.moves} for name, pair in pairs.items()}

    def _process(self) -> dict[str, float]:
        """Example 2.1: f ~ GP(0, AAᵀ) beside w ~ N(0, I), and ensembles of both chains on noise of their own.

        The mean is K(K + σ²)⁻¹y, K = AAᵀ, and A·Λ⁻¹Aᵀy/σ² with the precision Λ = I + AᵀA/σ² of the weights. Euler's chain of a normal
        target has the precision Λ(I − εΛ/4) exactly, so that the covariance is held against that, without an error of the step.
        """
        random = torch.Generator().manual_seed(self.seed + 5)
        matrix, y = (torch.randn(*shape, generator=random, **EXACT) for shape in ((4, 12), (4,)))
        kernel, noise = matrix @ matrix.T, PROCESS_NOISE * torch.eye(4, **EXACT)
        precision = torch.eye(12, **EXACT) + matrix.T @ matrix / PROCESS_NOISE
        mean = kernel @ torch.linalg.solve(kernel + noise, y)
        of_weights = matrix @ torch.linalg.solve(precision, matrix.T)
        apart = (mean - of_weights @ y / PROCESS_NOISE).abs().max()
        apart = torch.maximum(
            apart, (kernel - kernel @ torch.linalg.solve(kernel + noise, kernel) - of_weights).abs().max()
        )
        stepped = matrix @ torch.linalg.inv(precision - PROCESS_STEP / 4 * precision @ precision) @ matrix.T
        paths = linear_equivalence(
            matrix, y, PROCESS_NOISE, PROCESS_STEP, PROCESS_STEPS, PROCESS_CHAINS, shared=False, seed=self.seed
        )
        errors = (stepped.diagonal() / PROCESS_CHAINS).sqrt()
        spread = ((stepped.diagonal()[:, None] * stepped.diagonal() + stepped**2) / PROCESS_CHAINS).sqrt()
        found = {"apart": float(apart)}
        for name, ends in (("weights, mapped", paths.image[-1]), ("functions", paths.functions[-1])):
            found[f"{name}, means"] = float(((ends.mean(0) - mean) / errors).abs().max())
            found[f"{name}, covariances"] = float(((ends.T.cov() - stepped) / spread).abs().max())
        return found

    def _law(self) -> dict[str, Any]:
        random = torch.Generator().manual_seed(self.seed + 3)
        cells = torch.randint(-FAR, FAR, (self.chains, 1), generator=random)
        found = torus_equivalence(cells + torch.rand(self.chains, 1, generator=random, **EXACT))
        ends = found.image[-1].ravel().numpy()
        counts = [
            np.histogram(part, np.linspace(-0.5, 0.5, CELLS + 1))[0].tolist() for part in np.array_split(ends, GROUPS)
        ]
        stayed = (found.weights[-1].round() == found.weights[0].round()).double().mean()
        return {"counts": counts, "stayed": float(stayed)}

    def _particles(self) -> dict[str, float]:
        near = 0.05 * torch.randn(40, generator=torch.Generator().manual_seed(self.seed + 4), **EXACT)
        far = near + 1_000 * torch.arange(40)
        grid = (np.arange(10_000) + 0.5) / 10_000 - 0.5
        mass = np.exp(CONCENTRATION * np.cos(2 * np.pi * grid))
        return {
            "weights": float(wrap(repelling_particles(far, steps=1_000)).std()),
            "functions": float(wrap(repelling_particles(far, wrapped=True, steps=1_000)).std()),
            "exact": float(np.sqrt((mass * grid**2).sum() / mass.sum())),
        }

    def _exact(self) -> np.ndarray:
        """Masses [CELLS] of the von Mises target."""
        grid = (np.arange(200 * CELLS) + 0.5) / (200 * CELLS) - 0.5
        masses: np.ndarray = np.exp(CONCENTRATION * np.cos(2 * np.pi * grid)).reshape(CELLS, 200).sum(axis=1)
        return masses / masses.sum()

    def _figure(self, edges: np.ndarray, law: Mapping[str, Any], exact: np.ndarray) -> Any:
        from llc_core.plots.kinds import densities

        counts = np.sum(law["counts"], axis=0)
        return densities(
            edges, {"ends of the chains": counts * CELLS / counts.sum()}, {"exact": exact * CELLS}, xlabel="function (angle)"
        )  # fmt: skip
