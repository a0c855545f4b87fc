"""The networks that are raced, with their data: shared by both sides of the race, so it imports torch alone."""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

N_BETA, LOCALIZATION = 100.0, 100.0


def clock() -> float:
    """Processor time with one thread: the time the work takes, whatever else the machine does. With more, wall time."""
    return time.process_time() if torch.get_num_threads() == 1 else time.perf_counter()


@dataclass
class Case:
    """A module at w0, inputs and targets, and the settings of the race."""

    name: str
    module: nn.Module
    inputs: Tensor
    targets: Tensor
    batch: int
    step_size: float
    steps: int

    def mean_loss(self, module: nn.Module, inputs: Tensor, targets: Tensor) -> Tensor:
        output = module(inputs)
        return F.cross_entropy(output.flatten(0, -2), targets.flatten())


class Transformer(nn.Module):
    """Blocks of attention over tokens; as it stands two blocks of four heads over 16 tokens, 27,000 parameters."""

    def __init__(self, vocabulary: int = 32, width: int = 32, blocks: int = 2, length: int = 16, heads: int = 4):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Parameter(0.1 * torch.randn(length, width))
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
            for _ in range(blocks)
        )
        self.out = nn.Linear(width, vocabulary)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens) + self.places
        for block in self.blocks:
            x = block(x)
        return self.out(x)


def mlp(*widths: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for inputs, outputs in zip(widths, widths[1:], strict=False):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def cases() -> list[Case]:
    """Targets are drawn from the module's own output, so that w0 is a true parameter."""
    torch.manual_seed(0)
    result = []
    for widths, steps in (((64, 128, 128, 10), 300), ((784, 256, 256, 10), 100)):
        name = "-".join(map(str, widths))
        result.append(Case(name, mlp(*widths), torch.randn(10_000, widths[0]), torch.empty(0), 256, 1e-5, steps))
    tokens = torch.randint(0, 32, (4_000, 16))
    result.append(Case("transformer", Transformer(), tokens, torch.empty(0), 64, 1e-5, 50))
    tiny = Transformer(vocabulary=50, width=16, length=12, heads=2)
    result.append(Case("transformer-tiny", tiny, torch.randint(0, 50, (1_000, 12)), torch.empty(0), 8, 1e-5, 100))
    large = Transformer(vocabulary=1_000, width=384, blocks=5, length=32, heads=8)
    result.append(Case("transformer-10M", large, torch.randint(0, 1_000, (256, 32)), torch.empty(0), 8, 1e-7, 3))
    for case in result:
        with torch.no_grad():
            logits = case.module.eval()(case.inputs)
        case.targets = torch.distributions.Categorical(logits=logits).sample()
    return result
