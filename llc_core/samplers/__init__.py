"""The samplers: one file each. Importing this package registers them all."""

from importlib import import_module
from pkgutil import iter_modules

from llc_core.samplers.base import MetropolisSampler, Sampler
from llc_core.samplers.registry import build, hyperparameters, numeric_fields, samplers  # noqa: F401  re-exported

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["MetropolisSampler", "Sampler", *samplers(conditionals=True, priors=True)]
"""Only the classes. `llc_core` exports them, and exporting the function `samplers` would hide this package there."""


def __getattr__(name: str) -> type[Sampler]:
    try:
        return samplers(conditionals=True, priors=True)[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
