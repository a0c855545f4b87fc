"""Which step size, localisation and temperature? All combinations in one batched run, and the plateau picked from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.config import RunConfig
from llc_core.diagnostics.signals import health
from llc_core.engine.run import Run
from llc_core.estimating import estimate
from llc_core.fields import number
from llc_core.potentials.base import Potential
from llc_core.results import Estimate
from llc_core.samplers import Sampler, build

STEPS_TO_LIMIT = (1 / 256, 1 / 128, 1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 2.0)
"""Step sizes tried when none are given, as shares of the stability limit; the last must fail, and shows where."""
LOCALIZATIONS = (0.1, 1.0, 10.0)
TEMPERATURES = (1.0,)
PILOT_STEPS = 200
PLATEAU_SHARE = 0.05
ERRORS = 2.5
"""Neighbours belong to one plateau when λ̂ differs by less than this many standard errors or PLATEAU_SHARE."""
SERIOUS = ("dead chains", "drift", "sign", "spikes", "gradient term")
R_HAT, ESS = 1.1, 40.0
"""Looser than for a final estimate: a trial only has to show where the plateau is, and its errors are counted."""


@dataclass(frozen=True)
class Calibration:
    """What was tried, what came out, and what to use. Arrays are indexed [step size, localisation, nβ].

    step_size [E], localization [G], n_beta [N]: the values tried, ascending.
    llc, llc_se, dead_fraction, r_hat, ess, drift: [E, G, N]; drift: of nβ·ΔL between the halves after burn-in.
    ok: [E, G, N].  reason: [E, G, N] sentences, why a cell is or is not to be trusted.  plateau: [E, G, N], cells that
    agree with the chosen one along ε.
    chosen: the index of the pick, None where nothing can be trusted.  explanation: sentences.
    estimate: the picked cell's; config: what to run next, without grid.
    """

    step_size: np.ndarray
    localization: np.ndarray
    n_beta: np.ndarray
    llc: np.ndarray
    llc_se: np.ndarray
    dead_fraction: np.ndarray
    r_hat: np.ndarray
    ess: np.ndarray
    drift: np.ndarray
    ok: np.ndarray
    reason: np.ndarray
    plateau: np.ndarray
    chosen: tuple[int, int, int] | None
    explanation: tuple[str, ...]
    estimate: Estimate | None
    config: RunConfig | None

    def __bool__(self) -> bool:
        return self.chosen is not None

    def __str__(self) -> str:
        return " ".join(self.explanation)


def calibrate(
    problem: Potential,
    sampler: Sampler | str = "SGLD",
    *,
    step_size: Sequence[float] | None = None,
    localization: Sequence[float] | None = None,
    n_beta: Sequence[float] | None = None,
    chains: int = 4,
    steps: int | None = None,
    burn_in: int | float = 0.5,
    gradient: str | None = None,
    batch_size: int | None = None,
    seed: int = 0,
    device: str | None = None,
    dtype: str | None = None,
) -> Calibration:
    """Try every ε × γ × nβ in one batched run and pick the plateau, where λ̂ does not depend on ε within its error.

    step_size: None: from 1/256 to 1/4 of the stability limit (measured by a short run at the largest nβ), and twice the
    limit.  localization: None: 0.1, 1 and 10 times the problem's own.  n_beta: None: n / log n.
    The pick: γ and nβ nearest to the problem's own that have a plateau of two cells or more, and on the plateau the ε
    with the smallest expected error: noise, the step's predicted bias, and the distance from the plateau at smaller ε.
    Raises ValueError with one sentence for arguments that cannot be.
    """
    built = build(sampler)
    if not isinstance(problem, Potential):
        raise ValueError(
            f"problem must be a potential such as DeepLinearNetwork.random('1K'), not a {type(problem).__name__}."
        )
    if problem.problems > 1:
        raise ValueError(f"problem has {problem.problems} networks side by side; give one, such as problem.member(0).")
    if not hasattr(built, "step_size"):
        raise ValueError(f"{built.name} has no step_size to calibrate; choose another sampler.")
    own = problem.localization or 1.0
    gammas = _values("localization", localization, [share * own for share in LOCALIZATIONS])
    betas = _values("n_beta", n_beta, [share * problem.n_beta for share in TEMPERATURES])
    shared: dict[str, Any] = {
        "gradient": gradient,
        "batch_size": batch_size,
        "chains": chains,
        "seed": seed,
        "device": device,
        "dtype": dtype,
    }

    def limit() -> float:
        pilot = estimate(
            problem,
            built.replace(step_size=None),
            steps=PILOT_STEPS,
            n_beta=betas[-1],
            localization=gammas[-1],
            progress=False,
            **shared,
        )
        return pilot.diagnostics["stability_limit"]

    if step_size is None:
        largest = limit()
        if not (math.isfinite(largest) and largest > 0):
            raise ValueError(f"No stability limit could be measured for {built.name} here; give step_size as a list.")
        step_size = [share * largest for share in STEPS_TO_LIMIT]
    epsilons = _values("step_size", step_size, [])
    config = RunConfig(
        problem=problem.to_dict(),
        sampler=built.replace(step_size=None).to_dict(),
        steps=steps,
        burn_in=burn_in,
        grid={"step_size": tuple(epsilons), "localization": tuple(gammas), "n_beta": tuple(betas)},
        **shared,
    )
    run = Run(config, problem)
    for _ in run:
        pass
    cells = run.estimates()
    measured = limit() if all(cell.diverged == cell.chains for cell in cells) else math.nan
    return _report(cells, epsilons, gammas, betas, own, problem.n_beta, measured)


def _report(
    cells: list[Estimate],
    epsilons: list[float],
    gammas: list[float],
    betas: list[float],
    own: float,
    usual: float,
    limit: float,
) -> Calibration:
    shape = len(epsilons), len(gammas), len(betas)

    def table(values: list[Any], kind: Any = float) -> np.ndarray:
        return np.array(values, dtype=kind).reshape(shape)

    judged = [_judge(cell) for cell in cells]
    llc, se = table([c.llc for c in cells]), table([c.llc_se for c in cells])
    dead = table([c.diverged / c.chains for c in cells])
    ok = table([fine for fine, _ in judged], bool)
    reason = table([text for _, text in judged], object)
    error = table([_expected_error(c) for c in cells])
    chosen, plateau = _pick(llc, se, error, ok, epsilons, gammas, betas, own, usual)
    flat = None if chosen is None else int(np.ravel_multi_index(chosen, shape))
    config = None
    if chosen is not None and flat is not None:
        best = cells[flat].config
        config = best.replace(
            grid={},
            sampler={**(best.sampler or {}), "step_size": epsilons[chosen[0]]},
            localization=gammas[chosen[1]],
            n_beta=betas[chosen[2]],
        )
    explanation = _explain(cells, llc, se, dead, ok, plateau, chosen, epsilons, gammas, betas, own, usual, limit)
    return Calibration(
        np.array(epsilons),
        np.array(gammas),
        np.array(betas),
        llc,
        se,
        dead,
        table([c.r_hat for c in cells]),
        table([c.ess for c in cells]),
        table([c.diagnostics.get("drift", math.nan) for c in cells]),
        ok,
        reason,
        plateau,
        chosen,
        explanation,
        None if flat is None else cells[flat],
        config,
    )


def _judge(cell: Estimate) -> tuple[bool, str]:
    """Whether a cell may be on a plateau, and the first sentence against it."""
    for signal in health(cell):
        if signal.name in SERIOUS and not signal.ok:
            return False, signal.sentence
    if cell.r_hat > R_HAT:
        return (
            False,
            f"R-hat is {cell.r_hat:.2f}, above {R_HAT}: the chains tell different stories, so take more steps.",
        )
    if cell.ess < ESS:
        return False, f"The chains hold only {cell.ess:.0f} independent draws, below {ESS:.0f}: take more steps."
    step, limit = cell.diagnostics["step_size"], cell.diagnostics["stability_limit"]
    if math.isnan(cell.diagnostics["acceptance"]) and step > limit:
        return False, f"The step size {step:.2g} is above the stability limit {limit:.2g}: λ̂ is inflated."
    added = _bias(cell) / cell.llc
    if added > PLATEAU_SHARE:
        return False, f"Step size and minibatch noise are expected to add {added:.0%} to λ̂: reduce step_size."
    return True, "The chains agree and have settled."


def _bias(cell: Estimate) -> float:
    """What step size and minibatch noise are expected to add to λ̂."""
    return cell.diagnostics["step_bias"] + cell.diagnostics["noise_inflation"]


def _expected_error(cell: Estimate) -> float:
    """Of λ̂, noise and bias together. nβ·ΔL has variance near λ, which steadies a spread taken over few chains."""
    noise = math.sqrt(abs(cell.llc) / cell.ess) if cell.ess > 0 else math.inf
    return math.hypot(max(noise, np.nan_to_num(cell.llc_se)), _bias(cell))


def _pick(
    llc: np.ndarray,
    se: np.ndarray,
    error: np.ndarray,
    ok: np.ndarray,
    epsilons: list[float],
    gammas: list[float],
    betas: list[float],
    own: float,
    usual: float,
) -> tuple[tuple[int, int, int] | None, np.ndarray]:
    """The index of the pick and its plateau: first a line with two agreeing cells, else any single good cell."""
    lines = sorted(
        np.ndindex(len(gammas), len(betas)),
        key=lambda at: (abs(math.log(betas[at[1]] / usual)), abs(math.log(max(gammas[at[0]], 1e-300) / own))),
    )
    plateau = np.zeros(ok.shape, dtype=bool)
    for least in (2, 1):
        for g, b in lines:
            run = _longest(llc[:, g, b], se[:, g, b], ok[:, g, b])
            if len(run) >= least:
                plateau[run, g, b] = True
                risks = [_risk(llc[:, g, b], error[:, g, b], run, e) for e in run]
                best = run[int(np.argmin(risks))]
                return (best, g, b), plateau
    return None, plateau


def _longest(llc: np.ndarray, se: np.ndarray, ok: np.ndarray) -> list[int]:
    """The largest set of good cells, neighbours but for refused ones, each of which agrees with all others of it; the one
    at smaller ε of equals."""
    best: list[int] = []
    run: list[int] = []
    for e in np.flatnonzero(ok).tolist():
        while not all(_agree(llc, se, e, other) for other in run):
            run = run[1:]
        run = [*run, e]
        if len(run) > len(best):
            best = run
    return best


def _risk(llc: np.ndarray, error: np.ndarray, run: list[int], e: int) -> float:
    """A cell's expected error, and what separates it from the mean of the plateau at smaller ε: heavy tails hide from any
    prediction of the step's bias."""
    smaller = [other for other in run if other < e]
    if not smaller:
        return float(error[e])
    weight = 1 / np.maximum(error[smaller], 1e-300) ** 2
    return math.hypot(error[e], llc[e] - float((weight * llc[smaller]).sum() / weight.sum()))


