"""Networks that are trained here, in seconds, and kept: what the page "Your network" measures.

Trainings are shared by all sessions: they depend on nothing but the choice.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from torch import Tensor, nn

from app.pages.your_network.config import ALL_PARTS, OPTIMIZERS, ZOO, Choice, pattern
from llc_core import NetworkPotential
from llc_core.networks import Split, Training, build_model, digits, head_masks, potential_at, synthetic_text, train

Trained = tuple[nn.Module, Training]
KEPT = 24
"""Trained networks in memory; the one that has not been asked for the longest makes room."""

_lock = threading.Lock()
_trained: OrderedDict[tuple[str, str, int], Trained] = OrderedDict()
_turns: dict[tuple[str, str, int], threading.Lock] = {}


@lru_cache(maxsize=4)
def data(name: str) -> Split:
    if name == "digits":
        return digits()
    return synthetic_text(sequences=512, length=16, vocabulary=12)


def _train(network: str, optimizer: str, seed: int) -> Trained:
    entry = ZOO[network]
    model = build_model(entry.model, seed)
    options = optimizer_of(network, optimizer)
    record = train(model, data(entry.data), options, steps=entry.steps, checkpoints=entry.checkpoints, seed=seed)
    return model, record


def optimizer_of(network: str, optimizer: str) -> dict[str, Any]:
    """Description of the optimiser, with the learning rate that suits the network."""
    options = dict(OPTIMIZERS[optimizer])
    return {**options, **ZOO[network].rates.get(options["name"], {})}


def known(choice: Choice) -> Trained | None:
    """The network after training, and the record, if it has been trained. Never waits."""
    key = choice.network, choice.optimizer, choice.train_seed
    with _lock:
        if key in _trained:
            _trained.move_to_end(key)
        return _trained.get(key)


def trained(choice: Choice) -> Trained:
    """The network after training, and the record; trains at the first call, which takes seconds."""
    key = choice.network, choice.optimizer, choice.train_seed
    with _lock:
        turn = _turns.setdefault(key, threading.Lock())
    with turn:  # two sessions that ask for the same wait for one training, and nobody else does
        found = known(choice)
        if found is None:
            found = _train(*key)
            with _lock:
                _trained[key] = found
                while len(_trained) > KEPT:
                    _turns.pop(_trained.popitem(last=False)[0], None)
        return found


def selection(model: nn.Module, part: str) -> str | dict[str, Tensor] | None:
    """The `parameters` of NetworkPotential that a part stands for."""
    if part == ALL_PARTS:
        return None
    kind, where = part.split(":", 1)
    if kind == "head":
        layer, head = map(int, where.split("."))
        return head_masks(model, layer, head)
    return pattern(where)


@lru_cache(maxsize=24)
def _untrained(network: str, part: str, batch_size: int) -> NetworkPotential:
    entry = ZOO[network]
    model = build_model(entry.model)
    return potential_at(
        model, model.state_dict(), data(entry.data), parameters=selection(model, part), batch_size=batch_size
    )


def potential(
    choice: Choice, state: Mapping[str, Tensor] | None = None, batch_size: int | None = None
) -> NetworkPotential:
    """The training loss at the chosen checkpoint, or at the parameters `state` of a file.

    A new object each time: it holds buffers, and runs in different threads must not share them.
    """
    model, record = trained(choice)
    at = state if state is not None else next(c for c in record.checkpoints if c.step == choice.checkpoint)
    parameters = selection(model, choice.part)
    return potential_at(model, at, data(ZOO[choice.network].data), parameters=parameters, batch_size=batch_size)
