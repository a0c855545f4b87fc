"""How long is the event loop held by what a link asks for? It decides what is prepared in a thread.

    python -m lab.benchmarks.served.waits

Milliseconds to check and make the network of a link, beside the bytes that its price says it holds: above
`app.estimates.networks.LONG_BYTES` a thread makes it.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from app.estimates.networks import LONG_BYTES, check_size
from app.pages.local_geometry.scene import link_config, scene_of
from lab.benchmarks.smoke import parse

NETWORKS: tuple[dict[str, Any], ...] = (
    {"widths": [8, 6, 8]},
    {"widths": [3] * 64},
    {"size_class": "10K", "ranks": "equal"},
    {"widths": [5, 100, 1500]},
    {"widths": [200, 200, 200]},
    {"widths": [60] * 50},
    {"widths": [200] * 6},
    {"widths": [440, 440]},
    {"widths": [1500, 100, 5]},
)


def main() -> None:
    parse(
        argparse.ArgumentParser(description=__doc__.splitlines()[0]), globals(), NETWORKS=lambda networks: networks[:2]
    )
    link_config({"problem": {"kind": "dln", "widths": [2, 2]}})  # imports
    print(f"a thread makes what holds more than {LONG_BYTES / 2**20:.0f} MB")
    for network in NETWORKS:
        description = {"kind": "dln", **network, "seed": 5}
        held = check_size(description).held
        start = time.perf_counter()
        scene_of(link_config({"problem": description, "chains": 4}))
        spent = time.perf_counter() - start
        print(f"{1000 * spent:6.0f} ms  {held / 2**20:6.1f} MB  {str(network)[:60]}")


if __name__ == "__main__":
    main()
