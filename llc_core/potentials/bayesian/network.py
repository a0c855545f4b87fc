"""Bayesian networks: a Gaussian prior over all weights, a likelihood, and the posterior over functions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.precision import EXACT
from llc_core.fields import Settings, field_names, hyper, known_keys, short, whole
from llc_core.potentials.base import Batch, Potential
from llc_core.potentials.bayesian.activations import ACTIVATIONS
from llc_core.potentials.bayesian.collapsed import CollapsedChains
from llc_core.potentials.bayesian.data import Data
from llc_core.potentials.bayesian.likelihoods import LIKELIHOODS
from llc_core.potentials.bayesian.passes import Layout, backward, forward, prior_draws
from llc_core.potentials.conditionals import Conditionals

WIDEST, MOST_LAYERS = 2_000, 8
VARIANCES = 1e-6, 1e6


@dataclass(frozen=True)
class NoiseAndPrior(Settings):
    """What a Bayesian network takes beside its widths and its data."""

    activation: str = hyper("selu", choices=tuple(ACTIVATIONS), help="What each neuron does with its input.")
    likelihood: str = hyper(
        "gaussian",
        choices=tuple(LIKELIHOODS),
        help="Distribution of the noise in the data. The Laplace one forgives points that lie far off.",
    )
    noise_variance: float = hyper(
        0.05, *VARIANCES, log=True, help="Variance of the noise that the likelihood takes the data to have."
    )
    weight_variance: float = hyper(
        1.0, *VARIANCES, log=True, help="Prior variance of a weight, times the neurons that feed it."
    )
    bias_variance: float = hyper(0.2, *VARIANCES, log=True, help="Prior variance of a bias.")


KEYS = ("widths", "data", *field_names(NoiseAndPrior))


class BayesianNetwork(Potential):
    """f(x) of a fully connected network, with independent priors W ~ N(0, weight_variance/fan_in) and b ~ N(0, bias_variance).

    widths: inputs, hidden layers, and one output, such as (1, 20, 20, 1).
    data: {"name": "wave", "n": 7, "seed": 0}, the curve of the paper, or {"x": […], "y": […]} with rows or numbers in x.
    activation: selu, relu, erf or tanh.  likelihood: gaussian or laplace.
    noise_variance: v of the likelihood; the Laplace density has scale √(v/2).

    The loss L(w) is the mean of −log p(y_i | f(x_i)) in nats, and nβ = n unless given, so that exp(−U) is the posterior.
    w0 = 0, the centre of the prior, so that displacements are the weights themselves, and chains begin at draws of the prior.
    λ̂ is therefore n(E[L] − L(0)), which is below 0 wherever the network has learned something; it is no learning coefficient.
    Samplers that accept or reject follow a smooth slope under a Laplace likelihood (`for_proposals`); their distribution stays exact.
    Source: Neal 1996; the settings of the curve are those of the paper on weight and function space, section 3.
    """

    kind = "bayesian_network"
    own_gradients = True
    localization = 0.0
    starts_at_prior = True
    exact_samplers = ("CollapsedPCN",)

    def __init__(
        self,
        widths: Sequence[int] = (1, 20, 20, 1),
        data: Mapping[str, Any] | Data | None = None,
        activation: str = NoiseAndPrior.activation,
        likelihood: str = NoiseAndPrior.likelihood,
        noise_variance: float = NoiseAndPrior.noise_variance,
        weight_variance: float = NoiseAndPrior.weight_variance,
        bias_variance: float = NoiseAndPrior.bias_variance,
    ):
        self.widths = checked_widths(widths)
        self.data = Data.of({"name": "wave"} if data is None else data)
        if self.data.x.shape[1] != self.widths[0]:
            raise ValueError(
                f"widths begins with {self.widths[0]}, but data.x has {self.data.x.shape[1]} number(s) a row; make them equal."
            )
        made = NoiseAndPrior(activation, likelihood, noise_variance, weight_variance, bias_variance)
        self.activation, self.likelihood, self.noise_variance = made.activation, made.likelihood, made.noise_variance
        self.weight_variance, self.bias_variance = made.weight_variance, made.bias_variance
        self.phi, self.noise = ACTIVATIONS[self.activation], LIKELIHOODS[self.likelihood]
        self._slope = self.noise.slope
        self.layout = Layout(self.widths)
        self.dim, self.n = self.layout.dim, len(self.data.y)
        self.samples = self.n
        self.variances = self.layout.variances(self.weight_variance, self.bias_variance)
        self._columns, self._y = torch.from_numpy(self.data.x.T.copy()), torch.from_numpy(self.data.y.copy())
        self._zero = self._losses(torch.zeros(1, self.n, **EXACT))
        self.baseline_loss = float(self._zero.mean())

    @classmethod
    def described(cls, values: Mapping[str, Any]) -> BayesianNetwork:
        """From its JSON description without the kind."""
        known_keys("the problem", values, KEYS)
        return cls(**values)

    @property
    def n_beta(self) -> float:
        """n: the posterior itself, at temperature 1."""
        return float(self.n)

    @property
    def layers(self) -> tuple[tuple[int, ...], ...]:
        return self.layout.blocks

    @property
    def hidden_layers(self) -> int:
        return len(self.widths) - 2

    # -- the prior ------------------------------------------------------------------------------------------------------

    def prior_precision(self, like: Tensor) -> Tensor | None:
        return (1 / self.variances).to(like)

    def prior_energy_and_grad(self, delta: Tensor) -> tuple[Tensor, Tensor] | None:
        grad = delta / self.variances.to(delta)
        return (grad * delta).sum(dim=1) / 2, grad

    def prior_prox(self, before: Tensor, moved: Tensor, size: Tensor) -> Tensor:
        return moved / (1 + size / self.variances.to(moved))

    def prior_draws(self, count: int, random: torch.Generator) -> Tensor:
        """Weights [count, D] from the prior."""
        return prior_draws(self.variances, count, random)

    def typical_scale(self, like: Tensor) -> Tensor | float:
        return self.variances.sqrt().to(like)

    # -- evaluation -----------------------------------------------------------------------------------------------------

    def predict(self, delta: Tensor, inputs: np.ndarray | Tensor) -> Tensor:
        """f [C, P] at inputs [P, d], or [P] where d = 1, with weights δ [C, D]."""
        columns = torch.as_tensor(checked_inputs(inputs, self.widths[0]), device="cpu").to(delta).T
        return forward(self.layout.parts(delta), columns, self.phi)[0].squeeze(1)

    def excess_loss_and_grad(self, delta: Tensor, batch: Batch | None = None) -> tuple[Tensor, Tensor]:
        columns, parts = self._columns.to(delta), self.layout.parts(delta)
        out, kept = forward(parts, columns, self.phi)
        residual = out - self._y.to(delta)
        loss = (self.noise.loss(residual.squeeze(1), self.noise_variance) - self._zero.to(delta)).mean(dim=1)
        grad = torch.empty_like(delta)
        slope = self._slope(residual, self.noise_variance) / self.n
        backward(slope, kept, parts, self.layout.parts(grad), columns, self.phi)
        return loss, grad

    def for_proposals(self) -> BayesianNetwork:
        """Under a Laplace likelihood the slopes of the residuals are smooth near 0, see `llc_core.potentials.bayesian.likelihoods`."""
        if self.noise.smooth is None:
            return self
        smooth = copy(self)
        smooth._slope = self.noise.smooth
        return smooth

    def per_sample_loss(self, delta: Tensor, start: int, stop: int) -> Tensor:
        out = forward(self.layout.parts(delta), self._columns[:, start:stop].to(delta), self.phi)[0].squeeze(1)
        return self.noise.loss(out - self._y[start:stop].to(delta), self.noise_variance)

    def _losses(self, f: Tensor) -> Tensor:
        return self.noise.loss(f - self._y.to(f), self.noise_variance)

    def conditionals(self, n_beta: Tensor, localization: Tensor, seed: int, symmetries: bool) -> Conditionals:
        self.check_conditionals(None)
        return CollapsedChains(self, n_beta, seed)

    def check_conditionals(self, localization: float | None) -> None:
        if self.likelihood != "gaussian":
            raise ValueError(
                f"likelihood is {self.likelihood!r}; the output layer can be integrated out only under a gaussian one: use SplitHMC."
            )
        if localization:
            raise ValueError(
                f"localization is {localization:g}; the prior of a Bayesian network is its own: leave localization out."
            )

    # -- for the engine -------------------------------------------------------------------------------------------------

    def step_bytes(self, chains: int, gradient: str, batch_size: int, size: int) -> int:
        return size * chains * self.n * 4 * (sum(self.widths) + 1)

    def default_sampler(self, gradient: str) -> str:
        return "SplitHMC"

    def default_steps(self, gradient: str, sampler: str) -> int:
        return 400 if sampler in ("SplitHMC", "HMC") else 4_000

    def to_dict(self) -> dict[str, Any]:
        said = {name: getattr(self, name) for name in KEYS if name != "data"}
        return {"kind": self.kind, **said, "widths": list(self.widths), "data": dict(self.data.said)}

    def replace(self, **changes: Any) -> BayesianNetwork:
        """The same with other arguments."""
        return BayesianNetwork.described({**{k: v for k, v in self.to_dict().items() if k != "kind"}, **changes})

    def fingerprint(self) -> str:
        """Short name of the description."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()[:12]

    def __repr__(self) -> str:
        return f"BayesianNetwork({', '.join(f'{k}={v!r}' for k, v in self.to_dict().items() if k != 'kind')})"


