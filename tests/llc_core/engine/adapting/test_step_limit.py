"""What is measured before the first step: nothing for a step that is given, and no more than an automatic one needs."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from llc_core import SGLD, DeepLinearNetwork, NetworkPotential, RunConfig, estimate
from llc_core.engine import curvature
from llc_core.engine.run import Run
from llc_core.potentials.module import network


class Counted(DeepLinearNetwork):
    """looks: products with the Hessian so far."""

    looks = 0

    def hvp(self, delta, vector):
        self.looks += 1
        return super().hvp(delta, vector)


def counted() -> Counted:
    return Counted.random(widths=[5, 4, 5], seed=1)


def test_a_given_step_is_not_measured_before_the_chains_move():
    problem, before = counted(), []
    found = estimate(
        problem,
        SGLD(step_size=1e-7),
        chains=2,
        steps=40,
        progress=False,
        callback=lambda _: before.append(problem.looks),
    )
    assert before[0] == 0 < problem.looks
    other = estimate(counted(), SGLD(step_size=1e-7), chains=2, steps=40, burn_in=0, progress=False)
    assert math.isfinite(found.evidence.stable_step) and math.isfinite(other.evidence.stable_step)


def test_first_looks_end_where_an_iteration_adds_little():
    """The value is the first of the whole sequence that is at most a twentieth above the one before, in every chain."""
    problem = counted()
    run = Run(RunConfig(problem=problem.to_dict(), sampler=SGLD().to_dict(), chains=3, steps=10), problem)
    target, z = run._target, torch.zeros(3, problem.dim)
    start = torch.randn(3, problem.dim, generator=torch.Generator().manual_seed(2))
    sizes = [curvature.top_curvature(target, z, start, iterations=k)[0] for k in range(1, 13)]
    rises = [float((b / a - 1).max()) for a, b in zip(sizes, sizes[1:], strict=False)]
    end = next(k for k, rise in enumerate(rises, 1) if rise <= 0.05)
    problem.looks = 0
    size, _ = curvature.top_curvature(target, z, start, iterations=12, rise=0.05)
    assert torch.equal(size, sizes[end]) and problem.looks == end + 1 < 12
    in_place = curvature.top_curvature_in_place(target, z, start.clone(), iterations=12, rise=0.05)
    torch.testing.assert_close(in_place, size)


@pytest.mark.parametrize(("room", "rows"), [(1 << 30, 300), (0, 64)])
def test_curvature_of_large_rows_is_that_of_a_few(room, rows, monkeypatch):
    monkeypatch.setattr(network, "CURVATURE_BYTES", room)
    torch.manual_seed(0)
    model, x, y = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2)), torch.randn(300, 3), torch.randn(300, 2)
    whole, few = (NetworkPotential(model, "mse", (x[:k], y[:k]), shuffle=False) for k in (300, rows))
    z, v = 0.1 * torch.randn(2, whole.dim), torch.randn(2, whole.dim)
    torch.testing.assert_close(whole.rough_hvp(z, v), few.hvp(z, v))
