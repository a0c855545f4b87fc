"""What the correction term Γ costs a step: its time with Γ as a multiple of the time without (Rensmeyer & Niggemann 2025)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from llc_core.compute.precision import SINGLE
from llc_core.engine.target import Target
from llc_core.fields import hyper, short
from llc_core.potentials import DeepLinearNetwork, NetworkPotential, Potential
from llc_core.samplers import Sampler, hyperparameters
from llc_core.samplers.monge_sgld import MongeSGLD
from llc_core.samplers.psgld import PSGLD
from llc_core.samplers.shampoo_sgld import ShampooSGLD
from llc_core.studies.papers.claims import Claim, Measured, near
from llc_core.studies.papers.study import Cost, Found, Place, Study, register

CHAINS, ROWS = 4, 500
STATED, WITHIN = 2.0, 0.75
"""The paper says twice as long, for what is not known here; and what is still called that."""
BY_COLUMNS = 64
"""Parameters up to which a module's Hessian is made column by column, and above by one random probe."""


def read_layers(label: str, value: Any) -> tuple[str, ...]:
    found = tuple(map(str, value)) if not isinstance(value, str) else (value,)
    if not found or any(len(widths_of(each)) != 3 for each in found):
        raise ValueError(f"{label} is {short(value)}; give a list of three widths each, such as ['40-60-40'].")
    return found


def widths_of(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("-") if part.isdigit() and int(part))


@register
@dataclass(frozen=True)
class CorrectionCosts(Study):
    """layers: widths of networks of two layers, linear and with tanh.  steps: of one measurement.  rounds: of them, each with and without
    Γ in turn, so that what else the machine does falls on both."""

    layers: tuple[str, ...] = hyper(("40-60-40",), read=read_layers)
    steps: int = hyper(60, 1, 100_000)
    rounds: int = hyper(7, 3, 1000)

    def cost(self) -> Cost:
        weights = sum(widths_of(each)[1] * (widths_of(each)[0] + widths_of(each)[2]) for each in self.layers)
        # six products of a matrix for a pass and its gradient, three times that with Γ, and a floor of a step
        passes = 2 * 3 * (self.rounds * self.steps + 2)
        seconds = passes * (40 * CHAINS * ROWS * weights / 2e10 + len(self.layers) * 1e-3)
        return Cost(
            seconds,
            500,
            f"steps of three samplers with and without Γ on networks {', '.join(self.layers)}, {self.rounds} times {self.steps}",
        )

    def run(self, at: Place) -> Found:
        claims: list[Claim] = []
        numbers: dict[str, Any] = {}
        for layers in self.layers:
            for kind, make_problem in (("linear", linear), ("perceptron", perceptron)):
                for sampler in (PSGLD(step_size=1e-6), MongeSGLD(step_size=1e-6), ShampooSGLD(step_size=1e-6)):
                    name = f"{kind} {layers}, {sampler.label}"

                    def make(
                        make_problem: Any = make_problem, layers: str = layers, sampler: Sampler = sampler
                    ) -> dict[str, Any]:
                        problem = make_problem(widths_of(layers))
                        return {"ratios": self._ratios(problem, sampler), "parameters": problem.dim}

                    asked = ["cost of Γ, each first in turn", kind, layers, sampler.to_dict(), self.steps, self.rounds]
                    row = at.part(asked, make, name)
                    if not row["ratios"]:
                        continue
                    # the middle of the rounds: a pause of the machine falls on one of them
                    found = _middle(np.array(row["ratios"]))
                    numbers[name] = {**found.numbers, "parameters": row["parameters"]}
                    if sampler.name == "PSGLD" and (kind == "linear" or row["parameters"] > BY_COLUMNS):
                        claims.append(near(f"{name}: Γ makes a step twice as long", found, STATED, WITHIN, "stated"))
        table = [
            f"{name}, {row['parameters']:,} parameters: time × {Measured(row['value'], row['se'])}"
            for name, row in numbers.items()
        ]
        return Found(claims, numbers, lambda: self._figure(numbers), table)

    def _ratios(self, problem: Potential, sampler: Sampler) -> list[float]:
        """Time with Γ over that without, [rounds]; empty where the sampler has Γ for fewer parameters only."""
        try:
            with_it = stepping(problem, sampler.replace(gamma_term="published"))
        except ValueError:
            return []
        without = stepping(problem, sampler.replace(gamma_term="dropped"))
        with_it(), without()
        ratios = []
        for k in range(self.rounds):
            # each goes first in turn: what slows down or speeds up within a round falls on both
            ways = (with_it, without) if k % 2 else (without, with_it)
            taken = {way: self._seconds(way) for way in ways}
            ratios.append(taken[with_it] / taken[without])
        return ratios

    def _seconds(self, step: Callable[[], None]) -> float:
        began = time.process_time()
        for _ in range(self.steps):
            step()
        return time.process_time() - began

    def _figure(self, numbers: Mapping[str, Any]) -> Any:
        from llc_core.plots.kinds import in_places
        from llc_core.plots.style import line_at

        found = {"Γ": ([row["value"] for row in numbers.values()], [row["se"] for row in numbers.values()])}
        return in_places(
            list(numbers), found, ground=line_at(STATED, upright=True), lying=True, xlabel="time of a step, with Γ over without",
            logx=True, height=120 + 28 * len(numbers),
        )  # fmt: skip


def _middle(ratios: np.ndarray) -> Measured:
    return Measured.resampled(lambda some: float(np.median(ratios[some])), len(ratios))


def linear(widths: tuple[int, ...]) -> Potential:
    random = np.random.default_rng(0)
    weights = [random.standard_normal((b, a)) / np.sqrt(a) for a, b in zip(widths, widths[1:], strict=False)]
    return DeepLinearNetwork(weights, n=ROWS, seed=0)


def perceptron(widths: tuple[int, ...]) -> Potential:
    first, hidden, last = widths
    generator = torch.Generator().manual_seed(0)
    module = torch.nn.Sequential(
        torch.nn.Linear(first, hidden, bias=False), torch.nn.Tanh(), torch.nn.Linear(hidden, last, bias=False)
    )
    with torch.no_grad():
        for weight in module.parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator, **SINGLE) / weight.shape[1] ** 0.5)
    data = [torch.randn(ROWS, width, generator=generator, **SINGLE) for width in (first, last)]
    return NetworkPotential(module, "mse", tuple(data))


def stepping(problem: Potential, sampler: Sampler) -> Callable[[], None]:
    """One step from the same place, each time it is called. ValueError where the sampler has no Γ for so many parameters."""
    like, ones = torch.empty(0, **SINGLE), torch.ones(CHAINS, 1, **SINGLE)
    hp = hyperparameters(sampler, CHAINS, like, problem.layers)
    generator = torch.Generator().manual_seed(0)
    delta = 0.01 * torch.randn(CHAINS, problem.dim, generator=generator, **SINGLE)
    noise = torch.randn(1, CHAINS, problem.dim, generator=generator, **SINGLE)
    state, target = sampler.init(delta, noise[0], hp), Target(problem, 100 * ones, ones)
    probe = generator if sampler.needs_hessian_diagonal else None

    def step() -> None:
        with torch.inference_mode(False), torch.no_grad():
            energy = target.evaluate(delta.clone(), None, None, probe, sampler.needs_hvp)
            sampler.update(state, energy, noise, hp)

    return step
