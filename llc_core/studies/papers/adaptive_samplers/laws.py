"""What samplers converge to on the line: chains beside the target, the law of the limit of small steps, and the exact one of this step.

The figures of Rensmeyer & Niggemann 2025. Which of its claims a sampler is held to follows from its own law: with the whole of Γ it is
to have the target, otherwise the predicted law and not the target. Chains begin in the target, so that staying there says little
alone: what says more is that the published sampler leaves it in the same time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.bins import Bins
from llc_core.compute.cores import available_cores
from llc_core.fields import Settings, hyper, is_list, short
from llc_core.line.run import simulate
from llc_core.potentials.line.build import landscape
from llc_core.samplers.registry import build
from llc_core.stationary.distances import total_variation
from llc_core.stationary.exact import exact_law
from llc_core.stationary.limit import limit_law, target_law
from llc_core.studies.papers.claims import Claim, Measured, at_most, less, near, ours
from llc_core.studies.papers.study import Cost, Found, Place, Study, register

ELEMENT_STEPS = 2.5e8
"""Steps of one chain in a second of one core, RESULTS.md."""
CALL_SECONDS, CALL_STEPS = 1.2e-5, 32
"""What a call of the compiled loop takes besides, and the steps that it does."""
SAME = 1e-6
"""Total variation below which the predicted law is the target itself."""
ROUNDING = 1e-3
"""Relative error of a printed constant that is still one of its last digit."""


@dataclass(frozen=True)
class Panel(Settings):
    """label: the panel's title.  sampler: with its step size.  ours: the paper has none of it.

    printed: the constant that normalises its law, as printed; None: it is not.
    weight_at_mode: what the printed law has in place of G^{−(1−c)}·exp(∫extra/G) where that integral begins.
    """

    what = "panel"

    label: str = hyper("", read=lambda label, value: str(value))
    sampler: Mapping[str, Any] = hyper(dict, read=lambda label, value: build(value).to_dict())
    ours: bool = hyper(False)
    printed: float | None = hyper(None, 0.0)
    weight_at_mode: float = hyper(1.0, 0.0, open_low=True)


def read_panels(label: str, value: Any) -> tuple[Panel, ...]:
    if not is_list(value) or not len(value):
        raise ValueError(f"{label} is {short(value)}; give a list of tables, each with a label and a sampler.")
    return tuple(Panel.read_from(label, each) for each in value)


@register
@dataclass(frozen=True)
class LineLaws(Study):
    """Densities of chains, a panel for each sampler.

    chains, seeds: `seeds` runs of `chains` chains each, whose spread gives the errors.  steps, burn_in, step_decay: as in
    `llc_core.line.LineRun`.  bins: of the histograms.  resolution: of the exact law at this step size; 0: without it.
    close: the total variation from the target up to which a corrected sampler has reached it.
    pair: two labels; the first one's chains are to be nearer to the target than the second one's.
    """

    panels: tuple[Panel, ...] = hyper((), read=read_panels)
    target: str = hyper("normal", read=lambda label, value: landscape(value).name)
    chains: int = hyper(64, 1, 2_000_000)
    seeds: int = hyper(4, 2, 100)
    steps: int = hyper(10_000, 1, 1_000_000_000)
    burn_in: float = hyper(0.3, 0.0, 1.0, open_high=True)
    step_decay: float = hyper(0.0, 0.0, 1.0, open_high=True)
    bins: Bins = hyper(Bins, read=Bins.read_from)
    resolution: float = hyper(0.0, 0.0, 4.0)
    close: float = hyper(0.03, 0.0, 1.0)
    pair: tuple[str, ...] = hyper((), read=lambda label, value: tuple(map(str, value)))

    def agree(self) -> None:
        unknown = [name for name in self.pair if name not in [panel.label for panel in self.panels]]
        if unknown or len(self.pair) not in (0, 2):
            raise ValueError(f"pair is {short(list(self.pair))}; give the labels of two panels, or none.")

    def cost(self) -> Cost:
        each = self.steps * (self.chains / ELEMENT_STEPS + CALL_SECONDS / CALL_STEPS * min(self.chains, 8))
        seconds = each * self.seeds * len(self.panels) / min(available_cores(), max(1, self.chains // 8))
        words = f"{self.seeds} runs of {self.chains:,} chains × {self.steps:,} steps for {len(self.panels)} samplers"
        return Cost(seconds + 20 * len(self.panels) * (self.resolution > 0), 400, words)

    def run(self, at: Place) -> Found:
        target, truth = landscape(self.target), target_law(self.target).masses(self.bins)
        claims: list[Claim] = []
        numbers: dict[str, Any] = {}
        reached: dict[str, Measured] = {}
        drawn = []
        for panel in self.panels:
            seen = np.array([self._counts(panel, seed, at) for seed in range(self.seeds)])
            law = limit_law(panel.sampler, self.target)
            predicted = law.masses(self.bins)
            to_target, to_law = (
                Measured.of([total_variation(each, known) for each in seen]) for known in (truth, predicted)
            )
            reached[panel.label] = to_target
            numbers[panel.label] = {
                "to target": to_target.value, "se": to_target.se, "to predicted": to_law.value, "se of it": to_law.se,
                "constant": law.normalizer,
            }  # fmt: skip
            judged = self._judged(panel, law, to_target, to_law, total_variation(predicted, truth))
            claims += ours(judged) if panel.ours else judged
            if self.resolution:
                exact = self._exact(panel, at)
                drawn.append((panel.label, seen.sum(axis=0), law, exact))
                if exact is not None:
                    numbers[panel.label]["exact law to target"] = total_variation(exact, truth)
            else:
                drawn.append((panel.label, seen.sum(axis=0), law, None))
        if self.pair:
            one, other = ((name, reached[name]) for name in self.pair)
            text = f"{one[0]} stays nearer to the target, where both begin, than {other[0]} in the same time"
            claims.append(less(text, one, other))
        return Found(claims, numbers, lambda: self._figure(drawn, target))

    def _counts(self, panel: Panel, seed: int, at: Place) -> np.ndarray:
        """Visits of the bins and the two tails, [count + 2]."""
        options = {name: getattr(self, name) for name in ("chains", "steps", "burn_in", "step_decay")}

        def make() -> dict[str, Any]:
            found = simulate(panel.sampler, self.target, bins=self.bins, seed=seed, **options)
            return {"counts": found.counts.tolist(), "diverged": found.diverged}

        asked = ["line", panel.sampler, self.target, options, self.bins.to_dict(), seed]
        return np.array(at.part(asked, make, f"{panel.label}, run {seed + 1} of {self.seeds}")["counts"])

    def _exact(self, panel: Panel, at: Place) -> np.ndarray | None:
        """Masses [count + 2] of the law at this very step size; None where there is none to compute."""

        def make() -> dict[str, Any]:
            try:
                found = exact_law(panel.sampler, self.target, resolution=self.resolution)
            except ValueError as error:
                return {"masses": None, "why": str(error)}
            return {"masses": found.masses(self.bins).tolist(), "converged": found.converged}

        asked = ["exact", panel.sampler, self.target, self.resolution, self.bins.to_dict()]
        masses = at.part(asked, make, f"{panel.label}, exact distribution of the step size")["masses"]
        return None if masses is None else np.array(masses)

    def _judged(self, panel: Panel, law: Any, to_target: Measured, to_law: Measured, apart: float) -> list[Claim]:
        found = []
        if panel.printed is not None:
            text = f"{panel.label}: the printed constant normalises the predicted law"
            constant = law.normalizer / panel.weight_at_mode
            found.append(near(text, Measured(constant), panel.printed, ROUNDING * panel.printed))
        if apart < SAME:
            text = f"{panel.label} stays at the target, where chains begin (total variation)"
            return [*found, at_most(text, to_target, self.close)]
        text = f"{panel.label} reaches the predicted distribution and not the target (total variation)"
        return [*found, less(text, ("to the predicted", to_law), ("to the target", to_target))]

    def _figure(self, drawn: list[Any], target: Any) -> Any:
        from llc_core.plots.kinds import densities
        from llc_core.plots.style import beside_each_other

        x = np.linspace(self.bins.low, self.bins.high, 801)
        plots = []
        for label, counts, law, exact in drawn:
            beside = {"target": (x, target.density(x)), "predicted, ε → 0": (x, law.density(x))}
            if exact is not None:
                beside["exact at this ε"] = (self.bins.centers, self.bins.density(exact))
            plots.append(
                densities(self.bins.edges, {"chains": self.bins.density(counts)}, beside, title=label, xlabel="x")
            )
        return beside_each_other(*plots)
