"""A pass as its operations: written down below the transforms of torch.func, and made again with other numbers."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

BYTES = 1 << 24
"""A pass that makes more than this spends its time on calculations. It is not held in memory to be written down."""


@dataclass(eq=False)
class Operation:
    """One call. places: argument, slot.  lists: argument, entry, slot.  made: slot of each result.  last: slots that end with it."""

    act: Any
    given: list[Any]
    named: dict[str, Any]
    places: list[tuple[int, int]] = field(default_factory=list)
    lists: list[tuple[int, int, int]] = field(default_factory=list)
    made: list[int | None] = field(default_factory=list)
    alone: bool = True
    in_place: bool = False
    last: list[int] = field(default_factory=list)

    def slots(self) -> Iterator[int]:
        """All that it takes."""
        yield from (slot for _, slot in self.places)
        yield from (slot for *_, slot in self.lists)

    def results(self) -> Iterator[int]:
        yield from (slot for slot in self.made if slot is not None)


class Writer(TorchDispatchMode):
    """Writes down what is calculated while it is on, below the transforms of torch.func."""

    def __init__(self, inputs: Sequence[Tensor]) -> None:
        super().__init__()
        self.operations: list[Operation] = []
        self.values: list[Tensor] = []
        """Value of each slot. All are held until the end, so that no other tensor gets the identity of one."""
        self.place: dict[int, int] = {}
        self.strange: set[int] = set()
        """Memory that was there before: of inputs, weights that do not move, buffers. A pass that writes there is refused."""
        self.rewritten: set[int] = set()
        self.bytes = 0
        self.refused = ""
        for each in inputs:
            self._slot(each)
            self.strange.add(memory_of(each))
        self.inputs = len(self.values)

    def _slot(self, value: Tensor) -> int:
        self.place[id(value)] = slot = len(self.values)
        self.values.append(value)
        return slot

    def _known(self, value: Tensor) -> int:
        if id(value) not in self.place:
            self._slot(value)
            self.strange.add(memory_of(value))
        return self.place[id(value)]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.refused:
            return func(*args, **(kwargs or {}))
        each = Operation(func, list(args), kwargs or {}, in_place=func.__name__.split(".")[0].endswith("_"))
        for k, value in enumerate(each.given):
            if isinstance(value, Tensor):
                each.places.append((k, self._known(value)))
            elif isinstance(value, list | tuple):
                each.given[k] = list(value)
                each.lists += [(k, j, self._known(x)) for j, x in enumerate(value) if isinstance(x, Tensor)]
        result = func(*args, **each.named)
        each.alone = isinstance(result, Tensor)
        self._refuse(self._add(each, [result] if each.alone else result))
        return result

    def _add(self, each: Operation, results: Any) -> str:
        """Why the pass cannot be made again from its operations alone; empty where it can so far."""
        if torch.Tag.nondeterministic_seeded in each.act.tags:
            return "it draws random numbers"
        if any(isinstance(value, Tensor) for value in each.named.values()):
            return "a named argument is a tensor"
        if not isinstance(results, list | tuple) or any(not isinstance(x, Tensor | None) for x in results):
            return "it asks numbers what to do next"
        for value in results:
            if value is None:
                each.made.append(None)
            elif id(value) not in self.place:
                self.bytes += value.nbytes
                each.made.append(self._slot(value))
            elif not each.in_place:  # it came back as it was
                each.made.append(None)
            elif memory_of(value) in self.strange:
                return "it writes to what is not its own"
            else:
                self.rewritten.add(memory_of(value))
                each.made.append(self.place[id(value)])
        self.operations.append(each)
        return "it is large" if self.bytes > BYTES else ""

    def _refuse(self, why: str) -> None:
        """The pass goes on, and nothing more is written down: what it has done to its weights or rows is not done twice."""
        if why:
            self.refused = why
            self.operations, self.values, self.place = [], [], {}


def memory_of(value: Tensor) -> int:
    return value.untyped_storage().data_ptr()


class Written:
    """A pass as its operations. What does not depend on the inputs is there already, what nobody reads is left out, and a view of a
    view is one view: of a transformer's operations six in ten are views.
    """

    def __init__(self, writer: Writer, results: Sequence[Tensor]) -> None:
        self.inputs, self._values, self._rewritten = writer.inputs, writer.values, writer.rewritten
        self._owners: dict[int, int] = {}
        self._views: dict[Hashable, int] = {}
        for slot, value in enumerate(self._values):
            self._owners.setdefault(memory_of(value), slot)
        operations: list[Operation] = []
        there: set[int] = set()
        for each in writer.operations:
            if not each.in_place and each.made and all(self._is_view(slot) for slot in each.results()):
                continue
            each.places = [(k, self._read(slot, operations, there)) for k, slot in each.places]
            each.lists = [(k, j, self._read(slot, operations, there)) for k, j, slot in each.lists]
            operations.append(each)
        self.results = [self._read(writer.place[id(each)], operations, there) for each in results]
        self._settle(operations)
        del self._values

    def _is_view(self, slot: int) -> bool:
        """Whether this is memory of an earlier slot, seen otherwise. Of memory that is written to again all is left as it was."""
        value = self._values[slot]
        owner = self._owners[memory_of(value)]
        plain = value.dtype == self._values[owner].dtype and not (value.is_conj() or value.is_neg())
        return owner != slot and plain and value.numel() > 0 and memory_of(value) not in self._rewritten

    def _read(self, slot: int, operations: list[Operation], there: set[int]) -> int:
        """The slot to read in place of this one: of all views that look alike the first, which is made where it is needed first."""
        if not self._is_view(slot):
            return slot
        value, owner = self._values[slot], self._owners[memory_of(self._values[slot])]
        look = tuple(value.shape), value.stride(), value.storage_offset()
        whole = self._values[owner]
        if look == (tuple(whole.shape), whole.stride(), whole.storage_offset()):
            return owner
        first = self._views.setdefault((owner, look), slot)
        if first not in there:
            there.add(first)
            operations.append(
                Operation(
                    torch.ops.aten.as_strided.default,
                    [None, *map(list, look[:2]), look[2]],
                    {},
                    [(0, owner)],
                    made=[first],
                )
            )
        return first

    def _settle(self, operations: list[Operation]) -> None:
        """Leave out what does not vary and what is not needed, and find where each slot is read last."""
        values = self._values
        varies = {k for k, value in enumerate(values) if k < self.inputs or memory_of(value) in self._rewritten}
        kept: list[Operation] = []
        for each in operations:
            if each.in_place or varies.intersection((*each.slots(), *each.results())):
                varies.update(each.results())
                kept.append(each)
        self.operations: list[Operation] = []
        needed = set(self.results)
        for each in reversed(kept):
            if each.in_place or needed.intersection(each.results()):
                touched = {*each.slots(), *each.results()}
                each.last = sorted(touched - needed)
                needed |= touched
                each.given = [None if isinstance(value, Tensor) else value for value in each.given]
                for k, j, _ in each.lists:
                    each.given[k][j] = None
                self.operations.insert(0, each)
        made = {slot for each in self.operations for slot in each.results()}
        self.start = [
            value if slot in needed - made and slot >= self.inputs else None for slot, value in enumerate(values)
        ]

    def __call__(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        slots: list[Any] = self.start.copy()
        slots[: self.inputs] = inputs
        with torch.no_grad():
            for each in self.operations:
                given = each.given.copy()
                for k, slot in each.places:
                    given[k] = slots[slot]
                if each.lists:
                    for k, *_ in each.lists:
                        given[k] = given[k].copy()
                    for k, j, slot in each.lists:
                        given[k][j] = slots[slot]
                result = each.act(*given, **each.named)
                if each.alone:
                    slots[each.made[0]] = result  # type: ignore[index]
                else:
                    for made, value in zip(each.made, result, strict=True):
                        if made is not None:
                            slots[made] = value
                for slot in each.last:
                    slots[slot] = None
        return [slots[slot].clone() if self.is_constant(k) else slots[slot] for k, slot in enumerate(self.results)]

    def gives(self, inputs: Sequence[Tensor], wanted: Sequence[Tensor]) -> bool:
        """Whether the operations can be made again, and give these results to the last bit."""
        try:
            found = self(inputs)
        except (RuntimeError, TypeError):
            return False
        return all(torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(found, wanted, strict=True))

    def is_constant(self, result: int) -> bool:
        """Whether a result does not depend on the inputs. Who gets it may write to it, so it is copied."""
        return self.start[self.results[result]] is not None
