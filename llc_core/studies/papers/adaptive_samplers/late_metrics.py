"""Where the metrics of adaptive samplers do no harm, and where they do all: drifts of any strength, metrics that are updated seldom, and
metrics of a layer that depend on earlier layers (all said by Rensmeyer & Niggemann 2025). Long, since these are three studies of one
item."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.bins import Bins
from llc_core.fields import hyper
from llc_core.line.run import simulate
from llc_core.samplers.drift_adam_sgld import DriftAdamSGLD
from llc_core.samplers.psgld import PSGLD
from llc_core.stationary.distances import total_variation
from llc_core.stationary.held_metric import held_masses
from llc_core.stationary.limit import limit_law, target_law
from llc_core.studies.papers.claims import Claim, Measured, alike, at_least, at_most, less, near, ours
from llc_core.studies.papers.study import Cost, Found, Place, Study, register, rising

STABILITY = 0.1
GROUPS = 4
"""Of chains, whose spread gives the errors."""
STIFF = 0.01
"""ε times the curvature that Adam's drift has at the mode."""
ADAM_STEPS, ADAM_CHAINS = 40_000, 2_048
STEP, TIME, BURN_IN = 2e-3, 60.0, 20.0
"""ε, and units of the chain's time, of metrics that are held."""
ROOM = 0.25
"""What the limit of large a may still lack: at a = 1000 the drift a·x/(s + |x|) is weaker at a standard deviation than a·x/s by a tenth."""
CLOSE, SLACK = 0.03, 0.03
"""Total variation of chains that have a distribution, and share of a mean that steps of this size add."""
PULL, FLOOR = 4.0, 0.5
"""b and s of two layers of one weight each: U = ½(w₁² + w₂² + b(w₁w₂ − 1)²), G of w₂ = 1/(s + w²)."""
LAYER_STEP, LAYER_TIME = 4e-3, 80.0


