"""How precise numbers are: what torch makes of its settings for the whole process, and the large products of linear networks.

A run has the same numbers whatever the process's defaults are. Tensors are therefore made with their precision and device
named (SINGLE, EXACT or those of another tensor), and runs go outside of the caller's autocast and inference mode, with full
products. Whether they step in an inference mode of their own is said in `llc_core.engine.setup`.

LLC_LAB_PRODUCTS: "float32" (the default), "tf32" (10 bits, on devices that have it) or "bf16" (7 bits; sums stay in
float32). The factors are differences from w0. The error is therefore relative to the excess loss and not to the loss itself:
λ̂ and the drift are off by less than a hundredth. Products in float64 are never shortened.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from llc_core.compute.cores import PerThread
from llc_core.fields import of_environment

VARIABLE = "LLC_LAB_PRODUCTS"
PRECISIONS = ("float32", "tf32", "bf16")


def precision() -> str:
    """One of PRECISIONS; ValueError for another text in the environment."""
    return of_environment(VARIABLE, PRECISIONS)


SINGLE: dict[str, Any] = {"dtype": torch.float32, "device": "cpu"}
EXACT: dict[str, Any] = {"dtype": torch.float64, "device": "cpu"}
"""Arguments for new tensors on the host."""
AUTOCAST = ("cpu", "cuda", "mps")


@contextmanager
def full_precision() -> Iterator[None]:
    """Inside, nothing shortens products or leaves gradients out, whatever the caller has torch do.

    Autocast and inference mode are settings of the thread; how precise products are is one of the process, see `_allow`.
    """
    if getattr(_HERE, "full", False) and _nothing_shortens():  # a step comes here again and again
        yield
        return
    before, _HERE.full = getattr(_HERE, "full", False), True
    with ExitStack() as stack:
        stack.callback(setattr, _HERE, "full", before)
        for device in AUTOCAST:
            if torch.is_autocast_enabled(device):
                stack.enter_context(torch.autocast(device, enabled=False))
        if torch.is_inference_mode_enabled():
            stack.enter_context(torch.inference_mode(False))
        stack.enter_context(_allow("highest"))
        yield


@contextmanager
def lasting() -> Iterator[None]:
    """Inside, new tensors may be changed and differentiated later, also where a run steps in inference mode: for what is kept."""
    with torch.inference_mode(False) if torch.is_inference_mode_enabled() else nullcontext():
        yield


class Casts(TorchFunctionMode):
    """Inside it is noticed whether anything is computed under autocast, also one that is entered inside.  seen: in what type."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: torch.dtype | None = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        for device in AUTOCAST:
            if torch.is_autocast_enabled(device):
                self.seen = torch.get_autocast_dtype(device)
        return func(*args, **(kwargs or {}))


class Uncast(TorchFunctionMode):
    """Inside, autocast has no effect, also one that is entered inside."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        on = [device for device in AUTOCAST if torch.is_autocast_enabled(device)]
        for device in on:
            torch.set_autocast_enabled(device, False)
        try:
            return func(*args, **(kwargs or {}))
        finally:
            for device in on:
                torch.set_autocast_enabled(device, True)


_HERE = PerThread()
"""full: whether this thread is inside of `full_precision`, and so keeps the process's setting."""


def _nothing_shortens() -> bool:
    return not (torch.is_inference_mode_enabled() or any(map(torch.is_autocast_enabled, AUTOCAST)))


@contextmanager
def tf32_if_asked() -> Iterator[None]:
    """Inside, torch uses TF32 if LLC_LAB_PRODUCTS says so."""
    with _allow("high") if precision() == "tf32" else nullcontext():
        yield


_LOCK = threading.Lock()
_INSIDE: list[str] = []
_BEFORE = "highest"


@contextmanager
def _allow(products: str) -> Iterator[None]:
    """Inside, float32 products are as precise as this; "high" where another thread inside has asked for that.

    torch has one such setting for the whole process. The first thread that enters keeps it, the last that leaves restores it.
    """
    global _BEFORE
    with _LOCK:
        if not _INSIDE:
            _BEFORE = torch.get_float32_matmul_precision()
        _INSIDE.append(products)
        _set()
    try:
        yield
    finally:
        with _LOCK:
            _INSIDE.remove(products)
            _set()


def _set() -> None:
    wish = _BEFORE if not _INSIDE else "high" if "high" in _INSIDE else "highest"
    if torch.get_float32_matmul_precision() != wish:
        torch.set_float32_matmul_precision(wish)


class Products:
    """Batched matrix products of [C, p, q] and [C, q, r], in the precision of the tensors."""

    is_short = False

    def multiply(self, a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
        return torch.bmm(a, b) if out is None else torch.bmm(a, b, out=out)

    def add_product(self, to: Tensor, a: Tensor, b: Tensor) -> Tensor:
        """to += a·b, in place."""
        return to.baddbmm_(a, b)


class ShortProducts(Products):
    """Products of float32 tensors whose entries are rounded to bf16 first; sums stay in float32."""

    is_short = True

    def multiply(self, a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
        a, b = a.bfloat16(), b.bfloat16()
        product = torch.bmm(a, b, out_dtype=torch.float32) if a.is_cuda else torch.bmm(a.float(), b.float())
        return product if out is None else out.copy_(product)

    def add_product(self, to: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return to.add_(self.multiply(a, b))


def products_in(dtype: torch.dtype) -> Products:
    """The products that LLC_LAB_PRODUCTS asks for, for tensors of this precision."""
    return ShortProducts() if precision() == "bf16" and dtype == torch.float32 else Products()
