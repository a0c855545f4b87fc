"""Linear networks by their description, and runs of them by a configuration. Networks are read-only, so sessions and restarts share them together with their data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from json import dumps, loads
from typing import Any
from weakref import WeakKeyDictionary

from app.controls.parsing import LONGEST_LIST
from app.runs.account import Claim, account
from app.runs.allowance import allowance, check_price
from app.runs.apart import only_unhurried
from app.runs.kept import Kept
from app.sharing.reading import PageConfig, from_configuration, refuse_unoffered
from llc_core import DeepLinearNetwork, RunConfig
from llc_core.potentials import Price, build, price
from llc_core.theory.rank_checks import show

RUN = ("gradient", "batch_size", "dtype")
"""Settings of a run on which the memory for a network's data depends."""
NETWORK = "This network"
"""What needs memory, in the sentence that refuses it."""
KEPT = 8
LONG_BYTES = 6 * 2**20
"""Networks that hold more without rows, which are drawn later, take longer than 20 ms to make (`python -m lab.benchmarks.served.waits`): a thread makes them."""
LONG_ROWS = 100 * 2**20
"""Data of more bytes take longer than 200 ms to go through for what λ̂ should be on them: a thread does it."""


def check_size(description: Mapping[str, Any], settings: Mapping[str, Any] | None = None) -> Price:
    """What a network takes, from its description: none of it is made. ValueError where that is too much for this page.

    settings: of the run, where they are known; without them it is the least that any run takes.
    """
    widths = description.get("widths")
    if isinstance(widths, list | tuple) and len(widths) > LONGEST_LIST:
        raise ValueError(f"widths has {len(widths):,} entries; this page draws networks of up to {LONGEST_LIST}.")
    found = price(description, **{name: (settings or {}).get(name) for name in RUN})
    check_price(found, "use smaller widths, a smaller n, float32 or full gradients")
    return found


def get_problem(description: Mapping[str, Any], settings: Mapping[str, Any] | None = None) -> DeepLinearNetwork:
    """The network that a JSON description stands for; ValueError says what is wrong with it, or too much for here.

    On the event loop it may be `TakesLong`, see `app.runs.apart`.
    """
    if description.get("virtual"):
        raise ValueError(
            "virtual is true; a page keeps the rows of its network: leave it out, or use llc_core.estimate."
        )
    found, text = check_size(description, settings), dumps(dict(description), sort_keys=True)
    only_unhurried(text not in _problems and _is_long(description))
    problem = _problems.get(text, partial(_problem, text, found.peak), found.held)
    _hold(problem, found.held)
    return problem


_problems: Kept[DeepLinearNetwork] = Kept(KEPT, lambda: allowance() * 2**20)
"""As many as one visitor's allowance holds."""
account().when_short(_problems.forget)
_claims: WeakKeyDictionary[DeepLinearNetwork, Claim] = WeakKeyDictionary()
"""What each network that is alive holds, whoever keeps it."""


def _is_long(description: Mapping[str, Any]) -> bool:
    """Whether to make a network, and what is shown of it, takes so long that pages would stutter."""
    held = price(description).held
    return held > LONG_BYTES or price(description, gradient="minibatch").held - held > LONG_ROWS


def _problem(text: str, peak: float) -> DeepLinearNetwork:
    with account().room(peak, NETWORK):
        problem = build(loads(text))
        assert isinstance(problem, DeepLinearNetwork)
        problem.expected_llc_of_data()  # it keeps its sums over all data, which the page asks for on the event loop
        return problem


def _hold(problem: DeepLinearNetwork, held: float) -> None:
    """A network holds more when a run takes rows of its data, too."""
    before = _claims.get(problem)
    if before is None or before.size < held:
        _claims[problem] = account().claim(held, NETWORK, instead_of=before)


def link_config(values: Any) -> PageConfig:
    """The configuration in a link or a file. Raises ValueError, one sentence, for anything that cannot be run here."""
    config = RunConfig.from_dict(values)
    kind = config.problem.get("kind")
    if kind is None:
        raise ValueError('problem is missing; name a network such as {"kind": "dln", "widths": [4, 3, 4]}.')
    if kind != "dln":
        raise ValueError(f"problem is of kind {show(kind)}; this page runs deep linear networks, kind 'dln'.")
    refuse_unoffered(config)
    description = {name: value for name, value in config.problem.items() if value is not None}
    run = {name: getattr(config, name) for name in RUN}
    return from_configuration(description, config, get_problem(config.problem, run))
