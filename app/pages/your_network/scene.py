"""What is there before a chain moves: a configuration, and networks that are trained here, in seconds, and kept.

Trainings are shared by all sessions: they depend on nothing but the choice.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from torch import Tensor, nn

from app.pages.your_network.config import (
    ESTIMATE_DEFAULTS,
    NETWORKS,
    OPTIMIZERS,
    TEXT,
    NetworkChoice,
    pattern,
)
from app.sharing.reading import PageConfig, from_configuration, from_side_bar
from llc_core import NetworkPotential, RunConfig
from llc_core.fields import field_names, known_keys, short
from llc_core.networks import Split, Training, build_model, digits, head_masks, potential_at, synthetic_text, train
from llc_core.networks.parts import NamedPart

Trained = tuple[nn.Module, Training]
KEPT = 24
"""Number of trained networks in memory. The one that was used least recently is dropped first."""


@dataclass(frozen=True)
class NetworkConfig(PageConfig):
    """problem: a `NetworkChoice`.  weights: the parameters of a file, in place of those of the checkpoint.

    resolved: the run with the network before its training, which has the same shape and data: nothing has to be trained to
    check a configuration, and the job puts the trained network in (`Resolved.at`).
    """

    weights: Mapping[str, Tensor] | None = None

    @property
    def choice(self) -> NetworkChoice:
        assert isinstance(self.problem, NetworkChoice)
        return self.problem

    @property
    def described(self) -> dict[str, Any]:
        """What a link or a file says; whether w0 is polished, and on which device, only where it is another than usual."""
        found = {**self.choice.to_dict(), **self.settings}
        return {name: value for name, value in found.items() if name not in ("polish", "device") or value}


def side_bar_config(
    choice: NetworkChoice, settings: Mapping[str, Any], weights: Mapping[str, Tensor] | None = None
) -> NetworkConfig:
    """What is selected, with the settings of the controls. Raises ValueError, one sentence."""
    found = from_side_bar(choice, settings, _of_shape)
    return NetworkConfig(choice, found.settings, found.resolved, weights)


def link_config(values: Any) -> NetworkConfig:
    """The configuration in a link or a file. Raises ValueError, one sentence, for anything that cannot be run here."""
    if not isinstance(values, Mapping):
        raise ValueError("The configuration must be a mapping of names to values.")
    own = field_names(NetworkChoice)
    known_keys("the configuration", values, (*own, *ESTIMATE_DEFAULTS))
    chosen = NetworkChoice(**{name: values[name] for name in own if name in values})
    given = {name: value for name, value in values.items() if name in ESTIMATE_DEFAULTS}
    settings = {**ESTIMATE_DEFAULTS, **NETWORKS[chosen.network].settings, **given}
    problem = _of_shape(chosen, settings)
    found = from_configuration(chosen, RunConfig(problem=problem.to_dict(), **settings), problem)
    return NetworkConfig(chosen, found.settings, found.resolved)


def _of_shape(choice: NetworkChoice, settings: Mapping[str, Any]) -> NetworkPotential:
    """The network before its training."""
    batch_size = settings["batch_size"]
    if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size < 1:
        raise ValueError(f"batch_size is {short(batch_size)}; it must be a whole number of at least 1.")
    return untrained(choice.network, choice.part, batch_size)


_lock = threading.Lock()
_trained: OrderedDict[tuple[str, str, int], Trained] = OrderedDict()
_turns: dict[tuple[str, str, int], threading.Lock] = {}


@lru_cache(maxsize=4)
def data(name: str) -> Split:
    if name == "digits":
        return digits()
    return synthetic_text(**TEXT)


def _train(network: str, optimizer: str, seed: int) -> Trained:
    entry = NETWORKS[network]
    model = build_model(entry.model, seed)
    options = optimizer_of(network, optimizer)
    record = train(model, data(entry.data), options, steps=entry.steps, checkpoints=entry.checkpoints, seed=seed)
    return model, record


def optimizer_of(network: str, optimizer: str) -> dict[str, Any]:
    """Description of the optimiser, with the learning rate that suits the network."""
    options = dict(OPTIMIZERS[optimizer])
    return {**options, **NETWORKS[network].rates.get(options["name"], {})}


def known(choice: NetworkChoice) -> Trained | None:
    """The network after training, and the record, if it has been trained. Never waits."""
    key = choice.network, choice.optimizer, choice.train_seed
    with _lock:
        if key in _trained:
            _trained.move_to_end(key)
        return _trained.get(key)


def trained(choice: NetworkChoice) -> Trained:
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


def state_of(config: NetworkConfig) -> Mapping[str, Tensor] | None:
    """The parameters at w0, if they are known already. Never waits."""
    if config.weights is not None:
        return config.weights
    found = known(config.choice)
    return None if found is None else next(c.state for c in found[1].checkpoints if c.step == config.choice.checkpoint)


def selection(model: nn.Module, part: NamedPart) -> str | dict[str, Tensor] | None:
    """The `parameters` of NetworkPotential that a part stands for."""
    if part.head is not None:
        return head_masks(model, *part.head)
    return None if part.layer is None else pattern(part.layer)


@lru_cache(maxsize=24)
def untrained(network: str, part: str, batch_size: int) -> NetworkPotential:
    """Used in the sessions' own callbacks only, one after the other: it holds buffers."""
    entry = NETWORKS[network]
    model = build_model(entry.model)
    return potential_at(
        model,
        model.state_dict(),
        data(entry.data),
        parameters=selection(model, NamedPart.read(part)),
        batch_size=batch_size,
    )


def potential(
    choice: NetworkChoice, state: Mapping[str, Tensor] | None = None, batch_size: int | None = None
) -> NetworkPotential:
    """The training loss at the chosen checkpoint, or at the parameters `state` of a file.

    A new object each time: it holds buffers, and runs in different threads must not share them.
    """
    model, record = trained(choice)
    at = state if state is not None else next(c for c in record.checkpoints if c.step == choice.checkpoint)
    parameters = selection(model, choice.moves)
    return potential_at(model, at, data(NETWORKS[choice.network].data), parameters=parameters, batch_size=batch_size)