@register
@dataclass(frozen=True)
class LateMetrics(Study):
    """strengths: a of Adam's drift, rising.  held: for how long a metric stays, in units of the chain's time, rising.
    chains: of metrics that are held, and of layers."""

    strengths: tuple[float, ...] = hyper((1, 10, 100, 1000), read=rising("strengths", 2, above=0.0))
    held: tuple[float, ...] = hyper((0.01, 0.1, 1.0, 10.0), read=rising("times", 2, low=2 * STEP))
    chains: int = hyper(4_000, 100, 10_000_000)
    seed: int = hyper(0, 0, 2**31)

    def cost(self) -> Cost:
        words = f"Adam's drift at {len(self.strengths)} strengths, metrics held for {len(self.held)} times, two layers, {self.chains:,} chains"
        steps = len(self.held) * TIME / STEP + 2 * LAYER_TIME / LAYER_STEP
        return Cost(4 * len(self.strengths) + 4e-8 * self.chains * steps + 10, 300, words)

    def run(self, at: Place) -> Found:
        adam, adam_table, moments = self._adam(at)
        rare, rare_table, drawn = self._rare(at)
        layers, layers_table = self._layers(at)
        numbers = {"E x² by strength": moments, "held": {str(time): row["apart"] for time, row in drawn.items()}}
        return Found(
            [*adam, *rare, *layers],
            numbers,
            lambda: self._figure(moments, drawn),
            [*adam_table, *rare_table, *layers_table],
        )

    # -- Adam's drift --------------------------------------------------------------------------------------------------

    def _adam(self, at: Place) -> tuple[list[Claim], list[str], dict[str, Any]]:
        claims: list[Claim] = []
        table, moments = [], {}
        truth = target_law("normal").masses()
        for strength in map(float, self.strengths):
            point = STABILITY / (strength + STABILITY)
            sampler = DriftAdamSGLD(step_size=STIFF * point, alpha=0.5, beta=0.5, stability=STABILITY, a=strength)

            def make(sampler: DriftAdamSGLD = sampler) -> dict[str, Any]:
                runs = [
                    simulate(
                        sampler,
                        "normal",
                        chains=ADAM_CHAINS // GROUPS,
                        steps=ADAM_STEPS,
                        seed=self.seed + k,
                        bins=Bins(),
                    )
                    for k in range(GROUPS)
                ]
                return {
                    "second": [float(run.moments[1]) for run in runs],
                    "counts": [run.counts.tolist() for run in runs],
                }

            row = at.part(
                ["Adam's drift", sampler.to_dict(), self.seed, ADAM_STEPS], make, f"Adam's drift, a = {strength:g}"
            )
            law = limit_law(sampler, "normal")
            second, wanted = Measured.of(row["second"]), law.moments()["second"]
            text = f"a = {strength:g}: E x² is that of the predicted distribution"
            claims += ours([alike(text, second, ("predicted", Measured(wanted)), SLACK * wanted)])
            apart = Measured.of([total_variation(counts, truth) for counts in row["counts"]])
            moments[f"{strength:g}"] = {"found": second.value, "predicted": wanted, "of a point": point}
            table.append(
                f"Adam's drift, a = {strength:g}: E x² {second}, predicted {wanted:.4g}, s/(a + s) = {point:.4g}; to the target {apart}"
            )
        claims.append(
            near(
                "large a: E x² is s/(a + s) of the target's, as of a minimiser with noise",
                Measured(second.value / point, second.se / point),
                1.0,
                ROOM,
                "limit",
            )
        )
        claims.append(at_least(f"a = {strength:g}: nothing of the target is left (total variation)", apart, 0.8))
        return claims, table, moments

    # -- metrics that are held -----------------------------------------------------------------------------------------

    def _rare(self, at: Place) -> tuple[list[Claim], list[str], dict[float, Any]]:
        bins, drawn = Bins(), {}
        truth = target_law("normal").masses(bins)
        moving = limit_law(PSGLD(stability=STABILITY, gamma_term="dropped"), "normal").masses(bins)
        claims, table = [], []
        for time in map(float, self.held):

            def make(time: float = time) -> dict[str, Any]:
                return {"counts": held_chains(time, self.chains, self.seed, bins).tolist()}

            counts = np.array(
                at.part(["held metric", time, STEP, TIME, self.chains, self.seed], make, f"a metric held for {time:g}")[
                    "counts"
                ]
            )
            exact = held_masses(time, STABILITY, bins)
            near_exact = Measured.of([total_variation(each, exact) for each in counts])
            drawn[time] = {
                "counts": counts.sum(axis=0), "exact": exact,
                "apart": {"target": total_variation(exact, truth), "moving": total_variation(exact, moving)},
                "found": {
                    name: Measured.of([total_variation(each, law) for each in counts])
                    for name, law in (("target", truth), ("moving", moving))
                },
            }  # fmt: skip
            text = f"a metric held for {time:g}: chains have the computed distribution (total variation)"
            claims += ours([at_most(text, near_exact, CLOSE)])
            table.append(
                f"a metric held for {time:g} units of time, {round(time / STEP):,} steps: "
                f"chains to the target {drawn[time]['found']['target']}, computed {drawn[time]['apart']['target']:.3f}; "
                f"to the distribution of a moving metric {drawn[time]['found']['moving']}, computed {drawn[time]['apart']['moving']:.3f}; "
                f"chains to the computed one {near_exact}"
            )
        first, last = drawn[min(drawn)]["found"], drawn[max(drawn)]["found"]
        held = f"a metric held for {max(drawn):g}"
        claims.append(
            at_most(
                f"a metric held for {min(drawn):g} has the bias of one that moves without Γ",
                first["moving"],
                CLOSE,
            )
        )
        claims.append(at_most(f"{held}, longer than the chain remembers: its bias is gone", last["target"], CLOSE))
        claims.append(
            less(
                f"{held} has less bias than one held for {min(drawn):g}",
                (f"{max(drawn):g}", last["target"]),
                (f"{min(drawn):g}", first["target"]),
            )
        )
        return claims, table, drawn

    # -- layers --------------------------------------------------------------------------------------------------------

    def _layers(self, at: Place) -> tuple[list[Claim], list[str]]:
        """Metrics of the second weight without Γ: that of the weight before, as batch norm has it, and its own."""
        grid = np.linspace(-6, 6, 1201)
        first, second = np.meshgrid(grid, grid, indexing="ij")
        target = np.exp(-0.5 * (first**2 + second**2 + PULL * (first * second - 1) ** 2))
        claims, table = [], []

        def mean(density: np.ndarray) -> float:
            return float((density * second**2).sum() / density.sum())

        for name, own in (("the layer before", False), ("its own weight", True)):

            def make(own: bool = own) -> dict[str, Any]:
                return {"second": layered_chains(own, self.chains, self.seed).tolist()}

            found = Measured.of(
                at.part(["layers", own, LAYER_STEP, LAYER_TIME, self.chains, self.seed], make, f"a metric of {name}")[
                    "second"
                ]
            )
            known = mean(target * (FLOOR + second**2) if own else target)
            told = "the target over its metric" if own else "the target"
            claims.append(
                alike(
                    f"a layer's metric of {name}, without Γ: E w² is that of {told}",
                    found,
                    (told, Measured(known)),
                    SLACK * known,
                )
            )
            table.append(f"a layer's metric of {name}: E w² {found}, {told} {known:.4f}, target {mean(target):.4f}")
        return claims, table

    def _figure(self, moments: Mapping[str, Any], drawn: Mapping[float, Any]) -> Any:
        from llc_core.plots.kinds import curves, densities
        from llc_core.plots.style import beside_each_other

        strengths = [float(a) for a in moments]
        named = {
            words: (strengths, [row[key] for row in moments.values()])
            for words, key in (("chains", "found"), ("predicted", "predicted"), ("s/(a + s)", "of a point"))
        }
        panels = [
            curves(
                named,
                dashes=("solid", "dashed", "dotted"),
                dots=True,
                logx=True,
                logy=True,
                xlabel="strength a of Adam's drift",
                ylabel="E x²",
            )
        ]
        bins = Bins()
        x = np.linspace(bins.low, bins.high, 401)
        normal = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
        for time, row in drawn.items():
            beside = {"target": (x, normal), "computed": bins.density(row["exact"])}
            panels.append(
                densities(
                    bins.edges,
                    {"chains": bins.density(row["counts"])},
                    beside,
                    title=f"metric held for {time:g}",
                    xlabel="x",
                )
            )
        return beside_each_other(*panels)


