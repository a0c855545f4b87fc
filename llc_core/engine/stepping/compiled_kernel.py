"""A sampler's update of chains with its noise, as one compiled loop. Imports numba: import it inside functions.

A group of normals is made in the first-level cache and used there: of the parameters, the gradient and the sampler's memory
each number is read once and written once, and no noise goes through memory.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numba.np.unsafe import ndarray

from llc_core.compute.compiling import compiled
from llc_core.compute.kept_kernels import keep
from llc_core.compute.philox_kernel import fill_groups
from llc_core.compute.philox_layout import GROUP
from llc_core.compute.single_precision import pipeline
from llc_core.samplers.forms import Cell

FIXED: Any = ndarray.to_fixed_tuple
OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": {"nsz", "arcp", "contract"}, "error_model": "numpy"}

Update = Callable[..., None]

_LOCK = threading.Lock()
_COMPILED: dict[Any, Update] = {}


def update(cell: Cell, numbers: int) -> Update:
    """A function (delta, a, b, gradient [C, D], p [C, numbers], first, word, step_low, step_high, key_low, key_high), in place, float32.

    a, b: the cell's memories; where it has fewer they may be anything.  p: `cell.numbers` of every chain.
    word: the first chain's word of the counter; the next chain's is 256 more. The noise is that of `philox.fill` from
    place first · GROUP on, field 0. Compiled at the first call.
    """
    with _LOCK:
        key = (cell.step, len(cell.memories), numbers)
        if key not in _COMPILED:
            _COMPILED[key] = _make(*key)
        return _COMPILED[key]


def _make(step: Callable[..., Any], memories: int, numbers: int) -> Update:
    scalar: Any = compiled(**OPTIONS, pipeline_class=pipeline(np.float32))(step)
    nothing = np.float32(0)

    @compiled(**OPTIONS)
    def group(d: Any, a: Any, b: Any, g: Any, z: Any, p: Any) -> None:
        if memories == 0:
            for i in range(z.size):
                d[i], _, _ = scalar(d[i], nothing, nothing, g[i], z[i], p)
        elif memories == 1:
            for i in range(z.size):
                d[i], a[i], _ = scalar(d[i], a[i], nothing, g[i], z[i], p)
        else:
            for i in range(z.size):
                d[i], a[i], b[i] = scalar(d[i], a[i], b[i], g[i], z[i], p)

    @compiled(**OPTIONS)
    def chains(
        delta: Any, a: Any, b: Any, grad: Any, p: Any,
        first: Any, word: Any, low: Any, high: Any, key_low: Any, key_high: Any,
    ) -> None:  # fmt: skip
        noise = np.empty(GROUP, np.float32)
        for c in range(delta.shape[0]):
            mine = FIXED(p[c], numbers)
            for start in range(0, delta.shape[1], GROUP):
                stop = min(delta.shape[1], start + GROUP)
                z = noise[: stop - start]
                fill_groups(z, first + start // GROUP, word + 256 * c, low, high, key_low, key_high)
                group(delta[c, start:stop], a[c, start:stop], b[c, start:stop], grad[c, start:stop], z, mine)

    kept: Update = keep(chains, (step,), memories, numbers)
    return kept
