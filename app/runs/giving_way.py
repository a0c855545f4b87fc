"""Pages that wait to be made go before chains that move already.

Both want the interpreter, of which there is one. A visitor whose page is not there sees nothing, the others see slower chains.
"""

from __future__ import annotations

import threading

SHARE = 3.0
"""So many times as long as it computed a run rests while pages wait."""

pages_wait = threading.Event()
"""Set by the event loop, read by the threads of runs."""
