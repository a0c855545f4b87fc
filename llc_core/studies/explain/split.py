"""Why this number? The error of one estimate, split into causes that are each measured.

Between λ̂ and the exact λ stand values that differ by one cause each:

    λ̂ as it ran → with full gradients → with the right law → as ε → 0 → of an exact sampler → expected at this n → local λ
    → global λ,

and a part is the difference of two neighbours, so that the parts add up to λ̂ − λ exactly. Every value is a linear
combination of independent measurements, and so is every part and its variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import torch

from llc_core.compute.streams import stream_seed
from llc_core.config import MAX_CHAINS, RunConfig
from llc_core.diagnostics import convergence as diagnostics
from llc_core.engine.memory import check_memory
from llc_core.engine.run import Run
from llc_core.fields import number
from llc_core.potentials.base import Potential
from llc_core.potentials.deep_linear.network import DeepLinearNetwork
from llc_core.potentials.line.landscape import Landscape
from llc_core.references.gibbs import BlockedGibbs
from llc_core.results import Estimate
from llc_core.samplers import MetropolisSampler, Sampler, build

CAUSES = {
    "minibatch": ("Minibatch noise", "a larger batch, a smaller step size or full gradients reduce it"),
    "law": ("The sampler's own law", "another sampler, or a metric that moves less, reduces it"),
    "step_size": ("The step size", "a smaller one with more steps reduces it"),
    "mixing": ("Mixing", "more steps, or a sampler that moves faster, reduce it"),
    "localization": (
        "Localisation, higher order and this data set",
        "no sampler changes it, but γ, nβ and n do",
    ),
    "finite_n": ("Finite n", "it is the known difference between λ and its estimate at this n and nβ"),
    "local_global": ("Local against global λ", "w0 is not the most singular point of its level set"),
}
"""Causes in the order in which they are taken away: name, label for people, and what would change it. A sampler that no
other resembles keeps its own law until the exact reference; "law" then comes after "step_size"."""
MEMORY = {
    "AdamSGLD": ("beta2",),
    "DriftAdamSGLD": ("alpha", "beta"),
    "MongeSGLD": ("alpha",),
    "ShampooSGLD": ("alpha",),
}
"""What such samplers remember for a number of steps, and their law depends on: the time it lasts is held fixed."""
DOING = {
    "full": "The same run with full gradients",
    "right law": "A sampler that moves alike and has the right law",
    "small step": "A run at a smaller step size",
    "exact reference": "The exact reference",
}
"""What is being measured, for people."""
LARGE_SHARE = 0.15
"""A step above this share of its stability limit is compared with a quarter of it, a smaller one with a half: far from
0 the error is not proportional to ε any more."""
UNKNOWN_SHARE = 0.25
"""Share of the stability limit that is assumed where the limit is not known."""
BUDGET = 4.0
FEWEST_CHAINS, REFERENCE_CHAINS = 4, 8
FEWEST_SWEEPS, MOST_SWEEPS, STEPS_PER_SWEEP = 200, 2000, 20
"""A Gibbs sweep of a small network takes as long as some 20 steps."""
FEWEST_TRAJECTORIES, STEPS_PER_TRAJECTORY = 400, 10
SIGNIFICANT = 2.0
"""Standard errors from which on a sentence speaks of an effect."""


@dataclass(frozen=True)
class Part:
    """What one cause adds to λ̂ − λ.

    name: a key of CAUSES, or several joined by "+" where they were not (yet) told apart.  label: for people.
    value, se: in units of λ̂; se is 0 for what is exact.  sentence: for people.  how: what was compared with what.
    """

    name: str
    label: str
    value: float
    se: float
    sentence: str
    how: str

    @property
    def causes(self) -> tuple[str, ...]:
        return tuple(self.name.split("+"))


@dataclass(frozen=True)
class Explanation:
    """The parts of an error, in the order of CAUSES; they add up to `total`.

    llc: λ̂.  truth: what it is held against, and truth_label what that is: the global λ, else the best value known.
    total: llc − truth.  total_se: its standard error over runs like this one. The parts' errors are correlated, since
        neighbours share a measurement: `covariance` [P, P] sums to total_se².
    reference, reference_se: λ̂ of an exact sampler at the same nβ and γ; None where it is not known (yet).
    share: of the work that is done, 1 at the end.  doing: what is being measured, for people; empty at the end.
    """

    parts: tuple[Part, ...]
    llc: float
    truth: float
    truth_label: str
    total: float
    total_se: float
    covariance: np.ndarray
    reference: float | None = None
    reference_se: float | None = None
    share: float = 1.0
    doing: str = ""

    def __getitem__(self, name: str) -> Part:
        """The part that holds this cause; KeyError where the cause does not apply."""
        for part in self.parts:
            if name in part.causes:
                return part
        raise KeyError(name)

    @property
    def dominant(self) -> Part:
        """The largest part."""
        return max(self.parts, key=lambda part: abs(part.value))

    def __repr__(self) -> str:
        lines = [f"λ̂ = {self.llc:.4g}, {self.truth_label} {self.truth:.4g}, difference {self.total:+.3g}:"]
        width = max(len(part.label) for part in self.parts)
        lines += [f"  {p.label:{width}s} {p.value:+9.3g} ± {p.se:.2g}   {p.sentence}" for p in self.parts]
        return "\n".join(lines)


def explain(
    estimate: Estimate,
    problem: Potential,
    *,
    budget: float = BUDGET,
    progress: Callable[[float, str], None] | None = None,
) -> Explanation:
    """Split λ̂ − λ of `estimate` into minibatch noise, step size, the sampler's law, mixing, localisation and finite n.

    budget: chain-steps that the comparisons may take, as a multiple of the estimate's own; more makes the error bars
    smaller. The exact reference comes on top.  progress: called with (share done, what is being measured).

    Raises ValueError for an estimate without a value or with a step size that decays, for a problem that is not the
    estimate's, and for a budget that is not a positive number.
    """
    latest = None
    for latest in explaining(estimate, problem, budget=budget):
        if progress is not None:
            progress(latest.share, latest.doing)
    assert latest is not None
    return latest


def explaining(estimate: Estimate, problem: Potential, *, budget: float = BUDGET) -> Iterator[Explanation]:
    """The same step by step: an Explanation every 40 ms or so. Causes that are not told apart yet are one part, so that
    the parts of each add up. Arguments are checked at once."""
    return _Split(estimate, problem, budget).stages()


@dataclass
class _Level:
    """A value between λ̂ and λ: coefficients of measurements, by name, and how it was found."""

    weights: dict[str, float]
    how: str


@dataclass
class _Split:
    """The values known so far, and the runs that are still to be made."""

    estimate: Estimate
    problem: Potential
    budget: float
    measured: dict[str, tuple[float, float]] = field(default_factory=dict)
    levels: dict[str, _Level] = field(default_factory=dict)
    """cause → the value with this cause and all before it taken away."""

    def __post_init__(self) -> None:
        estimate, config = self.estimate, self.estimate.config
        self.budget = number("budget", self.budget)
        if self.budget <= 0:
            raise ValueError(f"budget is {self.budget:g}; it must be greater than 0, for example {BUDGET:g}.")
        if not math.isfinite(estimate.llc):
            raise ValueError("The estimate has no value to explain; run it again with a smaller step size.")
        if config.step_decay:
            raise ValueError(f"step_decay is {config.step_decay:g}; only runs with a constant step size can be split.")
        if not isinstance(self.problem, Potential) or RunConfig(self.problem.to_dict()).problem != config.problem:
            raise ValueError("problem is not the one that was estimated; pass the same one.")
        setting = dict(estimate.setting)
        n_beta, localization = estimate.n_beta, setting.pop("localization", config.localization)
        setting.pop("n_beta", None)
        assert config.sampler is not None and localization is not None
        self.step = float(estimate.diagnostics["step_size"])
        described = {**config.sampler, **setting, "step_size": self.step}
        self.sampler: Sampler = build(described)
        self.localization = float(localization)
        self.config = config.replace(
            sampler=described,
            grid={},
            histogram=None,
            n_beta=n_beta,
            localization=self.localization,
            steps=estimate.steps,
            burn_in=int(estimate.burn_in),
            continued_from=None,
            gradient="full",
            # What feeds a metric is part of the sampler's law and stays; only the drift loses its noise.
            metric_gradient=(config.metric_gradient or config.gradient) if _has_statistics(self.sampler) else None,
        )
        self.is_noisy = config.gradient != "full"
        self.can_be_full = "full" in self.problem.gradients
        self.is_exact = isinstance(self.sampler, MetropolisSampler)
        limit = float(estimate.diagnostics.get("stability_limit", math.nan))
        known = math.isfinite(limit) and limit > 0
        self.limit_share = min(self.step / limit, 1.0) if known else UNKNOWN_SHARE
        self.division = 4 if self.limit_share > LARGE_SHARE and self.sampler.order == 1 else 2
        self.right_law = _with_right_law(self.sampler, self.step)
        self.causes = [name for name in CAUSES if name != "law" or _law_is_wrong(self.sampler)]
        if "law" in self.causes and self.right_law is None:
            self.causes.remove("law")
            self.causes.insert(self.causes.index("mixing"), "law")
        self.costs = self._costs()
        self.chains = self._affordable(round(config.chains * self.budget / max(sum(self.costs.values()), 1.0)))
        self._start()

    def _costs(self) -> dict[str, float]:
        """Steps of the runs to be made, by name, as multiples of the estimate's."""
        if not self.can_be_full:
            return {}
        costs = {"full": 1.0} if self.is_noisy else {}
        if self.right_law is not None:
            costs["right law"] = 1.0
        if not self.is_exact:
            costs["small step"] = float(self.division)
        return costs

    def _affordable(self, wished: int) -> int:
        """Chains of the comparisons: what the budget allows, but enough for an error bar and not too many for memory."""
        chains = min(max(wished, FEWEST_CHAINS), MAX_CHAINS)
        try:
            check_memory(self.config.replace(chains=chains), self.problem)
        except ValueError:
            return self.config.chains
        return chains

    def _start(self) -> None:
        """What is known without a run."""
        estimate, problem = self.estimate, self.problem
        self.measured["estimate"] = (estimate.llc, _error(estimate.llc_se))
        if not self.is_noisy:
            self.levels["minibatch"] = _Level({"estimate": 1.0}, "the run used full gradients")
            if self.is_exact:
                self.levels["step_size"] = _Level({"estimate": 1.0}, "the accept or reject test makes every step exact")
        expected = problem.expected_llc(estimate.n_beta)
        local, everywhere = problem.local_learning_coefficient, problem.learning_coefficient
        self.truth, self.truth_label = math.nan, ""
        if expected is not None:
            self.truth, self.truth_label = expected, "expected at this n and nβ"
            self._exact("localization", expected, "exact reference − expected_llc")
        if local is not None:
            self.truth, self.truth_label = float(local), "local λ"
            self._exact("finite_n", self.truth, "expected_llc − local λ, a formula")
        if everywhere is not None and (local is None or float(everywhere) != float(local)):
            self.truth, self.truth_label = float(everywhere), "global λ"
            self._exact("local_global", self.truth, "local λ − global λ, exact")
        self.causes = [name for name in self.causes if self._index(name) <= self._index(self._last())]

    def _index(self, name: str) -> int:
        return list(CAUSES).index(name)

    def _last(self) -> str:
        """The last cause that can be told from those after it: nothing is known beyond it."""
        known = [name for name in CAUSES if name in self.levels]
        return known[-1] if known and self._index(known[-1]) > self._index("mixing") else "mixing"

    def _exact(self, cause: str, value: float, how: str) -> None:
        self.measured[cause] = (value, 0.0)
        self.levels[cause] = _Level({cause: 1.0}, how)

    # -- runs ---------------------------------------------------------------------------------------------------------

    def stages(self) -> Iterator[Explanation]:
        done, whole = 0.0, sum(self.costs.values()) + 1.0
        for name, work in self._work():
            for share in work:
                yield self.explanation((done + share * self.costs.get(name, 1.0)) / whole, DOING[name])
            done += self.costs.get(name, 1.0)
        yield self.explanation(1.0, "")

    def _work(self) -> Iterator[tuple[str, Iterator[float]]]:
        """Runs in the order of the causes; each puts its number into `measured`."""
        if "full" in self.costs:
            yield "full", self._run("full", self.config)
            if "full" in self.measured:
                how = f"{self.estimate.config.gradient} gradients against full ones at the same step size"
                self.levels["minibatch"] = _Level({"full": 1.0}, f"{how}, {self.chains} chains")
        sampler, base = self.sampler, "full" if self.is_noisy else "estimate"
        if self.right_law is not None and "right law" in self.costs:
            sampler, base = self.right_law, "right law"
            yield base, self._run(base, self.config.replace(sampler=sampler.to_dict()))
            if base in self.measured:
                how = f"{self.sampler.label} against {sampler.label} at the same step size, {self.chains} chains"
                self.levels["law"] = _Level({base: 1.0}, how)
        if "small step" in self.costs:
            yield "small step", self._run("small step", self._with_smaller_step(sampler))
            if {base, "small step"} <= set(self.measured):
                self._extrapolate(base)
        yield "exact reference", self._reference()

    def _with_smaller_step(self, sampler: Sampler) -> RunConfig:
        """The run of the same length in the time of the limiting diffusion."""
        k = self.division
        changes = {name: float(getattr(sampler, name)) ** (1 / k) for name in MEMORY.get(sampler.name, ())}
        return self.config.replace(
            sampler=sampler.replace(**changes, step_size=self.step / k).to_dict(),
            steps=k * self.estimate.steps,
            burn_in=k * int(self.estimate.burn_in),
        )

    def _extrapolate(self, base: str) -> None:
        """The value as ε → 0, from ε and ε/k: v₀ = (kᵖ·v(ε/k) − v(ε))/(kᵖ − 1) at order p.

        On a quadratic the bias grows as s/(1 − s) in a direction at the share s of the stability limit, and the first
        order then gives k/(k − s) of it, between 1 (far below the limit) and its value at the run's own share. The
        middle of the two is taken, and half their distance counts as an error.
        """
        order, k, s = self.sampler.order, self.division, self.limit_share
        ratio = float(k**order)
        weights = {"small step": ratio / (ratio - 1), base: -1 / (ratio - 1)}
        zero = sum(w * self.measured[name][0] for name, w in weights.items())
        beyond = (self.measured[base][0] - zero) * s**order / (2 * ratio)
        self.measured["extrapolation"] = (beyond, abs(beyond))
        how = f"full gradients, ε = {self.step:.3g} against ε/{k} with {k} times the steps, {self.chains} chains"
        self.levels["step_size"] = _Level({**weights, "extrapolation": 1.0}, f"{how}, extrapolated at order {order}")

    def _seed(self, name: str) -> int:
        return stream_seed(self.config.seed, f"explain/{name}")

    def _run(self, name: str, config: RunConfig) -> Iterator[float]:
        current = Run(config.replace(chains=self.chains, seed=self._seed(name)), self.problem)
        for snapshot in current:
            yield snapshot.steps / snapshot.total_steps
        self._take(name, current.llc_per_chain())

    def _take(self, name: str, per_chain: np.ndarray) -> None:
        """Mean over the living chains; nothing is taken where more than half are dead."""
        living = per_chain[np.isfinite(per_chain)]
        if len(living) >= max(2, len(per_chain) / 2):
            self.measured[name] = (float(living.mean()), float(living.std(ddof=1) / math.sqrt(len(living))))

    # -- the exact reference ------------------------------------------------------------------------------------------

    def _reference(self) -> Iterator[float]:
        problem, how = self.problem, ""
        if isinstance(problem, DeepLinearNetwork) and self.localization > 0:
            how = "blocked Gibbs sampling"
            yield from self._gibbs(problem)
        elif isinstance(problem, Landscape) and self.localization == 0:
            how = "quadrature"
            exact = problem.expected_llc(self.estimate.n_beta)
            if exact is not None:
                self.measured["reference"] = (exact, 0.0)
        elif self.can_be_full and self.localization > 0:
            how = "Hamiltonian Monte Carlo"
            yield from self._hmc()
        if "reference" in self.measured:
            self.levels["mixing"] = _Level({"reference": 1.0}, f"the value as ε → 0 against {how} at the same nβ and γ")

    def _gibbs(self, problem: DeepLinearNetwork) -> Iterator[float]:
        """As `gibbs_reference`, in pieces. What still drifts there counts as an error."""
        wished = self.estimate.steps * self.budget / BUDGET / STEPS_PER_SWEEP
        sweeps = int(min(MOST_SWEEPS, max(FEWEST_SWEEPS, wished)))
        n_beta = self.estimate.n_beta
        chains = BlockedGibbs(problem, REFERENCE_CHAINS, n_beta, self.localization, self._seed("gibbs"))
        losses = []
        try:
            for sweep in range(sweeps):
                losses.append(chains.sweep().numpy())
                chains.gauge_moves(adapt=sweep < sweeps // 2)
                yield (sweep + 1) / sweeps
        except torch.linalg.LinAlgError:
            return
        kept = n_beta * np.stack(losses)[sweeps // 2 :]
        self._take("reference", kept.mean(axis=0))
        drift, drift_se = diagnostics.plateau_drift(kept)
        if "reference" in self.measured and abs(drift) > 4 * drift_se:
            value, se = self.measured["reference"]
            self.measured["reference"] = (value, math.hypot(se, drift))

    def _hmc(self) -> Iterator[float]:
        wished = self.estimate.steps * self.budget / BUDGET / STEPS_PER_TRAJECTORY
        config = self.config.replace(
            sampler={"name": "HMC"},
            metric_gradient=None,
            steps=max(FEWEST_TRAJECTORIES, int(wished)),
            burn_in=0.5,
            dtype="float64",
            chains=REFERENCE_CHAINS,
            seed=self._seed("hmc"),
        )
        current = Run(config, self.problem)
        for snapshot in current:
            yield snapshot.steps / snapshot.total_steps
        self._take("reference", current.llc_per_chain())

    # -- results ------------------------------------------------------------------------------------------------------

    def explanation(self, share: float, doing: str) -> Explanation:
        known = sorted(self.measured)
        before = np.array([float(name == "estimate") for name in known])
        waiting: list[str] = []
        found: list[tuple[list[str], str]] = []
        rows: list[np.ndarray] = []
        for cause in self.causes:
            waiting.append(cause)
            level = self.levels.get(cause)
            if level is not None:
                after = np.array([level.weights.get(name, 0.0) for name in known])
                rows.append(before - after)
                found.append((waiting, level.how))
                before, waiting = after, []
        table = np.array(rows).reshape(len(rows), len(known))
        values = table @ np.array([self.measured[name][0] for name in known])
        covariance = table @ np.diag([self.measured[name][1] ** 2 for name in known]) @ table.T
        parts = tuple(
            self._part(causes, float(values[i]), math.sqrt(covariance[i, i]), how)
            for i, (causes, how) in enumerate(found)
        )
        reference, reference_se = self.measured.get("reference", (None, None))
        truth, truth_label = self.truth, self.truth_label
        if not truth_label:
            truth = self.estimate.llc - float(values.sum())
            truth_label = "exact reference" if "mixing" in self.levels else "without the parts known so far"
        return Explanation(
            parts=parts,
            llc=self.estimate.llc,
            truth=truth,
            truth_label=truth_label,
            total=self.estimate.llc - truth,
            total_se=math.sqrt(max(0.0, covariance.sum())),
            covariance=covariance,
            reference=reference,
            reference_se=reference_se,
            share=share,
            doing=doing,
        )

    def _part(self, causes: list[str], value: float, se: float, how: str) -> Part:
        labels = [CAUSES[name][0] for name in causes]
        label = labels[0]
        if len(labels) > 1:
            rest = [text[0].lower() + text[1:] for text in labels[1:]]
            label = " and ".join([", ".join([label, *rest[:-1]]), rest[-1]])
            how = "not told apart"
        return Part("+".join(causes), label, value, se, self._sentence(causes, label, value, se), how)

    def _sentence(self, causes: list[str], label: str, value: float, se: float) -> str:
        remedy = CAUSES[causes[0]][1] if len(causes) == 1 else "they were not told apart"
        if value == 0 and se == 0:
            if causes == ["minibatch"]:
                return "The run used full gradients, so there is no minibatch noise."
            if causes == ["step_size"]:
                return "The accept or reject test leaves no error of the step size."
            return f"{label} adds nothing here."
        verb = ("raise" if value > 0 else "lower") + ("s" if len(causes) == 1 and causes != ["localization"] else "")
        scale = self.truth if self.truth_label else self.estimate.llc
        share = f" ({value / abs(scale):+.0%})" if scale else ""
        if abs(value) <= SIGNIFICANT * se:
            text = f"{label}: no effect beyond the error bar of ±{SIGNIFICANT * se:.2g} was seen"
        else:
            size = f"{abs(value):.3g} ± {se:.2g}" if se else f"{abs(value):.3g}"
            text = f"{label} {verb} the estimate by {size}{share}; {remedy}"
        drift, drift_se = (self.estimate.diagnostics.get(name, math.nan) for name in ("drift", "drift_se"))
        if "mixing" in causes and abs(drift) > SIGNIFICANT * drift_se:
            way = "above" if drift > 0 else "below"
            text += f"; the second half of the chain lies {abs(drift):.2g} {way} the first"
        return text + "."


def _error(se: float) -> float:
    return se if math.isfinite(se) else 0.0


def _has_statistics(sampler: Sampler) -> bool:
    """Whether gradients feed running means of the sampler."""
    return type(sampler).metric is not Sampler.metric or any(hasattr(sampler, name) for name in ("alpha", "beta"))


def _law_is_wrong(sampler: Sampler) -> bool:
    """Whether the law as ε → 0 is not the posterior."""
    law = sampler.law()
    if law is None:
        return True
    moves = law.metric is not None and law.gamma_share < 1
    return moves or law.extra_drift is not None or law.temperature != 1


def _with_right_law(sampler: Sampler, step: float) -> Sampler | None:
    """A sampler that moves alike and whose law is right: the metric frozen after burn-in, or the dynamics corrected."""
    values = sampler.to_dict()
    frozen = {"name": "FrozenPSGLD", "step_size": step}
    if sampler.name == "RMSPropSGLD":
        return build({**frozen, "alpha": values["beta"], "stability": math.sqrt(values["stability"])})
    if sampler.name == "PSGLD":
        return build({**frozen, "alpha": values["alpha"], "stability": values["stability"]})
    if sampler.name == "SGHMC" and values["dynamics"] == "printed":
        return sampler.replace(dynamics="corrected")
    return None
