"""Loss, gradient and curvature of linear networks: what one network and a family of one shape have in common."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from llc_core.compute.cores import available_cores
from llc_core.compute.matrices import prefers_numpy
from llc_core.potentials.base import Batch, Factors, Potential
from llc_core.potentials.deep_linear.cut import cut_of
from llc_core.potentials.deep_linear.numpy_chains import numbers
from llc_core.potentials.deep_linear.tensors import ONE_BY_ONE, Tensors, stacks

MOST_ROUNDED = 1 << 24
"""Rounding is measured up to this many numbers in the displacements of all chains, because it copies them to float64."""


class LinearPotential(Potential):
    """widths: H_0, …, H_M. `_tensors` gives what the evaluation of C chains needs."""

    widths: Sequence[int]
    gradients = ("full", "control_variate", "minibatch")
    has_factors = True
    own_gradients = True
    endless = False

    def _tensors(self, like: Tensor) -> Tensors:
        """For the chains, device and precision of `like` [C, …]."""
        raise NotImplementedError

    def _draw_together(self, z: Tensor, gradient: str) -> Batch:
        """The batch of every chain from its rows (x, noise, |noise|²), z [C, B, N + outputs + 1], in few kernels."""
        inputs = self.widths[0]
        x, baseline = z[:, :, :inputs], z[:, :, -1].mean(dim=1)
        if gradient == "minibatch" and z.shape[1] < inputs:
            rows = z.transpose(1, 2)
            return Batch({"x": rows[:, :inputs], "noise": rows[:, inputs:-1]}, baseline)
        if gradient == "control_variate":
            return Batch({"sxx": torch.bmm(x.transpose(1, 2), x) / z.shape[1]}, baseline)
        moments = torch.bmm(x.transpose(1, 2), z[:, :, :-1]) / z.shape[1]
        return Batch({"sxx": moments[:, :, :inputs], "snx": moments[:, :, inputs:].transpose(1, 2)}, baseline)

    def excess_loss_and_grad(self, delta: Tensor, batch: Batch | None = None) -> tuple[Tensor, Tensor]:
        grad = torch.empty_like(delta)
        on = self._tensors(delta)
        if on.by_numpy is not None and (batch is None or "x" not in batch.data):
            sxx = on.sxx if batch is None else batch.data["sxx"]
            snx = on.snx if batch is None or "snx" not in batch.data else batch.data["snx"]
            return on.by_numpy.loss_and_grad(delta.detach(), sxx, snx, grad), grad
        if delta.device.type == "cpu" and on.is_wide:
            chains = range(len(delta))
            each = [None if batch is None else batch.of(c, len(delta)) for c in chains]
            losses = [self._evaluate(delta[c : c + 1], each[c], grad[c : c + 1]) for c in chains]
            return torch.cat(losses), grad
        return self._evaluate(delta, batch, grad), grad

    def step_bytes(self, chains: int, gradient: str, batch_size: int, size: int) -> int:
        return step_bytes(self.widths, chains, gradient, batch_size, size)

    def rounding(self, delta: Tensor) -> Tensor | None:
        """Far from w0 the products of some layers of a deep network are large, others are tiny, and they cancel."""
        if delta.dtype == torch.float64 or delta.device.type == "mps" or delta.numel() > MOST_ROUNDED:
            return None
        exact = self.excess_loss_and_grad(delta.double())[0]
        return (self.excess_loss_and_grad(delta)[0].double() - exact).abs()

    def _evaluate(self, delta: Tensor, batch: Batch | None, grad: Tensor) -> Tensor:
        """ΔL [C]; the gradient is written to `grad` [C, D]."""
        on = self._tensors(delta)
        if batch is not None and "x" in batch.data:
            return self._evaluate_rows(on, delta, batch.data["x"], batch.data["noise"], grad)
        sxx, snx = _moments(on, batch)
        if on.halves is not None:
            return on.halves.loss_and_grad(on.layers(delta), sxx, snx, on.layers(grad))
        weights, given, difference = on.differences(delta)
        chains, outputs, inputs = difference.shape
        groups = sxx.shape[0]
        cross = snx.unsqueeze(1)
        half = on.products.multiply(difference.view(groups, -1, inputs), sxx)
        half = half.view(len(snx), -1, outputs, inputs).sub_(cross)
        loss = (difference.view(half.shape) * (half - cross)).sum(dim=(-1, -2)).view(chains)
        on.backward(weights, given, half.mul_(2).view(chains, outputs, inputs), grad)
        return loss

    def _evaluate_rows(self, on: Tensors, delta: Tensor, x: Tensor, noise: Tensor, grad: Tensor) -> Tensor:
        """As `_evaluate`, from the rows of a batch: cheaper than moments if the batch has fewer rows than there are inputs."""
        each = delta.shape[0] // x.shape[0]
        if each > 1:
            x, noise = x.repeat_interleave(each, 0), noise.repeat_interleave(each, 0)
        size = x.shape[-1]
        weights, errors, a0 = on.forward(delta, x)
        residual = errors[-1] - noise
        loss = (errors[-1] * (residual - noise)).sum(dim=(1, 2)) / size
        on.backward(weights, on.inputs(errors[:-1], a0), residual.mul_(2 / size), grad)
        return loss

    def hessian_diagonal(self, delta: Tensor, batch: Batch | None, generator: torch.Generator) -> Tensor:
        """Exact, since the loss is quadratic in each single weight; of the batch, if there is one."""
        on = self._tensors(delta)
        factors = on.kronecker_factors(delta, _moments(on, batch)[0])
        parts = [b.diagonal(dim1=1, dim2=2)[:, :, None] * a.diagonal(dim1=1, dim2=2)[:, None, :] for b, a in factors]
        return torch.cat([part.flatten(1) for part in parts], dim=1)

    def hvp(self, delta: Tensor, vector: Tensor) -> Tensor:
        """Exact Hessian-vector product of the full-data loss."""
        return self.hvp_on(delta, None, vector)

    def hvp_on(self, delta: Tensor, batch: Batch | None, vector: Tensor) -> Tensor:
        """Exact, of the batch too (forward-over-reverse by hand)."""
        on = self._tensors(delta)
        return on.hvp(delta, vector, *_moments(on, batch))

    def kronecker_factors(self, delta: Tensor) -> list[Factors]:
        """Exact: the Hessian in W_l alone is 2·(W_M⋯W_{l+1})ᵀ(W_M⋯W_{l+1}) ⊗ (W_{l−1}⋯W_1)Sxx(W_{l−1}⋯W_1)ᵀ."""
        on = self._tensors(delta)
        return on.kronecker_factors(delta, on.sxx)

    @property
    def layers(self) -> tuple[tuple[int, ...], ...]:
        return tuple((rows, columns) for rows, columns in zip(self.widths[1:], self.widths, strict=False))


def _moments(on: Tensors, batch: Batch | None) -> tuple[Tensor, Tensor]:
    """Sxx and Snx of the batch [b, …], or of all data."""
    if batch is None:
        return on.sxx, on.snx
    x = batch.data.get("x")
    if x is None:
        return batch.data["sxx"], batch.data.get("snx", on.snx)
    turned = x.transpose(1, 2) / x.shape[-1]
    return torch.bmm(x, turned), torch.bmm(batch.data["noise"], turned)


def step_bytes(widths: Sequence[int], chains: int, gradient: str, batch_size: int, size: int) -> int:
    """`Potential.step_bytes` of networks of these widths: four arrays for each layer and two of the whole product's size, in double
    precision for the rounding.

    And the batches: their moments, or their rows where these are fewer. Where numpy takes all chains at once its memory
    is kept between steps, in double precision for the rounding as well.
    """
    inputs, outputs, cut = widths[0], widths[-1], cut_of(widths)
    columns = max(inputs, widths[cut] if cut else 0)
    drawn = rows = 0
    if gradient != "full":
        rows = 2 * (batch_size + inputs) * (inputs + outputs + 1)  # of one chain after the other
    if gradient == "minibatch" and batch_size < inputs:
        columns, drawn = max(columns, batch_size), batch_size * (inputs + outputs + 1)
    elif gradient != "full":
        drawn = inputs * (inputs + outputs) + 1
    wide = max(widths) >= ONE_BY_ONE
    at_once = min(chains, available_cores()) if wide else chains
    arrays = 4 * sum(widths[1:]) * columns + 2 * inputs * outputs
    held = 8 * at_once * arrays
    if prefers_numpy() and stacks(widths):
        held = max(held, (size if size == 8 else size + 8) * chains * numbers(widths))
    return held + size * chains * drawn + 8 * rows
