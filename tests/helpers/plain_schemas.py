"""A plugin of pytest: nbmake's checks of notebooks do without a grammar of web addresses, which took 1.6 processor seconds to build.

`jsonschema` builds it when it is imported, in each worker, for formats that no notebook has. `make` names this plugin, so that
pytest loads it before nbmake.
"""

import sys

if "jsonschema" not in sys.modules:
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
    import jsonschema  # noqa: F401

    del sys.modules["rfc3987_syntax"]
