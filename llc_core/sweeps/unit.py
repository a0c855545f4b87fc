"""One unit of a sweep: what is run together, and the keys of its rows."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llc_core.config import RunConfig
from llc_core.interactions import build as build_interaction
from llc_core.interactions.replica_exchange import ReplicaExchange
from llc_core.potentials import ProblemClass, Workload, problem_class


@dataclass(frozen=True)
class Unit:
    """What a worker runs as one batch: problems of one shape (mostly one problem), one sampler and one gradient, all step sizes.

    It gives a row for each problem and step size: those of the first problem first.
    """

    size_class: str
    ranks: str
    problems: tuple[int, ...]
    label: str
    sampler: Mapping[str, Any]
    gradient: str
    step_sizes: tuple[float, ...]
    settings: Mapping[str, Any]
    virtual: bool = False

    @property
    def problem_class(self) -> ProblemClass:
        return problem_class(self.size_class, self.ranks, self.virtual)

    @property
    def description(self) -> dict[str, Any]:
        """Of all its problems, which are one batch."""
        return self.problem_class.description(self.problems)

    @property
    def workload(self) -> Workload:
        return workload(self.settings, self.gradient, len(self.step_sizes) * self.levels)

    @property
    def levels(self) -> int:
        """How many settings each step size has: those of a ladder, of which the first is the target."""
        return levels_of(self.settings)

    @property
    def rows(self) -> list[tuple[int, int]]:
        """(seed of the problem, index of the step size) of every row."""
        return list(itertools.product(self.problems, range(len(self.step_sizes))))

    @property
    def config(self) -> RunConfig:
        """Of the whole batch."""
        return self._config(self.description, grid={"step_size": self.step_sizes})

    def row_config(self, seed: int, index: int) -> RunConfig:
        """Of one problem and step size by itself. Its own run gives another draw of the same estimate."""
        return self._config(self.problem_class.description([seed]), step_size=self.step_sizes[index])

    def _config(self, problem: Mapping[str, Any], grid: Mapping[str, Any] | None = None, **own: Any) -> RunConfig:
        sampler = {**self.sampler, **own}
        return RunConfig(problem=problem, sampler=sampler, gradient=self.gradient, grid=grid or {}, **self.settings)

    @property
    def keys(self) -> tuple[str, ...]:
        """The key of each row."""
        return tuple(key_of(self.row_config(seed, i)) for seed, i in self.rows)

    @property
    def key(self) -> str:
        return key_of(self.config)

    def without(self, finished: set[str]) -> list[Unit]:
        """What is left of it: itself, nothing, or a unit for each group of problems that miss the same step sizes."""
        missing: dict[int, tuple[float, ...]] = {}
        for (seed, index), key in zip(self.rows, self.keys, strict=True):
            if key not in finished:
                missing[seed] = (*missing.get(seed, ()), self.step_sizes[index])
        alike: dict[tuple[float, ...], list[int]] = {}
        for seed, sizes in missing.items():
            alike.setdefault(sizes, []).append(seed)
        return [self.of(seeds, sizes) for sizes, seeds in alike.items()]

    def of(self, problems: Sequence[int], step_sizes: tuple[float, ...] | None = None) -> Unit:
        """The unit of some of its problems, and of these step sizes."""
        return replace(self, problems=tuple(problems), step_sizes=step_sizes or self.step_sizes)

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "problems": list(self.problems), "step_sizes": list(self.step_sizes)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Unit:
        return cls(**{**values, "problems": tuple(values["problems"]), "step_sizes": tuple(values["step_sizes"])})


def workload(settings: Mapping[str, Any], gradient: str, step_sizes: int) -> Workload:
    """What the costs of a unit with these settings depend on."""
    return Workload(
        gradient=gradient,
        steps=settings["steps"],
        chains=settings["chains"],
        settings=step_sizes,
        batch_size=settings["batch_size"],
        dtype=settings["dtype"],
        on_gpu=str(settings["device"] or "").startswith("cuda"),
    )


def levels_of(settings: Mapping[str, Any]) -> int:
    """Of the ladder of the chains' interaction; 1 where there is none."""
    described = settings.get("interaction")
    built = None if described is None else build_interaction(described)
    return len(built.ladder(1.0)) if isinstance(built, ReplicaExchange) else 1


def text_of(config: RunConfig) -> str:
    """A configuration as JSON without what is RunConfig's default anyway; `RunConfig.from_json` reads it."""
    return json.dumps(config.changed(), sort_keys=True)


def key_of(config: RunConfig) -> str:
    """Hash of a configuration: 24 hexadecimal digits, the same in every process and on every machine.

    Only of what differs from the defaults, so that a field added later leaves the keys of older stores alone.
    """
    return hashlib.sha256(text_of(config).encode()).hexdigest()[:24]
