"""What is there before a round is played or a chain moves: the mushrooms, or a trained net and digits that it never saw."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from json import dumps

import numpy as np
import torch
from torch import Tensor

from app.pages.decisions.config import DecisionsConfig, OutsideSettings
from app.runs.account import account
from app.runs.apart import only_unhurried
from app.runs.kept import Kept
from llc_core import NetworkPotential, RunConfig
from llc_core.decisions import Mushrooms
from llc_core.engine.resolve import Resolved, resolve
from llc_core.ensembles import EnsemblePrediction, predictive
from llc_core.networks import Split, build_model, digit_halves, train
from llc_core.networks.data.splits import KNOWN

TRAINING = 500
SHOWN = 14
"""Digits of each kind on the scale."""


@dataclass(frozen=True)
class Said:
    """What a model says of the held-out digits within, and of those outside."""

    inside: EnsemblePrediction
    outside: EnsemblePrediction


@dataclass(frozen=True)
class Digits:
    """split: of the digits 0 to 4.  outside, outside_targets: all digits 5 to 9.  network: w0 is the trained net.

    one, linear: what the trained net says alone, and a logistic regression.  shown: places of digits of both kinds that are drawn.
    """

    split: Split
    outside: Tensor
    outside_targets: Tensor
    network: NetworkPotential
    one: Said
    linear: Said
    shown: tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Scene:
    """One of both is there, by the game. run: of the chains, resolved."""

    config: DecisionsConfig
    mushrooms: Mushrooms | None = None
    digits: Digits | None = None
    run: Resolved | None = None


def get_scene(config: DecisionsConfig) -> Scene:
    """On the event loop it may be `TakesLong`, see `app.runs.apart`."""
    if config.plays:
        kind = config.bandit.mushrooms
        only_unhurried(kind not in _mushrooms)
        return Scene(config, _mushrooms.get(kind, config.bandit.environment))
    text = dumps([config.outside.hidden, config.seed])
    only_unhurried(text not in _digits)
    found = _digits.get(text, partial(_learned, config.outside, config.seed))
    return Scene(config, digits=found, run=resolve(chains_of(config, len(found.split)), found.network))


_mushrooms: Kept[Mushrooms] = Kept(3)
_digits: Kept[Digits] = Kept(16)


def chains_of(config: DecisionsConfig, n: int) -> RunConfig:
    """The run of the chains. n: digits that the net has learned."""
    own = config.outside
    return RunConfig(
        sampler={"name": own.sampler},
        n_beta=n / own.temperature,
        localization=own.localization,
        chains=own.chains,
        steps=own.steps,
        burn_in=own.burn_in,
        seed=config.seed,
    )


def learning_bytes(hidden: int) -> float:
    """What it takes to learn the digits: all 1,797 with what is worked out of them, and a net with its gradients."""
    return 8.0 * (4 * 1797 * (64 + 2 * hidden + KNOWN) + 12 * (65 * hidden + KNOWN * (hidden + 1)))


def _learned(own: OutsideSettings, seed: int) -> Digits:
    with account().room(learning_bytes(own.hidden), "This net"):
        return _made(own, seed)


def _made(own: OutsideSettings, seed: int) -> Digits:
    halves = digit_halves(seed)
    split, outside, outside_targets = halves.known, halves.foreign, halves.foreign_targets

    def trained(widths: list[int]) -> torch.nn.Module:
        model = build_model({"kind": "mlp", "widths": widths}, seed)
        train(model, split, steps=TRAINING, seed=seed)
        return model

    def said(model: torch.nn.Module) -> Said:
        inside, out = (predictive(model, [model.state_dict()], x) for x in (split.test_inputs, outside))
        return Said(inside, out)

    net = trained(own.widths)
    shown = _spread(split.test_targets, range(KNOWN)), _spread(outside_targets, range(KNOWN, 10))
    return Digits(
        split,
        outside,
        outside_targets,
        NetworkPotential(net, "cross_entropy", split.pair),
        said(net),
        said(trained([64, KNOWN])),
        shown,
    )


def _spread(targets: Tensor, kinds: range) -> np.ndarray:
    """Places of SHOWN digits, of all kinds in turn."""
    places = [torch.nonzero(targets == kind).flatten().tolist() for kind in kinds]
    return np.array([places[k % len(places)][k // len(places)] for k in range(SHOWN)])
