"""How a run on a GPU does its steps, as the environment variable LLC_LAB_GPU says. `engine.stepping.recorded` explains the choices."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from types import FunctionType, MethodType
from typing import Any

import torch
from torch import Tensor

from llc_core.compute.philox import normals
from llc_core.fields import of_environment

VARIABLE = "LLC_LAB_GPU"
WAYS = ("plain", "graphs", "fused")
STEPPINGS = ("auto", *WAYS)
WORTH = 1e11
"""Parameters × chains × steps from which on compiled steps are the default. On one H100 they had made up for their compiling after
4e10 at 100,000 parameters and after 6e10 at a million (lab/benchmarks/results/gpu.md); another card may need twice that."""
WORTH_STEPS = 40_000
"""Steps from which on they are so at any size: of 160 parameters, where a step is all starts of kernels, a compiled one took 85 µs and a
plain one 338 there. Compiling took some five seconds more, the gain of 20,000 such steps."""
ROUNDING = 1e-5
"""More than single precision may cost a normal: its angle is right to 4e-7, and its radius reaches 6.8."""


def gpu_stepping() -> str:
    """How runs on a GPU do their steps: one of STEPPINGS. ValueError for another text in the environment."""
    return of_environment(VARIABLE, STEPPINGS)


def way_of(like: Tensor, numbers: int, steps: int, known: bool) -> str:
    """One of WAYS: what the environment asks for, else what suits the work.

    like: a tensor of the run's device and precision.  numbers: parameters × chains.  known: whether this kind of loss was
    measured by compiled steps. The shape of a run decides and no clock, so that the same run always has the same numbers.
    """
    asked = gpu_stepping()
    if asked != "auto":
        return asked
    worth = steps >= WORTH_STEPS or numbers * steps >= WORTH
    return "fused" if known and worth and makes_normals(like) else "plain"


def makes_normals(like: Tensor) -> bool:
    """Whether `llc_core.compute.philox_triton` can make normals in a tensor's precision on its device, and makes the right ones."""
    return like.device.type == "cuda" and like.dtype == torch.float32 and kernel_agrees(like.device)


@cache
def kernel_agrees(device: torch.device) -> bool:
    """Whether triton is at hand and its kernel gives the numbers of `philox.normals`: tried once a process, on 30,000 places."""
    if importlib.util.find_spec("triton") is None:
        return False
    seed, step, shape = 2**63 - 5, torch.tensor(2**33 + 7), (2, 3, 5000)
    try:
        from llc_core.compute.philox_triton import fill_normals

        made = fill_normals(torch.full(shape, torch.nan, device=device), seed, step.to(device)).cpu()
    except Exception:  # What a driver or a compiler lacks shows in errors of any kind, and torch's way needs neither.
        return False
    return bool((made - normals(seed, step, shape, torch.float64)).abs().max() < ROUNDING)


_rows_are_compiled: ContextVar[bool] = ContextVar("rows are compiled", default=False)


@contextmanager
def compiling_rows() -> Iterator[None]:
    """What is drawn in here is for a run of compiled steps: rows that are made in each of them are compiled too."""
    before = _rows_are_compiled.set(True)
    try:
        yield
    finally:
        _rows_are_compiled.reset(before)


def rows_are_compiled() -> bool:
    return _rows_are_compiled.get()


class Beside:
    """Work on a stream of its own: a GPU does it beside what is begun after it, until somebody waits. A CPU does it at once."""

    def __init__(self, device: torch.device):
        self._device, self._streams = device, torch.get_device_module(device)
        self._own = self._streams.Stream(device)

    def begin(self, work: Callable[[], object]) -> None:
        """After all that was begun before: an earlier step may still read what this work writes."""
        self._own.wait_stream(self._streams.current_stream(self._device))
        with self._streams.stream(self._own):
            work()

    def wait(self) -> None:
        """What is begun from now on finds the work done."""
        self._streams.current_stream(self._device).wait_stream(self._own)


def torch_compiled(method: Callable[..., Any]) -> Callable[..., Any]:
    """A bound method by torch.compile, with a cache of its own.

    torch counts how often a piece of code is compiled, over all callers, and from the ninth time on runs it uncompiled. In a
    sweep that would be every run after the eighth. Each run therefore gets a copy of the code, which is freed with the run.
    """
    assert isinstance(method, MethodType), "a bound method"
    plain = method.__func__
    assert isinstance(plain, FunctionType), "written in Python"
    copy = FunctionType(
        plain.__code__.replace(), plain.__globals__, plain.__name__, plain.__defaults__, plain.__closure__
    )
    return torch.compile(MethodType(copy, method.__self__), dynamic=False)


class CompiledIfPossible:
    """A bound method by `torch_compiled`. Where the compiler fails, at the first call and before anything is written, `plain` goes on.

    what: begins the sentence that says so.  plain: takes the same and does the same; None: the method as it is written.
    """

    def __init__(self, what: str, method: Callable[..., Any], plain: Callable[..., Any] | None = None):
        self._what, self._plain = what, plain or method
        self._do = torch_compiled(method)
        self._done = False

    def __call__(self, *arguments: Any) -> Any:
        try:
            found = self._do(*arguments)
        except RuntimeError as error:  # of all that torch's compiler raises it is the base
            if self._done or isinstance(error, torch.OutOfMemoryError):
                raise
            why = next(iter(str(error).splitlines()), type(error).__name__)
            warnings.warn(f"{self._what} could not be compiled ({why}); it goes on uncompiled.", stacklevel=2)
            self._do = self._plain
            found = self._do(*arguments)
        self._done = True
        return found
