"""How a run on a GPU is stepped, which the environment variable LLC_LAB_GPU chooses; `llc_core.engine.stepping.recorded` says what that means."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

import torch

from llc_core.fields import of_environment

VARIABLE = "LLC_LAB_GPU"
STEPPINGS = ("plain", "graphs", "fused")


def gpu_stepping() -> str:
    """How runs on this device's kind are stepped: one of STEPPINGS. ValueError for another text."""
    return of_environment(VARIABLE, STEPPINGS)


def torch_compiled(method: Callable[..., Any]) -> Callable[..., Any]:
    """A bound method by torch.compile, with a cache of its own.

    torch counts the compilations of a piece of code, whoever calls it, and from the ninth on runs it uncompiled: in a sweep
    that would be every run after the eighth. So each gets a copy of the code, which is freed with it.
    """
    assert isinstance(method, MethodType), "a bound method"
    plain = method.__func__
    assert isinstance(plain, FunctionType), "written in Python"
    copy = FunctionType(
        plain.__code__.replace(), plain.__globals__, plain.__name__, plain.__defaults__, plain.__closure__
    )
    return torch.compile(MethodType(copy, method.__self__), dynamic=False)
