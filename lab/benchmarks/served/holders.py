"""Who keeps an object alive that should be gone: the shortest chain from it to something that lives as long as the process."""

from __future__ import annotations

import asyncio
import gc
import sys
from types import FrameType, ModuleType
from typing import Any

FARTHEST = 20_000
"""Objects looked at for one answer."""


def chain(kept: object) -> str:
    """The names of the types from `kept` outwards, to a module, a class or a frame that runs."""
    before: dict[int, Any] = {id(kept): None}
    level: list[Any] = [kept]
    seen = [kept]
    while level and len(before) < FARTHEST:
        # One look through all objects of the process for a whole level: it takes as long as for one of its members.
        holders = gc.get_referrers(*level)
        at, ours, further = {id(each): each for each in level}, {id(before), id(level), id(seen), id(holders)}, []
        for holder in holders:
            if id(holder) in before or id(holder) in ours or holder is sys._getframe():
                continue
            held = next((at[id(each)] for each in gc.get_referents(holder) if id(each) in at), None)
            if held is None:
                continue
            before[id(holder)] = held
            seen.append(holder)
            if _lasts(holder):
                return _written(holder, before)
            further.append(holder)
        level = further
    return f"{type(kept).__name__}: nothing found that keeps it"


def _lasts(holder: Any) -> bool:
    if isinstance(holder, FrameType):
        return holder.f_code.co_filename != __file__
    return isinstance(holder, ModuleType | type) or (isinstance(holder, dict) and "__spec__" in holder)


def _written(holder: Any, before: dict[int, Any]) -> str:
    names = []
    while holder is not None:
        names.append(_named(holder, before[id(holder)]))
        holder = before[id(holder)]
    return " <- ".join(reversed(names))


def _named(holder: Any, held: Any) -> str:
    if isinstance(holder, dict):
        key = next((k for k, v in list(holder.items()) if v is held), "")
        return f"dict[{str(key)[:40]!r}]" + (f" of module {holder['__name__']}" if "__spec__" in holder else "")
    if isinstance(holder, FrameType):
        return f"frame {holder.f_code.co_filename}:{holder.f_lineno} {holder.f_code.co_name}"
    name = f"{type(holder).__module__}.{type(holder).__qualname__}"
    told = callable(holder) or isinstance(holder, asyncio.Handle)
    return f"{name} {getattr(holder, '__qualname__', '')}".strip() + (f" {holder!r:.300}" if told else "")
