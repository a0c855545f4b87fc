"""λ̂ from the temperatures of a run: the slope of the mean loss, with its error, from what was seen at each of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from llc_core.diagnostics import convergence as diagnostics
from llc_core.diagnostics.chances import without_idle
from llc_core.diagnostics.convergence import MeanError, linear_part, mean_error
from llc_core.diagnostics.evidence import Evidence
from llc_core.diagnostics.temperatures import hangs_on_spread, judge_slope, leverage
from llc_core.engine.spreading import Idle
from llc_core.engine.summary import Chains, grouped
from llc_core.observables.data_noise import DataNoise, Influences
from llc_core.results import Estimate
from llc_core.types import FromTemperatures


@dataclass(frozen=True)
class Level:
    """One problem at one setting.  problem: a number of its own.  evidence: of the estimate from the mean there.  influences: on it."""

    problem: int
    setting: Mapping[str, Any]
    chains: Chains
    evidence: Evidence
    influences: Influences | None = None

    @property
    def temperature(self) -> float:
        return float(self.setting["temperature"])

    @property
    def line(self) -> tuple[Any, ...]:
        """What is the same for all temperatures of one slope."""
        return self.problem, *(value for name, value in self.setting.items() if name != "temperature")


def with_slopes(
    found: Sequence[Estimate], levels: Sequence[Level], idle: Callable[[int, float], Idle] | None
) -> list[Estimate]:
    """The estimates, those at T = 1 with λ̂ from all temperatures of the same problem and other settings.

    levels: of each estimate.  idle: looks for directions that the loss does not depend on, for the estimate of a number, given λ̂.
    """
    # The exact answers that were found for the estimates judge the slope too.
    known = [
        replace(each, evidence=replace(each.evidence, reference=one.reference, reference_se=one.reference_se))
        for each, one in zip(levels, found, strict=True)
    ]
    result = list(found)
    for line in dict.fromkeys(each.line for each in known):
        rows = [row for row, each in enumerate(known) if each.line == line]
        look = None if idle is None else partial(_at_level, idle, rows)
        slope = from_temperatures([known[row] for row in rows], look)
        result[rows[0]] = replace(found[rows[0]], from_temperatures=slope)
    return result


def _at_level(idle: Callable[[int, float], Idle], rows: Sequence[int], level: int, llc: float) -> Idle:
    return idle(rows[level], llc)


def from_temperatures(levels: Sequence[Level], idle: Callable[[int, float], Idle] | None = None) -> FromTemperatures:
    """λ̂ as the slope of nβ·E_T[L] over T, with chains at nβ/T and γ/T.

    levels: the first at T = 1.  idle: looks for directions that the loss does not depend on, at a level, given λ̂; None: nobody does.

    Chains at temperature T follow exp(−U/T), U = nβ·L + (γ/2)‖w − w0‖². Let L be a quadratic L* + ½(w − m)ᵀH(w − m), and
    A = nβH + γ. Then U/T has the normal distribution N(μ, T·A⁻¹) with μ = w0 + nβ·A⁻¹H(m − w0), the place where γ and the slope of the loss
    balance, at every T, and
        nβ·E_T[L] = nβ·L(μ) + T·½ tr(nβH·A⁻¹) = nβ·L(μ) + T·½Σ sᵢ,   sᵢ = nβ·hᵢ/(nβ·hᵢ + γ) along the eigenvectors of H,
    a line over T whose slope is λ̂ as it is where w0 is the minimum. Were γ left as it is, Σ sᵢ/(nβ·hᵢ/T) would stand in place of
    the second term, with sᵢ at nβ/T: its slope at T = 1 is ½Σ sᵢ², and μ would move with T besides.
    At a singular minimum λ stands in place of ½Σ sᵢ (Watanabe 2013, corollary 3).

    The levels count by 1/T², since each mean is known to about the same share of T. Chain c has the batches of chain c at all levels
    and no noise of it, so errors are those of one trace: at every step the slope of the chains c at their levels.
    """
    temperature = np.array([level.temperature for level in levels])
    slope, at_zero, bend = leverage(temperature, temperature**-2.0)
    # nβ·ΔL at each level is in units of that level's nβ.
    count = temperature * slope
    llc, error, evidence = _combined(levels, count)
    change, change_error, _ = _combined(levels, temperature * bend)
    change, change_se = (change, change_error.se) if len(levels) > 2 else (math.nan, math.nan)
    over, over_error, _ = _combined(levels, temperature * at_zero)
    seen = [(level.temperature, _from_the_line(level, llc)) for level in levels]
    verdict = judge_slope(seen, evidence, change, change_se, over, over_error.se)
    if idle is not None and not verdict and hangs_on_spread(seen, evidence):
        widest = max(range(len(levels)), key=lambda k: levels[k].evidence.unspread)
        evidence = without_idle(evidence, *idle(widest, llc))
        verdict = judge_slope(seen, evidence, change, change_se, over, over_error.se)
    means = temperature * [level.evidence.llc for level in levels]
    return FromTemperatures(
        llc=llc,
        llc_se=error.se,
        verdict=verdict,
        temperatures=tuple(temperature.tolist()),
        means=tuple(means.tolist()),
        means_se=tuple((temperature * [level.evidence.se for level in levels]).tolist()),
        above=-over,
        change=change,
        change_se=change_se,
    )


def _combined(levels: Sequence[Level], count: np.ndarray) -> tuple[float, MeanError, Evidence]:
    """Σ count_k·λ̂_k over the levels, its error, and the evidence on it.

    What is known of a level's λ̂ counts as λ̂ does. Where a chain died the traces have no common rows: the error is then that of
    independent levels, and nothing is said of drift, since such a run is not trusted.
    """
    every = [level.evidence for level in levels]
    first, last = every[0], max(every, key=lambda e: e.unspread if math.isfinite(e.unspread) else -math.inf)
    llc = _sum(count, [e.llc for e in every])
    error = MeanError(_root(count, [e.se for e in every]))
    r_hat = ess = drift = drift_se = math.nan
    if not any(level.chains.dead for level in levels) and math.isfinite(llc):
        parts = [_parts(level.chains) for level in levels]
        per_chain, trace = (sum(c * part[k] for c, part in zip(count, parts, strict=True)) for k in (0, 1))
        error, r_hat, ess = mean_error(per_chain, trace), diagnostics.r_hat(trace), diagnostics.ess(trace)
        ess *= min([1.0, *(e.effective_share for e in every if math.isfinite(e.effective_share))])
        drift, drift_se = diagnostics.plateau_drift(trace)
    noise = _data_noise(levels, count)
    evidence = replace(
        first,
        llc=llc,
        se=error.se,
        dead=max(e.dead for e in every),
        r_hat=r_hat,
        ess=ess,
        chain_offset=error.offset,
        chain_chance=error.chance,
        drift=drift,
        drift_se=drift_se,
        step_bias=_sum(count, [e.step_bias for e in every]),
        noise_inflation=_sum(count, [e.noise_inflation for e in every]),
        rounding=_sum(np.abs(count), [e.rounding for e in every]),
        law_bias=_sum(count, [e.law_bias for e in every]),
        law_bias_se=_root(count, [e.law_bias_se for e in every]),
        law_rest_se=_root(count, [e.law_rest_se for e in every]),
        data_variance=noise.square,
        data_variance_se=noise.square_se,
        unspread=last.unspread,
        unspread_se=last.unspread_se,
        pull=last.pull,
        idle=0,
        expected=math.nan,
        reference=_sum(count, [e.reference for e in every]),
        reference_se=_root(count, [e.reference_se for e in every]),
    )
    return llc, error, evidence


def _data_noise(levels: Sequence[Level], count: np.ndarray) -> DataNoise:
    """What other data would change of Σ count_k·λ̂_k: what they change of the loss at w0 alone drops out."""
    every = [level.influences for level in levels]
    known = [each for each in every if each is not None]
    if len(known) < len(every) or len({each.parts.shape for each in known}) > 1:
        return DataNoise()
    parts = sum(c * each.parts for c, each in zip(count, known, strict=True))
    return known[0]._replace(parts=np.asarray(parts)).noise()


def _parts(chains: Chains) -> tuple[np.ndarray, np.ndarray]:
    """λ̂ [G] and nβ·ΔL [T, G] of what errors count; of states that weigh differently the linear part."""
    per_chain, trace, weights, _ = grouped(chains)
    return per_chain, trace if weights is None or np.ptp(weights) == 0 else linear_part(trace, weights)


def _from_the_line(level: Level, llc: float) -> Evidence:
    """The evidence on a level whose baseline is the line's value at T = 0 in place of the loss at w0."""
    spikes = math.nan
    if level.evidence.exact_losses:  # a share of the mean, which is another one now
        spikes = diagnostics.spike_share(grouped(level.chains)[1] + (llc - level.evidence.llc))
    return replace(level.evidence, llc=llc, spikes=spikes)


def _sum(count: np.ndarray, values: Sequence[float]) -> float:
    return float(count @ np.array(values))


def _root(count: np.ndarray, errors: Sequence[float]) -> float:
    return float(np.sqrt(np.square(count) @ np.square(errors)))
