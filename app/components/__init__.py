"""Components with JavaScript of their own: transport, tiles, slider, read-outs, notices.

Importing this package registers them all. A page is sent before the engine is ready and filled afterwards: a component that
is registered only then is unknown to the browser, and the first visitor of a fresh server sees an empty page.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
