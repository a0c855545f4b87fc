"""The transition operator of a chain on a grid of positions and memories, and its stationary distribution.
Long, since what it needs is priced with the same numbers as it is made."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import lu_factor, lu_solve
from scipy.linalg.lapack import dgetrs
from scipy.special import ndtr

from llc_core.potentials.line.landscape import Landscape
from llc_core.samplers.forms import Line
from llc_core.stationary.grids import Axis, MemoryAxis, TooLarge
from llc_core.stationary.krylov import correction

REACH = 6.5
"""Standard deviations of the normal kernel that are kept."""
RESOLVED = 0.9
"""Nodes per standard deviation from which the trapezoidal rule is exact to 1e-7; below, moments are matched."""
SIDE = 3
"""Nodes on either side that take part in matching moments; stable for up to 1.1 nodes per standard deviation."""
ROUNDS = 6
STEPS = 2
RESTARTS = 12
VECTORS = 80
ENOUGH = 1e-10
ENTRY_BYTES = 80
"""Of each pair of states with a move from one to the other, while the matrix is made."""


class Operator:
    """One step of the chain as two sparse matrices on masses [memories × positions]: `remember`, then `move`.

    memory: None: nothing is remembered beyond a step, or the memory is held at `frozen`.  most_bytes: `TooLarge` where the moves
    take more.
    """

    def __init__(
        self,
        line: Line,
        target: Landscape,
        axis: Axis,
        memory: MemoryAxis | None,
        step: float,
        frozen: float | None,
        most_bytes: float,
    ):
        x = axis.nodes
        slope, curvature = target.slope(x), target.curvature(x)
        self.positions = len(x)
        self.slowest = step
        self.memories = 1 if memory is None else len(memory.nodes)
        if frozen is not None:
            a = np.full((1, self.positions), frozen)
            self.remember = None
        elif memory is None:
            a = np.asarray(line.memory(np.zeros_like(x), 0.0, slope, line.parameters)[0], float)[None]
            self.remember = None
        else:
            a = np.broadcast_to(memory.nodes[:, None], (self.memories, self.positions))
            after = line.memory(a, 0.0, slope, line.parameters)[0]
            if memory.root:
                # no chain has a memory below what one step leaves in it, and Γ may have a pole there
                a = np.maximum(a, line.memory(np.zeros_like(x), 0.0, slope, line.parameters)[0])
            self.remember = _carry(memory.index(after), self.memories, self.positions)
        drift, metric = line.move(a, np.zeros_like(a), slope, curvature, line.parameters)
        mean = x + step / 2 * drift
        deviation = np.sqrt(step * np.broadcast_to(metric, mean.shape))
        self.move = _move(axis, mean.ravel(), deviation.ravel(), most_bytes)
        self.leaves = ndtr((x[0] - mean) / deviation).ravel(), ndtr((mean - x[-1]) / deviation).ravel()
        fold = np.tile(np.arange(self.positions), self.memories)
        size = len(fold)
        self.fold = sparse.csr_matrix((np.ones(size), (fold, np.arange(size))), shape=(self.positions, size))
        if memory is not None:
            rest = line.memory(np.zeros_like(x), 0.0, slope, line.parameters)[0]
            keep = line.memory(np.ones_like(x), 0.0, slope, line.parameters)[0] - rest
            still = rest / (1 - keep)
            if np.max(1 - keep) < step:
                # the memory is slower than the position: it stays near the mean of what it is fed
                weight = target.density(x) * axis.spacing(x)
                still = np.full_like(x, weight @ still / weight.sum())
            self.slowest = min(step, float(np.min(1 - keep)))
            place = np.clip(np.rint(memory.index(still)), 0, self.memories - 1).astype(int)
            self.at_rest = np.zeros((self.memories, self.positions))
            self.at_rest[place, np.arange(self.positions)] = 1

    def after_memory(self, mass: np.ndarray) -> np.ndarray:
        return mass if self.remember is None else self.remember @ mass

    def step(self, mass: np.ndarray) -> np.ndarray:
        """Masses one step later."""
        return self.move @ self.after_memory(mass)

    def leaving(self, mass: np.ndarray) -> tuple[float, float]:
        """Probability per step of a move beyond either end of the interval, where the chain is held back."""
        below, above = self.leaves
        mass = self.after_memory(mass)
        return float(below @ mass), float(above @ mass)


def stationary(operator: Operator) -> tuple[np.ndarray, float]:
    """Stationary masses of the states [memories × positions], and the total variation by which one more step changes the distribution.

    Positions settle in 1/ε steps, memories in 1/(1 − α) steps, which is mostly sooner. The distribution of the position is therefore
    solved for directly, with the memory's conditional distribution held fixed; steps of the chain then improve the conditional distribution. This
    is done a few times (aggregation and disaggregation). GMRES removes the rest, with the same small problem as its
    preconditioner.
    """
    if operator.remember is None:
        mass = _law(_factors(operator.move.toarray()))
        return mass, float(np.abs(operator.step(mass) - mass).sum()) / 2
    shape = operator.memories, operator.positions
    folded = operator.fold @ operator.move
    given = operator.at_rest
    for _ in range(ROUNDS):
        factors = _factors((folded @ _spread(given)).toarray())
        mass = operator.move @ (given * _law(factors)).ravel()
        for _ in range(STEPS):
            mass = operator.step(mass)
        given = _conditional((operator.remember @ mass).reshape(shape), operator.at_rest)
    factors = _factors((folded @ _spread(given)).toarray())

    def change(mass: np.ndarray) -> np.ndarray:
        return mass - operator.step(mass)

    def precondition(rest: np.ndarray) -> np.ndarray:
        return rest + operator.move @ (given * _solve(factors, rest.reshape(shape).sum(0))).ravel()

    for _ in range(RESTARTS):
        rest = -change(mass)
        if np.abs(rest).sum() < ENOUGH:
            break
        mass = mass + correction(change, precondition, rest, VECTORS, 1e-6)
        mass /= mass.sum()
    return mass, float(np.abs(change(mass)).sum()) / 2


def _spread(given: np.ndarray) -> Any:
    """Matrix that turns masses of the positions into masses of states, by the distribution of the memory given the position."""
    column = np.broadcast_to(np.arange(given.shape[1]), given.shape).ravel()
    return sparse.csr_matrix((given.ravel(), (np.arange(given.size), column)), shape=(given.size, given.shape[1]))


def _conditional(mass: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Distribution of the memory given the position; `otherwise` at positions without mass to speak of."""
    total = mass.sum(0)
    good = total > 1e-13 * total.max()
    return np.where(good, mass / np.where(good, total, 1), otherwise)


