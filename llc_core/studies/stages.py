"""Stages: a deep linear network learns one singular value after the other, and between two of them it rests. λ at each rest is exact.
Long, since what is found and the flow that finds it are read together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import torch

from llc_core.estimating import estimate
from llc_core.fields import is_list, number, whole
from llc_core.potentials.deep_linear.network import DeepLinearNetwork
from llc_core.results import Estimate
from llc_core.studies.paths import PrincipalPath, principal_path
from llc_core.theory.coefficients import local_learning_coefficient
from llc_core.theory.rank_tables import Ranks, numerical_ranks
from llc_core.types import LearningCoefficient

DONE = 1e-3
"""All is learned once every singular value is as near as this to the teacher's, relative to it."""
LONGEST = 1e9
"""Time of the flow after which it is given up."""
AT_REST = 0.05
"""A stage is at rest where each value that is learned is as near as this to the teacher's, relative to it."""
MOST_POINTS = 4000


@dataclass(frozen=True)
class Stage:
    """Where the flow rests with `rank` singular values learned.

    time: of the flow.  loss: ½‖P − T‖² there.  singular_values: of the product P, [K].  weights: W_1 … W_M, as they are.
    truncated: the same with `rank` directions in each layer, of which `coefficient` is the exact local λ and m on the fibre of
    the product: with the product as its own teacher.  note: empty, or a sentence where λ̂ of these weights is not near it: the stage
    is no rest, or the next value can be seen already at n = 10⁶.
    """

    rank: int
    time: float
    loss: float
    singular_values: np.ndarray
    weights: list[np.ndarray]
    truncated: list[np.ndarray]
    coefficient: LearningCoefficient
    note: str = ""

    def problem(self, **options: Any) -> DeepLinearNetwork:
        """The network at w_t with its own product as the teacher, whose exact λ is `coefficient` where `note` is empty.

        options: n, noise_std, seed, virtual of `DeepLinearNetwork`.
        """
        said = f"Ranks count the {self.rank} directions that have been learned."
        return DeepLinearNetwork(self.weights, **options).with_ranks(Ranks(_ranks_of(self.truncated).table, said))


@dataclass(frozen=True)
class Stages:
    """What `stages` found.

    widths: H_0 … H_M.  teacher: its singular values, [K].  times: of the flow, [T].  loss: ½‖P − T‖², [T].  singular_values: of
    the product, [T, K].  products: W_M ⋯ W_1, what the network makes of white inputs, [T, H_M, H_0].  stages: one for each number of
    values learned, in order.
    """

    widths: list[int]
    teacher: np.ndarray
    times: np.ndarray
    loss: np.ndarray
    singular_values: np.ndarray
    products: np.ndarray
    stages: list[Stage]
    target: DeepLinearNetwork

    def __iter__(self) -> Iterator[Stage]:
        return iter(self.stages)

    def __len__(self) -> int:
        return len(self.stages)

    def __getitem__(self, place: int) -> Stage:
        return self.stages[place]

    def estimate(
        self, sampler: Any = None, *, n: int = 10**6, noise_std: float = 0.5, **options: Any
    ) -> list[Estimate]:
        """λ̂ at each stage with its own product as the teacher. n, noise_std: of the data.  options: of `llc_core.estimate`."""
        given = {"progress": False, **options}
        return [estimate(stage.problem(n=n, noise_std=noise_std), sampler, **given) for stage in self.stages]

    def against_target(self, stage: Stage) -> DeepLinearNetwork:
        """The network at a stage on the data of the real teacher, where all but the last stage are saddles and no minima.

        λ is not defined at a saddle of the loss that is measured: λ̂ is below 0 there, whatever the sampler.
        """
        flat = [
            torch.as_tensor(w).flatten() - torch.as_tensor(v).flatten()
            for w, v in zip(stage.weights, self.target.weights, strict=True)
        ]
        return self.target.moved(torch.cat(flat))

    def path(self, times: int = 400, components: int = 3) -> PrincipalPath:
        """Principal components of the network's outputs at so many times, evenly spaced. Compare with `expected_noise(times)`."""
        even = np.linspace(0.0, float(self.times[-1]), times)
        flat = self.products.reshape(len(self.times), -1)
        return principal_path(np.array([np.interp(even, self.times, column) for column in flat.T]).T, components)

    def rows(self) -> list[dict[str, Any]]:
        """The table: one dictionary for each stage, as pandas.DataFrame takes them."""
        return [
            {
                "rank": stage.rank,
                "time": stage.time,
                "loss": stage.loss,
                "λ": float(stage.coefficient),
                "m": stage.coefficient.multiplicity,
                "note": stage.note,
            }
            for stage in self.stages
        ]

    def plot(self, found: Sequence[Estimate] = ()) -> Any:
        """Loss, exact λ of the stages beside λ̂ (of `estimate`), and singular values over time, as a HoloViews layout."""
        from llc_core.plots import stages as drawing

        return drawing.stages(self, found)

    def __repr__(self) -> str:
        lines = [f"{'rank':>4}  {'time':>10}  {'loss':>10}  {'λ':>6}  {'m':>2}"]
        for row in self.rows():
            lines.append(
                f"{row['rank']:>4}  {row['time']:>10.4g}  {row['loss']:>10.4g}  {row['λ']:>6g}  {row['m']:>2}  {row['note']}".rstrip()
            )
        return "\n".join(lines)


