"""The interactions: one file each. Importing this package registers them all."""

from importlib import import_module
from pkgutil import iter_modules

from llc_core.interactions.base import Interaction, Layout, Seen, Shared
from llc_core.interactions.registry import build, interactions  # noqa: F401  re-exported

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["Interaction", "Layout", "Seen", "Shared", *interactions()]
"""Only the classes, as in `llc_core.samplers`."""


def __getattr__(name: str) -> type[Interaction]:
    try:
        return interactions()[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
