"""What stands beside estimates by SGLD: temperatures, the acceptance of a test that is not used, and gradient norms (Lau, Murfet & Wei,
appendix C). Long, since what is looked at, what quadrature says of it and what is claimed are read together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from llc_core.compute.precision import EXACT
from llc_core.config import RunConfig
from llc_core.engine.run import Run
from llc_core.engine.target import Target
from llc_core.fields import hyper
from llc_core.potentials.base import Potential
from llc_core.potentials.plane.regression import planar_landscape
from llc_core.samplers.mala import MALA
from llc_core.studies.papers.claims import Claim, Measured, alike, at_least, less
from llc_core.studies.papers.learning_coefficient.crossings import CHAIN_STEPS, SLACK, Entry, read_entries, read_steps
from llc_core.studies.papers.study import Cost, Found, Place, Study, on_cores, register, rising
from llc_core.studies.temperatures import reweighted, temperature_llc
from llc_core.theory.quadrature import posterior

BURN_IN = 0.2


@dataclass(frozen=True)
class Looked:
    """What pairs of places one step apart say, [C] each.

    acceptance: the mean of min(1, e^{−U(w′)}·q(w′→w)/(e^{−U(w)}·q(w→w′))), by which a Metropolis test would take the step; it is not used.
    gradient, pull: means of ‖nβ·∇L‖² and of ‖γ(w − w0)‖².
    virial: the mean of (w − w0)·∇U − (ε/4)‖∇U‖². A step changes E‖w − w0‖² by ε·(D − virial): for chains at rest it is D, and for others
    what they grow by in a step, over ε, makes up for it, whatever the law.
    """

    acceptance: np.ndarray
    gradient: np.ndarray
    pull: np.ndarray
    virial: np.ndarray


def looked(
    problem: Potential,
    before: np.ndarray,
    after: np.ndarray,
    n_beta: np.ndarray,
    localization: float,
    step_size: np.ndarray,
) -> Looked:
    """Of one step of SGLD on all data.  before, after: w − w0, [C, D].  n_beta, step_size: [C]."""
    nb, step = (torch.as_tensor(each, **EXACT)[:, None] for each in (n_beta, step_size))
    target = Target(problem, nb, localization * torch.ones_like(nb))
    here, there = (torch.as_tensor(each, **EXACT) for each in (before, after))
    one, other = target.evaluate(here, None), target.evaluate(there, None)
    force = one.force
    noise = (there - here + step / 2 * force) / step.sqrt()
    gain = one.potential - other.potential + MALA().log_ratio(here, one, there, other, noise, step)
    virial = (here * force).sum(dim=1) - step[:, 0] / 4 * force.square().sum(dim=1)
    gradient, pull = (nb * one.loss_grad).square().sum(dim=1), (localization * here).square().sum(dim=1)
    return Looked(gain[:, 0].clamp(max=0).exp().numpy(), gradient.numpy(), pull.numpy(), virial.numpy())


@register
@dataclass(frozen=True)
class Checks(Study):
    """rows: losses ρ = w₁^k₁·w₂^k₂.  step_sizes: ε.  temperatures: nβ in units of n/log n.  repeats: data sets, one chain each.
    looks: steps of each chain that are taken apart.
    """

    rows: tuple[Entry, ...] = hyper((), read=read_entries)
    step_sizes: tuple[float, ...] = hyper((1e-4, 5e-4), read=read_steps)
    temperatures: tuple[float, ...] = hyper((0.5, 1.0, 2.0), read=rising("temperatures", 2, above=0))
    repeats: int = hyper(50, 2, 10_000)
    steps: int = hyper(10_000, 100, 10_000_000)
    looks: int = hyper(200, 10, 100_000)
    localization: float = hyper(1.0, 0.0, 1e6, open_low=True)
    seed: int = hyper(0, 0, 2**31)

    def cost(self) -> Cost:
        chains = self.repeats * len(self.step_sizes) * len(self.temperatures)
        processor = len(self.rows) * (self.steps * max(chains / CHAIN_STEPS / 3, 2.5e-4) + 2)
        settings = f"{len(self.step_sizes)} ε × {len(self.temperatures)} nβ"
        words = f"{len(self.rows)} losses × {settings}, {self.repeats} chains of {self.steps:,} steps"
        return Cost(on_cores(processor, 1), 400, words)

    def run(self, at: Place) -> Found:
        claims: list[Claim] = []
        numbers: dict[str, Any] = {}
        table = [
            "w₁^k₁·w₂^k₂    ε    nβ·log n/n   λ̂, quadrature   acceptance   ‖nβ∇L‖ · ε/2, γ‖w − w0‖ · ε/2, noise √(2ε)   "
            "virial and growth (2)"
        ]
        for row in self.rows:
            found = self._row(row, at)
            numbers[row.name] = found
            claims += self._judged(row, found)
            for cell in found["cells"]:
                size, balance = cell["step_size"], Measured.of(np.add(cell["virial"], cell["growth"]))
                terms = ", ".join(
                    f"{float(np.sqrt(np.mean(cell[name]))) * size / 2:.3g}" for name in ("gradient", "pull")
                )
                table.append(
                    f"{row.name:11} {size:g} {cell['temperature']:g}   {Measured.of(cell['llc'])}, {np.mean(cell['exact']):.3f}   "
                    f"{Measured.of(cell['acceptance'])}   {terms}, {(2 * size) ** 0.5:.3g}   {balance}"
                )
        return Found(claims, numbers, lambda: self._figure(numbers), table)

    def _row(self, row: Entry, at: Place) -> Mapping[str, Any]:
        k, h = ([int(each) for each in pair] for pair in (row.k, row.h))
        sizes, temperatures = [list(each) for each in (self.step_sizes, self.temperatures)]
        asked = [
            "checks",
            k,
            h,
            sizes,
            temperatures,
            self.repeats,
            self.steps,
            self.looks,
            self.localization,
            self.seed,
        ]
        return at.part(asked, partial(self._made, k, h), f"row {row.name}")

    def _made(self, k: list[int], h: list[int]) -> dict[str, Any]:
        """cells: of each step size and temperature, lists [repeats].  slopes, again: of each step size."""
        problem = planar_landscape("normal_crossing", k=k, h=h, data_sets=self.repeats, seed=self.seed)
        usual = problem.n_beta
        config = RunConfig(
            sampler={"name": "SGLD"},
            grid={"step_size": self.step_sizes, "n_beta": tuple(usual * each for each in self.temperatures)},
            chains=self.repeats,
            steps=self.steps,
            burn_in=BURN_IN,
            localization=self.localization,
            seed=self.seed,
            dtype="float64",
        )
        run, pairs, radii = Run(config, problem), [], []
        settings = [(size, each) for size in self.step_sizes for each in self.temperatures]
        sizes, n_beta = (np.tile(np.array([pair[i] for pair in settings]), self.repeats) for i in (0, 1))
        every = max(2, self.steps // self.looks)
        while not run.finished:
            run.advance(every - 1)
            before = run.displacements
            run.advance(1)
            if run.steps_done > BURN_IN * self.steps and not run.finished:
                pairs.append(looked(problem, before, run.displacements, usual * n_beta, self.localization, sizes))
                radii.append(np.square(before).sum(axis=1))
        means = {name: np.mean([getattr(pair, name) for pair in pairs], axis=0) for name in Looked.__annotations__}
        means["growth"] = (radii[-1] - radii[0]) / (every * (len(radii) - 1) * sizes)
        estimates = run.estimates()
        cells = []
        for place, (estimate, (size, temperature)) in enumerate(zip(estimates, settings, strict=True)):
            exact = posterior(problem, usual * temperature, self.localization).llc
            seen = {name: values[place :: len(settings)].tolist() for name, values in means.items()}
            own = {
                "step_size": size,
                "temperature": temperature,
                "llc": estimate.per_chain.tolist(),
                "exact": exact.tolist(),
            }
            cells.append({**own, **seen})
        count = len(self.temperatures)
        rows = []
        for first in range(0, len(settings), count):
            some, known = estimates[first : first + count], [cell["exact"] for cell in cells[first : first + count]]
            slope = temperature_llc(some)
            x = slope.inverse_beta
            weight = 1 / (x * [each.llc_se for each in some])
            true = np.polyfit(x, x * [np.mean(each) for each in known], 1, w=weight)[0]
            # towards the colder one, whose law lies within the other
            again = reweighted(some[0], some[1].n_beta, pool=False)
            rows.append(
                {
                    "slope": [slope.llc, slope.llc_se],
                    "exact_slope": float(true),
                    "again": (again.per_chain - np.array(known[1])).tolist(),
                }
            )
        return {"cells": cells, "rows": rows}

    def _judged(self, row: Entry, found: Mapping[str, Any]) -> list[Claim]:
        name, cells = row.name, found["cells"]
        claims, count = [], len(self.temperatures)
        for place, (size, each) in enumerate(zip(self.step_sizes, found["rows"], strict=True)):
            said = f"{name}, ε = {size:g}"
            some = cells[place * count : (place + 1) * count]
            off = [Measured.of(np.array(cell["llc"]) - np.array(cell["exact"])) for cell in some]
            claims += [
                self._small(
                    f"{said}: λ̂ at every nβ is the exact posterior mean (largest difference)", max(off, key=lambda one: abs(one.value))
                ),
                alike(
                    f"{said}: λ as the slope of n·L over temperatures", Measured(*each["slope"]),
                    ("quadrature", Measured(each["exact_slope"])), SLACK,
                ),
                self._small(
                    f"{said}: a run reweighted to the next temperature gives its exact λ̂ (difference)", Measured.of(each["again"])
                ),
            ]  # fmt: skip
        taken = {
            size: Measured.of(np.mean([cell["acceptance"] for cell in cells if cell["step_size"] == size], axis=0))
            for size in self.step_sizes
        }
        for one, other in pairwise(sorted(self.step_sizes)):
            text = f"{name}: a test would take fewer steps at the larger ε (acceptance)"
            claims.append(less(text, (f"{other:g}:", taken[other]), (f"{one:g}:", taken[one])))
        smallest = min(self.step_sizes)
        claims.append(
            at_least(f"{name}: at ε = {smallest:g} the test would hardly matter (acceptance)", taken[smallest], 0.95)
        )
        total = np.mean([np.add(cell["virial"], cell["growth"]) for cell in cells], axis=0)
        text = f"{name}: gradients balance noise and growth (virial and growth of ‖w − w0‖², all ε and nβ)"
        claims.append(alike(text, Measured.of(total), ("D", Measured(2.0)), SLACK))
        return claims

    def _small(self, text: str, found: Measured) -> Claim:
        return alike(text, found, ("0,", Measured(0.0)), SLACK)

    def _figure(self, numbers: Mapping[str, Any]) -> Any:
        """λ̂ and acceptance by temperature, a colour for each loss."""
        from llc_core.plots.kinds import curves
        from llc_core.plots.style import CHAINS, beside_each_other

        colors, drawn = list(CHAINS[: len(numbers)]), []
        for size in self.step_sizes:
            cells = {
                name: [cell for cell in found["cells"] if cell["step_size"] == size] for name, found in numbers.items()
            }
            named = {name: self._curve(each, "llc") for name, each in cells.items()}
            exact = {f"quadrature, {name}": self._curve(each, "exact")[:2] for name, each in cells.items()}
            dashes = ["solid"] * len(named) + ["dashed"] * len(exact)
            axes: dict[str, Any] = {"xlabel": "nβ · log n / n", "logx": True, "title": f"ε = {size:g}"}
            drawn.append(
                curves(
                    {**named, **exact},
                    colors=colors * 2,
                    dashes=dashes,
                    ylabel="λ̂ ± 2 s.e.",
                    legend_position="right",
                    **axes,
                )
            )
            taken = {name: self._curve(each, "acceptance") for name, each in cells.items()}
            drawn.append(
                curves(
                    taken,
                    colors=colors,
                    ylabel="acceptance, not used",
                    ylim=(0, 1.02),
                    legend_position="bottom_left",
                    **axes,
                )
            )
        return beside_each_other(*drawn, columns=2)

    def _curve(self, cells: list[Mapping[str, Any]], name: str) -> tuple[list[float], list[float], list[float]]:
        found = [Measured.of(cell[name]) for cell in cells]
        return [cell["temperature"] for cell in cells], [each.value for each in found], [each.se for each in found]