def stages(
    widths: Sequence[int] = (10, 4, 10),
    singular_values: Sequence[float] = (4.0, 2.0, 1.0, 0.5),
    init: float | None = None,
    seed: int = 0,
) -> Stages:
    """Gradient flow of ½‖W_M ⋯ W_1 − T‖² from small weights, and its rests.

    widths: H_0 … H_M.  singular_values: of the teacher T, in falling order, as many as the least width at most; its singular
    vectors are random.  init: standard deviation of the first weights; None: 1e-5 of two layers, so that at a rest the values still to
    be learned are too small to be seen at n = 10⁶ (from 1e-3 they are not, and λ̂ lies between two steps); 0.03 of more layers, where
    smaller weights rest for a time that grows as their size to the power 2 − M.  seed: of vectors and weights.
    Inputs are white here, so that the singular values are learned one after the other, the largest first.
    Raises ValueError for what is no such network, and where the flow does not end by time 10⁹.
    Source: Saxe, McClelland & Ganguli 2014 (the stages); λ at each is `local_learning_coefficient`.
    """
    heights, values = _checked(widths, singular_values)
    seed = whole("seed", seed, 0, 2**63 - 1)
    size = (1e-5 if len(heights) == 3 else 0.03) if init is None else number("init", init, 1e-8, 1.0)
    random = np.random.default_rng(seed)
    target = _teacher(heights, values, random)
    teacher = reduce(lambda below, w: w @ below, target)
    shapes = [w.shape for w in target]
    first = size * random.standard_normal(sum(w.size for w in target))
    times, path = _flow(first, shapes, teacher, values)
    layers = [_layers(w, shapes) for w in path]
    products = [reduce(lambda below, w: w @ below, each) for each in layers]
    found = np.array([np.linalg.svd(p, compute_uv=False)[: len(values)] for p in products])
    loss = np.array([0.5 * np.sum((p - teacher) ** 2) for p in products])
    speed = np.array([np.linalg.norm(_slope(w, shapes, teacher)) for w in path])
    learned = (found > values / 2).sum(axis=1)
    rests = []
    for rank in range(len(values) + 1):
        there = np.flatnonzero(learned == rank)
        if not len(there):
            continue  # two values have come at once
        at = there[-1] if rank == len(values) else there[np.argmin(speed[there])]
        rests.append(_stage(rank, times[at], loss[at], found[at], layers[at], values, heights))
    return Stages(heights, values, times, loss, found, np.array(products), rests, DeepLinearNetwork(target))


def _stage(
    rank: int,
    time: float,
    loss: float,
    found: np.ndarray,
    layers: list[np.ndarray],
    values: np.ndarray,
    heights: list[int],
) -> Stage:
    note = ""
    if (np.abs(found[:rank] / values[:rank] - 1) > AT_REST).any():
        note = "It is no rest: the next value comes before the last one is learned. Take values further apart, or a smaller init."
    elif DeepLinearNetwork(layers).effective_rank_table()[0][-1] != rank:
        note = f"It is no rest: the next value is {found[rank]:.2g} already, which chains at n = 10⁶ see. Take a smaller init."
    truncated = [_of_rank(w, rank) for w in layers]
    coefficient = local_learning_coefficient(heights, _ranks_of(truncated).table)
    return Stage(rank, float(time), float(loss), found, layers, truncated, coefficient, note)


