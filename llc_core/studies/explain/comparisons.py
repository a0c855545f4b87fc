"""Runs that are made to be compared with the estimate, each without one more cause of error."""

from __future__ import annotations

import math
from collections.abc import Iterator

from llc_core.compute.streams import stream_seed
from llc_core.config import MAX_CHAINS, RunConfig
from llc_core.engine.machine import check_memory
from llc_core.engine.run import Run
from llc_core.samplers import Sampler, build
from llc_core.studies.explain.ledger import ESTIMATE, Ledger, Level
from llc_core.studies.explain.subject import Subject

FULL, RIGHT_LAW, SMALL_STEP = "full", "right distribution", "small step"
"""Names of the runs, which are those of their measurements too."""
DOING = {
    FULL: "The same run with full gradients",
    RIGHT_LAW: "A sampler that moves alike and draws from the target",
    SMALL_STEP: "A run at a smaller step size",
}
"""What is being measured, for people."""
MEMORY = {
    "AdamSGLD": ("beta2",),
    "DriftAdamSGLD": ("alpha", "beta"),
    "MongeSGLD": ("alpha",),
    "ShampooSGLD": ("alpha",),
}
"""Sampler → fields that say for how many steps it remembers gradients. Its distribution depends on the time that this takes, so a
run at a smaller step size must remember more steps."""
LARGE_SHARE = 0.15
"""A step above this share of its stability limit is compared with a quarter of it, a smaller one with a half: far from
0 the error is not proportional to ε any more."""
FEWEST_CHAINS = 4


class Comparisons:
    """The runs that this subject needs, and what they may cost.

    budget: chain-steps as a multiple of the estimate's own.  costs: run → its steps as a multiple of the estimate's.
    right_distribution: a sampler that moves as the subject's and has the right distribution; None where there is none.
    division: by how much the step size is made smaller.  chains: of each run.
    """

    def __init__(self, subject: Subject, budget: float):
        self.subject = subject
        self.right_distribution = with_right_distribution(subject.sampler, subject.step)
        self.division = 4 if subject.limit_share > LARGE_SHARE and subject.sampler.order == 1 else 2
        self.costs = self._costs()
        self.chains = self._affordable(
            round(subject.estimate.config.chains * budget / max(sum(self.costs.values()), 1))
        )

    def _costs(self) -> dict[str, float]:
        if not self.subject.can_be_full:
            return {}
        costs = {FULL: 1.0} if self.subject.is_noisy else {}
        if self.right_distribution is not None:
            costs[RIGHT_LAW] = 1.0
        if not self.subject.is_exact:
            costs[SMALL_STEP] = float(self.division)
        return costs

    def _affordable(self, wished: int) -> int:
        """What the budget allows, but enough chains for an error bar and not too many for the memory."""
        chains = min(max(wished, FEWEST_CHAINS), MAX_CHAINS)
        try:
            check_memory(self.subject.config.replace(chains=chains), self.subject.problem)
        except ValueError:
            return self.subject.config.chains
        return chains

    def runs(self, ledger: Ledger) -> Iterator[tuple[str, Iterator[float]]]:
        """Runs in the order of the causes: the name of each, and the share done while it goes on.

        When a run has ended, its number is written to the ledger. It is missing there if most of its chains diverged.
        """
        subject, config = self.subject, self.subject.config
        sampler, base = subject.sampler, FULL if subject.is_noisy else ESTIMATE
        if FULL in self.costs:
            yield FULL, self._run(FULL, config, ledger)
            if FULL in ledger.measured:
                how = f"{subject.estimate.config.gradient} gradients against full ones at the same step size"
                ledger.levels["minibatch"] = Level({FULL: 1.0}, f"{how}, {self.chains} chains")
        if self.right_distribution is not None and RIGHT_LAW in self.costs:
            sampler, base = self.right_distribution, RIGHT_LAW
            yield base, self._run(base, config.replace(sampler=sampler.to_dict()), ledger)
            if base in ledger.measured:
                how = f"{subject.sampler.label} against {sampler.label} at the same step size, {self.chains} chains"
                ledger.levels["law"] = Level({base: 1.0}, how)
        if SMALL_STEP in self.costs:
            yield SMALL_STEP, self._run(SMALL_STEP, self._with_smaller_step(sampler), ledger)
            if {base, SMALL_STEP} <= set(ledger.measured):
                self._extrapolate(base, ledger)

    def _run(self, name: str, config: RunConfig, ledger: Ledger) -> Iterator[float]:
        current = Run(config.replace(chains=self.chains, seed=seed_of(config, name)), self.subject.problem)
        for snapshot in current:
            yield snapshot.steps / snapshot.total_steps
        ledger.record_chains(name, current.llc_per_chain())

    def _with_smaller_step(self, sampler: Sampler) -> RunConfig:
        """The run that is as long in the time of the limiting diffusion, steps × step size."""
        k = self.division
        changes = {name: float(getattr(sampler, name)) ** (1 / k) for name in MEMORY.get(sampler.name, ())}
        return self.subject.config.replace(
            sampler=sampler.replace(**changes, step_size=self.subject.step / k).to_dict(),
            steps=k * self.subject.estimate.steps,
            burn_in=k * int(self.subject.estimate.burn_in),
        )

    def _extrapolate(self, base: str, ledger: Ledger) -> None:
        """The value as ε → 0, from ε and ε/k: v₀ = (kᵖ·v(ε/k) − v(ε))/(kᵖ − 1) at order p.

        On a quadratic the bias grows as s/(1 − s) in a direction at the share s of the stability limit, and the first
        order then gives k/(k − s) of it, between 1 (far below the limit) and its value at the run's own share. The
        middle of the two is taken, and half their distance counts as an error.
        """
        order, k, s = self.subject.sampler.order, self.division, self.subject.limit_share
        ratio = float(k**order)
        weights = {SMALL_STEP: ratio / (ratio - 1), base: -1 / (ratio - 1)}
        zero = sum(w * ledger.measured[name][0] for name, w in weights.items())
        beyond = (ledger.measured[base][0] - zero) * s**order / (2 * ratio)
        ledger.measured["extrapolation"] = (beyond, abs(beyond))
        step = self.subject.step
        how = f"full gradients, ε = {step:.3g} against ε/{k} with {k} times the steps, {self.chains} chains"
        ledger.levels["step_size"] = Level({**weights, "extrapolation": 1.0}, f"{how}, extrapolated at order {order}")


def seed_of(config: RunConfig, name: str) -> int:
    """Seed of the run of this name: another one than the estimate's, always the same."""
    return stream_seed(config.seed, f"explain/{name}")


def with_right_distribution(sampler: Sampler, step: float) -> Sampler | None:
    """A sampler that moves alike and whose distribution is right: the metric frozen after burn-in, or the dynamics corrected."""
    values = sampler.to_dict()
    frozen = {"name": "FrozenPSGLD", "step_size": step}
    if sampler.name == "RMSPropSGLD":
        return build({**frozen, "alpha": values["beta"], "stability": math.sqrt(values["stability"])})
    if sampler.name == "PSGLD":
        return build({**frozen, "alpha": values["alpha"], "stability": values["stability"]})
    if sampler.name == "SGHMC" and values["dynamics"] == "printed":
        return sampler.replace(dynamics="corrected")
    return None
