"""Deep linear networks y = W_M ⋯ W_1 x with the squared error summed over outputs and averaged over samples.

All evaluation is on displacements: with W_l = W⁰_l + δ_l the difference from w0 is propagated,
E_l = W_l E_{l−1} + δ_l A⁰_{l−1}, so that L(w) − L(w0) never comes from subtracting two large numbers.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.aoyagi import learning_coefficient, local_learning_coefficient
from llc_core.blas import prefers_numpy
from llc_core.fields import number, whole
from llc_core.potentials.base import Batch, Factors, Potential
from llc_core.potentials.dln_data import LinearData
from llc_core.potentials.dln_lane import Lane
from llc_core.potentials.dln_random import RandomNetwork, draw_network
from llc_core.potentials.dln_stack import Stack
from llc_core.products import add_product, multiply, precision
from llc_core.rank_tables import numerical_rank_table
from llc_core.types import LearningCoefficient

ONE_BY_ONE = 192
"""From this width on a CPU evaluates chain after chain: one chain's matrices then stay in its cache, and the allocator
hands out the same warm memory again instead of fresh pages (1.3 times faster at width 400)."""
LANE = 48
"""From this width on a CPU on which numpy has the faster products goes chain after chain through `Lane`, below it with
all chains at once through `Stack`."""
SAFE_DIGITS = 1e3
"""How far a difference of products must stand above their rounding to be taken by subtraction."""


class DeepLinearNetwork(Potential):
    """A deep linear network at the point w0 = `weights`, with its own teacher's data.

    weights: W_1, …, W_M as arrays [H_l, H_{l−1}] (numpy, torch or nested lists).
    n: number of samples.  noise_std: standard deviation of the output noise.  seed: of the data.

    Inputs are uniform on [−10, 10]^{H_0}; outputs are P0·x + noise, P0 = W_M ⋯ W_1, so w0 is a true parameter.
    Loss: mean over samples of the SUM over outputs of the squared error, no ½.
    Source: Hitchcock & Hoogland, section 3.3 and appendix D.1; Lau, Murfet & Wei.

    Raises ValueError for weights that do not chain, are not finite, or for n < 3 or a negative noise_std.
    """

    kind = "dln"
    gradients = ("full", "control_variate", "minibatch")
    has_factors = True

    def __init__(self, weights: Sequence[Any], n: int = 10**6, noise_std: float = 0.5, seed: int = 0):
        self.weights = _as_weights(weights)
        self.n = whole("n", n, 3, 10**15)
        self.noise_std = number("noise_std", noise_std)
        if self.noise_std < 0:
            raise ValueError(f"noise_std is {self.noise_std:g}; it is a standard deviation and must be at least 0.")
        self.seed = whole("seed", seed, 0, 2**63 - 1)
        self.widths = [self.weights[0].shape[1], *(w.shape[0] for w in self.weights)]
        self.dim = sum(w.size for w in self.weights)
        self.data = LinearData(self.widths[0], self.widths[-1], self.n, self.noise_std, self.seed)
        self._source: RandomNetwork | None = None
        self._on: dict[tuple[str, torch.dtype], _Tensors] = {}

    @classmethod
    def random(
        cls,
        size_class: str | None = None,
        ranks: str | None = None,
        *,
        widths: Sequence[int] | None = None,
        layer_ranks: Sequence[int] | None = None,
        n: int = 10**6,
        noise_std: float = 0.5,
        seed: int = 0,
    ) -> DeepLinearNetwork:
        """A random network: of a size class, or of given widths (and layer ranks).

        size_class: "1K", "10K", "100K", "1M", "10M", "100M".
        ranks: "equal": every layer keeps the same number of rows, so that the local coefficient equals the global one;
            "full": no reduction; "paper": each layer is reduced with probability ½ by zeroing rows or columns
            (Hitchcock & Hoogland D.1), where the local coefficient is often larger than the global one.
            None: "equal" with a size_class, "full" with widths.
        layer_ranks: rank of each layer, made by zeroing rows.
        """
        seed = whole("seed", seed, 0, 2**63 - 1)
        if ranks is None:
            ranks = "full" if size_class is None else "equal"
        network = draw_network(size_class, ranks, widths, layer_ranks, seed)
        result = cls(network.weights, n=n, noise_std=noise_std, seed=seed)
        result._source = network
        return result

    # -- the exact answer ---------------------------------------------------------------------------------------------

    @cached_property
    def rank_table(self) -> list[list[int]]:
        """rank(W_t ⋯ W_{s+1}) at [s][t]: from the masks of a generated network, numerical for given weights."""
        if self._source is not None:
            return self._source.rank_table
        return numerical_rank_table(self.weights)

    @property
    def layer_ranks(self) -> list[int]:
        return [self.rank_table[layer][layer + 1] for layer in range(len(self.weights))]

    @property
    def rank(self) -> int:
        """Rank of the product W_M ⋯ W_1."""
        return self.rank_table[0][len(self.weights)]

    @cached_property
    def learning_coefficient(self) -> LearningCoefficient:  # type: ignore[override]
        """Global: the minimum over all parameters with the same product (Aoyagi 2024)."""
        return learning_coefficient(self.widths, self.rank)

    @cached_property
    def local_learning_coefficient(self) -> LearningCoefficient:  # type: ignore[override]
        """At w0: what a chain that stays near w0 estimates."""
        return local_learning_coefficient(self.widths, self.rank_table)

    def expected_llc(self, n_beta: float | None = None) -> float:
        """λ(1 − 2β·noise_std²) − (m − 1)/log(nβ), with the local λ and m at w0.

        The first factor is exact at smooth points (fitting the noise lowers the excess loss), the second an
        approximation of the multiplicity's slow correction. An unknown multiplicity counts as 1.
        """
        n_beta = self.n_beta if n_beta is None else number("n_beta", n_beta)
        if n_beta <= 0:
            raise ValueError(f"n_beta is {n_beta:g}; it must be greater than 0.")
        local = self.local_learning_coefficient
        beta = n_beta / self.n
        multiplicity = local.multiplicity or 1
        return float(local) * (1 - 2 * beta * self.noise_std**2) - (multiplicity - 1) / max(math.log(n_beta), 1.0)

    def prepare(self, like: Tensor) -> None:
        self.spreads_chains = self._tensors(like).lane is not None

    # -- evaluation ---------------------------------------------------------------------------------------------------

    @property
    def samples(self) -> int:  # type: ignore[override]
        return self.data.rows

    @property
    def baseline_loss(self) -> float:  # type: ignore[override]
        """L_n(w0)."""
        return self.data.noise_square

    def _tensors(self, like: Tensor) -> _Tensors:
        key = (str(like.device), like.dtype)
        if key not in self._on:
            self._on[key] = _Tensors(self, like.device, like.dtype)
        return self._on[key]

    def draw(
        self, generator: torch.Generator, chains: int, batch_size: int, gradient: str, dtype: torch.dtype
    ) -> Batch:
        """Batches of `batch_size` rows (`LinearData.kept` or `LinearData.batches`).

        "control_variate" samples Sxx only and keeps the noise cross moment Snx exact: at w0 its gradient is exactly
        ∇L_n(w0). "minibatch" samples both.
        """
        inputs = self.widths[0]
        kept = self.data.kept(generator.device, dtype, batch_size)
        if kept is not None:
            sxx, snx, baseline = kept.draw(generator, chains)
            return Batch({"sxx": sxx} if gradient == "control_variate" else {"sxx": sxx, "snx": snx}, baseline)
        if generator.device.type != "cpu":
            return self._draw_together(self.data.gather(generator, chains, batch_size, dtype), gradient)
        batches = self.data.batches(generator, chains, batch_size, dtype)
        baseline = torch.stack([z[:, -1].mean() for z in batches])
        if gradient == "minibatch" and batch_size < inputs:
            rows = torch.stack([z[:, :-1].T for z in batches])
            return Batch({"x": rows[:, :inputs], "noise": rows[:, inputs:]}, baseline)
        columns = inputs if gradient == "control_variate" else inputs + self.widths[-1]
        moments = torch.empty(chains, inputs, columns, dtype=dtype, device=generator.device)
        for z, moment in zip(batches, moments, strict=True):
            torch.mm(z[:, :inputs].T, z[:, :columns], out=moment)
        moments /= batch_size
        if gradient == "control_variate":
            return Batch({"sxx": moments}, baseline)
        return Batch({"sxx": moments[:, :, :inputs], "snx": moments[:, :, inputs:].transpose(1, 2)}, baseline)

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
        if on.lane is not None and (batch is None or "x" not in batch.data):
            sxx = on.sxx if batch is None else batch.data["sxx"]
            snx = on.snx if batch is None or "snx" not in batch.data else batch.data["snx"]
            return on.lane.loss_and_grad(delta.detach(), sxx, snx, grad), grad
        if delta.device.type == "cpu" and on.is_wide:
            chains = range(len(delta))
            each = [None if batch is None else batch.of(c, len(delta)) for c in chains]
            losses = [self._evaluate(delta[c : c + 1], each[c], grad[c : c + 1]) for c in chains]
            return torch.cat(losses), grad
        return self._evaluate(delta, batch, grad), grad

    def _evaluate(self, delta: Tensor, batch: Batch | None, grad: Tensor) -> Tensor:
        """ΔL [C]; the gradient is written to `grad` [C, D]."""
        on = self._tensors(delta)
        if batch is not None and "x" in batch.data:
            return self._evaluate_rows(on, delta, batch.data["x"], batch.data["noise"], grad)
        sxx = on.sxx if batch is None else batch.data["sxx"]
        snx = on.snx if batch is None or "snx" not in batch.data else batch.data["snx"]
        weights, given, difference = on.differences(delta)
        chains, outputs, inputs = difference.shape
        groups = sxx.shape[0]
        cross = snx.unsqueeze(1)
        half = multiply(difference.view(groups, -1, inputs), sxx, on.short)
        half = half.view(len(snx), -1, outputs, inputs).sub_(cross)
        loss = (difference.view(half.shape) * (half - cross)).sum(dim=(-1, -2)).view(chains)
        on.backward(weights, given, half.mul_(2).view(chains, outputs, inputs), grad)
        return loss

    def _evaluate_rows(self, on: _Tensors, delta: Tensor, x: Tensor, noise: Tensor, grad: Tensor) -> Tensor:
        """The same on batch rows: cheaper than moments when the input is wider than the batch."""
        each = delta.shape[0] // x.shape[0]
        if each > 1:
            x, noise = x.repeat_interleave(each, 0), noise.repeat_interleave(each, 0)
        size = x.shape[-1]
        weights, errors, a0 = on.forward(delta, x)
        residual = errors[-1] - noise
        loss = (errors[-1] * (residual - noise)).sum(dim=(1, 2)) / size
        on.backward(weights, on.inputs(errors[:-1], a0), residual.mul_(2 / size), grad)
        return loss

    def per_sample_loss(self, delta: Tensor, start: int, stop: int) -> Tensor:
        """The squared error of each row of the pool, summed over outputs, [C, stop − start]."""
        on, inputs = self._tensors(delta), self.widths[0]
        rows = self.data.pool(delta.device, delta.dtype)[start:stop]
        difference = on.forward(delta, None)[1][-1]
        residual = torch.matmul(difference, rows[:, :inputs].T).sub_(rows[:, inputs:-1].T)
        return residual.square_().sum(dim=1)

    @property
    def layers(self) -> tuple[tuple[int, ...], ...]:
        return tuple(w.shape for w in self.weights)

    def hessian_diagonal(self, delta: Tensor, batch: Batch | None, generator: torch.Generator) -> Tensor:
        """Exact, on the batch where there is one: the loss is quadratic in each weight alone."""
        on = self._tensors(delta)
        sxx = on.sxx
        if batch is not None:
            x = batch.data.get("x")
            sxx = batch.data["sxx"] if x is None else torch.bmm(x, x.transpose(1, 2)) / x.shape[-1]
        each = len(delta) // len(sxx)
        factors = on.kronecker_factors(delta, sxx.repeat_interleave(each, 0))
        parts = [b.diagonal(dim1=1, dim2=2)[:, :, None] * a.diagonal(dim1=1, dim2=2)[:, None, :] for b, a in factors]
        return torch.cat([part.flatten(1) for part in parts], dim=1)

    def hvp(self, delta: Tensor, vector: Tensor) -> Tensor:
        """Exact Hessian-vector product of the full-data loss (forward-over-reverse by hand)."""
        return self._tensors(delta).hvp(delta, vector)

    def kronecker_factors(self, delta: Tensor) -> list[Factors]:
        """Exact: the Hessian in W_l alone is 2·(W_M⋯W_{l+1})ᵀ(W_M⋯W_{l+1}) ⊗ (W_{l−1}⋯W_1)Sxx(W_{l−1}⋯W_1)ᵀ."""
        on = self._tensors(delta)
        return on.kronecker_factors(delta, on.sxx)

    def typical_scale(self, like: Tensor) -> Tensor:
        """The Xavier standard deviation of each layer's entries."""
        parts = [torch.full((w.size,), math.sqrt(2 / sum(w.shape))) for w in self.weights]
        return torch.cat(parts).to(like)

    def to_dict(self) -> dict[str, Any]:
        if self._source is not None:
            return {"kind": self.kind, **self._source.description, "n": self.n, "noise_std": self.noise_std}
        digest = hashlib.sha256()
        for w in self.weights:
            digest.update(repr(w.shape).encode() + w.tobytes())
        digest.update(f"{self.n}/{self.noise_std}/{self.seed}".encode())
        return {"kind": "object", "fingerprint": digest.hexdigest()[:32]}

    def __repr__(self) -> str:
        return f"DeepLinearNetwork(widths={self.widths}, layer_ranks={self.layer_ranks}, dim={self.dim})"