def checked_widths(widths: Any) -> tuple[int, ...]:
    """ValueError where they are no network with hidden layers and one output."""
    if not isinstance(widths, list | tuple) or not 3 <= len(widths) <= MOST_LAYERS + 2:
        raise ValueError(
            f"widths is {short(widths)}; give inputs, 1 to {MOST_LAYERS} hidden layers and 1 output, as [1, 20, 20, 1]."
        )
    found = tuple(whole(f"widths[{i}]", width, 1, WIDEST) for i, width in enumerate(widths))
    if found[-1] != 1:
        raise ValueError(f"widths ends with {found[-1]}; a Bayesian network has 1 output.")
    return found


def checked_inputs(inputs: Any, width: int) -> np.ndarray:
    """Inputs [P, d] in float64 from such rows, or from [P] where d = 1; ValueError where they do not fit."""
    given = inputs.detach().cpu().numpy() if isinstance(inputs, Tensor) else inputs
    try:
        found = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"inputs is {short(inputs)}; give numbers.") from None
    found = found[:, None] if found.ndim == 1 and width == 1 else found
    if found.ndim != 2 or found.shape[1] != width or not len(found) or not np.isfinite(found).all():
        raise ValueError(f"inputs has the shape {found.shape}; give finite rows [P, {width}].")
    return found
