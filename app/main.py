"""`panel serve app` runs this once for every visitor.

Only assembly happens here. Imports are absolute: under `panel serve` a relative import would make a second copy of each
module, and with it a second run manager.
"""

from app.window import spares, warmup

spares.extend()
warmup.start()
spares.window()
