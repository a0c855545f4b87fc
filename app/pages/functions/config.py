"""What one run on the page "Weights and functions" is made of: a network with its data, a sampler, chains, and a band."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from json import dumps
from typing import Any

from app.controls.devices import offered
from app.runs.allowance import check_price
from llc_core import BayesianNetwork, RunConfig
from llc_core.fields import Settings, hyper, short, whole
from llc_core.potentials import price
from llc_core.potentials.bayesian.network import checked_widths
from llc_core.references.functions.equivalences import RECORDS
from llc_core.samplers.registry import build

CASES = ("linear", "torus", "sorting")
"""Problems in which the functions' own chain is known; Langevin steps move both."""
LANGEVIN = "SGLD"
DEEP, UNDERDAMPED = "deep_linear", "UnderdampedLangevin"
"""A deep linear network, whose λ̂ is estimated, and the sampler of its chains."""
DEEP_NETWORK = {"kind": "dln", "widths": [8, 8, 8], "layer_ranks": [4, 4], "seed": 0}
MOST_CASE_STEPS = 20_000

KIND = "bayesian_network"
SAMPLERS = ("SplitHMC", "CollapsedPCN", "PCN", "MALA", "HMC")
"""Those that the page offers: all leave the posterior exactly as it is."""
WIDEST, DEEPEST, MOST_POINTS = 500, 4, 64
CHAINS, STEPS = (2, 64), (40, 100_000)
ROWS = 256
"""Iterations that are kept of a run, at most, and so many positions of the slider."""
POOLED, ACROSS = "pooled", "across"
"""What a band is made of: the chains' iterations together, or all chains at one iteration, as in the paper."""
SHARES = (0.5, 0.8, 0.95)


def _network() -> dict[str, Any]:
    return {"kind": KIND, "widths": [1, 20, 20, 1], "data": {"name": "wave", "n": 7, "seed": 0}}


def _hmc() -> dict[str, Any]:
    return {"name": "SplitHMC", "step_size": None, "leapfrog_steps": 10.0}


def checked_problem(label: str, described: Any) -> dict[str, Any]:
    """The complete description of a network; ValueError, before anything of it is made, where it is too large for this page."""
    if not isinstance(described, Mapping):
        raise ValueError(f"{label} is {short(described)}; give a network such as {{'kind': '{KIND}'}}.")
    values = {str(name): value for name, value in described.items()}
    if values.get("kind") in (*CASES, DEEP):
        if len(values) > 1:
            raise ValueError(
                f"{label} of kind {values['kind']!r} has nothing to set beside its kind; leave the rest out."
            )
        return values
    if values.pop("kind", KIND) != KIND:
        raise ValueError(
            f"{label} is of kind {short(described['kind'])}; this page runs Bayesian networks, kind '{KIND}', and {', '.join((*CASES, DEEP))}."
        )
    widths = checked_widths(values.get("widths", (1, 20, 20, 1)))
    if widths[0] != 1:
        raise ValueError(f"widths begins with {widths[0]}; this page draws functions of 1 input.")
    if len(widths) > DEEPEST + 2 or max(widths) > WIDEST:
        raise ValueError(
            f"widths has {len(widths) - 2} hidden layers of up to {max(widths):,}; this page takes {DEEPEST} of up to {WIDEST}."
        )
    found = price({**values, "kind": KIND})
    check_price(found, "use smaller widths")
    network = BayesianNetwork.described(values)
    if network.n > MOST_POINTS:
        raise ValueError(f"data has {network.n:,} points; this page takes up to {MOST_POINTS}.")
    return network.to_dict()


def _device(label: str, value: Any) -> str | None:
    if not isinstance(value, str):
        raise ValueError(f"{label} is {short(value)}; give a name such as 'cuda'.")
    return offered(value)


@dataclass(frozen=True)
class FunctionsConfig(Settings):
    """JSON-able; equal configurations give equal numbers.

    problem: description of a `BayesianNetwork` with one input, or {"kind": …} with one of CASES or DEEP.
    sampler: one of SAMPLERS with its fields; of a case SGLD with a step_size, which is a plain Langevin step on all data; of the
    deep linear network UnderdampedLangevin.
    chains, steps, seed: of the run; its first half is burn-in.
    device: where the chains of a network run, by torch's name; None, also where it is not here: on the processor.
    band: "pooled" or "across".  share: of the draws that the band holds.
    Raises ValueError with a sentence for the user.
    """

    problem: Mapping[str, Any] = hyper(_network, read=checked_problem)
    sampler: Mapping[str, Any] = hyper(_hmc, read=lambda label, value: build(value).to_dict())
    chains: int = hyper(32, *CHAINS, help="Independent networks; each begins at a draw of the prior.")
    steps: int = hyper(800, *STEPS, log=True, help="Iterations of each chain; the first half is burn-in.")
    seed: int = hyper(0, 0, 2**63 - 1, help="Seed of the chains' starts and noise.")
    band: str = hyper(POOLED, choices=(POOLED, ACROSS))
    share: float = hyper(0.8)
    device: str | None = hyper(None, auto=True, read=_device)

    def agree(self) -> None:
        if self.share not in SHARES:
            raise ValueError(f"share is {self.share:g}; choose one of {', '.join(map(str, SHARES))}.")
        sampler = build(self.sampler)
        offered = (LANGEVIN,) if self.is_case else (UNDERDAMPED,) if self.is_deep else SAMPLERS
        if sampler.name not in offered:
            raise ValueError(f"sampler is {sampler.name}; this page has {', '.join(offered)} for this problem.")
        if self.is_case and sampler.to_dict()["step_size"] is None:
            raise ValueError("sampler has no step_size; give the size of a Langevin step, such as 0.002.")
        if self.is_case or self.is_deep:
            whole("steps", self.steps, STEPS[0], MOST_CASE_STEPS)
        likelihood = self.problem.get("likelihood")
        if sampler.needs_conditionals and likelihood != "gaussian":
            raise ValueError(
                f"sampler is {sampler.name}, which integrates the output layer out; likelihood is {likelihood!r}, where it cannot. "
                "Choose another sampler or 'gaussian'."
            )

    def to_dict(self) -> dict[str, Any]:
        """Without the device where it is the processor: links and files of before it stay the same."""
        return {name: value for name, value in super().to_dict().items() if name != "device" or value is not None}

    @property
    def is_case(self) -> bool:
        """Whether the functions have a chain of their own."""
        return self.problem["kind"] in CASES

    @property
    def is_deep(self) -> bool:
        return bool(self.problem["kind"] == DEEP)

    @property
    def every(self) -> int:
        """Iterations between two that are kept."""
        return max(1, math.ceil(self.steps / (RECORDS if self.is_case else ROWS)))

    @property
    def burn_in(self) -> int:
        """Half of the steps, in whole intervals between kept iterations."""
        return self.steps // 2 // self.every * self.every

    @property
    def run(self) -> RunConfig:
        """The engine's configuration of the run."""
        return RunConfig(
            problem=DEEP_NETWORK if self.is_deep else self.problem,
            sampler=self.sampler,
            gradient="full",
            chains=self.chains,
            steps=self.steps,
            burn_in=self.burn_in,
            seed=self.seed,
            device=self.device,
        )


def network_of(problem: Mapping[str, Any]) -> BayesianNetwork:
    """The network of a description that was checked."""
    return BayesianNetwork.described({name: value for name, value in problem.items() if name != "kind"})


def key_of(problem: Mapping[str, Any]) -> str:
    return dumps(problem, sort_keys=True)
