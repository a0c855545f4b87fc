"""The force of all particles on each as scalar arithmetic, compiled: `SteinVariational.force` in two dimensions."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from llc_core.compute.compiling import compiled


@lru_cache(maxsize=1)
def pusher() -> Callable[[Any, Any, float, float], np.ndarray]:
    """(places [G, P, 2], ∇U there [G, P, 2], bandwidth, temperature) ↦ φ [G, P, 2]; as `SteinVariational.force`, whose numbers
    it has up to rounding."""

    @compiled(fastmath=False)
    def push(places, slopes, bandwidth, temperature):  # type: ignore[no-untyped-def]
        groups, count = places.shape[0], places.shape[1]
        result = np.empty_like(places)
        square, near = np.empty(count * (count - 1) // 2), np.empty((count, count))
        x, y, u, v, alive = np.empty(count), np.empty(count), np.empty(count), np.empty(count), np.empty(count)
        # Of all squares the diagonal is 0, and each other one is there twice: an even number of particles has two middle values.
        middle = (count * count // 2 - count) // 2
        for g in range(groups):
            for i in range(count):
                x[i], y[i], u[i], v[i] = places[g, i, 0], places[g, i, 1], slopes[g, i, 0], slopes[g, i, 1]
                alive[i] = np.isfinite(x[i] + y[i] + u[i] + v[i])
                if not alive[i]:
                    x[i], y[i], u[i], v[i] = 0.0, 0.0, 0.0, 0.0
            k = 0
            for i in range(count):
                for j in range(i):
                    near[i, j] = (x[i] - x[j]) ** 2 + (y[i] - y[j]) ** 2
                    square[k] = near[i, j]
                    k += 1
            width = bandwidth
            if width == 0.0:
                low, high = 0, square.size - 1  # Hoare's selection: numba takes seconds to compile np.partition
                while low < high:
                    pivot, i, j = square[middle], low, high
                    while i <= j:
                        while square[i] < pivot:
                            i += 1
                        while square[j] > pivot:
                            j -= 1
                        if i <= j:
                            square[i], square[j] = square[j], square[i]
                            i += 1
                            j -= 1
                    if j < middle:
                        low = i
                    if middle < i:
                        high = j
                width = square[middle] if middle >= 0 else 0.0
                if count % 2 == 0:
                    width = (width + (square[:middle].max() if middle else 0.0)) / 2
                width /= np.log(count + 1.0)
            scale = -1 / max(width, 1e-30)
            living = max(alive.sum(), 1.0)
            for i in range(count):
                near[i, i] = 1.0
                for j in range(i):
                    near[i, j] = np.exp(scale * near[i, j])
                    near[j, i] = near[i, j]
            for i in range(count):
                a, b = 0.0, 0.0
                for j in range(count):
                    weight = near[i, j] * alive[j]
                    a += weight * (u[j] + 2 * scale * (x[i] - x[j]))
                    b += weight * (v[j] + 2 * scale * (y[i] - y[j]))
                result[g, i, 0] = a / living + temperature * slopes[g, i, 0]
                result[g, i, 1] = b / living + temperature * slopes[g, i, 1]
        return result

    found: Callable[[Any, Any, float, float], np.ndarray] = push
    return found
