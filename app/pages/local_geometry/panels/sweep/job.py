"""A sweep: one field of a run at several values, all in one batched run, as a job of the run manager.

The shape is that of Hitchcock & Hoogland's figure 3: the relative error of λ̂ against the step size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.controls.labels import field_label
from app.controls.scales import is_logarithmic
from app.runs.allowance import check_allowance
from app.runs.tasks import NewestJob
from llc_core import Potential, Run, RunConfig
from llc_core.engine.resolve import resolve
from llc_core.fields import Hyper, check_hyper
from llc_core.samplers.base import Sampler
from llc_core.samplers.registry import numeric_fields

COUNT = 12
MAX_CHAINS, MAX_STEPS = 8, 5_000
"""A sweep is a dozen runs at once: it is kept shorter than a run that is meant to be exact."""
PROBE_CHAINS, PROBE_STEPS, PROBE_BURN_IN = 4, 800, 0.9
"""A short automatic run finds the engine's step size and the stability limit."""
ABOVE, BEYOND = 5, 1.5
"""So many values lie above the engine's step size, and the last one at this multiple of the stability limit."""
LOWEST = 0.01
"""The smallest value of a sweep of step sizes, as a share of the engine's, where the limit is far away."""
DECADES = 1.5
"""How far a sweep of another logarithmic field reaches to either side of its value."""
UNKNOWN_RATIO = 3.0
"""Reach above the engine's step size where the stability limit is not known."""
FEWEST_CHAINS = 4
"""With fewer, the spread of the chains says too little; the engine then reads the error from their traces, at the end."""
RECENT = 0.5
"""Weight of the newest block in what is shown of the chains before the average begins."""
Values = tuple[float, ...]
Ends = tuple[float | None, float | None]
COMMON = {
    "n_beta": Hyper(1.0, 1e12, log=True, help="Inverse temperature times n."),
    "localization": Hyper(0.0, 1e9, log=True, symbol=r"\gamma", help="Strength of the spring to w0."),
}


def sweepable(sampler: Sampler | type[Sampler]) -> dict[str, str]:
    """field → label for people, of every number that may differ between the chains of one run."""
    labels = {name: field_label(name, about) for name, about in numeric_fields(sampler).items()}
    return {**labels, "n_beta": "nβ", "localization": "Localization γ"}


@dataclass(frozen=True)
class SweepPoints:
    """What a sweep has found so far: a frozen copy.

    steps, total_steps: of the whole job, the short automatic run included.
    field: what is swept; values [S].  log: whether they are spaced evenly in their logarithm.
    llc, se, expected [S]: λ̂ with its standard error, and what it should be.  dead [S]: share of dead chains.
    averaging: False while the chains are in burn-in; llc is then a recent level, not an average.
    default, limit: the engine's step size and the stability limit, nan where another field is swept.
    chains, chain_steps: chains per value, and the steps of each.  verdicts [S]: whether to trust each, at the end.
    """

    steps: int
    total_steps: int
    field: str
    values: np.ndarray
    llc: np.ndarray
    se: np.ndarray
    expected: np.ndarray
    dead: np.ndarray
    averaging: bool = False
    log: bool = True
    default: float = math.nan
    limit: float = math.nan
    chains: int = 1
    chain_steps: int = 0
    verdicts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def error(self) -> np.ndarray:
        """[S] relative error of λ̂; nan where it is not known."""
        return self.llc / self.expected - 1

    @property
    def error_se(self) -> np.ndarray:
        return self.se / self.expected

    @property
    def best(self) -> int | None:
        """Index of the value whose error is surely smallest: the far end of its error bar is nearest to 0.

        The smallest error alone would often be a small one by chance, at a step too small to mix.
        """
        if not self.averaging:
            return None
        far = np.abs(self.error) + 2 * np.where(np.isfinite(self.error_se), self.error_se, 0.0)
        return int(np.nanargmin(far)) if np.isfinite(far).any() else None


