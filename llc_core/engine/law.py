"""The measure of what the chains' distribution does to λ̂: how much of it a run can afford, and its result."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from llc_core.diagnostics import convergence as diagnostics
from llc_core.diagnostics.causes import FORMULA, FORMULA_LEAST
from llc_core.engine.setup import Setup
from llc_core.observables.curvature_roots import FURTHER
from llc_core.observables.law_bias import AT_ONCE, EXACT_TRACE, MOST_LOOKS, BiasLooks, LawBias, Plan
from llc_core.observables.look import Group
from llc_core.potentials.base import Potential
from llc_core.potentials.module.network import CURVATURE_ROWS
from llc_core.potentials.plane.regression import Planar

SHARE = 0.08
"""Share of the run's work that the measure may take."""
LEAST_LOOKS = 8
DENSE = 256
"""Up to this many parameters whole Hessians are made, where the run is long enough for them."""
LEAST_CORRELATION = 0.2
"""A measure that follows the loss less than this says nothing of its mean."""
VECTORS = (40, 24, 16, 8, 4)
CALL = {"cpu": 1e5, "gpu": 1e7}
"""A call costs as much as so many products, beside those that it makes."""


def law_bias(setup: Setup) -> LawBias | None:
    """What is to watch the run; None where it is too short, or its memory too tight, for any measure."""
    # On normal crossings with λ = ¼ the measure said 12% ± 3% of a true −1% ± 4%; quadrature judges such problems instead.
    found = None if setup.problem.by_chain or has_no_law(setup) else plan(setup)
    target = setup.target
    return found and LawBias(found, setup.groups, target.n_beta, target.localization, setup.config.seed)


def has_no_law(setup: Setup) -> bool:
    """Whether nothing is to be measured of the chains' distribution, at any price."""
    exact = setup.sampler.needs_conditionals  # and its distribution is the target
    # Chains that begin at draws of a prior have no single point around which the loss is nearly quadratic.
    judged = on_the_plane(setup) or setup.problem.starts_at_prior
    # Stein's identity asks what force the chains follow, and those that interact follow another than ∇U.
    apart = setup.config.interaction is not None or bool(setup.problem.walls)
    return exact or judged or apart


def on_the_plane(setup: Setup) -> bool:
    """Whether quadrature judges the estimate, so that nothing else need to."""
    return isinstance(setup.problem, Planar)