def _factors(transition: np.ndarray) -> Any:
    """Of I − P with the sum of all masses in place of the last equation."""
    matrix = np.eye(len(transition)) - transition
    matrix[-1] = 1.0
    return lu_factor(matrix)


def _law(factors: Any) -> np.ndarray:
    """Stationary distribution."""
    return lu_solve(factors, np.eye(1, len(factors[1]), len(factors[1]) - 1)[0])


def _solve(factors: Any, change: np.ndarray) -> np.ndarray:
    """Masses of sum 0 that differ from those one step later by `change` (whose sum is 0)."""
    found, _ = dgetrs(*factors, np.append(change[:-1], 0.0))  # `lu_solve` takes longer to ask what it is given
    masses: np.ndarray = found
    return masses


def _carry(index: np.ndarray, memories: int, positions: int) -> Any:
    """Matrix that moves the mass at [memory, position] to the place `index` [memories, positions] between memories."""
    nodes, weights = cubic(index.ravel(), memories)
    column = np.broadcast_to(np.arange(index.size)[:, None], nodes.shape)
    rows = nodes * positions + column % positions
    return sparse.csr_matrix((weights.ravel(), (rows.ravel(), column.ravel())), shape=(index.size, index.size))


def cubic(index: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes [n, 4] and weights [n, 4] of cubic interpolation at places `index` [n] between nodes 0 … size − 1."""
    index = np.clip(index, 0, size - 1)
    first = np.clip(np.floor(index).astype(int) - 1, 0, size - 4)
    t = (index - first)[:, None]
    weights = np.concatenate(
        [
            -(t - 1) * (t - 2) * (t - 3) / 6,
            t * (t - 2) * (t - 3) / 2,
            -t * (t - 1) * (t - 3) / 2,
            t * (t - 1) * (t - 2) / 6,
        ],
        axis=1,
    )
    return first[:, None] + np.arange(4), weights


def _move(axis: Axis, mean: np.ndarray, deviation: np.ndarray, most_bytes: float) -> Any:
    """Matrix [states, states] that spreads the mass of each state by its normal kernel; memories stay."""
    x = axis.nodes
    positions, states = len(x), len(mean)
    mean = np.clip(mean, x[0], x[-1])
    block = np.arange(states) // positions * positions
    wide = deviation >= RESOLVED * axis.spacing(mean)
    entries = []
    # wide kernels: trapezoidal rule
    source = np.flatnonzero(wide)
    low = np.searchsorted(x, mean[source] - REACH * deviation[source])
    high = np.searchsorted(x, mean[source] + REACH * deviation[source])
    count = high - low
    if count.sum() * ENTRY_BYTES > most_bytes:
        raise TooLarge
    start = np.cumsum(count) - count
    state = np.repeat(source, count)
    node = np.arange(len(state)) - np.repeat(start - low, count)
    value = np.exp(-0.5 * ((x[node] - mean[state]) / deviation[state]) ** 2) * axis.spacing(x)[node]
    total = np.bincount(state, value, minlength=states)
    entries.append((node + block[state], state, value / total[state]))
    # narrow kernels: seven masses with their first moments, which do not depend on where the mean lies between nodes
    source = np.flatnonzero(~wide)
    center = axis.index(mean[source])
    inside = np.clip(center, SIDE, positions - 1 - SIDE)  # one-sided moments would make the ends unstable
    middle = np.rint(inside).astype(int)
    points, weights = np.polynomial.hermite_e.hermegauss(SIDE + 1)
    place = axis.index(mean[source, None] + deviation[source, None] * points) + (inside - center - middle)[:, None]
    value = _lagrange(place) @ (weights / weights.sum())
    node = middle + np.arange(-SIDE, SIDE + 1)[:, None]
    entries.append(((node + block[source]).ravel(), np.tile(source, 2 * SIDE + 1), value.ravel()))
    rows, columns, values = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    return sparse.csr_matrix((values, (rows, columns)), shape=(states, states))


def _lagrange(t: np.ndarray) -> np.ndarray:
    """Values [2·SIDE + 1, …] at t of the polynomials that are 1 at one of the nodes −SIDE … SIDE and 0 at the others."""
    nodes = np.arange(-SIDE, SIDE + 1)
    return np.stack([np.prod([(t - m) / (n - m) for m in nodes if m != n], axis=0) for n in nodes])
