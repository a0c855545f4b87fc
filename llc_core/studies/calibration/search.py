"""Which step size, localisation and temperature? All combinations in one batched run, and the plateau picked from it. Long, since the
one call is explained here together with all that it takes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from llc_core.config import RunConfig
from llc_core.engine.run import Run
from llc_core.estimating import estimate
from llc_core.fields import number
from llc_core.potentials.base import Potential
from llc_core.potentials.polishing import polish as polished_w0
from llc_core.results import Estimate
from llc_core.samplers import Sampler, build
from llc_core.studies.calibration.plateau import pick
from llc_core.studies.calibration.recommending import Recommendation, asks_for_a_minimum, recommend
from llc_core.studies.calibration.sentences import explanation
from llc_core.studies.calibration.trials import Trials

STEPS_TO_LIMIT = (1 / 256, 1 / 128, 1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 2.0)
"""Step sizes tried when none are given, as shares of the stability limit; the last must fail, and shows where."""
LOCALIZATIONS = (0.1, 1.0, 10.0)
TEMPERATURES = (1.0,)
PILOT_STEPS = 200


@dataclass(frozen=True)
class Calibration:
    """What was tried, what came out, and what to use. Arrays are indexed [step size, localisation, nβ].

    step_size [E], localization [G], n_beta [N]: the values tried, ascending.
    llc, llc_se, diverged_fraction, r_hat, ess, drift: [E, G, N]; drift: of nβ·ΔL between the halves after burn-in.
    ok: [E, G, N], whether a cell can be trusted.  reason: [E, G, N], the sentences that say why.
    plateau: [E, G, N], the cells that agree with the chosen one along ε.
    chosen: the index of the pick, None where there is no plateau.  explanation: sentences.
    estimate: that of the picked cell.  config: what to run next, without a grid.
    recommended: the one setting to use, run by itself, and what else is plausible; None where that was not asked for, or no
        chain lives at any step size.
    """

    step_size: np.ndarray
    localization: np.ndarray
    n_beta: np.ndarray
    llc: np.ndarray
    llc_se: np.ndarray
    diverged_fraction: np.ndarray
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
    recommended: Recommendation | None = None

    def plot(self) -> Any:
        """λ̂ by step size as a HoloViews overlay, the choice marked. The extra "plots" brings what it needs."""
        from llc_core.plots import figures

        return figures.calibration(self)

    def __bool__(self) -> bool:
        return self.chosen is not None

    def __str__(self) -> str:
        if self.recommended is None:
            return " ".join(self.explanation)
        rest = self.explanation[1:] if self else self.explanation
        return "\n".join((*self.recommended.sentences, *rest))


def calibrate(
    problem: Potential,
    sampler: Sampler | str | None = None,
    *,
    step_size: Sequence[float] | None = None,
    localization: Sequence[float] | None = None,
    n_beta: Sequence[float] | None = None,
    own_localization: float | None = None,
    chains: int = 4,
    steps: int | None = None,
    burn_in: int | float = 0.5,
    gradient: str | None = None,
    batch_size: int | None = None,
    seed: int = 0,
    device: str | None = None,
    dtype: str | None = None,
    polish: bool | None = None,
    confirm: bool = True,
) -> Calibration:
    """Try every ε × γ × nβ in one batched run and pick the plateau, where λ̂ does not depend on ε within its error.

    sampler: None: the engine's choice for these gradients.
    step_size: None: from 1/256 to 1/4 of the stability limit (measured by a short run at the largest nβ), and twice the
    limit.  localization: None: 0.1, 1 and 10 times the one asked about (0 alone if that is 0).  n_beta: None: n / log n.
    own_localization: the γ asked about; None: the problem's own.
    The pick: at the γ asked about (of those tried the nearest to it) and the nβ nearest n / log n that has a plateau of two
    cells or more, the ε with the smallest expected error: noise, the step's predicted bias, and the distance from the
    plateau at smaller ε. γ sets the neighbourhood that λ̂ speaks of, so no other γ is ever picked in its place; λ̂ there is
    for comparison. Without a plateau nothing is picked.
    polish: whether w0 is moved to the minimum of L_n before all; None: only where a verdict says that it lies above it.
    confirm: run the pick by itself, two to eight times as long, do what its verdict asks for, and look at γ and nβ beside it:
    `Calibration.recommended`. γ is never changed. Without a plateau the step size is left automatic there.
    Raises ValueError with one sentence for arguments that cannot be.
    """
    built = _chosen(problem, sampler, gradient)
    own = problem.localization if own_localization is None else number("own_localization", own_localization, 0)
    gammas = _values("localization", localization, [share * own for share in LOCALIZATIONS] if own else [0.0])
    betas = _values("n_beta", n_beta, [share * problem.n_beta for share in TEMPERATURES])
    shared: dict[str, Any] = {
        "gradient": gradient,
        "batch_size": batch_size,
        "chains": chains,
        "seed": seed,
        "device": device,
        "dtype": dtype,
    }

    def tried(at: Potential) -> Trials:
        return _tried(at, built, step_size, own, gammas, betas, steps, burn_in, shared)

    at = polished_w0(problem, n_beta=betas[-1], device=device).problem if polish else problem
    trials = tried(at)
    if polish is None and pick(trials)[0] is None and any(asks_for_a_minimum(cell.converged) for cell in trials.cells):
        moved = polished_w0(problem, n_beta=betas[-1], device=device)
        trials = tried(moved.problem) if moved.distance > 0 else trials
        polish = polish or moved.distance > 0 or None
    found = _result(trials)
    if not confirm or bool((trials.diverged_fraction >= 1).all()):
        return found
    e, g, b = found.chosen or (None, trials.own, int(np.argmin(trials.n_beta_distance)))
    best = {
        "step_size": None if e is None else trials.step_sizes[e],
        "localization": trials.localizations[g],
        "n_beta": trials.n_betas[b],
        "steps": trials.cells[0].steps,
        "burn_in": burn_in,
    }
    return replace(found, recommended=recommend(problem, built, best, shared, polish=polish))


def _tried(
    problem: Potential,
    built: Sampler,
    step_size: Sequence[float] | None,
    own: float,
    gammas: list[float],
    betas: list[float],
    steps: int | None,
    burn_in: int | float,
    shared: Mapping[str, Any],
) -> Trials:
    """All settings in one run."""
    epsilons = _step_sizes(problem, built, step_size, betas[-1], gammas[-1], shared)
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
    limit = math.nan
    if all(cell.diverged == cell.chains for cell in cells):
        limit = _stability_limit(problem, built, betas[-1], gammas[-1], shared)
    return Trials(cells, epsilons, gammas, betas, own, problem.n_beta, limit)


def _chosen(problem: Any, sampler: Sampler | str | None, gradient: str | None) -> Sampler:
    """The sampler with a step size that was asked for, or that the engine takes."""
    built = None if sampler is None else build(sampler)
    if not isinstance(problem, Potential):
        raise ValueError(
            f"problem must be a potential such as DeepLinearNetwork.random('1K'), not a {type(problem).__name__}."
        )
    if problem.problems > 1:
        raise ValueError(f"problem has {problem.problems} networks side by side; give one, such as problem.member(0).")
    if built is None:
        gradient = gradient or problem.gradients[0]
        built = build(problem.default_sampler(gradient))
        built = built if hasattr(built, "step_size") else build(Potential.default_sampler(problem, gradient))
    if not hasattr(built, "step_size"):
        raise ValueError(f"{built.name} has no step_size to calibrate; choose another sampler.")
    return built


def _stability_limit(
    problem: Potential, sampler: Sampler, n_beta: float, localization: float, shared: Mapping[str, Any]
) -> float:
    """The stability limit as a short run with an automatic step size measures it."""
    pilot = estimate(
        problem,
        sampler.replace(step_size=None),
        steps=PILOT_STEPS,
        n_beta=n_beta,
        localization=localization,
        progress=False,
        **shared,
    )
    return pilot.diagnostics["stability_limit"]


def _step_sizes(
    problem: Potential,
    sampler: Sampler,
    wished: Sequence[float] | None,
    n_beta: float,
    localization: float,
    shared: Mapping[str, Any],
) -> list[float]:
    if wished is None:
        limit = _stability_limit(problem, sampler, n_beta, localization, shared)
        if not (math.isfinite(limit) and limit > 0):
            raise ValueError(f"No stability limit could be measured for {sampler.name} here; give step_size as a list.")
        wished = [share * limit for share in STEPS_TO_LIMIT]
    return _values("step_size", wished, [])


def _result(trials: Trials) -> Calibration:
    chosen, plateau = pick(trials)
    best = None if chosen is None else trials.cell(chosen)
    config = None
    if chosen is not None and best is not None:
        config = best.config.replace(
            grid={},
            sampler={**(best.config.sampler or {}), "step_size": trials.step_sizes[chosen[0]]},
            localization=trials.localizations[chosen[1]],
            n_beta=trials.n_betas[chosen[2]],
        )
    return Calibration(
        step_size=np.array(trials.step_sizes),
        localization=np.array(trials.localizations),
        n_beta=np.array(trials.n_betas),
        llc=trials.llc,
        llc_se=trials.llc_se,
        diverged_fraction=trials.diverged_fraction,
        r_hat=trials.table([cell.r_hat for cell in trials.cells]),
        ess=trials.table([cell.ess for cell in trials.cells]),
        drift=trials.table([cell.diagnostics.get("drift", math.nan) for cell in trials.cells]),
        ok=trials.ok,
        reason=trials.reason,
        plateau=plateau,
        chosen=chosen,
        explanation=explanation(trials, chosen, plateau),
        estimate=best,
        config=config,
    )


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
