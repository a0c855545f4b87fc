"""What is observed of the chains besides their loss: one file each. Importing this package registers them all."""

from importlib import import_module
from pkgutil import walk_packages

from llc_core.observables.base import Average, Mean, Observable, build, observables, register
from llc_core.observables.look import Group, Look, RunShape

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)

__all__ = ["Average", "Group", "Look", "Mean", "Observable", "RunShape", "build", "observables", "register"]
