"""How precise the large matrix products of linear networks are on a device.

LLC_LAB_PRODUCTS: "float32" (the default), "tf32" (10 bits, on devices that have it) or "bf16" (7 bits; sums stay in
float32). The factors are differences from w0. The error is therefore relative to the excess loss and not to the loss itself:
λ̂ and the drift are off by less than a hundredth. Products in float64 are never shortened.
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
def tf32_if_asked() -> Iterator[None]:
    """Inside, torch uses TF32 if LLC_LAB_PRODUCTS says so.

    torch has one such setting for the whole process. The first thread that enters changes it, the last that leaves restores it.
    """
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
