"""What a Bokeh model's properties are where nobody set them is found once for a class, and not once for each model.

Bokeh checks and copies a default whenever it is asked for, and it is asked for all defaults of all models when a page is made
and when it is sent. Defaults that are made anew for each model, and those that can be changed in place, stay Bokeh's business.

Holds for bokeh 3.9.2.
Gains: a fifth to a third of the time in which a page is made and sent (0.87 s in place of 1.26 s, medians of nine, other programs
beside); each of the four functions is a twentieth of it or more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from bokeh.core.has_props import HasProps
from bokeh.core.property.descriptors import PropertyDescriptor

PLAIN = frozenset((type(None), bool, int, float, str))
"""Types of values that cannot be changed in place, so that all models of a class may have the same one."""


def apply() -> None:
    """From now on, in the whole process. Nothing happens where Bokeh has no such functions any more."""
    overridden, themed = (vars(HasProps).get(name) for name in ("_overridden_defaults", "themed_values"))
    names = ("_get_default", "has_unstable_default")
    functions = [vars(PropertyDescriptor).get(name) for name in names]
    if (
        overridden is None
        or themed is None
        or not all(functions)
        or any(hasattr(found, "__wrapped__") for found in functions)
    ):
        return
    HasProps._overridden_defaults = classmethod(cache(overridden.__func__))
    HasProps.themed_values = wraps(themed)(_themed_values)
    for name, quick, whole in zip(names, (_plain_once, _once), functions, strict=True):
        setattr(PropertyDescriptor, name, wraps(whole)(quick(whole)))


def _themed_values(model: HasProps) -> dict[str, Any] | None:
    """Asked for as an attribute they would be looked for everywhere first: most models have none."""
    return model.__dict__.get("__themed_values__")


def _plain_once(whole: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[tuple[type, str], Any] = {}

    def get_default(self: PropertyDescriptor, model: HasProps) -> Any:
        themed = model.themed_values()
        if themed is not None and self.name in themed:
            return whole(self, model)
        key = (model.__class__, self.name)
        if key in known:
            return known[key]
        found = whole(self, model)
        if type(found) in PLAIN and not self.has_unstable_default(model):
            known[key] = found
        return found

    return get_default


def _once(whole: Callable[..., bool]) -> Callable[..., bool]:
    known: dict[tuple[type, str], bool] = {}

    def answer(self: PropertyDescriptor, model: HasProps) -> bool:
        key = (model.__class__, self.name)
        if key not in known:
            known[key] = whole(self, model)
        return known[key]

    return answer
