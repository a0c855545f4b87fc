"""`panel serve app` runs this once for every visitor.

Only assembly happens here. Imports are absolute: under `panel serve` a relative import would make a second copy of each
module, and with it a second run manager.
"""

import panel as pn

from app import warmup
from app.errors import report
from app.shell import Shell

pn.extension("katex", notifications=True, exception_handler=report)
warmup.start()
Shell().page.servable()