class _Tensors:
    """Weights, products at w0 and moments on one device in one precision."""

    def __init__(self, network: DeepLinearNetwork, device: torch.device, dtype: torch.dtype):
        def put(array: np.ndarray | Tensor) -> Tensor:
            return torch.as_tensor(array, dtype=torch.float64).to(device=device, dtype=dtype).unsqueeze(0)

        self.network = network
        self.w0 = [put(w) for w in network.weights]
        products = [np.eye(network.widths[0])]
        for w in network.weights[:-1]:
            products.append(w @ products[-1])
        self.a0 = [put(p) for p in products]
        product = network.weights[-1] @ products[-1]
        self.p0, self.p0_norm = put(product), float(np.linalg.norm(product))
        self.is_wide = max(network.widths) >= ONE_BY_ONE
        self.short = precision() == "bf16" and dtype == torch.float32
        offsets = np.cumsum([0, *(w.size for w in network.weights)])
        self.slices = [
            (int(a), int(b), *w.shape) for a, b, w in zip(offsets, offsets[1:], network.weights, strict=False)
        ]

    @cached_property
    def lane(self) -> Lane | Stack | None:
        like = self.w0[0]
        if like.device.type != "cpu" or not prefers_numpy() or self.short:
            return None
        w0, a0 = ([part[0].numpy() for part in parts] for parts in (self.w0, self.a0))
        if len(w0) == 1 or max(self.network.widths) < LANE:
            return Stack(w0, a0, self.slices)
        return Lane(w0, a0, self.p0[0].numpy(), self.slices, SAFE_DIGITS * self.rounding(like))

    def rounding(self, like: Tensor) -> float:
        """Norm of the rounding error of P0."""
        return torch.finfo(like.dtype).eps * len(self.w0) ** 0.5 * self.p0_norm

    @cached_property
    def sxx(self) -> Tensor:
        return self.network.data.sxx.to(self.w0[0]).unsqueeze(0)

    @cached_property
    def snx(self) -> Tensor:
        return self.network.data.snx.to(self.w0[0]).unsqueeze(0)

    def layers(self, flat: Tensor) -> list[Tensor]:
        """Views [C, H_l, H_{l−1}] into a flat [C, D]."""
        return [flat[:, a:b].view(-1, rows, columns) for a, b, rows, columns in self.slices]

    def products_at_w0(self, x: Tensor | None) -> list[Tensor]:
        if x is None:
            return self.a0
        result = [x]
        for w in self.w0[:-1]:
            result.append(torch.matmul(w, result[-1]))
        return result

    def forward(self, delta: Tensor, x: Tensor | None) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        """Weights W_l, differences E_l = (W_l ⋯ W_1 − W⁰_l ⋯ W⁰_1)x, and A⁰_l = W⁰_l ⋯ W⁰_1 x from l = 0.

        x None stands for the identity, [C or 1, H_0, q] otherwise.
        """
        moves = self.layers(delta)
        chains = delta.shape[0]
        weights = [w + d for w, d in zip(self.w0, moves, strict=True)]
        a0 = self.products_at_w0(x)
        errors = [moves[0].clone() if x is None else multiply(moves[0], x, self.short)]
        for layer in range(1, len(moves)):
            moved = multiply(moves[layer], a0[layer].expand(chains, -1, -1), self.short)
            errors.append(add_product(moved, weights[layer], errors[-1], self.short))
        return weights, errors, a0

    def differences(self, delta: Tensor) -> tuple[list[Tensor], list[Tensor], Tensor]:
        """Weights, what each layer is given, and D = W_M ⋯ W_1 − P0.

        A wide network evaluated alone on a CPU subtracts the two products, one matrix product a layer instead of two,
        whenever D stands out of their rounding by SAFE_DIGITS; so D is as good as the propagated one.
        """
        if not self.short and len(delta) == 1 and len(self.slices) > 1 and delta.device.type == "cpu" and self.is_wide:
            weights = [w + d for w, d in zip(self.w0, self.layers(delta), strict=True)]
            given = [self.a0[0], weights[0]]
            for w in weights[1:-1]:
                given.append(torch.bmm(w, given[-1]))
            difference = torch.bmm(weights[-1], given[-1]).sub_(self.p0)
            if float(difference.norm()) > SAFE_DIGITS * self.rounding(delta):
                return weights, given, difference
        weights, errors, a0 = self.forward(delta, None)
        return weights, self.inputs(errors[:-1], a0), errors[-1]

    def backward(self, weights: list[Tensor], inputs: list[Tensor], upstream: Tensor, grad: Tensor) -> None:
        """Write the gradient [C, D] from ∂L/∂(W_M ⋯ W_1 x) = upstream [C, H_M, q]; inputs[l] is what layer l + 1 gets."""
        views = self.layers(grad)
        for layer in range(len(views) - 1, 0, -1):
            multiply(upstream, inputs[layer].transpose(1, 2), self.short, out=views[layer])
            upstream = multiply(weights[layer].transpose(1, 2), upstream, self.short)
        if inputs[0] is self.a0[0]:
            views[0].copy_(upstream)
        else:
            multiply(upstream, inputs[0].transpose(1, 2), self.short, out=views[0])

    def inputs(self, errors: list[Tensor], a0: list[Tensor]) -> list[Tensor]:
        """What each layer is given, A⁰ + E; made in place of the differences, which are not needed any more."""
        return [a0[0], *(error.add_(before) for error, before in zip(errors, a0[1:], strict=False))]

    def kronecker_factors(self, delta: Tensor, sxx: Tensor) -> list[Factors]:
        """sxx: [1 or C, H_0, H_0]."""
        weights, errors, a0 = self.forward(delta, None)
        chains = delta.shape[0]
        inputs = [i.expand(chains, -1, -1) for i in self.inputs(errors[:-1], a0)]
        after = torch.eye(weights[-1].shape[1]).to(delta).expand(chains, -1, -1)
        factors: list[Factors] = []
        for w, before in zip(reversed(weights), reversed(inputs), strict=True):
            b = 2 * torch.bmm(after.transpose(1, 2), after)
            a = torch.bmm(torch.matmul(before, sxx), before.transpose(1, 2))
            factors.append((b, a))
            after = torch.bmm(after, w)
        return factors[::-1]

    def hvp(self, delta: Tensor, vector: Tensor) -> Tensor:
        weights, errors, a0 = self.forward(delta, None)
        moves = self.layers(vector)
        chains = delta.shape[0]
        inputs = self.inputs(errors[:-1], a0)
        ahead = [moves[0]]
        for layer in range(1, len(moves)):
            ahead.append(torch.bmm(moves[layer], inputs[layer]).baddbmm_(weights[layer], ahead[-1]))
        sxx = self.sxx.expand(chains, -1, -1)
        upstream = torch.bmm(errors[-1], sxx).sub_(self.snx).mul_(2)
        tangent = torch.bmm(ahead[-1], sxx).mul_(2)
        result = torch.empty_like(vector)
        views = self.layers(result)
        for layer in range(len(moves) - 1, 0, -1):
            crossed = torch.bmm(upstream, ahead[layer - 1].transpose(1, 2))
            views[layer].copy_(crossed.baddbmm_(tangent, inputs[layer].transpose(1, 2)))
            turned = weights[layer].transpose(1, 2)
            tangent = torch.baddbmm(torch.bmm(moves[layer].transpose(1, 2), upstream), turned, tangent)
            upstream = torch.bmm(turned, upstream)
        views[0].copy_(tangent)
        return result


def _as_weights(weights: Sequence[Any]) -> list[np.ndarray]:
    if isinstance(weights, str | bytes) or not hasattr(weights, "__len__") or len(weights) == 0:
        raise ValueError("weights must be a list of matrices W_1, …, W_M; give at least one.")
    result: list[np.ndarray] = []
    for index, w in enumerate(weights, start=1):
        w = w.detach().cpu().numpy() if isinstance(w, Tensor) else w
        try:
            matrix = np.array(w, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"weights[{index - 1}] is not a matrix of numbers.") from None
        if matrix.ndim != 2 or matrix.size == 0:
            raise ValueError(f"weights[{index - 1}] has shape {matrix.shape}; each layer must be a non-empty matrix.")
        if not np.isfinite(matrix).all():
            raise ValueError(f"weights[{index - 1}] holds nan or infinity; give finite numbers.")
        if result and matrix.shape[1] != result[-1].shape[0]:
            raise ValueError(
                f"weights[{index - 1}] takes {matrix.shape[1]} inputs but the layer before gives {result[-1].shape[0]}; "
                "layers must be W_l of shape [H_l, H_{l-1}]."
            )
        result.append(matrix)
    return result
