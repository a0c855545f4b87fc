"""Imports the engine in the background: torch takes seconds, and the first paint must not wait for it."""

from __future__ import annotations

import gc
import logging
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.pages.stationary_bias.presets import BiasPreset

log = logging.getLogger(__name__)

WARM = ("all", "first")
"""What LLC_LAB_WARM may be: whether all kernels are compiled in advance, or only what the first page needs. The others are then
compiled when a page asks for them: for servers that live for minutes, as in tests."""

_done = threading.Event()
_lock = threading.Lock()
_started = False
_error = ""


def start() -> None:
    """Begin, once per process; returns at once."""
    global _started
    with _lock:
        if not _started:
            _started = True
            threading.Thread(target=_warm, name="warmup", daemon=True).start()


def ready() -> bool:
    return _done.is_set()


def wait(seconds: float) -> bool:
    start()
    return _done.wait(seconds)


def error() -> str:
    """A sentence when the engine could not be imported, else empty."""
    return _error


def _warm() -> None:
    global _error
    everything = False
    # All that is made here stays: looking through it for what can be thrown away takes a second now, and half a second of the
    # event loop each time later.
    gc.disable()
    try:
        import llc_core  # noqa: F401
        from app.runs.manager import manager
        from app.runs.threads import set_threads
        from llc_core.fields import of_environment

        everything = of_environment("LLC_LAB_WARM", WARM) == "all"
        set_threads()
        manager()
    except Exception as problem_found:
        log.exception("The engine could not be loaded.")
        _error = f"The engine could not be loaded: {problem_found}"
    else:
        _first_run()
        if everything:
            _compile(bias_presets()[:1])
    finally:
        gc.freeze()
        gc.enable()
        _done.set()
    if not _error and everything:
        _compile_planes()
        _learn_digits()
        _compile(bias_presets()[1:])
        _read_sweep()


def bias_presets() -> Sequence[BiasPreset]:
    from app.pages.stationary_bias.presets import PRESETS

    return PRESETS


def _compile(presets: Sequence[BiasPreset]) -> None:
    """The kernels of chains on the line that these presets need; each takes a second or two."""
    from app.pages.stationary_bias.config import SIDES
    from llc_core.line import warm_up

    try:
        for preset in presets:
            for side in SIDES:
                warm_up(preset.config.sampler(side), preset.config.target)
    except Exception:
        log.exception("A kernel could not be compiled in advance; pages will say more.")


def _compile_planes() -> None:
    """The kernels of chains on the plane that the page "Many modes" needs, and its exact answers."""
    from app.pages.many_modes.job import warm_up
    from app.pages.many_modes.presets import PRESETS
    from app.pages.many_modes.scene import get_scene

    try:
        for preset in PRESETS:
            get_scene(preset.config)
            warm_up(preset.config)
    except Exception:
        log.exception("A kernel on the plane could not be compiled in advance; the page will say more.")


def _learn_digits() -> None:
    """What the page "Decisions" begins with: mushrooms, and nets that have learned some digits."""
    from app.pages.decisions.presets import PRESETS
    from app.pages.decisions.scene import get_scene

    try:
        for preset in PRESETS:
            get_scene(preset.config)
    except Exception:
        log.exception("The page of decisions could not be prepared; it will say more.")


def _read_sweep() -> None:
    """The sweep that the page "Benchmark" opens with, and the pictures on its tiles."""
    try:
        from app.pages.benchmark.pictures import outcomes

        outcomes()
    except Exception:
        log.exception("The sweep of the page Benchmark could not be read; the page will say more.")


def _first_run() -> None:
    """First runs and their estimates load kernels, the statistics library and the data of the first presets."""
    try:
        from app.controls.devices import devices, speed
        from app.estimates.networks import get_problem
        from app.pages.landscapes import presets as landscapes
        from app.pages.landscapes.config import get_landscape
        from app.pages.local_geometry.presets import PRESETS
        from llc_core import RunConfig, run

        opening = next(preset for preset in landscapes.PRESETS if preset.name == landscapes.FIRST)
        for problem in (get_landscape(opening.problem), get_problem(PRESETS[0].problem)):
            small = run(RunConfig(problem=problem.to_dict(), chains=2, steps=200), problem)
            small.advance(200)
            small.estimates()
        for device in devices():
            speed(device)  # of which a page says how long large networks take; a card is slow to wake
    except Exception:
        log.exception("The warm-up run failed; pages will say more.")
