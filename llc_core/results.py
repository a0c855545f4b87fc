"""Estimate: the result of a run, with everything needed to judge it and to run it again. Long, since a result is one class
with its ways into text, tables and back.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from llc_core.config import RunConfig
from llc_core.diagnostics.evidence import Evidence, kept_by_gamma
from llc_core.diagnostics.predictive import Predictive
from llc_core.extras import needs
from llc_core.samplers.base import Sampler
from llc_core.samplers.registry import at_setting, build
from llc_core.theory import criteria
from llc_core.types import FromTemperatures, LearningCoefficient, Polish
from llc_core.verdicts import Verdict

AGREES = 0.05
"""An estimate agrees within this share of the reference, or within `ERRORS` errors."""
ERRORS = 3
FIRST = (
    *("llc", "llc_se", "r_hat", "ess", "diverged", "chains", "expected", "n_beta", "steps", "seconds"),
    *("singular_fluctuation", "observed_llc"),
)
"""Numbers at the head of the JSON, in the order of the first version."""
LATER = (
    "burn_in",
    "steps_per_second",
    "n",
    "dim",
    "baseline_loss",
    "singular_fluctuation_se",
    "observed_llc_se",
    "reference",
    "reference_se",
    "llc_from_variance",
    "llc_from_variance_se",
)
WHOLE = ("diverged", "chains", "steps", "burn_in", "n", "dim")
TRUTHS = ("learning_coefficient", "local_learning_coefficient")
CHAINS = ("per_chain", "observed_per_chain")


def agrees(llc: float, se: float, reference: float, reference_se: float = 0.0) -> bool | None:
    """None where that cannot be said: the reference is not known, or to no better than `AGREES`, or there is no estimate.

    se, reference_se: standard errors; those that are nan count as 0.
    """
    if not math.isfinite(reference) or reference_se >= AGREES * abs(reference) or not math.isfinite(llc):
        return None
    error = math.hypot(*(each if math.isfinite(each) else 0.0 for each in (se, reference_se)))
    return abs(llc - reference) <= max(AGREES * abs(reference), ERRORS * error)


@dataclass(frozen=True)
class Estimate:
    """An estimated local learning coefficient.

    llc: λ̂, mean over living chains (nan when more than half diverged).  llc_se: its standard error,
        scaled so that ± 2 of it covers as it does for a normal number (`diagnostics.convergence`); nan where nothing is known of it.
    llc_from_variance, llc_from_variance_se: λ̂ from how much the losses vary, with its error: no baseline is in it, so that it
        stands beside λ̂ where w0 is no minimum (`diagnostics.minimum`); nan where it is not known.
    per_chain: [C] λ̂ of each chain (nan for diverged ones).
    r_hat, ess: of the loss traces after burn-in.
    diverged: number of diverged chains.  chains: number of chains.
    converged: a `Verdict`: true or false, with the reason in words.
    expected: what λ̂ should be at this n and nβ, where the potential knows it; relative_error: llc / expected − 1.
    reference, reference_se: what the posterior's own mean is at this n, nβ and γ, and its error: exact (by quadrature), or by
        another sampler; nan where it is not known.  confirmed: whether the estimate agrees with it, None where there is none.
    trace: [T, C] nβ·ΔL, rows at the steps trace_steps [T] (thinned evenly when the run is long).
    setting: the grid values this estimate belongs to.
    evidence: what the verdict was made of.  diagnostics: the same and further measured numbers, by name.
    config: the run's complete configuration, defaults filled in.
    n, dim: the problem's numbers of samples and parameters.  baseline_loss: L_n(w0), mean loss per sample, where the problem knows it.
    singular_fluctuation: ν̂ = (β/2)·Σ_i Var(log p_i) over all samples (with p_i := exp(−loss_i) where the loss is no
        likelihood), nan unless asked for, with its standard error.
    observed_llc: nβ times the mean excess loss of the configuration's observable along the chains, nan without one;
        observed_per_chain: [C].
    observables: what the configuration's observables saw, name → {array's name: array}; empty where most chains diverged.
    predictive: the network's function at the inputs of `estimate(predict=…)`: draws, bands, and convergence of functions, weights
        and loss; None where it was not asked for.
    polished: how far w0 was moved to a minimum of L_n before the run, and by how much the loss fell; None: it was not.
    from_temperatures: λ̂ from several temperatures, which the loss at w0 does not enter, with an error and a verdict of its own;
        None where there was one.
    """

    llc: float
    llc_se: float
    per_chain: np.ndarray
    r_hat: float
    ess: float
    diverged: int
    chains: int
    converged: Verdict
    expected: float | None
    learning_coefficient: LearningCoefficient | None
    local_learning_coefficient: LearningCoefficient | None
    trace: np.ndarray
    trace_steps: np.ndarray
    n_beta: float
    steps: int
    burn_in: int
    seconds: float
    steps_per_second: float
    config: RunConfig
    setting: Mapping[str, Any] = field(default_factory=dict)
    evidence: Evidence = field(default_factory=Evidence)
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    n: int = 0
    dim: int = 0
    baseline_loss: float = math.nan
    singular_fluctuation: float = math.nan
    singular_fluctuation_se: float = math.nan
    observed_llc: float = math.nan
    observed_llc_se: float = math.nan
    observed_per_chain: np.ndarray | None = None
    observables: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)
    reference: float = math.nan
    reference_se: float = 0.0
    predictive: Predictive | None = None
    llc_from_variance: float = math.nan
    llc_from_variance_se: float = math.nan
    polished: Polish | None = None
    from_temperatures: FromTemperatures | None = None

    @property
    def confirmed(self) -> bool | None:
        """Whether λ̂ lies within 5% or 3 errors of the reference; None where that is not known, or to no better than 5%.

        The reference: by quadrature or from a normal distribution where there is one (one linear layer, and networks with a squared error
        whose output is linear in what moves); for deep linear networks of up to 50,000 parameters, and for small networks with a
        cross entropy that are linear in what moves, from exact draws, made once no more than doubts speak against the estimate.
        None for all other networks: nothing that costs less than the run itself is known to be right there.
        """
        return agrees(self.llc, self.llc_se, self.reference, self.reference_se)

    @property
    def relative_error(self) -> float:
        return self.llc / self.expected - 1 if self.expected else math.nan

    @property
    def variance_words(self) -> str:
        """λ̂ from the variance with its error, or why it is not known."""
        if math.isfinite(self.llc_from_variance):
            return f"{self.llc_from_variance:.4g} ± {self.llc_from_variance_se:.2g}"
        return f"not known, since {self.evidence.variance_unknown}" if self.evidence.variance_unknown else "not known"

    def __float__(self) -> float:
        return self.llc

    def __repr__(self) -> str:
        parts = [f"λ̂ = {self.llc:.4g} ± {self.llc_se:.2g}", f"from the variance of the losses: {self.variance_words}"]
        if self.expected is not None:
            parts.append(f"expected {self.expected:.4g} (relative error {self.relative_error:+.1%})")
        if self.local_learning_coefficient is not None:
            parts.append(f"true local λ = {self.local_learning_coefficient.value}")
            if self.local_learning_coefficient.note:
                parts.append(self.local_learning_coefficient.note)
        if math.isfinite(self.singular_fluctuation):
            parts += self._of_fluctuation()
        if math.isfinite(self.observed_llc):
            parts.append(f"observed λ̂ = {self.observed_llc:.4g} ± {self.observed_llc_se:.2g}")
        if self.polished is not None:
            parts.append(str(self.polished))
        parts.append(f"R-hat {self.r_hat:.3f}, ESS {self.ess:.0f}, diverged chains {self.diverged}/{self.chains}")
        kept = kept_by_gamma(self.diagnostics.get("held_by_gamma", math.nan), self.dim)
        parts += [kept] if kept and kept not in str(self.converged) else []
        parts += [str(each) for each in (self.converged, self.from_temperatures) if each is not None]
        return "\n".join(parts)

    def _of_fluctuation(self) -> list[str]:
        """ν̂ and what follows from it and λ̂ about losses, where n and the loss at w0 are known."""
        nu, nu_se = self.singular_fluctuation, self.singular_fluctuation_se
        words_of_nu = [f"ν̂ = {nu:.4g} ± {nu_se:.2g}"]
        if self.n < 3 or not math.isfinite(self.baseline_loss) or not math.isfinite(self.llc):
            return words_of_nu
        if self.polished is None:
            value, error = criteria.debiased(self.n, self.llc, self.llc_se, self.n_beta, nu, nu_se)
            words_of_nu[0] += f"; if w0 is the true parameter, λ is λ̂ + βν̂ = {value:.4g} ± {error:.2g}"
        words = [f"WAIC {criteria.waic(self.n, self.baseline_loss, self.llc, self.n_beta, nu):.5g} per sample"]
        if criteria.is_of_wbic(self.n_beta, self.n):
            words.append(f"WBIC {criteria.wbic(self.n, self.baseline_loss, self.llc, self.n_beta):.6g}")
        return [*words_of_nu, f"{' and '.join(words)}, with exp(−loss) as the likelihood"]

    def plot(self) -> Any:
        """Loss traces and running λ̂ as a HoloViews layout, beside what is known exactly. The extra "plots" brings what it needs."""
        from llc_core.plots import figures

        return figures.estimate(self)

    def to_dataset(self) -> Any:
        """An xarray.Dataset: loss_trace (step, chain), llc per chain, and scalars; attributes hold the configuration.

        Arrays of observables are variables such as "Visits_counts"; their dimensions, "chain" excepted, are their own.

        Write it with `.to_netcdf("run.nc", engine="h5netcdf")`. Both need the extra "netcdf".
        """
        with needs("to_dataset()", extra="netcdf"):
            import xarray

        scalars = {
            "llc": self.llc,
            "llc_se": self.llc_se,
            "r_hat": self.r_hat,
            "ess": self.ess,
            "diverged": self.diverged,
            "n_beta": self.n_beta,
            "expected_llc": math.nan if self.expected is None else self.expected,
            "relative_error": self.relative_error,
            "seconds": self.seconds,
            **({} if self.confirmed is None else {"reference": self.reference}),
            **{
                name: getattr(self, name)
                for name in (
                    "baseline_loss",
                    "llc_from_variance",
                    "llc_from_variance_se",
                    "singular_fluctuation",
                    "singular_fluctuation_se",
                    "observed_llc",
                    "observed_llc_se",
                )
                if math.isfinite(getattr(self, name))
            },
            **{f"setting_{k}": v for k, v in self.setting.items()},
            **_of_temperatures(self.from_temperatures),
            **self.diagnostics,
        }
        truth = {
            name: str(value.value)
            for name, value in (
                ("learning_coefficient", self.learning_coefficient),
                ("local_learning_coefficient", self.local_learning_coefficient),
            )
            if value is not None
        }
        return xarray.Dataset(
            {
                "loss_trace": (("step", "chain"), self.trace, {"long_name": "nβ (L(w) − L(w0))"}),
                "llc_per_chain": (("chain",), self.per_chain),
                **{k: ((), v) for k, v in scalars.items()},
                **self._observed_variables(),
            },
            coords={"step": self.trace_steps, "chain": np.arange(self.trace.shape[1])},
            attrs={
                "config": self.config.to_json(),
                "converged": int(bool(self.converged)),
                "verdict": str(self.converged),
                **({} if self.from_temperatures is None else {"from_temperatures": str(self.from_temperatures)}),
                "burn_in": self.burn_in,
                "steps": self.steps,
                **({} if self.polished is None else {"polished": json.dumps(_finite(vars(self.polished)))}),
                **truth,
            },
        )

    def _observed_variables(self) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
        found = {}
        for owner, arrays in self.observables.items():
            for key, values in arrays.items():
                name, array = f"{owner}_{key}", np.asarray(values)
                dims = [f"{name}_{number}" for number in range(array.ndim)]
                if key == "per_chain":
                    dims[0] = "chain"
                found[name] = (tuple(dims), array)
        return found

    def to_json(self) -> str:
        """Numbers, the chains' own among them, verdict and configuration as JSON: no trace, no observables. `from_json` reads it."""
        said = {"verdict": str(self.converged), "setting": dict(self.setting), "config": self.config.to_dict()}
        more: dict[str, Any] = {name: getattr(self, name) for name in LATER}
        more["diagnostics"] = dict(self.diagnostics)
        for name in TRUTHS:
            truth = getattr(self, name)
            more[name] = None if truth is None else {**vars(truth), "value": str(truth.value)}
        for name in CHAINS:
            more[name] = None if getattr(self, name) is None else np.asarray(getattr(self, name)).tolist()
        more |= {"converged": self.converged.to_dict(), "confirmed": self.confirmed}
        if self.polished is not None:
            more["polished"] = vars(self.polished)
        if self.from_temperatures is not None:
            slope = dict(vars(self.from_temperatures))
            more["from_temperatures"] = {**slope, "verdict": self.from_temperatures.verdict.to_dict()}
        return json.dumps(_finite({**{name: getattr(self, name) for name in FIRST}, **said, **more}))

    @classmethod
    def from_json(cls, text: str) -> Estimate:
        """The estimate that `to_json` wrote, with an empty trace and no observables.

        What an older version did not write is nan, None or 0. Raises ValueError for a text that is no estimate.
        """
        try:
            given = json.loads(text)
            values: dict[str, Any] = {name: _number(given.get(name)) for name in (*FIRST, *LATER)}
            values |= {name: int(given.get(name) or 0) for name in WHOLE}
            values["expected"] = given["expected"]
            config, setting = RunConfig.from_dict(given["config"]), dict(given["setting"])
            for name in TRUTHS:
                truth = given.get(name)
                values[name] = truth and LearningCoefficient(**{**truth, "value": Fraction(truth["value"])})
            for name in CHAINS:
                chains = given.get(name)
                values[name] = None if chains is None else np.array([_number(x) for x in chains])
            if values["per_chain"] is None:
                values["per_chain"] = np.full(values["chains"], math.nan)
            polished: Any = given.get("polished")
            values["polished"] = polished and Polish(**_with_nan(polished))
            verdict = given.get("converged")
            converged = Verdict.from_dict(verdict) if verdict else Verdict(False, str(given["verdict"]))
            values["from_temperatures"] = given.get("from_temperatures") and _slope(given["from_temperatures"])
            diagnostics = {name: _number(value) for name, value in given.get("diagnostics", {}).items()}
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise ValueError("The text is no estimate; give what Estimate.to_json wrote.") from None
        none = np.zeros((0, values["chains"])), np.zeros(0, dtype=int)
        values |= {"trace": none[0], "trace_steps": none[1], "converged": converged, "config": config}
        return cls(**values, setting=setting, evidence=_evidence(values, setting, diagnostics), diagnostics=diagnostics)


