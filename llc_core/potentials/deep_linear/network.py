"""Deep linear networks y = W_M ⋯ W_1 x with the squared error summed over outputs and averaged over samples. Long, since the class
says in one place what it takes; how its parts are made lies in the files beside it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.precision import SINGLE, lasting
from llc_core.fields import is_list, number, whole
from llc_core.potentials.base import Batch
from llc_core.potentials.deep_linear.blocked_gibbs import BlockedGibbs, gibbs_is_cheap, usual_sweeps
from llc_core.potentials.deep_linear.data import INPUT_RANGE
from llc_core.potentials.deep_linear.evaluation import LinearPotential
from llc_core.potentials.deep_linear.expected import MOVED_NOTE, Expected
from llc_core.potentials.deep_linear.random_networks import RandomNetwork, draw_network
from llc_core.potentials.deep_linear.tensors import Tensors
from llc_core.potentials.deep_linear.virtual_data import data_of
from llc_core.theory.coefficients import learning_coefficient, local_learning_coefficient
from llc_core.theory.rank_tables import Ranks, numerical_ranks
from llc_core.theory.refined import refined_learning_coefficient
from llc_core.types import LearningCoefficient


def as_weights(weights: Sequence[Any]) -> list[np.ndarray]:
    if not is_list(weights) or len(weights) == 0:
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


RELATIVE = 1e-6
"""Tolerance of ranks once small singular values are cut: what is left of them is rounding."""


class DeepLinearNetwork(Expected, LinearPotential):
    """A deep linear network at the point w0 = `weights`, with its own teacher's data.

    weights: W_1, …, W_M as arrays [H_l, H_{l−1}] (numpy, torch or nested lists).
    n: number of samples.  noise_std: standard deviation of the output noise.  seed: of the data.
    virtual: make every one of the n rows where it is used (`VirtualData`). These are other data than with virtual=False.

    Inputs are uniform on [−10, 10]^{H_0}; outputs are P0·x + noise, P0 = W_M ⋯ W_1, so w0 is a true parameter.
    Loss: mean over samples of the SUM over outputs of the squared error, no ½.
    Source: Hitchcock & Hoogland, section 3.3 and appendix D.1; Lau, Murfet & Wei.

    Raises ValueError for weights that do not chain, are not finite, or for n < 3 or a negative noise_std.
    """

    kind = "dln"
    exact_samplers = ("Gibbs",)

    def __init__(
        self, weights: Sequence[Any], n: int = 10**6, noise_std: float = 0.5, seed: int = 0, virtual: bool = False
    ):
        self.weights = as_weights(weights)
        self._given_as = [_precision(w) for w in weights]
        self.widths = [self.weights[0].shape[1], *(w.shape[0] for w in self.weights)]
        self.dim = sum(w.size for w in self.weights)
        self.data = data_of(self.widths[0], self.widths[-1], n, noise_std, seed, virtual)
        self.n, self.noise_std, self.seed, self.virtual = self.data.n, self.data.noise_std, self.data.seed, virtual
        self._source: RandomNetwork | None = None
        self._on: dict[tuple[str, torch.dtype], Tensors] = {}

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
        virtual: bool = False,
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
        network = draw_network(size_class, ranks, widths, layer_ranks, seed)
        result = cls(network.weights, n=n, noise_std=noise_std, seed=seed, virtual=virtual)
        result._source = network
        return result

    # -- the exact answer ---------------------------------------------------------------------------------------------

    @property
    def rank_table(self) -> list[list[int]]:
        """rank(W_t ⋯ W_{s+1}) at [s][t]: exact for a random network, numerical for given weights (`numerical_rank_table`)."""
        return self._ranks.table

    @cached_property
    def _ranks(self) -> Ranks:
        if self._from is not None:
            return self._from._ranks
        if self._source is not None:
            return Ranks(self._source.rank_table)
        return numerical_ranks([w.astype(kind) for w, kind in zip(self.weights, self._given_as, strict=True)])

    def with_ranks(self, ranks: Ranks) -> DeepLinearNetwork:
        """The same network with these ranks: where singular values that are not zero count as none, as in `llc_core.stages`."""
        other = copy(self)
        for name in ("learning_coefficient", "local_learning_coefficient"):
            other.__dict__.pop(name, None)
        other.__dict__["_ranks"] = ranks
        return other

    def effective_rank_table(self, n_beta: float | None = None) -> list[list[int]]:
        """The table where singular values count as none that the chains of a run at this nβ cannot tell from zero.

        n_beta: None: the usual one. Such chains spread an entry of the product by τ = (2nβ·E[x²])^−½, and a matrix of entries like
        that has a largest singular value of about τ(√H_0 + √H_M) (Marchenko & Pastur). Each of the M layers is cut at its M-th root,
        once all layers that are not 0 have been multiplied to one size. This is for layers whose singular values are alike beyond
        such factors, as training from small weights leaves them.
        At a rest of `llc_core.stages`, `local_learning_coefficient(widths, table)` is the λ of what has been learned.
        Raises ValueError for n_beta that is no positive number.
        """
        usual = self.n_beta if n_beta is None else number("n_beta", n_beta, 1e-12, 1e15)
        noise = (2 * usual * INPUT_RANGE**2 / 3) ** -0.5
        edge = noise * (math.sqrt(self.widths[0]) + math.sqrt(self.widths[-1]))
        sizes = np.array([np.linalg.norm(w, 2) for w in self.weights])
        even = np.ones(len(sizes)) if not sizes.all() else np.exp(np.log(sizes).mean()) / sizes
        cut = [_above(w * by, edge ** (1 / len(sizes))) for w, by in zip(self.weights, even, strict=True)]
        return numerical_ranks(cut, RELATIVE).table

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
        return replace(learning_coefficient(self.widths, self.rank), note=self._ranks.note)

    @cached_property
    def local_learning_coefficient(self) -> LearningCoefficient:  # type: ignore[override]
        """At w0: what a chain that stays near w0 estimates."""
        note = f"{self.rank_note} {MOVED_NOTE if self.is_moved else self.expected_note}".strip()
        return replace(local_learning_coefficient(self.widths, self.rank_table), note=note)

    def refined(self, layer: int | Sequence[int] | None = None, inputs: Any = None) -> LearningCoefficient:
        """λ and m at w0 where only some layers move, or inputs lie in a subspace (`llc_core.theory.refined`).

        layer: its number from 0, or several numbers; None: all of them.
        inputs: [k, H_0], rows that span the subspace; None: all directions. Ranks are then numerical.
        `llc_core.refined` gives λ̂ beside it. Raises ValueError for layers that are not there and inputs of another width.
        """
        given: Any = range(len(self.weights)) if layer is None else layer
        layers = given if is_list(given) else [given]
        moving = [whole("layer", each, 0, len(self.weights) - 1) for each in layers]
        if inputs is None:
            return replace(refined_learning_coefficient(self.rank_table, moving), note=self.rank_note)
        start = self._from or self
        pairs = zip(start.weights, self._given_as, strict=True)
        ranks = numerical_ranks([spanning(inputs, self.widths[0]), *(w.astype(kind) for w, kind in pairs)])
        return replace(refined_learning_coefficient(ranks.table, [each + 1 for each in moving]), note=ranks.note)

    @property
    def rank_note(self) -> str:
        """A sentence where a rank of given weights is a close call, else empty."""
        return self._ranks.note

    def default_sampler(self, gradient: str) -> str:
        return "Gibbs" if gradient == "full" and gibbs_is_cheap(self.dim) else super().default_sampler(gradient)

    def default_steps(self, gradient: str, sampler: str) -> int:
        return usual_sweeps(self.dim) if sampler == "Gibbs" else super().default_steps(gradient, sampler)

    def prepare(self, like: Tensor) -> None:
        self.data.work_on(like.device)
        self.spreads_chains = self._tensors(like).by_numpy is not None

    # -- evaluation ---------------------------------------------------------------------------------------------------

    @property
    def samples(self) -> int:  # type: ignore[override]
        return self.data.rows

    @property
    def baseline_loss(self) -> float:  # type: ignore[override]
        """L_n(w0)."""
        return self.data.noise_square

    @property
    def w0_is_minimum(self) -> bool:  # type: ignore[override]
        """Without noise in the outputs L_n(w0) = 0, and no loss is less."""
        return self.noise_std == 0 and not self.is_moved

    def _tensors(self, like: Tensor) -> Tensors:
        key = (str(like.device), like.dtype)
        if key not in self._on:
            with lasting():
                self._on[key] = Tensors([self], like.device, like.dtype)
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
        on_rows = gradient == "minibatch" and batch_size < inputs
        columns = inputs if gradient == "control_variate" else inputs + self.widths[-1]
        shape = (columns, batch_size) if on_rows else (inputs, columns)
        drawn = torch.empty(chains, *shape, dtype=dtype, device=generator.device)
        baseline = torch.empty(chains, dtype=dtype, device=generator.device)
        for chain, z in enumerate(self.data.batches(generator, chains, batch_size, dtype)):
            baseline[chain] = z[:, -1].mean()
            if on_rows:
                drawn[chain] = z[:, :-1].T
            else:
                torch.mm(z[:, :inputs].T, z[:, :columns], out=drawn[chain])
        if on_rows:
            return Batch({"x": drawn[:, :inputs], "noise": drawn[:, inputs:]}, baseline)
        drawn /= batch_size
        if gradient == "control_variate":
            return Batch({"sxx": drawn}, baseline)
        return Batch({"sxx": drawn[:, :, :inputs], "snx": drawn[:, :, inputs:].transpose(1, 2)}, baseline)

    def per_sample_loss(self, delta: Tensor, start: int, stop: int) -> Tensor:
        """The squared error of each row of the pool, summed over outputs, [C, stop − start]."""
        on, inputs = self._tensors(delta), self.widths[0]
        rows = self.data.run(start, stop - start, delta.device, delta.dtype)
        difference = on.forward(delta, None)[1][-1]
        residual = torch.matmul(difference, rows[:, :inputs].T).sub_(rows[:, inputs:-1].T)
        return residual.square_().sum(dim=1)

    def conditionals(
        self, n_beta: Tensor, localization: Tensor, seed: int, symmetries: bool, companies: int = 1
    ) -> BlockedGibbs:
        strength, pull = (value.detach().cpu().double().unsqueeze(-1) for value in (n_beta, localization))
        return BlockedGibbs(self, len(n_beta), strength, pull, seed, symmetries, companies)

    def typical_scale(self, like: Tensor) -> Tensor:
        """The Xavier standard deviation of each layer's entries."""
        parts = [torch.full((w.size,), math.sqrt(2 / sum(w.shape)), **SINGLE) for w in self.weights]
        return torch.cat(parts).to(like)

    def to_dict(self) -> dict[str, Any]:
        own = {"virtual": True} if self.virtual else {}
        if self._source is not None and not self.is_moved:
            return {"kind": self.kind, **self._source.description, "n": self.n, "noise_std": self.noise_std, **own}
        digest = hashlib.sha256()
        for w in self.weights:
            digest.update(repr(w.shape).encode() + w.tobytes())
        digest.update(f"{self.n}/{self.noise_std}/{self.seed}{'/virtual' if self.virtual else ''}".encode())
        if self._from is not None:
            digest.update(json.dumps(self._from.to_dict(), sort_keys=True).encode())
        return {"kind": "object", "fingerprint": digest.hexdigest()[:32]}

    def __repr__(self) -> str:
        return f"DeepLinearNetwork(widths={self.widths}, layer_ranks={self.layer_ranks}, dim={self.dim})"


