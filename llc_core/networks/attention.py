"""An attention-only transformer."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from llc_core.compute.precision import SINGLE


class Attention(nn.Module):
    """Causal self-attention with several heads. No biases: every parameter then belongs to exactly one head."""

    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(dim, dim, bias=False, **SINGLE)
        self.key = nn.Linear(dim, dim, bias=False, **SINGLE)
        self.value = nn.Linear(dim, dim, bias=False, **SINGLE)
        self.out = nn.Linear(dim, dim, bias=False, **SINGLE)

    def extra_repr(self) -> str:
        return f"heads={self.heads}"

    def per_head(self, x: Tensor) -> Tensor:
        """What each head writes before `out`, [B, heads, T, dim / heads]."""
        batch, length, dim = x.shape
        shape = (batch, length, self.heads, dim // self.heads)
        q, k, v = (part(x).view(shape).transpose(1, 2) for part in (self.query, self.key, self.value))
        scores = q @ k.transpose(2, 3) / (dim // self.heads) ** 0.5
        future = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        return scores.masked_fill(future, -torch.inf).softmax(-1) @ v

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.per_head(x).transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.norm = nn.LayerNorm(dim, **SINGLE)
        self.attention = Attention(dim, heads)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.attention(self.norm(x))


class AttentionOnly(nn.Module):
    """Tokens [B, T] → logits of the next token [B, T, vocabulary]: learnable positions, blocks of attention, no MLP."""

    def __init__(self, vocabulary: int, length: int, dim: int, layers: int, heads: int):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, dim, **SINGLE)
        self.positions = nn.Parameter(0.02 * torch.randn(length, dim, **SINGLE))
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(dim, **SINGLE)
        self.logits = nn.Linear(dim, vocabulary, bias=False, **SINGLE)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens) + self.positions[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.logits(self.norm(x))
