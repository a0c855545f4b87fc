"""How a run on a GPU does its steps, as the environment variable LLC_LAB_GPU says. `engine.stepping.recorded` explains the choices."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

import torch

from llc_core.fields import of_environment

VARIABLE = "LLC_LAB_GPU"
STEPPINGS = ("plain", "graphs", "fused")


def gpu_stepping() -> str:
    """How runs on a GPU do their steps: one of STEPPINGS. ValueError for another text in the environment."""
    return of_environment(VARIABLE, STEPPINGS)


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