class SweepJob(NewestJob):
    """Finds where to look if that is needed, then runs all values at once.

    config: of the run whose field is swept (its own grid and histogram are left out).  field: a key of `sweepable`.
    ends: first and last value, each None where it is automatic.

    Raises ValueError for a field that cannot be swept, for ends that are none, and when the automatic run finds no step size.
    """

    def __init__(
        self, config: RunConfig, problem: Potential, field: str, count: int = COUNT, ends: Ends = (None, None)
    ):
        config = config.replace(grid={}, histogram=None).begun_anew()
        resolved = resolve(config, problem)
        self._config, self._problem, sampler = resolved.config, resolved.problem, resolved.sampler
        known = sweepable(sampler)
        if field not in known:
            raise ValueError(f"field is {field!r}; for {sampler.name} choose one of {', '.join(known)}.")
        self._field, self._count, self._sampler = field, count, sampler
        self._about = about_field(sampler, field)
        self._ends = check_ends(field, self._about, ends)
        self._default = self._limit = math.nan
        self._probe: Run | None = None
        self._run: Run | None = None
        assert self._config.steps is not None
        self._steps = min(self._config.steps, MAX_STEPS)
        self._chains = min(self._config.chains, MAX_CHAINS)
        self._recent: np.ndarray | None = None
        if field == "step_size":
            automatic = sampler.replace(step_size=None).to_dict()
            probe = {"chains": PROBE_CHAINS, "steps": PROBE_STEPS, "burn_in": PROBE_BURN_IN}
            self._probe = Run(self._config.replace(sampler=automatic, **probe), problem)
        else:
            values = values_around(self._about, self._current(), count)
            self._start(values)

    @property
    def finished(self) -> bool:
        return self._run is not None and self._run.finished

    def advance(self, steps: int) -> SweepPoints:
        if self._probe is not None:
            self._probe.advance(steps)
            done = self._probe.steps_done
            if self._probe.finished:
                self._look_at_probe(self._probe)
                self._probe = None
            return self._points(done)
        assert self._run is not None
        snapshot = self._run.advance(steps)
        return self._points(self._before + snapshot.steps, snapshot)

    @property
    def _before(self) -> int:
        """Steps of the automatic run."""
        return PROBE_STEPS if self._field == "step_size" else 0

    def _current(self) -> float | None:
        if self._field in COMMON:
            return float(getattr(self._config, self._field))
        value = getattr(self._sampler, self._field)
        return None if value is None else float(value)

    def _look_at_probe(self, probe: Run) -> None:
        found = probe.estimates()[0].diagnostics
        self._default, self._limit = found["step_size"], found["stability_limit"]
        if not (math.isfinite(self._default) and self._default > 0):
            raise ValueError("No stable step size was found for this sampler here; try another sampler.")
        if not (math.isfinite(self._limit) and self._limit > 0):
            self._limit = math.nan
        self._start(step_sizes(self._about, self._default, self._limit, self._count))

    def _start(self, values: Values) -> None:
        values = values_between(self._field, self._about, values, self._ends, self._count)
        config = self._config.replace(grid={self._field: values}, chains=self._chains, steps=self._steps)
        check_allowance(config, self._problem)
        self._run = Run(config, self._problem)

    def _points(self, steps: int, snapshot: Any = None) -> SweepPoints:
        values = self._run.config.grid[self._field] if self._run is not None else ()
        size = len(values)
        n_betas = values if self._field == "n_beta" else [self._config.n_beta] * size
        llc, se, dead = np.full(size, math.nan), np.full(size, math.nan), np.zeros(size)
        averaging, verdicts = False, ("",) * size
        if snapshot is not None:
            averaging = snapshot.steps > snapshot.burn_in
            shown = snapshot.llc if averaging else self._level(snapshot)
            llc, se = over_chains(shown.reshape(-1, size))
            if self.finished and self._run is not None:
                estimates = self._run.estimates()
                llc = np.array([estimate.llc for estimate in estimates])
                se = np.array([estimate.llc_se for estimate in estimates])
                verdicts = tuple("trust it" if e.converged else e.converged.reason for e in estimates)
            dead = 1 - snapshot.alive.reshape(-1, size).mean(axis=0)
        expected = [self._problem.expected_llc(float(n_beta)) for n_beta in n_betas]
        return SweepPoints(
            steps=steps,
            total_steps=self._before + self._steps,
            field=self._field,
            values=np.array(values, dtype=float),
            llc=llc,
            se=se,
            expected=np.array([math.nan if value is None else value for value in expected]),
            dead=dead,
            averaging=averaging,
            log=evenly_in_logarithm(self._field, self._about),
            default=self._default,
            limit=self._limit,
            chains=self._chains,
            chain_steps=self._steps,
            verdicts=verdicts,
        )

    def _level(self, snapshot: Any) -> np.ndarray:
        """[C] where the loss of each chain has been lately."""
        rows = snapshot.excess_loss * snapshot.n_beta
        if not len(rows):
            return np.full(len(snapshot.alive), math.nan) if self._recent is None else self._recent
        with np.errstate(over="ignore", invalid="ignore"):
            mean = rows.mean(axis=0)
            self._recent = mean if self._recent is None else (1 - RECENT) * self._recent + RECENT * mean
        return self._recent


