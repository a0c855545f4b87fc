"""λ̂ of linear and logistic regression as torch modules, d = 5, 20, 100 with n = 10⁴, against exact posterior means.

python -m lab.benchmarks.networks.regressions

Linear: U is quadratic, so the mean of nβ·ΔL is a formula. Logistic: importance sampling from the Laplace approximation
with heavier tails, for the small difference between nβ·ΔL and half of δ·∇U, whose mean is exactly d/2.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from lab.benchmarks.command import option, read_options
from llc_core import SGLD, NetworkPotential, estimate

N, DRAWS, FREEDOM = 10_000, 2_000, 20


def linear_problem(dim: int, localization: float = 1.0, **more: Any) -> tuple[NetworkPotential, float]:
    """Least squares at the least-squares solution of the data, so that w0 is the minimum, and E[nβΔL] exactly."""
    generator = torch.Generator().manual_seed(dim)
    x = torch.randn(N, dim, generator=generator, dtype=torch.float64)
    y = x @ torch.randn(dim, 1, generator=generator, dtype=torch.float64)
    y += torch.randn(N, 1, generator=generator, dtype=torch.float64)
    module = nn.Linear(dim, 1, bias=False).double()
    with torch.no_grad():
        module.weight.copy_(torch.linalg.lstsq(x, y).solution.T)
    problem = NetworkPotential(module, "squared_error", (x, y), **more)
    hessian = 2 * problem.n_beta * x.T @ x / N
    covariance = torch.linalg.inv(hessian + localization * torch.eye(dim, dtype=torch.float64))
    return problem, float((hessian * covariance).sum() / 2)


def logistic_problem(dim: int, localization: float = 1.0, **more: Any) -> tuple[NetworkPotential, float, float]:
    """Two classes, one logit, at the maximum of the likelihood; E[nβΔL] and its standard error."""
    generator = torch.Generator().manual_seed(100 + dim)
    x = torch.randn(N, dim, generator=generator, dtype=torch.float64)
    truth = torch.randn(dim, 1, generator=generator, dtype=torch.float64) / dim**0.5
    y = (torch.rand(N, 1, generator=generator, dtype=torch.float64) < torch.sigmoid(x @ truth)).double()
    w, hessian = truth.clone(), torch.eye(dim, dtype=torch.float64)
    for _ in range(20):  # Newton's method
        p = torch.sigmoid(x @ w)
        hessian = (x * p * (1 - p)).T @ x / N
        w -= torch.linalg.solve(hessian, x.T @ (p - y) / N)
    module = nn.Linear(dim, 1, bias=False).double()
    with torch.no_grad():
        module.weight.copy_(w.T)
    problem = NetworkPotential(module, _logistic_loss, (x, y), **more)
    exact, error = _importance(x, y, w, hessian, problem.n_beta, localization, generator)
    return problem, exact, error


def _logistic_loss(output: Tensor, target: Tensor) -> Tensor:
    return nn.functional.softplus((1 - 2 * target) * output).sum(1)


def _importance(
    x: Tensor, y: Tensor, w0: Tensor, hessian: Tensor, n_beta: float, gamma: float, generator: torch.Generator
) -> tuple[float, float]:
    """E[nβΔL] under exp(−nβΔL − γ‖δ‖²/2), from draws of a multivariate t around the mode."""
    dim = len(w0)
    precision = n_beta * hessian + gamma * torch.eye(dim, dtype=torch.float64)
    root = torch.linalg.cholesky(torch.linalg.inv(precision))
    z = torch.randn(DRAWS, dim, generator=generator, dtype=torch.float64)
    chi = torch.randn(DRAWS, FREEDOM, generator=generator, dtype=torch.float64).square().sum(1, keepdim=True)
    z = z * (FREEDOM / chi).sqrt()
    delta = z @ root.T
    sign = 1 - 2 * y
    base = nn.functional.softplus(sign * (x @ w0)).mean()
    excess, slope = torch.empty(DRAWS, dtype=torch.float64), torch.empty(DRAWS, dtype=torch.float64)
    for rows in torch.arange(DRAWS).split(500):
        moves = x @ delta[rows].T
        logits = x @ w0 + moves
        excess[rows] = nn.functional.softplus(sign * logits).mean(0) - base
        slope[rows] = (moves * (torch.sigmoid(logits) - y)).mean(0)  # δ·∇L
    proposal = -(FREEDOM + dim) / 2 * torch.log1p(z.square().sum(1) / FREEDOM)
    logs = -n_beta * excess - gamma / 2 * delta.square().sum(1) - proposal
    weights = torch.softmax(logs, 0)
    # E[δ·∇U] = D for every distribution exp(−U): what is averaged is only the difference from half of it.
    rest = n_beta * excess - (n_beta * slope + gamma * delta.square().sum(1)) / 2
    mean = float((weights * rest).sum())
    return dim / 2 + mean, float((weights.square() * (rest - mean).square()).sum().sqrt())


def report(kind: str, dim: int, problem: NetworkPotential, exact: float, error: float) -> None:
    for sampler, gradient, steps in (
        (None, "full", 4000),
        (SGLD(), "control_variate", 8000),
        (SGLD(), "minibatch", 8000),
    ):
        result = estimate(problem, sampler, gradient=gradient, batch_size=500, chains=8, steps=steps, progress=False)
        print(
            f"  {kind} d = {dim:3d} {gradient:16s} λ̂ {result.llc:8.3f} ± {result.llc_se:.3f}   exact {exact:.3f} ± {error:.3f}"
            f" ({result.llc / exact - 1:+.1%})   d/2 ({result.llc / (dim / 2) - 1:+.1%})   {result.seconds:.1f} s"
        )


def main() -> None:
    options = read_options(globals(), {"dims": [5], "N": 1000, "DRAWS": 50}, dims=option([5, 20, 100], nargs="*"))
    for dim in options.dims:
        linear, exact = linear_problem(dim)
        report("linear  ", dim, linear, exact, 0.0)
        report("logistic", dim, *logistic_problem(dim))


if __name__ == "__main__":
    main()
