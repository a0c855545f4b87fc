"""One way to sample the 25 modes: its run at so many gradients, and what is kept of it along the way (Deng et al. 2022, D.2)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from llc_core.fields import Settings, hyper, is_list, short
from llc_core.interactions import Interaction, build
from llc_core.interactions.replica_exchange import ReplicaExchange
from llc_core.interactions.stein_variational import SteinVariational
from llc_core.plane.exact import PlaneLaw, kl_of_cells
from llc_core.plane.particles import ParticleRun
from llc_core.plane.run import PlaneRun
from llc_core.potentials.plane.surfaces import surface
from llc_core.samplers.sgld import SGLD

NOISE = 0.25
"""Standard deviation of the noise on energies and slopes."""
COUNTED_FROM = 1000
"""Steps after the pilot before places are counted."""
PIECE, EVERY = 512, 16
"""Steps between two looks at the places, and of those the ones that are kept: the paper keeps one in 20."""
HALF = 2.5
"""Of the box's side."""
DRAWS = 2_000
"""Exact points of a trial that are held against the chains' by nearest neighbours."""


def read_starts(label: str, value: Any) -> str | tuple[tuple[float, float], ...]:
    return value if isinstance(value, str) else tuple((float(x), float(y)) for x, y in value)


@dataclass(frozen=True)
class Method(Settings):
    """label: its name.  step_size: of SGLD, in the half convention.  chains: of a group; a ladder has one a level.
    interaction: a name or a table; None: chains do not interact.  starts: [P, 2], or "box", all over it; None: w0.
    memory: of AdaGrad, for particles alone.  times: so many times the gradients of the other methods.
    boxed: whether steps that would leave the box are not made; what lies outside counts nowhere.
    """

    what = "method"

    label: str = hyper("", read=lambda label, value: str(value))
    step_size: float = hyper(6e-3, 0.0, 1.0, open_low=True)
    chains: int = hyper(5, 1, 1000)
    interaction: Mapping[str, Any] | None = hyper(None, read=lambda label, value: build(value).to_dict())
    starts: str | tuple[tuple[float, float], ...] | None = hyper(None, read=read_starts)
    memory: float = hyper(0.0, 0.0, 1.0, open_high=True)
    times: float = hyper(1.0, 0.0, 1000.0, open_low=True)
    boxed: bool = hyper(True)

    @property
    def built(self) -> Interaction | None:
        return None if self.interaction is None else build(self.interaction)

    @property
    def particles(self) -> bool:
        """Whether what it found is where its particles are now, and not where chains have been."""
        return isinstance(self.built, SteinVariational)


def read_methods(label: str, value: Any) -> tuple[Method, ...]:
    if not is_list(value) or not len(value):
        raise ValueError(f"{label} is {short(value)}; give a list of tables, each with a label and a step_size.")
    return tuple(Method.read_from(label, each) for each in value)


def started(method: Method, gradients: int, trials: int, seed: int) -> PlaneRun | ParticleRun:
    """A run of a method on the 25 modes, before its first step; `gradients`: of a method whose `times` is 1."""
    own, steps = method.built, max(1, round(method.times * gradients / method.chains))
    sampler = SGLD(step_size=method.step_size)
    target = surface(noise=NOISE) if method.boxed else surface(noise=NOISE, box=None)
    if isinstance(own, SteinVariational):
        starts: Any = method.starts
        return ParticleRun(
            sampler, target, own, chains=method.chains, steps=steps, trials=trials, seed=seed, count_from=steps - 1,
            starts=starts, memory=method.memory,
        )  # fmt: skip
    return PlaneRun(
        sampler, target, own, steps=steps, trials=trials, seed=seed,
        count_from=(getattr(own, "pilot", 0) or 0) + COUNTED_FROM, starts=method.starts,
        **({} if isinstance(own, ReplicaExchange) else {"chains": method.chains}),
    )  # fmt: skip


