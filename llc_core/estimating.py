"""One call for one estimate: what users ask of the driver."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from llc_core.config import MAX_STEPS, RunConfig
from llc_core.engine.run import Run
from llc_core.fields import whole
from llc_core.interactions import Interaction
from llc_core.interactions import build as build_interaction
from llc_core.observables import Observable
from llc_core.potentials.base import Potential
from llc_core.results import Estimate, GridEstimates
from llc_core.samplers import Sampler, build
from llc_core.types import Snapshot

OF_A_BATCH = 0.01
"""nβ is taken to be made from the batch size where it is that within this share, as it is where it was rounded."""


def run(config: RunConfig, problem: Potential | None = None, observable: Potential | None = None) -> Run:
    """A run that can be iterated for snapshots: `for snapshot in run(config): …`."""
    return Run(config, problem, observable)


def estimate(
    problem: Potential,
    sampler: Sampler | str | None = None,
    *,
    chains: int = 4,
    steps: int | None = None,
    burn_in: int | float = 0.5,
    continued_from: Mapping[str, int] | None = None,
    gradient: str | None = None,
    metric_gradient: str | None = None,
    batch_size: int | None = None,
    baseline: str = "same_batch",
    n_beta: float | None = None,
    localization: float | None = None,
    polish: bool = False,
    step_decay: float = 0.0,
    histogram: Mapping[str, Any] | None = None,
    functional_variance: int | None = None,
    observable: Potential | None = None,
    observe_every: int = 10,
    observables: Sequence[Observable | Mapping[str, Any] | str] = (),
    predict: Any = None,
    interaction: Interaction | Mapping[str, Any] | str | None = None,
    grid: Mapping[str, Any] | None = None,
    temperatures: Sequence[float] | None = None,
    seed: int = 0,
    device: str | None = None,
    dtype: str | torch.dtype | None = None,
    max_steps: int | None = None,
    progress: bool = True,
    step_size: float | None = None,
    callback: Callable[[Snapshot], Any] | None = None,
) -> Any:
    """Estimate the local learning coefficient of `problem` at its w0.

    None means the engine's choice for this problem, recorded in `estimate.config`; with neither a sampler nor steps, a deep
    linear network is sampled by exact draws (`Gibbs`). See `RunConfig` for the arguments.

    interaction: how chains interact, such as `Contour()` or `ReplicaExchange()`. The levels of a ladder are settings of their own
    in `Run.estimates()`; here the estimate is that of the first, which is the target.
    predict: inputs [P, …], or [P] where a row is one number, at which draws of the network's outputs are kept. They are in
        `Estimate.predictive`, and in `Estimate.observables` as "Predictions" (draws [T, C, P], or [T, C, P, k] of k outputs) and
        "WeightDraws" (draws [T, C, 48] of single weights). For `BayesianNetwork` and `NetworkPotential`.
    polish: move w0 to the local minimum of L_n on all data first (`llc_core.polish`): `Estimate.polished` says how far that was and what
        it changes. λ̂ at the w0 that was given is another estimate, without it.
    temperatures: 1 and at least one other, such as (1, .25): chains run at nβ/T and γ/T side by side, and λ̂ from the slope of their
        mean losses, which needs no minimum at w0, is in `Estimate.from_temperatures` of the estimate at T = 1, the one that is
        returned. (In `Run.estimates()` all are settings of the grid's field "temperature".) Its error is about √(1 + T²)/|1 − T|
        times that of λ̂ from as many steps: 1.4 at T = .25, 2.2 at .5 and at 2, 3.6 at 1.5. Where the loss is no quadratic as far
        as chains go, λ̂ at nβ is off by some c, and the slope by (1 + T)·c: a low T is better in both. Three of them show whether
        λ̂ changes. A step size that is given is that of all levels, and the coldest has the lowest stability limit.
    step_size: that of the sampler, in place of the one that it has.
    callback: called with every `Snapshot`, about 25 a second; what it raises ends the run.
    max_steps: the run goes on, each time twice as long as before, while a verdict asks for more steps and no more than
    max_steps in all are done (`Run.go_on`); None: it ends after `steps` whatever the verdict.
    Returns an `Estimate`, or with `grid` a list of them in the order of the grid's product (first field slowest): all
    settings run as one batch. Of several problems side by side (`DeepLinearFamily`) the list has those of the first problem
    first, each from `chains` chains.

    λ̂ = nβ(mean(L_n(w)) − L_n(w0)); Lau, Murfet & Wei, definition 1; Hitchcock & Hoogland eq. 3.8 with the baseline on the
    same batch. Raises ValueError with one sentence for arguments that cannot be.
    """
    if callback is not None and not callable(callback):
        raise ValueError(f"callback is a {type(callback).__name__}; pass a function of a Snapshot.")
    config = RunConfig(
        problem=problem.to_dict() if isinstance(problem, Potential) else {},
        sampler=_sampler(problem, sampler, step_size, gradient),
        gradient=gradient,
        metric_gradient=metric_gradient,
        batch_size=batch_size,
        baseline=baseline,
        n_beta=n_beta,
        localization=localization,
        polish=polish,
        step_decay=step_decay,
        histogram=histogram,
        functional_variance=functional_variance,
        observe_every=observe_every,
        observables=_with_predictions(_described(observables), predict),
        interaction=None if interaction is None else build_interaction(interaction).to_dict(),
        chains=chains,
        steps=steps,
        burn_in=burn_in,
        continued_from=continued_from,
        grid=with_temperatures(grid or {}, temperatures),
        seed=seed,
        device=device,
        dtype=None if dtype is None else str(dtype),
    )
    if not isinstance(problem, Potential):
        raise ValueError(
            f"problem must be a potential such as DeepLinearNetwork.random('1K'), not a {type(problem).__name__}."
        )
    _say_if_of_a_batch(config, problem)
    current = run(config, problem, observable)
    show = progress and sys.stderr.isatty()
    for snapshot in until_settled(current, max_steps):
        if callback is not None:
            callback(snapshot)
        if show:
            _show(snapshot)
    if show:
        sys.stderr.write("\n")
    results = GridEstimates(of_target(current))
    return results if grid or current.problems > 1 else results[0]


def _say_if_of_a_batch(config: RunConfig, problem: Potential) -> None:
    """Warn where nβ is m/log m of a batch of m rows, and not n/log n: others' code makes it so."""
    batch, n_beta = config.batch_size or problem.batch_size, config.n_beta
    full = (config.gradient or problem.gradients[0]) == "full"
    if full or n_beta is None or not 3 <= batch < problem.n or n_beta >= problem.n_beta:
        return
    if abs(n_beta * math.log(batch) / batch - 1) < OF_A_BATCH:
        warnings.warn(
            f"n_beta is {n_beta:.3g}, made from the batch size {batch} and not from the {problem.n:,} rows: too hot. "
            f"Leave it out for {problem.n_beta:.4g}, which is n/log n.",
            stacklevel=3,
        )


def with_temperatures(grid: Any, temperatures: Sequence[float] | None) -> Any:
    """The grid with the temperatures varying fastest."""
    if temperatures is None:
        return grid
    if not isinstance(grid, Mapping) or "temperature" not in grid:
        return {**grid, "temperature": temperatures} if isinstance(grid, Mapping) else grid
    raise ValueError("grid has temperature, and temperatures are given too; leave one of them out.")


def of_target(current: Run) -> list[Estimate]:
    """The estimates of a run, without those at temperatures other than 1."""
    return [each for each in current.estimates() if each.setting.get("temperature", 1) == 1]


def _sampler(problem: Any, sampler: Any, step_size: float | None, gradient: str | None) -> dict[str, Any] | None:
    """The description of the sampler, with the step size that was asked for; None: the engine chooses."""
    if sampler is None and step_size is not None and isinstance(problem, Potential):
        sampler = problem.default_sampler(gradient or problem.gradients[0])
    if sampler is None:
        return None
    built = build(sampler)
    if step_size is None:
        return built.to_dict()
    if not hasattr(built, "step_size"):
        raise ValueError(f"step_size is {step_size!r}, but {built.name} has none; leave it out.")
    return built.replace(step_size=step_size).to_dict()


def until_settled(current: Run, max_steps: int | None) -> Iterator[Snapshot]:
    """Snapshots of a run that goes on, twice as long each time, while a verdict asks for more steps and max_steps allow it."""
    if max_steps is not None:
        whole("max_steps", max_steps, current.total_steps, MAX_STEPS)
    while True:
        yield from current
        more = max_steps is not None and 2 * current.total_steps <= max_steps
        if not (more and any(_wants_steps(each) for each in of_target(current))):
            return
        current.go_on()


def _wants_steps(estimate: Estimate) -> bool:
    slope = estimate.from_temperatures
    return estimate.converged.wants_steps or (slope is not None and slope.verdict.wants_steps)


def _described(observables: Any) -> Any:
    """What a configuration takes: observables that are given as objects are described."""
    if not isinstance(observables, list | tuple):
        return observables
    return [each.to_dict() if isinstance(each, Observable) else each for each in observables]


def _with_predictions(observables: Any, inputs: Any) -> Any:
    """The same with draws of outputs at `inputs`, and of weights beside them."""
    if inputs is None or not isinstance(observables, list | tuple):
        return observables
    rows = inputs.tolist() if isinstance(inputs, np.ndarray | torch.Tensor) else inputs
    return [*observables, {"name": "Predictions", "inputs": rows}, {"name": "WeightDraws"}]


def _show(snapshot: Snapshot) -> None:
    finite = snapshot.llc[np.isfinite(snapshot.llc)]
    value = f"λ̂ = {finite.mean():.4g}" if len(finite) else "burn-in"
    share = snapshot.steps / snapshot.total_steps
    sys.stderr.write(f"\r{share:4.0%}  {snapshot.steps_per_second:,.0f} steps/s  {value}      ")
    sys.stderr.flush()
