"""Panel "A flat direction": the loss along a direction that the network's form makes flat, against random ones of the same length."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from torch import Tensor

from app.pages.your_network.config import NETWORKS
from app.pages.your_network.panels.base import ConfigPanel
from app.pages.your_network.scene import NetworkConfig, potential, state_of, untrained
from app.runs.job import Job, State
from app.runs.tasks import TaskJob
from app.style import theme
from app.style.layout import card, prose
from app.style.legend import heading
from app.style.numbers import number, with_error, with_minus
from llc_core import NetworkPotential
from llc_core.networks import build_model
from llc_core.networks.rescaling import DRAWS, Beside, Rescaling, beside, displacement, rescalings

FACTORS = (0.25, 0.5, 1.5, 2.0, 4.0)
INVITATION = (
    "Along some directions the loss does not change. This walks along one, and measures the loss beside it too."
)
NONE = "Each hidden unit and each head has a frozen side here. Choose “all parameters” or a head in “What moves”."
Found = tuple[str, float, Beside]
"""What is rescaled, the factor, and what was measured there."""


class FlatPanel(ConfigPanel):
    """`show` tells what is chosen now; `found` holds what was measured."""

    def __init__(self) -> None:
        super().__init__("Walk", INVITATION)
        self.found: list[Found] = []
        self._table = prose(theme.TABLE)
        self.view = card(heading("A flat direction"), self.bar(self.words, margin=(6, 0)), self._table)

    @property
    def done(self) -> bool:
        return bool(self.found)

    def job(self, config: NetworkConfig) -> Callable[[], Job]:
        problem = untrained(config.choice.network, config.choice.part, config.settings["batch_size"])
        if not free(config, problem):
            raise ValueError(NONE)
        self.say("Measuring.")
        return partial(walk, config)

    def prepare(self) -> None:
        self.found = []
        self._table.object = ""

    def receive(self, state: State, items: list[Found]) -> None:
        if items:
            self.found = [*self.found, *items]
            self._table.object = table(self.found)
            self.say(in_words(self.found))


def walk(config: NetworkConfig) -> TaskJob:
    """In a thread of the run manager: one result for each factor. Trains at the first time."""
    problem = potential(config.choice, config.weights, config.settings["batch_size"])
    state = state_of(config)
    assert state is not None, "it has been trained above"
    rescaling = strongest(free(config, problem), state)

    def one(factor: float) -> Found:
        return rescaling.name, factor, beside(problem, displacement(problem, state, rescaling, factor))

    return TaskJob([partial(one, factor) for factor in FACTORS])


def free(config: NetworkConfig, problem: NetworkPotential) -> list[Rescaling]:
    """Those that may move as a whole."""
    model = build_model(NETWORKS[config.choice.network].model)  # a potential keeps a module without numbers
    return [each for each in rescalings(model) if each.moves_in(problem)]


def strongest(found: list[Rescaling], state: Mapping[str, Tensor]) -> Rescaling:
    """What the network uses most: along a unit that it does not use a loss that stays would say nothing."""
    return max(found, key=lambda each: each.strength(state))


def table(found: list[Found]) -> str:
    """HTML: one row for each factor."""
    rows = "".join(
        f"<tr><th scope=row>× {factor:g}</th><td>{number(seen.length, 3)}</td><td>{_change(seen.along)}</td>"
        f"<td>{with_minus(with_error(seen.across, seen.across_se))}</td></tr>"
        for _, factor, seen in found
    )
    heads = (
        "factor",
        "length of the way",
        "change of the loss along it",
        f"the same in {DRAWS} random directions, mean ± s.e.",
    )
    return f"<table><thead><tr>{''.join(f'<th scope=col>{head}</th>' for head in heads)}</tr></thead><tbody>{rows}</tbody></table>"


def in_words(found: list[Found]) -> str:
    name, factor, seen = found[-1]
    return (
        f"With {name} {factor:g} times as large, and what it meets as much smaller, the loss changes by {_change(seen.along)}. "
        f"Random directions of the same length change it by {with_minus(with_error(seen.across, seen.across_se))}."
    )


def _change(value: float) -> str:
    """In double precision what is left of a 0 is rounding."""
    return with_minus(f"{value:.1e}" if 0 < abs(value) < 1e-3 else number(value, 3))
