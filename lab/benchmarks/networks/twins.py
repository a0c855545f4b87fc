"""Two networks with the same loss on the sums that they were shown, of which one knows the others too: their λ̂, and what they know.

    python -m lab.benchmarks.networks.twins        writes app/pages/start/panels/twins.json; three minutes of one core

The transformer of notebook 10 learns to add modulo 31 from 60% of the table of sums. One is trained with weight decay for 1,100
steps; the other from the same start without it, until its training loss is as low. λ̂ is that of the training loss at a polished w0,
with the same γ, seed and number of steps for both: the sums that were hidden are only counted.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.benchmarks.command import option, read_options
from lab.benchmarks.machine import machine
from lab.benchmarks.smoke import fresh
from llc_core import NetworkPotential, estimate, polish

TARGET = Path(__file__).resolve().parents[3] / "app/pages/start/panels/twins.json"
P, DIM, HEADS, HIDDEN = 31, 32, 4, 64
DECAY, STEPS, MOST = 2.0, 1100, 4000
"""Of the first network: weight decay, and steps; and steps of the second at most."""
GAMMA, CHAINS = 100.0, 4


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(DIM, DIM, bias=False) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        rows, length, _ = x.shape
        q, k, v = (part(x).view(rows, length, HEADS, -1).transpose(1, 2) for part in (self.q, self.k, self.v))
        weight = (q @ k.transpose(-1, -2) / (DIM // HEADS) ** 0.5).softmax(-1)
        return self.out((weight @ v).transpose(1, 2).reshape(rows, length, DIM))


class Adder(nn.Module):
    """Reads `a b =` and answers at `=`."""

    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Embedding(P + 1, DIM)
        self.place = nn.Parameter(torch.randn(3, DIM) / DIM**0.5)
        nn.init.normal_(self.token.weight, std=DIM**-0.5)
        self.attention = Attention()
        self.mlp = nn.Sequential(nn.Linear(DIM, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, DIM))
        self.unembed = nn.Linear(DIM, P, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        h = self.token(x) + self.place
        h = h + self.attention(h)
        return self.unembed((h + self.mlp(h))[:, -1])


def trained(x: Tensor, y: Tensor, decay: float, steps: int, until: float = 0.0) -> tuple[nn.Module, int]:
    """From seed 0, for so many steps or until the loss is as low as that: the network, and the steps that it took."""
    torch.manual_seed(0)
    model = Adder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=decay, betas=(0.9, 0.98))
    for step in range(steps):
        loss = F.cross_entropy(model(x), y)
        if loss.item() <= until:
            return model, step
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model, steps


def known(model: nn.Module, x: Tensor, y: Tensor) -> tuple[float, float]:
    """Loss, and the share of sums that come out right."""
    with torch.no_grad():
        said = model(x)
    return F.cross_entropy(said, y).item(), (said.argmax(1) == y).float().mean().item()


def measured(
    model: nn.Module, shown: tuple[Tensor, Tensor], hidden: tuple[Tensor, Tensor], steps: int
) -> dict[str, Any]:
    at = polish(NetworkPotential(model, "cross_entropy", shown), localization=GAMMA)
    found = estimate(at.problem, chains=CHAINS, steps=steps, max_steps=4 * steps, localization=GAMMA, progress=False)
    (loss, right), (_, new) = known(model, *shown), known(model, *hidden)
    return {
        "llc": round(found.llc, 2), "llc_se": round(found.llc_se, 2), "trusted": bool(found.converged),
        "reason": found.converged.reason, "loss": round(loss, 5), "accuracy": round(right, 4), "hidden": round(new, 4),
    }  # fmt: skip


def main() -> None:
    options = read_options(
        globals(),
        {"steps": 20, "STEPS": 20, "MOST": 20},
        one_thread=True,
        steps=option(2000, "of each chain; four times as many where they do not agree yet"),
    )
    torch.manual_seed(0)
    a, b = (each.flatten() for each in torch.meshgrid(torch.arange(P), torch.arange(P), indexing="ij"))
    x, y = torch.stack([a, b, torch.full_like(a, P)], 1), (a + b) % P
    order = torch.randperm(len(x))
    cut = int(0.6 * len(x))
    shown, hidden = (x[order[:cut]], y[order[:cut]]), (x[order[cut:]], y[order[cut:]])
    found: dict[str, Any] = {
        "shown": cut,
        "hidden": len(x) - cut,
        "parameters": sum(p.numel() for p in Adder().parameters()),
    }
    until = 0.0
    for name, decay, steps in (("rule", DECAY, STEPS), ("heart", 0.0, MOST)):
        model, taken = trained(*shown, decay, steps, until)
        found[name] = {"training_steps": taken, **measured(model, shown, hidden, options.steps)}
        until = known(model, *shown)[0]
        print(name, found[name], flush=True)
    found["machine"] = machine()
    fresh(TARGET).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
