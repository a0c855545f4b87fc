"""What the README takes of Hugging Face's transformers, for tests that have neither that library nor a network."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn


class _Model(nn.Module):
    """Called as a model of transformers is, with parameters of GPT-2's names."""

    def __init__(self) -> None:
        super().__init__()
        self.transformer = nn.ModuleDict({"wte": nn.Embedding(8, 6), "h": nn.ModuleList([_Block()])})
        self.lm_head = nn.Linear(6, 8, bias=False)

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> SimpleNamespace:
        return SimpleNamespace(logits=self.lm_head(self.transformer["h"][0](self.transformer["wte"](input_ids))))


class _Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attn = nn.Linear(6, 6)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.attn(x)


class AutoModelForCausalLM:
    @staticmethod
    def from_pretrained(name: str) -> nn.Module:
        torch.manual_seed(0)
        return _Model()


class AutoTokenizer:
    @staticmethod
    def from_pretrained(name: str) -> Any:
        def tokenize(texts: list[str], truncation: bool, max_length: int) -> dict[str, list[list[int]]]:
            rows = [[ord(letter) % 8 for letter in text][:max_length] for text in texts]
            return {"input_ids": rows, "attention_mask": [[1] * len(row) for row in rows]}

        return tokenize