def _above(w: np.ndarray, least: float) -> np.ndarray:
    """The matrix without singular values below this."""
    u, s, v = np.linalg.svd(w.astype(np.float64), full_matrices=False)
    return np.asarray((u * np.where(s < least, 0.0, s)) @ v)


def spanning(inputs: Any, width: int) -> np.ndarray:
    """Columns [width, k] that span what the rows of inputs [rows, width] span, in their own precision; k ≤ width."""
    rows = np.asarray(inputs.detach().cpu() if isinstance(inputs, Tensor) else inputs)
    if rows.ndim != 2 or rows.shape[1] != width or not len(rows) or rows.dtype.kind not in "fiu":
        raise ValueError(f"inputs has shape {rows.shape}; give rows of {width} real numbers.")
    if not np.isfinite(rows).all():
        raise ValueError("inputs holds nan or infinity; give finite numbers.")
    rows = rows.astype(np.float32 if rows.dtype == np.float16 else rows.dtype if rows.dtype.kind == "f" else np.float64)
    return np.asarray(np.linalg.qr(rows, mode="r") if len(rows) > width else rows).T


def _precision(given: Any) -> np.dtype[Any]:
    """What the ranks of a layer depend on, beside its numbers: a low rank that was computed in float32 is no exact one."""
    kind = np.asarray(given.detach().cpu() if isinstance(given, Tensor) else given).dtype
    return kind if kind.kind == "f" and kind.itemsize < 8 else np.dtype(np.float64)