class GridEstimates(list[Estimate]):
    """Estimates at the settings of a grid, in their order: a list that can be drawn."""

    def plot(self, name: str = "") -> Any:
        """λ̂ by the setting `name`, the grid's first if it is left out, as a HoloViews overlay. The extra "plots" brings what it needs."""
        from llc_core.plots import figures

        return figures.settings(self, name)


def _evidence(values: Mapping[str, Any], setting: Mapping[str, Any], diagnostics: Mapping[str, float]) -> Evidence:
    """As far as an estimate that was kept as text knows it."""
    sampler = sampler_of(values["config"], setting)
    return Evidence.from_numbers(
        diagnostics,
        llc=values["llc"],
        se=values["llc_se"],
        chains=values["chains"],
        kept_steps=max(0, values["steps"] - values["burn_in"]),
        r_hat=values["r_hat"],
        exact_law=sampler is None or (sampler.exact_law and sampler.bias_expected),
        sampler=sampler,
    )


def sampler_of(config: RunConfig, setting: Mapping[str, Any]) -> Sampler | None:
    """What moved the chains; None for a reference by other means."""
    try:
        return at_setting(build(config.sampler or {}), setting)
    except ValueError:
        return None


def _slope(given: Mapping[str, Any]) -> FromTemperatures:
    """What `to_json` wrote of λ̂ from temperatures."""
    values: dict[str, Any] = {
        name: tuple(map(_number, value)) if isinstance(value, list) else _number(value)
        for name, value in given.items()
        if name != "verdict"
    }
    return FromTemperatures(**values, verdict=Verdict.from_dict(given["verdict"]))


def _of_temperatures(slope: FromTemperatures | None) -> dict[str, float]:
    """Scalars of a data set."""
    if slope is None:
        return {}
    numbers = {
        "llc_from_temperatures": slope.llc,
        "llc_from_temperatures_se": slope.llc_se,
        "above_minimum": slope.above,
    }
    for name in ("means", "means_se"):
        values = zip(slope.temperatures, getattr(slope, name), strict=True)
        numbers |= {f"{name}_at_temperature_{t:g}": value for t, value in values}
    return numbers


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _finite(value: Any) -> Any:
    """The same for JSON, which has no nan and no infinity: None in their place."""
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _with_nan(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same from JSON: nan in place of None."""
    return {name: math.nan if value is None else value for name, value in values.items()}
