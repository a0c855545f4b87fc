"""Attention as plain products, which a pass over many chains can differentiate."""

from __future__ import annotations

from inspect import signature
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode


class PlainAttention(TorchFunctionMode):
    """Attention as matrix products: the fused kernels have no rule for vmap.

    torch's own switches (`sdpa_kernel`, `mha.set_fastpath_enabled`) change the whole process: other threads would use other
    kernels for a while, or for good. This mode changes one thread only. While it is on, torch's attention layers use their
    ordinary operations.
    """

    def __init__(self) -> None:
        super().__init__()
        self.attends = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is F.scaled_dot_product_attention:
            self.attends = True
            return _as_products(*args, **kwargs)
        if func is F.multi_head_attention_forward:
            self.attends = True
            return _with_weights(*args, **kwargs)
        return func(*args, **kwargs)


def _with_weights(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor | None]:
    """Attention with its weights asked for: torch then uses plain products inside, where this mode cannot reach."""
    given = signature(F.multi_head_attention_forward).bind(*args, **kwargs)
    wanted = given.arguments.get("need_weights", True)
    given.arguments["need_weights"] = True
    output, weights = F.multi_head_attention_forward(*given.args, **given.kwargs)
    return output, weights if wanted else None


def _as_products(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    plain = torch.ops.aten._scaled_dot_product_attention_math
    result: Tensor = plain(
        query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
    )[0]  # fmt: skip
    return result
