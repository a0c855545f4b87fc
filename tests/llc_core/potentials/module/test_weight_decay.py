"""Weight decay is a part of the loss: λ̂ of ridge regression moves with it as the formula says."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

from llc_core import NetworkPotential, estimate

ROWS, DIM, GAMMA = 60, 3, 20.0
torch.manual_seed(0)
X = torch.randn(ROWS, DIM, dtype=torch.float64) * torch.tensor([2.0, 1.0, 0.3], dtype=torch.float64)
Y = X @ torch.tensor([1.0, -1.0, 2.0], dtype=torch.float64) + torch.randn(ROWS, dtype=torch.float64)
HESSIAN = (X.T @ X / ROWS).numpy()


@pytest.mark.parametrize("decay", [0.3, *(pytest.param(decay, marks=pytest.mark.slow) for decay in (0.0, 3.0))])
def test_ridge_regression(decay):
    """L = ½ mean (y − x·w)² + ½·decay·|w|², so λ̂ = ½ Σ (h + decay)/(h + decay + γ/nβ) over the eigenvalues h."""
    n_beta = ROWS / math.log(ROWS)
    model = nn.Linear(DIM, 1, bias=False).double()
    best = np.linalg.solve(HESSIAN + decay * np.eye(DIM), (X.T @ Y / ROWS).numpy())
    with torch.no_grad():
        model.weight.copy_(torch.from_numpy(best)[None])

    def loss(model, batch):
        x, y = batch
        (weight,) = model.parameters()
        return 0.5 * (model(x).squeeze(-1) - y).square() + 0.5 * decay * weight.square().sum()

    problem = NetworkPotential(model, loss_fn=loss, data=(X, Y))
    found = estimate(
        problem, "MALA", gradient="full", chains=4, steps=1500, localization=GAMMA, dtype="float64", seed=5
    )
    stiff = np.linalg.eigvalsh(HESSIAN) + decay
    truth = 0.5 * float((stiff / (stiff + GAMMA / n_beta)).sum())
    assert abs(found.llc - truth) < 4 * found.llc_se and found.llc_se < 0.06 * truth
