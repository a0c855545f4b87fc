"""The inner loop of interacting chains on the plane, compiled from a sampler's `Cell`, a surface and an interaction's twin.

Without numba the same functions run in Python, some hundred times slower.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from llc_core.extras import command
from llc_core.potentials.plane.surface_shapes import SurfaceShape

Kernel = Callable[..., None]

_LOCK = threading.Lock()
_COMPILED: dict[Any, Kernel] = {}


def alone(
    step: Any,
    losses: Any,
    n_beta: Any,
    alive: Any,
    uniform: Any,
    q: Any,
    vector: Any,
    order: Any,
    heat: Any,
    weight: Any,
) -> None:
    """The twin of chains that do not see each other."""
    for i in range(losses.size):
        order[i] = i
        heat[i] = 1.0
        weight[i] = 1.0


def kernel(step: Callable[..., Any], shape: SurfaceShape, twin: Callable[..., None]) -> Kernel:
    """A function that does T steps of one group of P chains in place; compiled once for each kind, at the first call.

    (surface [·], bottom, origin [2], box, p [S, P, K], per_heat [S, P, K], places [P, 2], a, b [P, 2], turns, normals [T, P, 2],
    noise [T, P, 3], uniform [T, P], n_beta [P], q, vector, table [S], done, counted_from, counted [P] bool, low, width,
    counts [n, n], trail [T, P, 2], heats [T, P], losses [T, P], weights [T, P], orders [T, P])

    places: w − w0.  turns: which memory is a momentum, 0 or 1, that turns round at a wall; −1: none.
    counts: weights of the places of `counted` chains before each step from `counted_from` on, in cells of `width`.
    """
    key = (step, shape.with_slopes, twin)
    with _LOCK:
        if key not in _COMPILED:
            _COMPILED[key] = _make(*key)
    return _COMPILED[key]


@lru_cache(maxsize=1)
def _warn() -> None:
    warnings.warn(
        f"numba is not installed: chains on the plane run in Python, many times slower; {command('speed')} mends that.",
        stacklevel=4,
    )


def _make(step: Callable[..., Any], with_slopes: Callable[..., Any], twin: Callable[..., None]) -> Kernel:
    key = (step, with_slopes, twin)
    jit: Any
    try:
        from llc_core.compute.compiling import compiled
        from llc_core.compute.kept_kernels import keep

        jit = compiled(nogil=True, error_model="numpy")

        def kept(function: Any) -> Any:
            return keep(function, key)
    except ImportError:
        _warn()

        def jit(function: Any) -> Any:
            return function

        kept = jit

    update, energy_and_slopes, interact = (jit(function) for function in key)

    @jit
    def body(
        surface: Any,
        bottom: Any,
        origin: Any,
        box: Any,
        p: Any,
        per_heat: Any,
        places: Any,
        a: Any,
        b: Any,
        turns: Any,
        normals: Any,
        noise: Any,
        uniform: Any,
        n_beta: Any,
        q: Any,
        vector: Any,
        table: Any,
        done: Any,
        counted_from: Any,
        counted: Any,
        low: Any,
        width: Any,
        counts: Any,
        trail: Any,
        heats: Any,
        losses: Any,
        weights: Any,
        orders: Any,
    ) -> None:
        chains, cells = len(places), len(counts)
        grad, moved, slope = np.empty((chains, 2)), np.empty((chains, 2)), np.empty((chains, 2))
        loss, seen, order = np.empty(chains), np.empty(chains), np.empty(chains, np.int64)
        alive, now = np.empty(chains, np.bool_), np.empty(p.shape[2])
        for t in range(len(normals)):
            at = (done + t) % len(table)
            for i in range(chains):
                x, y = places[i, 0] + origin[0], places[i, 1] + origin[1]
                energy, gx, gy = energy_and_slopes(x, y, surface)
                loss[i] = energy - bottom + noise[t, i, 0]
                grad[i, 0], grad[i, 1] = gx + noise[t, i, 1], gy + noise[t, i, 2]
                alive[i] = np.isfinite(loss[i])
                seen[i] = loss[i] if alive[i] else 0.0
            interact(done + t, seen, n_beta, alive, uniform[t], q, vector, order, heats[t], weights[t])
            for i in range(chains):
                j = order[i]
                moved[i, 0], moved[i, 1] = places[j, 0], places[j, 1]
                slope[i, 0], slope[i, 1] = grad[j, 0], grad[j, 1]
                losses[t, i] = loss[j]
                orders[t, i] = j
            for i in range(chains):
                weights[t, i] *= table[at]
                for k in range(len(now)):
                    now[k] = p[at, i, k] + heats[t, i] * per_heat[at, i, k]
                trail[t, i, 0], trail[t, i, 1] = moved[i, 0] + origin[0], moved[i, 1] + origin[1]
                if done + t >= counted_from and counted[i] and alive[order[i]]:
                    row = int(np.floor((trail[t, i, 0] - low) / width))
                    column = int(np.floor((trail[t, i, 1] - low) / width))
                    if 0 <= row < cells and 0 <= column < cells:
                        counts[row, column] += weights[t, i]
                dx, ax, bx = update(moved[i, 0], a[i, 0], b[i, 0], slope[i, 0], normals[t, i, 0], now)
                dy, ay, by = update(moved[i, 1], a[i, 1], b[i, 1], slope[i, 1], normals[t, i, 1], now)
                a[i, 0], a[i, 1], b[i, 0], b[i, 1] = ax, ay, bx, by
                outside = abs(dx + origin[0]) > box or abs(dy + origin[1]) > box
                if outside:
                    dx, dy = moved[i, 0], moved[i, 1]
                    if turns == 0:
                        a[i, 0], a[i, 1] = -ax, -ay
                    if turns == 1:
                        b[i, 0], b[i, 1] = -bx, -by
                places[i, 0], places[i, 1] = dx, dy

    kernel: Kernel = kept(body)
    return kernel
