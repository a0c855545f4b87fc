"""`panel serve --setup` of this file: a session ends as soon as its page is closed, and the log says when the engine is warm.

Until then its run would go on, and take the time of the next test. A session that no browser has reached yet stays: a busy
browser comes back for it after seconds, and its page would be built twice. See also `late_callbacks.py`.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

from bokeh.server.session import ServerSession

unsubscribe = ServerSession.unsubscribe


def unsubscribe_and_end(self: ServerSession, connection: Any) -> None:
    unsubscribe(self, connection)
    self.request_expiration()  # heeded only where no browser is connected


ServerSession.unsubscribe = unsubscribe_and_end


def tell_when_warm() -> None:
    from app.window import warmup

    if warmup.wait(300):
        print("The engine is warm.", flush=True)  # for the fixture `address`


sys.path.append(str(Path(__file__).parent))
from late_callbacks import come_late  # noqa: E402

come_late()
threading.Thread(target=tell_when_warm, name="tells", daemon=True).start()
