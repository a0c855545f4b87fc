"""Chains of weights under metrics that are not the identity, constant and not, their images in the space of functions, and what happens
at the wall where two weights change places (paper 004, section 2 and appendix A)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.precision import EXACT
from llc_core.fields import hyper
from llc_core.references.functions.equivalences import von_mises_force
from llc_core.references.functions.general_metrics import (
    boundary_terms,
    falling,
    image_drifts,
    linear_path,
    sorted_path,
    torus_path,
    unlike,
    wavy,
)
from llc_core.stationary.distances import total_variation
from llc_core.studies.papers.claims import Claim, Measured, at_least, at_most, near, ours
from llc_core.studies.papers.function_space.same_chains import CELLS, GROUPS, ROUNDING
from llc_core.studies.papers.study import Cost, Found, Place, Study, register

STEP, LAW_STEP, CONCENTRATION = 4e-3, 1e-3, 1.0
"""ε of paths, and of the chains whose distribution is looked at; κ of the target on the torus."""
PARTED = 1e-2
"""Paths that differ by more are two paths."""
DERIVED, AREA = 1e-6, 1e-4
"""Errors of central differences and of the quadrature over the plane."""


@register
@dataclass(frozen=True)
class GeneralMetrics(Study):
    """steps: of the paths.  chains, law_steps: of the distributions on the torus.  close: total variation of an ensemble that has one."""

    steps: int = hyper(2_000, 100, 10_000_000)
    chains: int = hyper(20_000, 1_000, 10_000_000)
    law_steps: int = hyper(1_500, 100, 10_000_000)
    close: float = hyper(0.04, 0.0, 1.0)
    seed: int = hyper(0, 0, 2**31)

    def cost(self) -> Cost:
        words = f"five pairs of paths of {self.steps:,} steps, {self.chains:,} chains × {self.law_steps:,} steps on the torus, and a wall"
        return Cost(2e-3 * self.steps + 2 * 1.5e-7 * self.chains * self.law_steps + 5, 400, words)

    def run(self, at: Place) -> Found:
        paths = at.part(["metrics, paths", self.steps, self.seed], self._paths, "paths on the same noise")
        law = at.part(["metrics, law", self.chains, self.law_steps, self.seed], self._law, "distributions on the torus")
        wall = boundary_terms()
        claims: list[Claim] = [
            at_most("constant metric, that of the prior: A·w is the chain of functions (largest distance)", Measured(paths["linear"]), ROUNDING),
            at_least("constant metric, another than the prior's: A·w is no chain of its own", Measured(paths["linear, another prior"]), PARTED),
            at_most("metric that varies, torus: the wrapped chain of weights is the chain of functions", Measured(paths["torus"]), ROUNDING),
            *ours([at_least("torus: weights change their cell meanwhile", Measured(paths["torus, moves"]), 1)]),
            at_most("metric that varies, exchangeable weights: the sorted chain is the chain of functions", Measured(paths["sorted"]), ROUNDING),
            *ours([at_least("sorted: weights change their order meanwhile", Measured(paths["sorted, moves"]), 1)]),
            at_least("metric that tells weights apart: the sorted chain is another one", Measured(paths["unlike"]), PARTED),
        ]  # fmt: skip
        target, over = self._masses(False), self._masses(True)
        kept, left_out = (
            [total_variation(row, known) for row in law[name]] for name, known in (("whole", target), ("dropped", over))
        )
        claims.append(
            at_most(
                "metric that varies, with its divergence: functions have the posterior (total variation)",
                Measured.of(kept),
                self.close,
            )
        )
        claims.append(
            at_most(
                "without the divergence: functions have the posterior over the metric",
                Measured.of(left_out),
                self.close,
            )
        )
        apart = total_variation(target, over)
        claims.append(at_least("these two are not the same (total variation)", Measured(apart), 2 * self.close))
        ito, langevin = image_drifts(np.linspace(-3, 3, 121))
        text = "one to one map: Itô's drift of the image is that of Langevin dynamics with the metric JGJᵀ (largest distance)"
        claims.append(at_most(text, Measured(float(np.abs(ito - langevin).max())), DERIVED))
        for name, (lifted, flow) in wall.items():
            if flow == 0:
                claims.append(
                    at_most(
                        f"Neumann's condition holds for {name}: E[Lu] is 0 up to the wall", Measured(abs(lifted)), AREA
                    )
                )
            else:
                claims.append(
                    near(
                        f"it does not for {name}: E[Lu] is what flows through the wall",
                        Measured(lifted),
                        -flow,
                        AREA,
                        "the wall's",
                    )
                )
                claims.append(at_least("and that is not 0", Measured(abs(flow)), PARTED))
        numbers = {"paths": dict(paths), "wall": wall, "law": dict(law)}
        return Found(claims, numbers, lambda: self._figure(law, target, over))

    def _paths(self) -> dict[str, float]:
        random = torch.Generator().manual_seed(self.seed)
        x = torch.tensor([-2.0, -1.0, 0.5, 1.5], **EXACT)
        y = x * torch.sin(1.5 * x) + 0.125 * x**3
        features = torch.randn(4, 12, generator=random, **EXACT) / 12**0.5
        root, identity = torch.randn(12, 12, generator=random, **EXACT), torch.eye(12, **EXACT)
        metric, start = root @ root.T / 12 + identity / 2, torch.randn(4, 4, generator=random, **EXACT)

        def force(weights: Tensor) -> Tensor:
            """∇ log π of y = Σ tanh(w_i·x) + noise, w ~ N(0, I)."""
            out = (weights.unsqueeze(-1) * x).tanh()
            return ((1 - out**2) * x * (y - out.sum(-2)).unsqueeze(-2)).sum(-1) / 0.3 - weights

        plan = (self.steps, STEP, self.seed)
        torus = torus_path(von_mises_force(CONCENTRATION), wavy, 64, *plan)
        alike, apart = (sorted_path(force, each, start, *plan) for each in (falling, unlike))
        return {
            "linear": linear_path(features, y, metric, metric, 0.05, *plan),
            "linear, another prior": linear_path(features, y, metric, identity, 0.05, *plan),
            "torus": torus["difference"], "torus, moves": torus["moves"],
            "sorted": alike["difference"], "sorted, moves": alike["moves"], "unlike": apart["difference"],
        }  # fmt: skip

    def _law(self) -> dict[str, Any]:
        """Counts [GROUPS, CELLS] of the ends of chains, with the metric's divergence and without."""
        edges, found = np.linspace(-0.5, 0.5, CELLS + 1), {}
        for name, whole in (("whole", True), ("dropped", False)):
            ends = torus_path(
                von_mises_force(CONCENTRATION), wavy, self.chains, self.law_steps, LAW_STEP, self.seed + 7, whole
            )["ends"]
            found[name] = [np.histogram(part, edges)[0].tolist() for part in np.array_split(ends, GROUPS)]
        return found

    def _masses(self, over: bool) -> np.ndarray:
        """Masses [CELLS] of the von Mises target, or of it over the metric."""
        grid = (np.arange(200 * CELLS) + 0.5) / (200 * CELLS) - 0.5
        mass = np.exp(CONCENTRATION * np.cos(2 * np.pi * grid))
        if over:
            mass = mass / wavy(torch.from_numpy(grid))[0].numpy()
        summed: np.ndarray = mass.reshape(CELLS, 200).sum(axis=1)
        return summed / summed.sum()

    def _figure(self, law: Mapping[str, Any], target: np.ndarray, over: np.ndarray) -> Any:
        from llc_core.plots.kinds import densities
        from llc_core.plots.style import beside_each_other

        edges, panels = np.linspace(-0.5, 0.5, CELLS + 1), []
        for name, title in (("whole", "with the metric's divergence"), ("dropped", "without it")):
            counts = np.sum(law[name], axis=0)
            beside = {"posterior": target * CELLS, "posterior over the metric": over * CELLS}
            panels.append(
                densities(
                    edges,
                    {"ends of the chains": counts * CELLS / counts.sum()},
                    beside,
                    title=title,
                    xlabel="function (angle)",
                )
            )
        return beside_each_other(*panels)
