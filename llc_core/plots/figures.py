"""One function for each kind of figure. Results are taken as they are and not imported: a figure of a result is `result.plot()`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from llc_core.plots import kinds
from llc_core.plots.style import (
    CHAINS,
    ESTIMATE,
    GOOD,
    MARK,
    QUIET,
    TRUTH,
    area,
    below_each_other,
    finished,
    hollow,
    holoviews,
    line_at,
    ticks_at,
    with_errors,
)

MOST_CURVES, MOST_POINTS = 16, 1000
"""Chains that are drawn, and points of each."""


def estimate(found: Any) -> Any:
    """Loss traces above the running λ̂, of an `Estimate`. Raises ValueError where the trace was not kept."""
    return below_each_other(traces(found), running(found))


def traces(found: Any) -> Any:
    """nβ·ΔL of every chain, with the end of burn-in and λ̂."""
    hv, (steps, loss) = holoviews(), _trace(found)
    curves = [
        hv.Curve((steps, chain)).opts(color=color, alpha=0.6, line_width=1)
        for chain, color in zip(loss.T[:MOST_CURVES], _colors(), strict=False)
    ]
    ends = line_at(found.burn_in, QUIET, "dashed", upright=True)
    parts = [*curves, *ends, *line_at(found.expected), *line_at(found.llc, ESTIMATE, "solid")]
    title = f"λ̂ = {found.llc:.4g} ± {found.llc_se:.2g}"
    at_rest = loss[steps >= found.burn_in]  # a chain that was put back during burn-in may have been very high
    room = {"ylim": _around(at_rest)} if np.isfinite(at_rest).any() else {}
    return finished(hv.Overlay(parts), xlabel="step", ylabel="nβ (L(w) − L(w₀))", title=title, **room)


def running(found: Any) -> Any:
    """λ̂ of the chains together as it comes to rest after burn-in, with a band of two standard deviations over chains, by √C."""
    hv, (steps, loss) = holoviews(), _trace(found)
    kept = steps >= found.burn_in
    steps, loss = steps[kept], loss[kept][:, np.isfinite(loss[kept]).all(axis=0)]
    if not loss.size:
        raise ValueError("No chain has a finite loss after burn-in; take a smaller step_size.")
    means = loss.cumsum(axis=0) / np.arange(1, len(loss) + 1)[:, None]
    middle, chains = means.mean(axis=1), means.shape[1]
    parts = [hv.Curve((steps, middle)).opts(color=ESTIMATE, line_width=2)]
    if chains > 1:
        half = 2 * means.std(axis=1, ddof=1) / chains**0.5
        parts.insert(0, area(steps, middle - half, middle + half))
    local = None if found.local_learning_coefficient is None else float(found.local_learning_coefficient)
    parts += [*line_at(found.expected), *line_at(local, TRUTH, "solid")]
    return finished(hv.Overlay(parts), xlabel="step", ylabel="running λ̂")


def settings(found: Sequence[Any], name: str = "") -> Any:
    """λ̂ ± 2 errors of several estimates by the setting that differs among them, as `estimate(grid=…)` gives them.

    name: the setting; empty: the first of the grid. Raises ValueError where there is none.
    """
    hv = holoviews()
    names = list(found[0].setting) if len(found) else []
    if not names:
        raise ValueError("The estimates have no setting that differs; give estimate(grid={…}).")
    name = name or names[0]
    if name not in names:
        raise ValueError(f"The estimates do not differ in {name!r}; choose one of {', '.join(names)}.")
    problems = list(dict.fromkeys(str(each.config.problem) for each in found))
    curves: dict[str, list[Any]] = {}
    for each in found:
        others = [f"{other} {each.setting[other]:g}" for other in names if other != name]
        if len(problems) > 1:
            others.insert(0, f"problem {problems.index(str(each.config.problem)) + 1}")
        curves.setdefault(", ".join(others), []).append(each)
    parts: list[Any] = []
    for (label, mine), color in zip(curves.items(), _colors(), strict=False):
        mine = sorted((each for each in mine if np.isfinite(each.llc)), key=lambda each: float(each.setting[name]))
        if not mine:
            continue
        x, y, error = (
            np.array([get(each) for each in mine])
            for get in (lambda e: e.setting[name], lambda e: e.llc, lambda e: e.llc_se)
        )
        parts += with_errors(x, y, error, label, color)
        parts.append(hollow(x, y, [not each.converged for each in mine], color))
        parts += line_at(mine[0].expected, TRUTH if len(problems) == 1 else color)
    values = [float(each.setting[name]) for each in found]
    axis = ticks_at(values) if min(values) > 0 and max(values) > 20 * min(values) else {}
    legend = {"show_legend": len(curves) > 1, "xlabel": name, "ylabel": "λ̂ ± 2 s.e. (hollow: not trusted)"}
    return finished(hv.Overlay(parts), **legend, **axis)


def calibration(found: Any) -> Any:
    """λ̂ by step size for every γ and nβ of a `Calibration`; the pick has a ring, and a line goes where the recommended setting leads."""
    hv, parts = holoviews(), []
    for (g, n), color in zip(np.ndindex(found.llc.shape[1:]), _colors(), strict=False):
        fine = np.isfinite(found.llc[:, g, n])
        label = f"γ {found.localization[g]:g}" + (f", nβ {found.n_beta[n]:.4g}" if len(found.n_beta) > 1 else "")
        x, y, error = found.step_size[fine], found.llc[fine, g, n], found.llc_se[fine, g, n]
        parts += with_errors(x, y, error, label, color)
        parts.append(hollow(x, y, ~found.ok[fine, g, n], color))
    said, known = "", [found.llc[found.ok] if found.ok.any() else found.llc.ravel()]
    if found.recommended is not None and np.isfinite(found.recommended.llc):
        llc, se = found.recommended.llc, found.recommended.llc_se
        said = f"recommended: λ̂ = {llc:.4g} ± {se:.2g}"
        parts += line_at(llc, GOOD, "dashed")
        known.append(np.array([llc]))
    if found.chosen is not None:
        e, g, n = found.chosen
        at = (found.step_size[e : e + 1], found.llc[e : e + 1, g, n])
        parts.append(hv.Scatter(at, label="chosen").opts(size=16, fill_alpha=0, line_color=GOOD, line_width=3))
    low, high = _around(np.concatenate(known))
    return finished(
        hv.Overlay(parts),
        title=said,
        xlabel="step size ε",
        ylabel="λ̂ ± 2 s.e. (hollow: refused)",
        **ticks_at(found.step_size),
        ylim=(low, high),
        legend_position="right",
    )


def over_training(found: Mapping[Any, Any]) -> Any:
    """λ̂ ± 2 errors above the loss at each checkpoint of an `OverTraining`; between them ν̂ ± 2 errors where it was asked for."""
    steps = np.array([float(step) for step in found])
    looks: dict[str, Any] = {"colors": (ESTIMATE,), "xlabel": "training step"}
    loss, trusted = (np.array([getattr(each, of) for each in found.values()]) for of in ("baseline_loss", "converged"))
    pictures = []
    for symbol, of in (("λ̂", "llc"), ("ν̂", "singular_fluctuation")):
        values, error = (np.array([getattr(each, name) for each in found.values()]) for name in (of, f"{of}_se"))
        if symbol == "λ̂" or np.isfinite(values).any():
            label = f"{symbol} ± 2 s.e. (hollow: not trusted)"
            drawn = kinds.curves({"": (steps, values, error)}, ylabel=label, **looks)
            doubted = ~(trusted.astype(bool) & np.isfinite(error))
            pictures.append(drawn * hollow(steps, values, doubted, ESTIMATE))
    losses = kinds.curves({"": (steps, loss)}, ylabel="L(w₀)", logy=bool((loss > 0).all()), **looks)
    return below_each_other(*pictures, losses)


def free_energy(found: Any, truth: float | None = None) -> Any:
    """nβ·E[ΔL] at every level of a `FreeEnergy`, whose limit is λ, with what was found of it. truth: the exact λ."""
    fine = (found.levels > 0) & np.isfinite(found.level_llc)
    points = found.levels[fine], found.level_llc[fine], found.level_llc_se[fine]
    shown = np.array(
        [*points[1], found.llc, found.llc if truth is None else truth]
    )  # lines alone make no room for themselves
    return kinds.curves(
        {"": points},
        ground=[*line_at(truth), *line_at(found.llc, GOOD, "dashed")],
        colors=(ESTIMATE,),
        xlabel="nβ",
        ylabel="nβ·E[ΔL] ± 2 s.e.",
        logx=True,
        ylim=_around(shown, 0.08),
        title=f"λ = {found.llc:.4g} ± {found.llc_se:.2g}",
    )


def densities(found: Any, beside: Mapping[str, Any]) -> Any:
    """Where the chains of a `LineSnapshot` are. beside: densities at the bins' centres, or x and y, by name; the target's first."""
    return kinds.densities(found.bins.edges, {"chains": found.density()}, beside)


def band(
    found: Any,
    level: float = 0.8,
    across: str = "time",
    beside: Mapping[str, Any] | None = None,
    data: tuple[Any, Any] | None = None,
) -> Any:
    """The mean function of a `Predictive` and what holds a share `level` of the draws.

    across: "time", of all draws of all chains, or "chains", of the newest draw of each.  beside: low and high end [P] of other
    bands by name, drawn as edges in the order of `found.inputs`; the first one is the exact answer's.
    data: x and y of the observations.
    Raises ValueError for inputs of several numbers and for an unknown `across`.
    """
    hv, x = holoviews(), np.asarray(found.inputs, dtype=float)
    mean = np.asarray(found.mean)
    if x.ndim > 1 and x.shape[-1] == 1:
        x = x[:, 0]
    if x.ndim != 1 or mean.ndim != 1:
        raise ValueError("plot() draws functions of one number; give estimate(predict=…) inputs of one number each.")
    ways = {"time": found.band_over_time, "chains": found.band_across_chains}
    if across not in ways:
        raise ValueError(f"across is {across!r}; give {' or '.join(map(repr, ways))}.")
    order = np.argsort(x)
    low, high = (np.asarray(edge)[order] for edge in ways[across](level))
    parts = [area(x[order], low, high, label=f"{level:.0%} of the draws")]
    for (name, edges), (color, dash) in zip(
        (beside or {}).items(), ((TRUTH, "dashed"), (QUIET, "solid"), (MARK, "dotted")), strict=False
    ):
        parts += [
            hv.Curve((x[order], np.asarray(edge)[order]), label=name).opts(color=color, line_dash=dash)
            for edge in edges
        ]
    parts.append(hv.Curve((x[order], mean[order]), label="mean").opts(color=ESTIMATE, line_width=2))
    if data is not None:
        parts.append(hv.Scatter(tuple(map(np.ravel, data)), label="data").opts(color=TRUTH, size=7))
    return finished(hv.Overlay(parts), xlabel="x", ylabel="f(x)", legend_position="top_left")


def _trace(found: Any) -> tuple[np.ndarray, np.ndarray]:
    """Steps [T] and losses [T, C], no more of them than can be told apart."""
    if not len(found.trace):
        raise ValueError("This estimate holds no trace, as one that was read from text; plot that of the run itself.")
    every = max(1, len(found.trace) // MOST_POINTS)
    return found.trace_steps[::every], found.trace[::every]


def _around(values: np.ndarray, share: float = 0.5) -> tuple[float, float]:
    """A range in which values that lie far away do not press the others flat. share: of their spread, room on either side."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    room = share * max(high - low, 0.1 * abs(high), 1e-9)
    return low - room, high + room


def _colors() -> Iterator[str]:
    """As many as are asked for: they come again."""
    return itertools.cycle(CHAINS)
