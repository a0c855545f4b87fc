"""Chains on the hidden layers alone: under a Gaussian likelihood the output layer is integrated out."""

from __future__ import annotations

import math
from typing import Any, Protocol

import torch
from torch import Tensor

from llc_core.compute.precision import EXACT
from llc_core.compute.streams import torch_stream
from llc_core.potentials.bayesian.activations import Activation
from llc_core.potentials.bayesian.data import Data
from llc_core.potentials.bayesian.passes import Layout, forward, prior_draws, root_variances

TARGET = 0.3
"""Acceptance at which the step is held. From 0.2 to 0.45 the chains are about equally good."""
FIRST_STEP = 0.3


class Prior(Protocol):
    """What `features` needs of a Bayesian network."""

    data: Data
    layout: Layout
    phi: Activation
    variances: Tensor
    weight_variance: float
    bias_variance: float


class Regression(Prior, Protocol):
    """What collapsed chains need of it."""

    n: int
    noise_variance: float

    def excess_loss_and_grad(self, delta: Tensor) -> tuple[Tensor, Tensor]:
        """As of a `Potential`, on all data."""
        ...


class CollapsedChains:
    """Preconditioned Crank–Nicolson on the hidden layers in prior coordinates, v' = √(1 − s²)·v + s·N(0, I), accepted by the
    evidence of the data given the hidden layers, N(y; 0, ΨΨᵀ + noise_variance/β). Ψ [n, H + 1] are features with the output
    layer's prior scale. The output layer is then a draw of its normal distribution (Matheron's rule).

    The idea to move hidden layers with the output layer reparametrised is that of Hron et al. 2022; Cotter et al. 2013 for pCN.
    n_beta: [C, 1].  seed: of the run.
    """

    def __init__(self, problem: Regression, n_beta: Tensor, seed: int):
        self.problem, self.chains = problem, len(n_beta)
        self.random = torch_stream(seed, "collapsed", n_beta.device)
        self.noise = (problem.noise_variance * problem.n / n_beta.double()).unsqueeze(2)
        self.hidden = problem.layout.hidden_dim
        self.scale = problem.variances.sqrt()
        self.step = torch.full((self.chains, 1), FIRST_STEP, **EXACT)
        self.accepted, self.moves = torch.zeros(self.chains, 1, **EXACT), 0

    @property
    def delta(self) -> Tensor:
        return torch.cat([self._v * self.scale[: self.hidden], self._u * self.scale[self.hidden :]], dim=1)

    @property
    def hidden_layers(self) -> Tensor:
        """v [C, D'] of the hidden layers, in prior coordinates."""
        return self._v

    def place_at_prior(self) -> Tensor:
        """Begin at draws of the prior."""
        return self.place(prior_draws(self.problem.variances, self.chains, self.random))

    def place(self, delta: Tensor) -> Tensor:
        white = delta.double() / self.scale
        self._v, self._u = white[:, : self.hidden].clone(), white[:, self.hidden :].clone()
        self._psi = features(self.problem, self._v)
        self._fit, self._evidence = self._regress(self._psi)
        return self.problem.excess_loss_and_grad(self.delta)[0]

    def move(self, adapt: bool) -> Tensor:
        noise = self.normals(self._v.shape)
        proposal = (1 - self.step.square()).sqrt() * self._v + self.step * noise
        psi = features(self.problem, proposal)
        fit, evidence = self._regress(psi)
        gain = torch.where(evidence.isfinite(), evidence - self._evidence, -torch.inf)
        rate = gain.clamp(max=0).exp()
        uniform = torch.rand(self.chains, generator=self.random, dtype=torch.float64, device=gain.device)
        take = uniform < rate
        row = take.unsqueeze(1)
        self._v = torch.where(row, proposal, self._v)
        self._psi = torch.where(row.unsqueeze(2), psi, self._psi)
        self._fit = torch.where(row.unsqueeze(2), fit, self._fit)
        self._evidence = torch.where(take, evidence, self._evidence)
        self.moves += 1
        self.accepted += (rate.unsqueeze(1) - self.accepted) / self.moves
        if adapt:
            # One step for all chains, so that each samples the same law: the mean acceptance is steered.
            self.step = (self.step * math.exp((float(rate.mean()) - TARGET) / math.sqrt(self.moves))).clamp(max=1.0)
        self._u = self._draw_output()
        return self.problem.excess_loss_and_grad(self.delta)[0]

    def normals(self, shape: Any) -> Tensor:
        return torch.randn(shape, generator=self.random, dtype=torch.float64, device=self.noise.device)

    def _regress(self, psi: Tensor) -> tuple[Tensor, Tensor]:
        """The Cholesky factor [C, n, n] of the data's covariance, and the log evidence [C]."""
        y = torch.from_numpy(self.problem.data.y)
        covariance = torch.bmm(psi, psi.transpose(1, 2)) + self.noise * torch.eye(len(y), **EXACT)
        factor, _ = torch.linalg.cholesky_ex(covariance)
        half = torch.linalg.solve_triangular(factor, y.expand(self.chains, -1).unsqueeze(2), upper=False)
        logs = factor.diagonal(dim1=1, dim2=2).log().sum(dim=1)
        return factor, -half.square().sum(dim=(1, 2)) / 2 - logs

    def _draw_output(self) -> Tensor:
        u = self.normals(self._u.shape)
        y = torch.from_numpy(self.problem.data.y)
        seen = torch.bmm(self._psi, u.unsqueeze(2))
        seen = seen + self.noise.sqrt() * self.normals((self.chains, len(y), 1))
        gap = torch.cholesky_solve(y.view(1, -1, 1) - seen, self._fit)
        return u + torch.bmm(self._psi.transpose(1, 2), gap).squeeze(2)


def features(problem: Prior, v: Tensor, inputs: Tensor | None = None) -> Tensor:
    """Ψ [C, P, H + 1]: last hidden layer and a 1, times the output layer's prior standard deviations, for hidden layers v
    [C, D'] in prior coordinates. inputs: rows [P, d]; None: those of the data. Given v, f ~ N(0, ΨΨᵀ) under the prior."""
    hidden = v * problem.variances[: v.shape[1]].sqrt().to(v)
    columns = torch.from_numpy(problem.data.x.T.copy()) if inputs is None else inputs.T
    z, _ = forward(problem.layout.parts(hidden), columns.to(v), problem.phi)
    weight, bias = root_variances(problem.layout, problem.weight_variance, problem.bias_variance)
    a = problem.phi.value(z).transpose(1, 2) * weight
    return torch.cat([a, torch.full_like(a[:, :, :1], bias)], dim=2)
