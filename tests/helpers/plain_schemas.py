"""A plugin of pytest: nbmake's checks of notebooks do without a grammar of web addresses, which took 1.6 processor seconds to build.

`jsonschema` builds it when it is imported, in each worker, for formats that no notebook has. `make` names this
plugin, so that pytest loads it before nbmake.
"""

import sys

sys.modules.setdefault("rfc3987_syntax", None)
