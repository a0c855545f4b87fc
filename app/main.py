"""`panel serve app` runs this once for every visitor.

Only assembly happens here. Imports are absolute: under `panel serve` a relative import would make a second copy of each
module, and with it a second run manager.
"""

import panel as pn

from app.session.errors import report
from app.window import warmup
from app.window.shell import Shell

# No notification area of Panel's: it would keep every closed page in memory. Shell has its own place for messages.
pn.extension("katex", exception_handler=report)
warmup.start()
Shell().page.servable()
