"""The inner loop of chains on the line, compiled from a sampler's `Line` and a landscape; plain numpy where numba is missing."""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from llc_core.extras import command
from llc_core.potentials.line.landscape import Landscape, Shape
from llc_core.samplers.base import ADAPTING_SHARE
from llc_core.samplers.forms import Line

FAST = {"nsz", "arcp", "contract", "reassoc"}
"""All options of "fastmath" except those that make nan, infinity and the square root of 0 undefined."""
NARROW = math.sqrt(0.5)
"""erf(NARROW·z) of a standard normal z is uniform on (−1, 1)."""

Kernel = Callable[..., None]

_LOCK = threading.Lock()
_COMPILED: dict[Any, Kernel] = {}


def kernel(line: Line, target: Landscape, dtype: str) -> Kernel:
    """A function that does T steps of N chains in place:

    (x [N], a [N], b [N], noise [T, N], sizes [T], done, burn_in, every, weighted, low, width, counts [bins + 2], sums [4]).

    noise: standard normals.  sizes: the step sizes.  done: steps done before.  Steps from burn_in on are counted, one
    of `every`, with weight 1 or, if `weighted`, the step size.  sums: of x, x², x³, x⁴.
    Compiled once for every kind of sampler and landscape, at the first call.
    """
    real = np.float32 if dtype == "float32" else np.float64
    p = tuple(real(value) for value in line.parameters or (0.0,))
    q = target.parameters.astype(real)
    key = (line.memory, line.move, line.uses_curvature, line.freezes, line.signs, target.scalar, dtype)
    with _LOCK:
        if key not in _COMPILED:
            try:
                import numba  # noqa: F401
            except ImportError:
                _warn()
                return plain(line, target)
            _COMPILED[key] = _compile(line, target.scalar, real)
    body = _COMPILED[key]
    return lambda *arguments: body(p, q, *arguments)


@lru_cache(maxsize=1)
def _warn() -> None:
    warnings.warn(
        f"numba is not installed: chains on the line run in numpy, many times slower; {command('speed')} mends that.",
        stacklevel=4,
    )


def _compile(line: Line, shape: Shape, real: Any) -> Kernel:
    from llc_core.compute.compiling import compiled
    from llc_core.compute.kept_kernels import keep

    options: dict[str, Any] = {"nogil": True, "fastmath": FAST, "error_model": "numpy"}
    scalar: Any = compiled(**options)
    if real is np.float32:
        from llc_core.compute.single_precision import pipeline

        scalar = compiled(**options, pipeline_class=pipeline(real))
    memory, move, slope, curvature = map(scalar, (line.memory, line.move, shape.slope, shape.curvature))
    uses_curvature, freezes, signs = line.uses_curvature, line.freezes, line.signs
    half, narrow = real(0.5), real(NARROW)

    @compiled(**options)
    def body(
        p: Any,
        q: Any,
        x: Any,
        a: Any,
        b: Any,
        noise: Any,
        sizes: Any,
        done: Any,
        burn_in: Any,
        every: Any,
        weighted: Any,
        low: Any,
        width: Any,
        counts: Any,
        sums: Any,
    ) -> None:
        for t in range(noise.shape[0]):
            size = real(sizes[t])
            held = freezes and done + t >= int(ADAPTING_SHARE * burn_in)
            for i in range(x.size):
                g = slope(x[i], q)
                h = curvature(x[i], q) if uses_curvature else g
                if not held:
                    a[i], b[i] = memory(a[i], b[i], g, p)
                drift, metric = move(a[i], b[i], g, h, p)
                root = np.sqrt(size * real(metric))
                if signs:
                    x[i] += root * np.sign(math.erf(narrow * noise[t, i]) * root + half * size * real(drift))
                else:
                    x[i] += half * size * real(drift) + root * noise[t, i]
            if done + t >= burn_in and (done + t) % every == 0:
                weight = sizes[t] if weighted else 1.0
                s1, s2, s3, s4 = 0.0, 0.0, 0.0, 0.0
                last = counts.size - 1
                for i in range(x.size):
                    at = np.float64(x[i])
                    if np.isfinite(at):
                        place = np.floor((at - low) / width) + 1
                        k = 0 if place < 0 else (last if place > last else int(place))
                        counts[k] += weight
                for i in range(x.size):
                    v = np.float64(x[i]) if np.isfinite(x[i]) else np.float64(0.0)
                    s1 += v
                    s2 += v * v
                    s3 += v * v * v
                    s4 += v * v * v * v
                sums[0] += weight * s1
                sums[1] += weight * s2
                sums[2] += weight * s3
                sums[3] += weight * s4

    functions = (line.memory, line.move, shape.slope, shape.curvature)
    return keep(body, functions, uses_curvature, freezes, signs, real.__name__)


def plain(line: Line, target: Landscape) -> Kernel:
    """The same function in numpy."""

    def body(
        x: Any,
        a: Any,
        b: Any,
        noise: Any,
        sizes: Any,
        done: int,
        burn_in: int,
        every: int,
        weighted: bool,
        low: float,
        width: float,
        counts: Any,
        sums: Any,
    ) -> None:
        with np.errstate(all="ignore"):
            for t, size in enumerate(sizes.tolist()):
                g = target.slope(x).astype(x.dtype)
                h = target.curvature(x).astype(x.dtype) if line.uses_curvature else g
                if not (line.freezes and done + t >= int(ADAPTING_SHARE * burn_in)):
                    a[:], b[:] = line.memory(a, b, g, line.parameters)
                drift, metric = line.move(a, b, g, h, line.parameters)
                root = np.sqrt(size * metric)
                if line.signs:
                    from scipy.special import erf  # here, since scipy takes long to load

                    x += root * np.sign(erf(NARROW * noise[t]) * root + size / 2 * drift)
                else:
                    x += size / 2 * drift + root * noise[t]
                if done + t >= burn_in and (done + t) % every == 0:
                    weight = size if weighted else 1.0
                    finite = x[np.isfinite(x)].astype(np.float64)
                    place = np.clip(np.floor((finite - low) / width) + 1, 0, counts.size - 1).astype(int)
                    counts += weight * np.bincount(place, minlength=counts.size)
                    sums += [weight * (finite**k).sum() for k in (1, 2, 3, 4)]

    return body
