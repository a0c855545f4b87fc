"""A sampler's update of one chain with its noise, as one compiled loop. Imports numba: import it inside functions.

A group of normals is made in the first-level cache and used there: of the parameters, the gradient and the sampler's memory
each number is read once and written once, and no noise goes through memory.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from llc_core.philox import GROUP
from llc_core.philox_kernel import fill_groups
from llc_core.single_precision import pipeline

OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": {"nsz", "arcp", "contract"}, "error_model": "numpy"}

Update = Callable[..., None]

_LOCK = threading.Lock()
_COMPILED: dict[Any, Update] = {}


def update(step: Callable[..., Any], remembers: bool) -> Update:
    """A function (delta [D], memory [D], gradient [D], p, chain, step_low, step_high, key_low, key_high), in place, float32.

    step: of a `samplers.base.Cell`.  remembers: whether `memory` is used; otherwise it may be anything.
    The noise is that of `philox.fill` from place 0 on, field 0. Compiled at the first call.
    """
    with _LOCK:
        key = (step, remembers)
        if key not in _COMPILED:
            _COMPILED[key] = _make(step, remembers)
        return _COMPILED[key]


def _make(step: Callable[..., Any], remembers: bool) -> Update:
    scalar: Any = njit(**OPTIONS, pipeline_class=pipeline(np.float32))(step)

    @njit(**OPTIONS)
    def body(
        delta: Any, memory: Any, gradient: Any, p: Any, chain: Any, low: Any, high: Any, key_low: Any, key_high: Any
    ) -> None:
        noise = np.empty(GROUP, np.float32)
        for start in range(0, delta.size, GROUP):
            stop = min(delta.size, start + GROUP)
            z = noise[: stop - start]
            fill_groups(z, start // GROUP, chain, low, high, key_low, key_high)
            d, g = delta[start:stop], gradient[start:stop]
            if remembers:
                a = memory[start:stop]
                for i in range(z.size):
                    d[i], a[i] = scalar(d[i], a[i], g[i], z[i], p)
            else:
                for i in range(z.size):
                    d[i], _ = scalar(d[i], np.float32(0), g[i], z[i], p)

    return body
