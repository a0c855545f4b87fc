"""Agents whose beliefs are nets that a sampler moves: any sampler here, and any interaction between its chains."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llc_core.compute.precision import EXACT, SINGLE
from llc_core.compute.streams import torch_stream
from llc_core.decisions.agent import Agent, Memory
from llc_core.decisions.environment import Environment
from llc_core.decisions.nets import Nets
from llc_core.fields import number, whole
from llc_core.groups import Groups
from llc_core.interactions import Interaction, Seen
from llc_core.interactions import build as build_interaction
from llc_core.samplers import MetropolisSampler, Sampler
from llc_core.samplers import build as build_sampler
from llc_core.samplers.registry import hyperparameters
from llc_core.types import Energy

ENDLESS = 10**18


class SampledNets(Agent):
    """C nets under exp(−U/τ), U(w) = N·L(w) + (decay/2)‖w‖², L the mean squared error of the chosen actions' rewards.

    N is the capacity of the memory, whatever is in it yet. After every round the chains make `steps` steps, each on a batch of
    its own from the memory; a step goes on where the last round ended.

    sampler: with its step_size for U, in the half convention w ← w − (ε/2)∇U + √(ετ)·ξ, so twice that of Deng et al. 2022.
        Inside, the target is U/τ and the step ετ, which is the same move. Energies of the interaction are N·L/τ.
    begin_share: the interaction acts after this share of the rounds.
    first_square: what a running mean of squares begins with (1 in the released code); None: as the sampler has it.
    statistics_scale: squares are of this times ∇L; the released code takes N·∇L over the rows of a batch.
    weight_floor: added to the weight of every net.
    step_factor, round_factor: by which the step size is multiplied before every step, and once a round.
    dropout, samples: of the nets (`Nets`). temperature = 0: no noise, so that a net is trained by SGD or RMSProp.
    Source: Deng, Liang, Hao, Lin & Liang 2022, section 5.3 and D.3; released code, contextual_bandits.
    """

    def __init__(
        self,
        sampler: Sampler | Mapping[str, Any] | str,
        interaction: Interaction | Mapping[str, Any] | str | None = None,
        *,
        name: str = "",
        chains: int = 4,
        hidden: Sequence[int] = (100, 100),
        temperature: float = 0.3,
        decay: float = 0.01,
        capacity: int = 4096,
        batch_size: int = 512,
        steps: int = 16,
        begin_share: float = 0.0,
        first_square: float | None = None,
        statistics_scale: float = 1.0,
        weight_floor: float = 0.0,
        step_factor: float = 1.0,
        round_factor: float = 1.0,
        dropout: float = 0.0,
        samples: int = 1,
    ):
        self.sampler = build_sampler(sampler)
        self.interaction = None if interaction is None else build_interaction(interaction)
        _check(self.sampler, self.interaction)
        self.chains, self.steps = whole("chains", chains, 1, 1000), whole("steps", steps, 1, 100_000)
        self.hidden = [whole("hidden", width, 1, 10_000) for width in hidden]
        self.capacity = whole("capacity", capacity, 1, 10_000_000)
        self.batch_size = whole("batch_size", batch_size, 1, self.capacity)
        self.temperature, self.decay = number("temperature", temperature, 0), number("decay", decay, 0)
        if self.temperature == 0 and self.interaction is not None:
            raise ValueError("temperature is 0, at which energies over it have no meaning; leave the interaction out.")
        self.step_factor = number("step_factor", step_factor, above=0)
        self.round_factor = number("round_factor", round_factor, above=0)
        self.dropout, self.samples = number("dropout", dropout, 0, below=1), whole("samples", samples, 1, 1000)
        self.begin_share, self.first_square = number("begin_share", begin_share), first_square
        self.statistics_scale = number("statistics_scale", statistics_scale)
        self.weight_floor = number("weight_floor", weight_floor)
        self.name = name or self.sampler.name + (f" × {self.chains}" if self.chains > 1 else "")
        if self.interaction is not None:
            self.interaction.members_of(self.chains, 1)

    def begin(self, environment: Environment, rounds: int, seed: int) -> None:
        self.nets = Nets([environment.dim, *self.hidden, environment.actions], self.dropout, self.samples)
        self.memory = Memory.empty(environment.dim)
        self._streams = {name: torch_stream(seed, name) for name in ("noise", "batch", "exchange", "dropout")}
        heat = self.temperature or 1.0  # without noise the move is the same at any
        tempered = self.sampler.replace(step_size=self.sampler.step_size * heat)  # type: ignore[attr-defined]
        start = self.nets.start(self.chains, seed)
        self.hp = hyperparameters(tempered, self.chains, start, self.nets.shapes)
        self.hp.adapting = torch.zeros_like(self.hp.adapting)
        self.state = self.sampler.init(start, self._normals(1)[0], self.hp)
        if self.first_square is not None:
            if "square" not in self.state:
                raise ValueError(
                    f"first_square is {self.first_square!r}, but {self.sampler.name} keeps no squares; leave it out."
                )
            self.state["square"] = torch.full_like(start, self.first_square)
        self._n_beta = start.new_full((self.chains, 1), self.capacity / heat)
        self._localization = start.new_full((self.chains, 1), self.decay / heat)
        self._weights = torch.ones(self.chains, **EXACT)
        self._step, self._acted, self._coldest, self._hottest = 0, 0, 1.0, 1.0
        self.first_heated: int | None = None
        self._round, self._rounds = 0, rounds
        if self.interaction is not None:
            self.layout = self.interaction.layout(Groups(1, self.chains, 1), self._n_beta, ENDLESS)
            self.shared = self.interaction.init(self.layout)

    # -- beliefs ------------------------------------------------------------------------------------------------------

    def members(self, contexts: Tensor) -> Tensor:
        """[C, B, A], what each net expects at contexts [B, d]."""
        return self.nets.outputs(self.state["delta"], contexts, self._streams["dropout"]).double()

    @property
    def weights(self) -> Tensor:
        """[C], of the nets; their sum is 1."""
        return self._weights / self._weights.sum()

    def mean(self, contexts: Tensor) -> Tensor:
        return (self.weights[:, None, None] * self.members(contexts)).sum(dim=0)

    def draw(self, contexts: Tensor, random: torch.Generator) -> Tensor:
        chosen = torch.multinomial(self.weights, len(contexts), replacement=True, generator=random)
        return self.members(contexts)[chosen, torch.arange(len(contexts), device="cpu")]

    # -- learning -----------------------------------------------------------------------------------------------------

    def learn(self, new: Memory, trains: bool) -> None:
        self.memory = self.memory.joined(new, self.capacity)
        if trains and len(self.memory) >= self.batch_size:
            self.hp.step_size = self.hp.step_size * self.round_factor
            for _ in range(self.steps):
                self.hp.step_size = self.hp.step_size * self.step_factor
                self._move()
        self._round += 1

    def _move(self) -> None:
        delta = self.state["delta"]
        losses, grad = self.nets.losses_and_grad(delta, *self._batch(), self._streams["dropout"])
        energy = Energy(losses, grad, delta, self._n_beta, self._localization, metric_grad=grad * self.statistics_scale)
        if self.interaction is not None and self._round > self.begin_share * self._rounds:
            energy = self._interact(self.interaction, energy)
        self.state = self.sampler.update(self.state, energy, self._normals(self.sampler.noises), self.hp)
        self._step += 1
        if not bool(torch.isfinite(losses).all()):
            raise ValueError(
                f"A net of {self.name} has left all bounds at step {self._step}; use a smaller step_size or temperature."
            )

    def _interact(self, interaction: Interaction, energy: Energy) -> Energy:
        """The energy with its heat; the weights of the nets change too."""
        loss = energy.excess_loss.double()
        uniform = 1 - torch.rand(self.chains, generator=self._streams["exchange"], **EXACT)
        grouped, alive = self.layout.gather(loss), self.layout.gather(torch.isfinite(loss))
        seen = Seen(self._acted, grouped, self.layout.n_beta * grouped, alive, self.layout.gather(uniform))
        self.shared, _ = interaction.exchange(self.shared, seen, self.layout)
        log_weight = interaction.log_weight(self._acted, self.shared, self.layout)
        if log_weight is not None:
            self._weights = weights_of(self.layout.scatter(log_weight), self.weight_floor)
        self._acted += 1
        heat = interaction.heat(self.shared, self.layout)
        if heat is None:
            return energy
        by_chain = self.layout.scatter(heat)
        if self.first_heated is None and bool((by_chain != 1).any()):
            self.first_heated = self._round
        self._coldest = min(self._coldest, float(by_chain.min()))
        self._hottest = max(self._hottest, float(by_chain.max()))
        return dataclasses.replace(energy, n_beta=energy.n_beta * by_chain.unsqueeze(1).to(energy.n_beta))

    def _batch(self) -> tuple[Tensor, Tensor]:
        """Rows [C, B, d] and targets [C, B, 2] of the memory, other ones for each chain, none twice."""
        memory, random = self.memory, self._streams["batch"]
        chosen = torch.stack([torch.randperm(len(memory), generator=random, device="cpu") for _ in range(self.chains)])
        rows = chosen[:, : self.batch_size]
        target = torch.stack([memory.actions.float(), memory.rewards.float()], dim=1)
        return memory.contexts[rows], target[rows]

    def _normals(self, fields: int) -> Tensor:
        if self.temperature == 0:
            return torch.zeros(fields, self.chains, self.nets.dim, **SINGLE)
        return torch.randn(fields, self.chains, self.nets.dim, generator=self._streams["noise"], **SINGLE)

    def report(self) -> Mapping[str, np.ndarray]:
        """weights [C]; with an interaction also what it tells, heat [2], the least and the largest, and first_heated: the round in
        which a heat first was not 1, or −1."""
        found = {"weights": self.weights.numpy()}
        if self.interaction is not None:
            found |= {name: value.numpy() for name, value in self.interaction.report(self.shared).items()}
            found["heat"] = np.array([self._coldest, self._hottest])
            found["first_heated"] = np.array(-1 if self.first_heated is None else self.first_heated)
        return found


def weights_of(log_weight: Tensor, floor: float) -> Tensor:
    """exp(log_weight) + floor, up to a common factor: equal ones are exactly 1, and all −∞ count as equal."""
    weight = log_weight.exp() + floor
    largest = weight.max()
    return weight / largest if bool(largest > 0) else torch.ones_like(weight)


def _check(sampler: Sampler, interaction: Interaction | None) -> None:
    """ValueError for what a net here cannot be moved by."""
    if isinstance(sampler, MetropolisSampler) or sampler.needs_conditionals:
        raise ValueError(
            f"{sampler.name} takes its own decisions within a step, for which a memory that grows is no target; use SGLD or PSGLD."
        )
    if sampler.needs_prior or sampler.adapts_coordinates or sampler.in_prior_coordinates:
        raise ValueError(f"{sampler.name} moves in coordinates that these nets do not have; use SGLD or PSGLD.")
    if sampler.needs_hessian_diagonal or sampler.needs_hvp:
        raise ValueError(
            f"{sampler.name} needs the Hessian's diagonal, which these nets do not give; set gamma_term='dropped'."
        )
    if getattr(sampler, "step_size", None) is None:
        raise ValueError(f"{sampler.name} has no step_size; give one, such as 6e-7.")
    if interaction is not None and (interaction.across != "chains" or interaction.reads != "losses"):
        raise ValueError(
            f"{interaction.name} is no interaction of nets that share a memory; use Contour or OpenContour."
        )