def _ranks_of(layers: list[np.ndarray]) -> Ranks:
    return numerical_ranks(layers, 1e-6)


def _of_rank(w: np.ndarray, rank: int) -> np.ndarray:
    """The nearest matrix of a rank."""
    u, s, v = np.linalg.svd(w, full_matrices=False)
    return np.asarray((u[:, :rank] * s[:rank]) @ v[:rank])


def _checked(widths: Any, singular_values: Any) -> tuple[list[int], np.ndarray]:
    if not is_list(widths) or len(widths) < 3:
        raise ValueError(
            f"widths is {widths!r}; give at least three, such as (10, 4, 10): a network of one layer has no stages."
        )
    heights = [whole(f"widths[{place}]", width, 1, 1000) for place, width in enumerate(widths)]
    if not is_list(singular_values) or not 1 <= len(singular_values) <= min(heights):
        raise ValueError(f"singular_values is {singular_values!r}; give 1 to {min(heights)} numbers, the least width.")
    values = np.array(
        [number(f"singular_values[{place}]", value, 1e-3, 1e3) for place, value in enumerate(singular_values)]
    )
    if (np.diff(values) >= 0).any():
        raise ValueError(f"singular_values is {list(values)}; give different numbers, the largest first.")
    return heights, values


def _teacher(heights: list[int], values: np.ndarray, random: np.random.Generator) -> list[np.ndarray]:
    """Balanced layers of a random product with these singular values."""
    count, depth = len(values), len(heights) - 1
    right, left = (np.linalg.qr(random.standard_normal((height, count)))[0] for height in (heights[0], heights[-1]))
    root = values ** (1 / depth)
    layers = [np.zeros((after, before)) for before, after in zip(heights, heights[1:], strict=False)]
    for w in layers:
        w[:count, :count] = np.diag(root)
    layers[0][:] = 0
    layers[0][:count] = root[:, None] * right.T
    layers[-1][:] = 0
    layers[-1][:, :count] = left * root
    return layers


def _layers(flat: np.ndarray, shapes: Sequence[tuple[int, ...]]) -> list[np.ndarray]:
    ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1]
    return [part.reshape(shape) for part, shape in zip(np.split(flat, ends), shapes, strict=True)]


def _slope(flat: np.ndarray, shapes: Sequence[tuple[int, ...]], teacher: np.ndarray) -> np.ndarray:
    """−∇ of the loss, flat as the weights are."""
    layers = _layers(flat, shapes)
    below = [np.eye(layers[0].shape[1])]
    for w in layers:
        below.append(w @ below[-1])
    back = teacher - below[-1]
    slopes = []
    for w, before in zip(reversed(layers), reversed(below[:-1]), strict=True):
        slopes.append(back @ before.T)
        back = w.T @ back
    return np.concatenate([slope.ravel() for slope in reversed(slopes)])


def _flow(
    first: np.ndarray, shapes: Sequence[tuple[int, ...]], teacher: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Times [T] and weights [T, D] from the first weights until all is learned."""
    from scipy.integrate import solve_ivp

    def left(time: float, w: np.ndarray) -> float:
        product = reduce(lambda below, layer: layer @ below, _layers(w, shapes))
        off: float = np.abs(np.linalg.svd(product, compute_uv=False)[: len(values)] / values - 1).max()
        return off - DONE

    left.terminal = True  # type: ignore[attr-defined]
    # What has been learned is stiff while the rest waits: an explicit rule would take a million steps of a rest.
    run = solve_ivp(
        lambda time, w: _slope(w, shapes, teacher), (0.0, LONGEST), first, "LSODA", events=left, rtol=1e-6, atol=1e-9
    )
    if run.status != 1:
        raise ValueError(f"The flow has not learned all values by time {run.t[-1]:.3g}; take a larger init.")
    kept = np.unique(np.linspace(0, len(run.t) - 1, min(MOST_POINTS, len(run.t))).round().astype(int))
    return run.t[kept], run.y.T[kept]