def followed(method: Method, gradients: int, trials: int, looks: int, seed: int, law: PlaneLaw) -> dict[str, Any]:
    """What a run gives, at about `looks` times L of it.

    gradients, steps, seconds [L]: of one trial, of each chain, and of one core for a trial.  kl, near [L, trials]: KL of the
    cells, and by nearest neighbours, from exact points of each trial's own, the same for all methods.  cells, bare [trials, 5, 5]:
    masses at the end, and those of the places without their weights.
    """
    masses, random = law.cells(5), np.random.default_rng(seed)
    exact = exact_points(law, trials, seed)
    started(method, gradients, 1, seed).advance(1)  # compiles, which is no part of the time
    run = started(method, gradients, trials, seed)
    pieces = -(-run.total_steps // PIECE)
    due = {round(pieces * (k + 1) / looks) for k in range(looks)}
    places: list[list[np.ndarray]] = [[] for _ in range(trials)]
    weights: list[list[np.ndarray]] = [[] for _ in range(trials)]
    rows: dict[str, list[Any]] = {name: [] for name in ("gradients", "steps", "seconds", "kl", "near")}
    seconds = 0.0
    for piece in range(1, pieces + 1):
        began = time.process_time()
        seen = run.advance(PIECE)
        seconds += time.process_time() - began
        counted = slice(0, 1 if isinstance(run, PlaneRun) and run.by_levels else None)
        for trial in range(trials):
            if method.particles:
                places[trial], weights[trial] = [seen.trail[trial, -1]], [np.ones(run.chains)]
            elif seen.steps > run.count_from:
                places[trial].append(seen.trail[trial, ::EVERY, counted].reshape(-1, 2).copy())
                weights[trial].append(seen.weights[trial, ::EVERY, counted].reshape(-1).copy())
        if piece in due and places[0]:
            found = [np.concatenate(each) for each in places]
            inside = [np.abs(each).max(axis=1) <= HALF for each in found]
            paid = [np.concatenate(each)[within] for each, within in zip(weights, inside, strict=True)]
            found = [each[within] for each, within in zip(found, inside, strict=True)]
            now = np.array([of_cells(each) for each in found]) if method.particles else seen.masses()
            near = [
                kl_by_neighbours(own, kept(each, pay, random))
                for own, each, pay in zip(exact, found, paid, strict=True)
            ]
            told = (seen.gradients, seen.steps, seconds / trials, kl_of_cells(masses, now).tolist(), near)
            for name, value in zip(rows, told, strict=True):
                rows[name].append(value)
    bare = [of_cells(each).round(6).tolist() for each in found]
    return {**rows, "cells": now.round(6).tolist(), "bare": bare}


def exact_points(law: PlaneLaw, trials: int, seed: int) -> list[np.ndarray]:
    """[DRAWS, 2] for each trial: one set for all trials would leave its own chance out of their errors."""
    return [law.draw(DRAWS, np.random.default_rng([seed, trial])) for trial in range(trials)]


def of_cells(places: np.ndarray) -> np.ndarray:
    """Shares [5, 5] of places [N, 2] in the box's unit cells."""
    row, column = np.clip(np.rint(places).astype(int) + 2, 0, 4).T
    counts = np.bincount(row * 5 + column, minlength=25).reshape(5, 5)
    return counts / counts.sum()


def kept(places: np.ndarray, weights: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Some of the places [M, 2], each as often as its weight over the largest one and none twice: they have the weighted
    distribution, while drawing by weight would make copies, whose distance is 0."""
    most = weights.max()
    if not most > 0:
        return places[:0]
    return np.unique(places[random.random(len(places)) * most < weights], axis=0)


def kl_by_neighbours(exact: np.ndarray, found: np.ndarray) -> float:
    """An estimate of KL(exact ‖ found) from points [N, d] and [M, d], of which no two of one set are equal; nan below two of one.

    (d/N)·Σ log(ν_i/ρ_i) + log(M/(N − 1)), ρ and ν the distances to the nearest other exact point and to the nearest found one.
    Points of a chain are no independent ones: what is near in time is near in place, which adds to the estimate.
    Source: Pérez-Cruz 2008, eq. 14 with k = 1.
    """
    if min(len(exact), len(found)) < 2:
        return float("nan")
    own = cKDTree(exact).query(exact, 2)[0][:, 1]
    other = cKDTree(found).query(exact, 1)[0]
    dim = exact.shape[1]
    ratio = np.log(np.maximum(other, 1e-300)) - np.log(own)
    return float(dim * ratio.mean() + np.log(len(found) / (len(exact) - 1)))
