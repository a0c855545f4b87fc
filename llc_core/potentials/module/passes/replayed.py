"""Passes of small modules without their Python: the operations of a pass are written down once, and made again from then on.

Of a small network the time of a pass is that of finding out what to calculate: the module's own code, the transforms over chains
and of the gradient, autograd. What is calculated is the same at every step. The numbers are too, to the last bit; that is checked
on a second pass before any is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import torch
from torch import Tensor

from llc_core.potentials.module.passes.operations import Writer, Written, memory_of

SEEN = 4
"""Passes of one shape that go by before one is written down: most of those with which a run begins come once or twice."""
SHAPES = 64
"""Kinds of passes that are told apart. After so many all are forgotten."""

Pass = Callable[[Sequence[Tensor]], list[Tensor]]


class _Shape:
    """What is known of passes of one kind: how many went by, their operations, and whether these give the same numbers."""

    seen = 0
    written: Written | None = None
    checked = False
    refused = ""


class Replayed:
    """Calls of functions of tensors, whose operations are made again where that is the same.

    A function may read other tensors too, as weights that do not move. These must stay as they are: what is made of them is kept.
    """

    def __init__(self) -> None:
        self._shapes: dict[Hashable, _Shape] = {}

    def __call__(self, key: Hashable, function: Pass, inputs: Sequence[Tensor]) -> list[Tensor]:
        """What `function` returns for the inputs. key: all that the function depends on besides them."""
        if torch.is_autocast_enabled("cpu") or inputs[0].device.type != "cpu":
            return function(inputs)
        # Views are found by where they lie, so that all inputs begin where their memory does.
        inputs = [x if x.storage_offset() == 0 else x.clone() for x in inputs]
        first: dict[int, int] = {}
        same = tuple(first.setdefault(memory_of(x), k) for k, x in enumerate(inputs))
        whole = key, same, tuple((x.shape, x.dtype, x.stride()) for x in inputs)
        if len(self._shapes) >= SHAPES and whole not in self._shapes:
            self._shapes.clear()
        shape = self._shapes.setdefault(whole, _Shape())
        written = shape.written  # another thread may take it away
        if shape.checked and written is not None:
            return written(inputs)
        shape.seen += 1
        if shape.refused or shape.seen <= SEEN:
            return function(inputs)
        if written is None:
            return _write(shape, function, inputs)
        found = function(inputs)
        if written.gives(inputs, found):
            shape.checked = True
        else:
            shape.written, shape.refused = None, "its numbers change"
        return found


def _write(shape: _Shape, function: Pass, inputs: Sequence[Tensor]) -> list[Tensor]:
    writer = Writer(inputs)
    try:
        with writer:
            found = function(inputs)
        written = None if writer.refused else Written(writer, found)
    except Exception as error:  # an operation that cannot be watched, a tensor without memory of its own
        shape.refused = type(error).__name__
        return function(inputs)
    shape.refused = writer.refused
    if written is None:
        return found
    shape.written = written
    return [x.clone() if written.is_constant(k) else x for k, x in enumerate(found)]
