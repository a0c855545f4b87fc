"""A Gaussian around the way of an optimiser, from which networks are drawn (SWAG)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.utils import vector_to_parameters

from llc_core.compute.streams import torch_stream

if TYPE_CHECKING:
    from llc_core.studies.pictures.chains import ClassifierChains

NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


class Swag:
    """Moments of iterates w_1, w_2, … [D] that are added one after another.

    w ~ N(w̄, ½·(Σ_diag + Σ_low)): w̄ their mean, Σ_diag the diagonal of mean(w²) − w̄², and Σ_low = D·Dᵀ/(K − 1), whose K columns are
    the last `rank` iterates, each less the mean of all up to it.
    Source: Maddox, Garipov, Izmailov, Vetrov & Wilson 2019, section 3.3, equation 1 and algorithm 1; a mixture of several such Gaussians is
    MultiSWAG, Wilson & Izmailov 2020, section 4.
    """

    def __init__(self, rank: int = 20):
        self.rank, self.count = rank, 0
        self._deviations: list[Tensor] = []

    def add(self, iterate: Tensor) -> None:
        w = iterate.detach().double().cpu()
        if not self.count:
            self.mean, self._squares = torch.zeros_like(w), torch.zeros_like(w)
        self.count += 1
        self.mean = self.mean + (w - self.mean) / self.count
        self._squares = self._squares + (w**2 - self._squares) / self.count
        self._deviations = [*self._deviations, w - self.mean][-self.rank :]

    @property
    def diagonal(self) -> Tensor:
        """Σ_diag as [D]."""
        return (self._squares - self.mean**2).clamp_min(0)

    @property
    def low_rank(self) -> Tensor:
        """D/√(K − 1), [D, K], so that Σ_low is its product with its transpose; 0 below two iterates."""
        columns = torch.stack(self._deviations, dim=1)
        kept = columns.shape[1]
        return columns / (kept - 1) ** 0.5 if kept > 1 else torch.zeros_like(columns)

    def draw(self, count: int, random: torch.Generator) -> Tensor:
        """[count, D] independent draws of the Gaussian. ValueError before the first iterate."""
        if not self.count:
            raise ValueError("There is no iterate yet; call add(…) first.")
        low = self.low_rank
        own = torch.randn(count, len(self.mean), generator=random, dtype=torch.float64)
        common = torch.randn(count, low.shape[1], generator=random, dtype=torch.float64)
        return self.mean + (own * self.diagonal.sqrt() + common @ low.T) * 0.5**0.5


class Averages:
    """Gaussians of a run: around each chain's last epochs, or around each cycle of a long chain, and draws from them.

    draws: of each Gaussian; their sum is what counts.
    """

    def __init__(self, seed: int, draws: int = 20, rank: int = 20):
        self.draws, self.rank = draws, rank
        self._random = torch_stream(seed, "pictures averages")
        self._open: list[Swag] = []

    def state_dict(self) -> dict[str, Any]:
        """The Gaussians that are not drawn from yet and the random state, for `load_state_dict`."""
        return {"random": self._random.get_state(), "open": [dict(vars(swag)) for swag in self._open]}

    def load_state_dict(self, found: Mapping[str, Any]) -> None:
        self._random.set_state(found["random"])
        self._open = [Swag(self.rank) for _ in found["open"]]
        for swag, each in zip(self._open, found["open"], strict=True):
            vars(swag).update(each)

    def of(self, chains: ClassifierChains, counts: bool) -> tuple[list[dict[str, Tensor]], Tensor]:
        """To be called at the ends of epochs, with whether networks count: draws as soon as a cycle or the run has ended, else none."""
        rows = chains.state["delta"]
        if counts:
            self._open = self._open or [Swag(self.rank) for _ in rows]
            for swag, row in zip(self._open, rows, strict=True):
                swag.add(row)
        if not self._open or (counts and not chains.finished):
            return [], torch.zeros(0)
        model, inputs = chains.models[0], chains.inputs
        found = [
            put(model, row, inputs, chains.batch_size)
            for swag in self._open
            for row in swag.draw(self.draws, self._random)
        ]
        self._open = []
        return found, torch.zeros(len(found), dtype=torch.float64)


def put(model: nn.Module, weights: Tensor, inputs: Tensor, batch_size: int) -> dict[str, Tensor]:
    """The state of a network with such weights [D], whose batch norms have the running means of `inputs` under them: those of the
    optimiser's way do not belong to a draw (Maddox et al. 2019, section 3.2)."""
    like: Any = next(model.parameters())
    vector_to_parameters(weights.to(like), model.parameters())
    norms = [each for each in model.modules() if isinstance(each, NORMS)]
    if norms:
        usual = [each.momentum for each in norms]
        for each in norms:
            each.reset_running_stats()
            each.momentum = None  # equal weights over all batches
        model.train()
        with torch.no_grad():
            for begin in range(0, len(inputs), batch_size):
                model(inputs[begin : begin + batch_size])
        for each, momentum in zip(norms, usual, strict=True):
            each.momentum = momentum
    return {name: value.detach().clone() for name, value in model.state_dict().items()}