def plan(setup: Setup) -> Plan | None:
    """The best matrix and the most looks for SHARE of the run's work, in products that are counted and never timed."""
    problem, chains = setup.problem, setup.groups.count
    dim, kept = problem.dim, setup.planned_steps - setup.adapting
    call, gradient = _call(setup), chains * dim * _rows(problem)
    batch = 1.0 if setup.gradient == "full" or problem.has_factors else min(1.0, setup.batch_size / _rows(problem))
    room = SHARE * setup.planned_steps * (call + batch * gradient * (2 if setup.gradient == "control_variate" else 1))
    hvps = 2 * (call + gradient * (dim if dim <= EXACT_TRACE else 1))
    for option in _options(setup):
        turns = 3 * (call / 2 + chains * dim * option.turn)
        looks = int((room - option.first) / (call + gradient + hvps + turns))
        if option.first <= room / 2 and looks >= LEAST_LOOKS:
            looks = min(looks, MOST_LOOKS)
            return Plan(max(1, kept // looks), option.root, option.vectors, looks)
    return None


class _Option(NamedTuple):
    """A matrix that can be made. first: products that it takes to make.  turn: those of a turn by it, for each parameter."""

    root: str
    vectors: int
    first: float
    turn: int


def _options(setup: Setup) -> Iterator[_Option]:
    """The best first."""
    problem, chains, groups = setup.problem, setup.groups.count, setup.groups.problems * setup.groups.settings
    dim, rows, call = problem.dim, _rows(problem), _call(setup)
    gradient = chains * dim * rows
    if dim <= DENSE:
        columns = dim * (2 * gradient + min(call, call * chains * dim / AT_ONCE))
        yield _Option("dense", 0, columns + 2 * groups * dim**3, dim)
    if problem.has_factors:
        sizes = sum(a**3 + b**3 for a, b in problem.layers)
        yield _Option("kronecker", 0, call + gradient + 2 * groups * sizes, rows)
    for vectors in VECTORS:
        if 2 * vectors <= dim:
            hvp = 2 * (call + gradient / rows * min(rows, CURVATURE_ROWS))
            yield _Option("lanczos", vectors, (vectors + FURTHER) * hvp, vectors)


def _rows(problem: Potential) -> int:
    """Products that the loss on all data takes for each parameter: deep linear networks know the moments of their data."""
    return max(map(max, problem.layers)) if problem.has_factors else max(problem.samples, 1)


def _call(setup: Setup) -> float:
    return CALL["cpu" if setup.like.device.type == "cpu" else "gpu"]


class BiasAndSpread(NamedTuple):
    """What the chains' distribution adds to λ̂, and whether they have spread; nan where that was not measured, or the measure says nothing.

    bias, se: with its standard error.  rest_se: the error of λ̂ − bias, which is what the measure says λ̂ should be. The chance
    that λ̂ and the bias share is not in it: where the measure follows the loss, it is far below `se`.
    unspread, unspread_se: how many directions the chains have not spread along as far as γ lets them, with its error.
    pull: the mean of γ‖w − w0‖², to which every such direction adds 1 once they have.
    """

    bias: float = math.nan
    se: float = math.nan
    rest_se: float = math.nan
    unspread: float = math.nan
    unspread_se: float = math.nan
    pull: float = math.nan


def result(law: LawBias | None, group: Group, per_chain: np.ndarray, error: float, heat: float = 0.0) -> BiasAndSpread:
    """The bias of λ̂ and its errors, and what is known of how far the chains have spread.

    per_chain: λ̂ [C'] from all steps.  error: of their mean.  heat: what formulas expect the step and the noise to add to it.

    The bias is the mean of b over its slope on X = nβΔL. The slope is 1 where U is a quadratic and M right, and else this is
    what the mean of b says of a distribution ∝ exp(−U + t·X), for small t: there the mean of b is t·Cov(b, X), and λ̂ is off by t·Var(X).
    Since b/slope − X hardly varies where b follows X, its mean over the looks is added to λ̂ from all steps, which is the same
    but for chance.
    """
    if law is None or law.looks < LEAST_LOOKS:
        return BiasAndSpread()
    seen = law.seen(group)
    known = per_chain[seen.chains]
    if len(known) == 0 or not np.isfinite(seen.bias).all() or not np.isfinite(known).all():
        return BiasAndSpread()
    slope, correlation = fit(seen)
    nothing = BiasAndSpread(**spread_of(seen, heat, float(known.mean())))
    if not (slope > 0 and correlation >= LEAST_CORRELATION):
        return nothing
    parts = _parts(seen, known, slope)
    rest_se = diagnostics.standard_error(parts - known, seen.bias / slope - seen.loss, seen.weights)
    if len(parts) < 4:
        return nothing._replace(bias=float(parts.mean()), se=math.hypot(rest_se, error), rest_se=rest_se)
    without = [seen.without(chain) for chain in range(len(parts))]
    slopes = [fit(rest)[0] for rest in without]
    if min(slopes) <= 0:
        return nothing
    # The jackknife knows that the slope is uncertain, too.
    found = [_parts(rest, np.delete(known, chain), slopes[chain]).mean() for chain, rest in enumerate(without)]
    jackknife = math.sqrt((len(parts) - 1) * float(np.var(found)))
    return nothing._replace(bias=float(parts.mean()), se=jackknife, rest_se=rest_se)


def fit(seen: BiasLooks) -> tuple[float, float]:
    """How well b follows nβΔL: the slope of b on it, and their correlation; 0 and 0 where one of them does not vary."""
    bias, loss = (part - np.average(part, weights=seen.weights) for part in (seen.bias, seen.loss))
    square, both, other = (float(np.average(a, weights=seen.weights)) for a in (loss**2, loss * bias, bias**2))
    return (both / square, both / math.sqrt(square * other)) if square * other > 0 else (0.0, 0.0)


def spread_of(seen: BiasLooks, heat: float, llc: float) -> dict[str, float]:
    """How many directions the chains have not spread along, its error, and γ‖w − w0‖².

    b is a control variate, since its mean is 0 under the target: along steep directions δ·∇U is 2nβΔL, and −2b takes away its
    chance and what heat adds to it. Where b follows nβΔL less, the slope is nearer to 0, and a part of the heat is left: that is
    taken off by what formulas expect.  heat, llc: as in `without_heat`.
    """
    if not (np.isfinite(seen.unspread).all() and np.isfinite(seen.pull).all()):
        return {}
    follows, correlation = fit(seen)
    follows = follows if correlation >= LEAST_CORRELATION else 0.0
    left, bias = (part - np.average(part, weights=seen.weights) for part in (seen.unspread, seen.bias))
    square = float(np.average(bias**2, weights=seen.weights))
    slope = float(np.average(left * bias, weights=seen.weights)) / square if square > 0 else 0.0
    counted = seen.unspread - slope * seen.bias
    means = np.average(counted, axis=0, weights=seen.weights)
    rest = 1 - min(max(-slope * follows / 2, 0.0), 1.0)
    chance = diagnostics.standard_error(means, counted, seen.weights)
    many, error = without_heat(float(means.mean()), chance, rest * heat, rest * llc)
    return {"unspread": many, "unspread_se": error, "pull": float(np.average(seen.pull, weights=seen.weights))}


def without_heat(many: float, error: float, heat: float, llc: float) -> tuple[float, float]:
    """D − E[δ·∇U] of chains as hot as the target, and its error.

    heat: what formulas expect the step's size and the noise of minibatches to add to λ̂ (llc). E[δ·∇U] is larger by twice that,
    which would hide as many directions; it is taken off, with the error that these formulas have for the verdict too.
    """
    return many + 2 * heat, math.hypot(error, 2 * (FORMULA * abs(heat) + FORMULA_LEAST * abs(llc)))


def _parts(seen: BiasLooks, known: np.ndarray, slope: float) -> np.ndarray:
    """The bias by every chain, [C']."""
    means: np.ndarray = np.average(seen.bias / slope - seen.loss, axis=0, weights=seen.weights)
    return means + known
