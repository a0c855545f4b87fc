"""How many threads compute. Everything in the app that asks for threads asks here."""

from __future__ import annotations


def computing_threads() -> int:
    """One core stays free for the event loop and, on a laptop, for the browser."""
    from llc_core.compute.cores import available_cores

    return max(1, available_cores() - 1)


def set_threads() -> None:
    """To be called first in every thread that computes.

    A new thread gets the number of threads that was set last in any thread. A run in the middle of a step sets one, and a
    thread that begins at that moment would keep it.
    """
    import torch

    torch.set_num_threads(computing_threads())