def held_chains(time: float, chains: int, seed: int, bins: Bins) -> np.ndarray:
    """Visits [GROUPS, count + 2] of chains on the standard normal whose metric 1/(s + |x|) is renewed every `time`, from the target."""
    random = np.random.default_rng([seed, round(time / STEP)])
    x, hold = random.standard_normal(chains), round(time / STEP)
    counts = np.zeros((GROUPS, bins.count + 2))
    group = np.arange(chains) * GROUPS // chains
    edges = bins.edges
    for step in range(round(TIME / STEP)):
        if step % hold == 0:
            metric = 1 / (STABILITY + np.abs(x))
            scale = np.sqrt(STEP * metric)
        x = x - STEP / 2 * metric * x + scale * random.standard_normal(chains)
        # steps of all ages of the metric alike: a count after a whole number of updates would see one age only
        if step * STEP >= BURN_IN and step % 7 == 0:
            np.add.at(counts, (group, np.searchsorted(edges, x)), 1)
    return counts


def layered_chains(own: bool, chains: int, seed: int) -> np.ndarray:
    """E w₂² [GROUPS] of chains of two weights, the metric of the second being 1/(s + w²) of its own or of the first, without Γ."""
    random = np.random.default_rng([seed, 1 + own])
    w = 1 + 0.3 * random.standard_normal((chains, 2))
    w *= random.choice([-1.0, 1.0], (chains, 1))  # both signs of the two have the same loss
    sums, seen = np.zeros(chains), 0
    metric: Callable[[np.ndarray], np.ndarray] = lambda v: 1 / (FLOOR + v**2)  # noqa: E731
    for step in range(round(LAYER_TIME / LAYER_STEP)):
        off = PULL * (w[:, 0] * w[:, 1] - 1)
        slope = np.stack([w[:, 0] + off * w[:, 1], w[:, 1] + off * w[:, 0]], axis=1)
        scale = np.stack([np.ones(chains), metric(w[:, 1] if own else w[:, 0])], axis=1)
        w = w - LAYER_STEP / 2 * scale * slope + np.sqrt(LAYER_STEP * scale) * random.standard_normal((chains, 2))
        if step * LAYER_STEP >= LAYER_TIME / 4:
            sums, seen = sums + w[:, 1] ** 2, seen + 1
    return np.array([part.mean() for part in np.array_split(sums / seen, GROUPS)])
