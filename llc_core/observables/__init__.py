"""What is observed of the chains besides their loss. Importing this package registers them all."""

from importlib import import_module
from pkgutil import iter_modules

from llc_core.observables.base import Average, Mean, Observable, build, observables, register
from llc_core.observables.look import Group, Look, RunShape

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["Average", "Group", "Look", "Mean", "Observable", "RunShape", "build", "observables", "register"]
