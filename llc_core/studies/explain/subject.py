"""The estimate that is to be explained: its checks, its problem, and its run as the comparisons repeat it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from llc_core.config import RunConfig
from llc_core.potentials.base import Potential
from llc_core.potentials.polishing import polish
from llc_core.results import Estimate
from llc_core.samplers import MetropolisSampler, Sampler, build

UNKNOWN_SHARE = 0.25
"""Share of the stability limit that is assumed where the limit is not known."""


@dataclass(frozen=True)
class Subject:
    """An estimate and its run.

    config: of the same run with full gradients, at the estimate's own setting, without a grid.
    sampler, step, localization: of that setting.
    limit_share: the step size as a share of its stability limit, at most 1.
    """

    estimate: Estimate
    problem: Potential
    config: RunConfig
    sampler: Sampler
    step: float
    localization: float
    limit_share: float

    @classmethod
    def of(cls, estimate: Estimate, problem: Potential) -> Subject:
        """Raises ValueError with one sentence for an estimate that cannot be split."""
        _check(estimate, problem)
        config = estimate.config
        if config.polish:  # once for all comparisons, which begin at that w0
            problem = polish(problem, n_beta=config.n_beta, device=config.device).problem
            config = config.replace(polish=False, problem=problem.to_dict())
        setting = dict(estimate.setting)
        localization = setting.pop("localization", config.localization)
        setting.pop("n_beta", None)
        assert config.sampler is not None and localization is not None
        step = float(estimate.diagnostics["step_size"])
        described = {**config.sampler, **setting}
        if not build(config.sampler).needs_conditionals:
            described["step_size"] = step
        sampler = build(described)
        repeated = config.replace(
            sampler=described,
            grid={},
            histogram=None,
            observables=[],
            n_beta=estimate.n_beta,
            localization=float(localization),
            steps=estimate.steps,
            burn_in=int(estimate.burn_in),
            continued_from=None,
            gradient="full",
            # The gradients that feed a metric are part of the sampler's distribution, so they stay noisy: only the drift becomes exact.
            metric_gradient=(config.metric_gradient or config.gradient) if _has_statistics(sampler) else None,
        )
        limit = float(estimate.diagnostics.get("stability_limit", math.nan))
        share = min(step / limit, 1.0) if math.isfinite(limit) and limit > 0 else UNKNOWN_SHARE
        return cls(estimate, problem, repeated, sampler, step, float(localization), share)

    @property
    def is_noisy(self) -> bool:
        """Whether the run used minibatches."""
        return self.estimate.config.gradient != "full"

    @property
    def can_be_full(self) -> bool:
        """Whether the problem has full gradients."""
        return "full" in self.problem.gradients

    @property
    def is_exact(self) -> bool:
        """Whether no step size leaves an error: the sampler accepts or rejects, or draws exactly."""
        return isinstance(self.sampler, MetropolisSampler) or self.sampler.needs_conditionals


def _check(estimate: Estimate, problem: Potential) -> None:
    config = estimate.config
    if not math.isfinite(estimate.llc):
        raise ValueError("The estimate has no value to explain; run it again with a smaller step size.")
    if config.step_decay:
        raise ValueError(f"step_decay is {config.step_decay:g}; only runs with a constant step size can be split.")
    if not isinstance(problem, Potential) or RunConfig(problem.to_dict()).problem != config.problem:
        raise ValueError("problem is not the one that was estimated; pass the same one.")


def _has_statistics(sampler: Sampler) -> bool:
    """Whether gradients feed running means of the sampler."""
    return type(sampler).metric is not Sampler.metric or any(hasattr(sampler, name) for name in ("alpha", "beta"))
