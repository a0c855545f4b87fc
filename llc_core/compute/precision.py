"""How precise the large matrix products of linear networks are on a device.

LLC_LAB_PRODUCTS: "float32" (the default), "tf32" (10 bits, on devices that have it) or "bf16" (7 bits; sums stay in
float32). What is multiplied are differences from w0, so that the error is relative to the excess loss itself and not to
the loss: λ̂ and the drift are off by less than a hundredth, where on losses the difference would be lost altogether.
Products in float64 are never shortened.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from llc_core.fields import of_environment

VARIABLE = "LLC_LAB_PRODUCTS"
PRECISIONS = ("float32", "tf32", "bf16")


def precision() -> str:
    """One of PRECISIONS; ValueError for another text in the environment."""
    return of_environment(VARIABLE, PRECISIONS)


_LOCK = threading.Lock()
_USERS = 0
_BEFORE = "highest"


@contextmanager
def allowed() -> Iterator[None]:
    """Inside, torch may use TF32 where that is wished for; outside, it is as it was. The setting is that of the whole process: the
    first of the threads that are inside makes it, the last takes it back."""
    global _USERS, _BEFORE
    if precision() != "tf32":
        yield
        return
    with _LOCK:
        _USERS += 1
        if _USERS == 1:
            _BEFORE = torch.get_float32_matmul_precision()
            torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        with _LOCK:
            _USERS -= 1
            if _USERS == 0:
                torch.set_float32_matmul_precision(_BEFORE)


def multiply(a: Tensor, b: Tensor, short: bool, out: Tensor | None = None) -> Tensor:
    """The batched product of [C, p, q] and [C, q, r]; `short`: of the factors rounded to bf16, summed in float32."""
    if not short or a.dtype != torch.float32:
        return torch.bmm(a, b) if out is None else torch.bmm(a, b, out=out)
    a, b = a.bfloat16(), b.bfloat16()
    product = torch.bmm(a, b, out_dtype=torch.float32) if a.is_cuda else torch.bmm(a.float(), b.float())
    return product if out is None else out.copy_(product)


def add_product(to: Tensor, a: Tensor, b: Tensor, short: bool) -> Tensor:
    """to += a·b, in place."""
    return to.add_(multiply(a, b, True)) if short else to.baddbmm_(a, b)