def over_chains(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard error over the living chains of each setting [S], from [C, S]; nan where most are dead."""
    living = np.isfinite(values)
    count = living.sum(axis=0)
    usable = (2 * count >= len(values)) & (count > 0)
    safe = np.maximum(count, 1)
    filled = np.where(living, values, 0.0)
    mean = filled.sum(axis=0) / safe
    spread = np.where(living, (values - mean) ** 2, 0.0).sum(axis=0) / np.maximum(count - 1, 1)
    se = np.sqrt(spread / safe)
    return np.where(usable, mean, math.nan), np.where(usable & (count >= FEWEST_CHAINS), se, math.nan)


def step_sizes(about: Hyper, default: float, limit: float, count: int = COUNT) -> Values:
    """Evenly in the logarithm, the engine's own among them, up to beyond the stability limit."""
    highest = BEYOND * limit if math.isfinite(limit) and limit > default else UNKNOWN_RATIO * default
    above = (highest / default) ** (1 / ABOVE)
    # A sampler with a tiny safety factor has its limit far above; below, nothing is to be seen that far away.
    below = min(above, LOWEST ** (-1 / (count - 1 - ABOVE)))
    values = [default * (above if k > 0 else below) ** k for k in range(ABOVE - count + 1, ABOVE + 1)]
    return _within(about, values)


def values_around(about: Hyper, current: float | None, count: int = COUNT) -> Values:
    """Values of a field around its present one, or over its whole range where that is short; the present one is there."""
    if not is_logarithmic(about):
        low = about.low if math.isfinite(about.low) else (current or 0.0) - 1.0
        high = about.high if math.isfinite(about.high) else (current or 0.0) + 1.0
        inner = np.linspace(low, high, count + 2)[1:-1]
        if current is not None and low <= current <= high:
            inner[np.argmin(np.abs(inner - current))] = current
        return _within(about, inner.tolist())
    centre = current if current else 1.0
    low = max(centre * 10**-DECADES, about.low if about.low > 0 else 0.0)
    high = min(centre * 10**DECADES, about.high)
    return _within(about, np.geomspace(low, high, count).tolist())


def evenly_in_logarithm(field: str, about: Hyper) -> bool:
    return field == "step_size" or is_logarithmic(about)


def about_field(sampler: Sampler, field: str) -> Hyper:
    """What is known of a key of `sweepable`."""
    return {**numeric_fields(sampler), **COMMON}[field]


def check_ends(field: str, about: Hyper, ends: Ends) -> Ends:
    """The ends, if the field can be swept between them; ValueError with one sentence if not."""
    for name, value in zip(("from", "to"), ends, strict=True):
        if value is None:
            continue
        check_hyper("sweep", name, value, about)
        if evenly_in_logarithm(field, about) and value <= 0:
            raise ValueError(
                f"sweep.{name} is {value:g}; {field} is swept in equal factors, so write a number above 0."
            )
    low, high = ends
    if low is not None and high is not None and low >= high:
        raise ValueError(f"sweep.from is {low:g} and sweep.to is {high:g}; the first must be the smaller.")
    return ends


def values_between(field: str, about: Hyper, automatic: Values, ends: Ends, count: int = COUNT) -> Values:
    """`automatic` values, or `count` evenly between ends of which at least one is given; whole where the field counts."""
    if ends != (None, None):
        low = automatic[0] if ends[0] is None else ends[0]
        high = automatic[-1] if ends[1] is None else ends[1]
        if low >= high:
            raise ValueError(
                f"A sweep from {low:.3g} to {high:.3g} has no values; one of these ends is automatic, so write the other too."
            )
        between = np.geomspace if evenly_in_logarithm(field, about) else np.linspace
        automatic = _within(about, between(low, high, count).tolist())
    if field.endswith("_steps"):  # a count
        return tuple(dict.fromkeys(float(round(value)) for value in automatic))
    return automatic


def _within(about: Hyper, values: list[float]) -> Values:
    """Short numbers that the field takes."""
    kept = []
    for value in values:
        short = float(f"{value:.3g}")
        try:
            check_hyper("sweep", "value", short, about)
        except ValueError:
            continue
        kept.append(short)
    return tuple(dict.fromkeys(kept))


def same_question(one: Mapping[str, Any], other: Mapping[str, Any], field: str) -> bool:
    """Whether two configurations (as dictionaries) differ in nothing but `field`, so that a sweep of it holds for both."""
    return _without(one, field) == _without(other, field)


def _without(config: Mapping[str, Any], field: str) -> dict[str, Any]:
    rest = {name: value for name, value in config.items() if name not in (field, "seed")}
    sampler = rest.get("sampler")
    if isinstance(sampler, Mapping):
        rest["sampler"] = {name: value for name, value in sampler.items() if name != field}
    return rest
