"""Components with JavaScript of their own: transport, tiles, slider, read-outs, notices.

Importing this package registers them all. A page is sent before the engine is ready and filled afterwards: a component that
is registered only then is unknown to the browser, and the first visitor of a fresh server sees an empty page.
"""

from importlib import import_module
from pkgutil import walk_packages

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)