def _agree(llc: np.ndarray, se: np.ndarray, a: int, b: int) -> bool:
    error = np.nan_to_num(math.hypot(se[a], se[b]))
    return abs(llc[a] - llc[b]) < max(ERRORS * error, PLATEAU_SHARE * abs(llc[[a, b]]).max())


def _explain(
    cells: list[Estimate],
    llc: np.ndarray,
    se: np.ndarray,
    dead: np.ndarray,
    ok: np.ndarray,
    plateau: np.ndarray,
    chosen: tuple[int, int, int] | None,
    epsilons: list[float],
    gammas: list[float],
    betas: list[float],
    own: float,
    usual: float,
    limit: float,
) -> tuple[str, ...]:
    count = len(cells)
    if chosen is None:
        if (dead >= 1).all():
            below = f" below {limit:.2g}" if math.isfinite(limit) and limit > 0 else f" far below {epsilons[0]:.2g}"
            return (f"All chains of all {count} settings diverged, so nothing can be picked: use step sizes{below}.",)
        smallest = _judge(cells[0])[1]
        return (
            f"None of the {count} settings can be trusted, so nothing is picked.",
            f"At the smallest step size, {epsilons[0]:.2g}: {smallest}",
        )
    e, g, b = chosen
    on = np.flatnonzero(plateau[:, g, b])
    sentences = [f"Use step_size = {epsilons[e]:.3g}, localization = {gammas[g]:.3g}, n_beta = {betas[b]:.4g}."]
    value = f"λ̂ = {llc[e, g, b]:.4g} ± {se[e, g, b]:.2g}"
    if len(on) > 1:
        sentences.append(
            f"There λ̂ is on a plateau: at {len(on)} settings from ε = {epsilons[on[0]]:.2g} to {epsilons[on[-1]]:.2g} it "
            f"stays within its errors of {value}."
        )
    else:
        sentences.append(
            f"Only this one setting can be trusted ({value}); no neighbour in ε confirms it: try finer steps."
        )
    sentences.append(
        "The chosen step size has the smallest expected error there, noise and bias of the step together; none of its chains died."
    )
    if e + 1 < len(epsilons) and not ok[e + 1, g, b]:
        text = _judge(cells[int(np.ravel_multi_index((e + 1, g, b), llc.shape))])[1]
        sentences.append(f"The next larger step size, {epsilons[e + 1]:.2g}, is refused: {text}")
    if g != int(np.argmin([abs(math.log(max(x, 1e-300) / own)) for x in gammas])):
        sentences.append(
            f"The localisation nearest the problem's own {own:.3g} has no plateau; this is the nearest that has."
        )
    if b != int(np.argmin([abs(math.log(x / usual)) for x in betas])):
        sentences.append(f"The n_beta nearest n / log n = {usual:.4g} has no plateau; this is the nearest that has.")
    refused = int((~ok).sum())
    if refused:
        sentences.append(
            f"{refused} of {count} settings are refused, {int((dead > 0).sum())} of them with dead chains."
        )
    return tuple(sentences)


def _values(name: str, values: Sequence[float] | None, default: list[float]) -> list[float]:
    if values is None:
        return sorted(default)
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise ValueError(f"{name} must be a list of values to try, not {values!r}.")
    result = sorted({number(f"{name}[{i}]", v) for i, v in enumerate(values)})
    if not result:
        raise ValueError(f"{name} is empty; give at least one value to try, or None.")
    if result[0] < 0 or (result[0] == 0 and name != "localization"):
        raise ValueError(f"{name} holds {result[0]:g}; every value must be greater than 0.")
    return result
