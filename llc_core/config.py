"""RunConfig: everything that determines the numbers of a run. As JSON it is small enough for a link. Long, since a field is
named, explained and checked in one place."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llc_core.bins import Bins
from llc_core.fields import Settings, choice, hyper, number, short, whole

GRADIENTS = ("minibatch", "control_variate", "full")
BASELINES = ("same_batch", "full", "first_batch")
DTYPES = ("float32", "float64")
LARGEST_DECAY = 0.99

MAX_CHAINS = 100_000
MAX_STEPS = 1_000_000_000
MAX_GRID = 10_000
SMALLEST, LARGEST = 1e-12, 1e18
"""Range of nβ and γ: products with gradients stay within single precision."""


def _burn_in(label: str, value: Any) -> int | float:
    result = number(label, value, 0)
    if result < 1 and not isinstance(value, int):
        return result
    if result != int(result):
        raise ValueError(f"burn_in is {result:g}; give a whole number of steps or a fraction below 1.")
    return int(result)


def _name(field: str, value: Any) -> str:
    """What torch's devices and precisions are called."""
    if isinstance(value, Mapping | list | tuple):
        raise ValueError(f"{field} is {short(value)}; give a name.")
    return str(value)


def json_table(name: str, value: Any) -> dict[str, Any]:
    """A copy of what JSON has for names and values, or a ValueError that names the field."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} must be a mapping of names to values, not a {type(value).__name__}.")
    try:
        return json.loads(json.dumps(dict(value), allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise ValueError(f"{name} must hold only finite numbers, texts, lists and mappings.") from None


def _named(example: str) -> Callable[[str, Any], dict[str, Any]]:
    def read(label: str, value: Any) -> dict[str, Any]:
        found = json_table(label, value)
        if not isinstance(found.get("name"), str):
            raise ValueError(f"{label} needs a name, for example {example}.")
        return found

    return read


def _observables(label: str, value: Any) -> tuple[dict[str, Any], ...]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"observables must be a list of names or tables with a name, not a {type(value).__name__}.")
    found: list[dict[str, Any]] = []
    for each in value:
        described = {"name": each} if isinstance(each, str) else json_table("an entry of observables", each)
        if not isinstance(described.get("name"), str):
            raise ValueError("An entry of observables needs a name, for example {'name': 'TermSizes', 'every': 20}.")
        if any(described["name"] == other["name"] for other in found):
            raise ValueError(f"observables has {short(described['name'])} twice; name each one once.")
        found.append(described)
    return tuple(found)


def _grid(label: str, value: Any) -> dict[str, tuple[Any, ...]]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ValueError(f"grid must map field names to lists of values, not be a {type(value).__name__}.")
    result: dict[str, tuple[Any, ...]] = {}
    size = 1
    for name, values in value.items():
        each = f"{label}[{short(name)}]"
        try:
            listed = None if isinstance(values, str | bytes) else list(itertools.islice(values, MAX_GRID + 1))
        except (TypeError, RuntimeError):  # a tensor without dimensions, for one
            listed = None
        if listed is None:
            raise ValueError(f"{each} is {short(values)}; it must be a list of values.")
        if not listed:
            raise ValueError(f"{each} is empty; give at least one value or leave the field out.")
        result[str(name)] = tuple(number(each, v) for v in listed)
        size *= len(listed)
    if size > MAX_GRID:
        raise ValueError(f"grid has {size} settings; at most {MAX_GRID} fit in one run.")
    return result


@dataclass(frozen=True)
class RunConfig(Settings):
    """One run. Same (config, device) → same numbers, whatever precision, device or autocast the process has set torch to.

    problem: JSON description of the potential ({"kind": "dln", …}), or {"kind": "object", "fingerprint": …} for an
        object passed beside the config.
    sampler: {"name": "SGLD", "step_size": 1e-8, …}; None: the engine's choice for the problem.
    gradient: "minibatch", "control_variate" or "full"; None: the engine's choice.
    metric_gradient: which gradient feeds the running means of adaptive samplers, of the same kinds; None: the one that
        drives the chain. The distribution such a sampler converges to depends on it.
    batch_size: samples per minibatch; None: the problem's choice (500 for deep linear networks).
    baseline: what is subtracted from the loss, "same_batch" (L_m(w0) on the same batch), "full" (L_n(w0)) or
        "first_batch" (L_m(w0) on the first batch only, as printed in Hitchcock & Hoogland eq. 3.8). With full gradients
        there are no batches and all three are the same.
    n_beta: inverse temperature times n; None: n / log n.
    localization: γ, precision of the Gaussian prior centred at w0; None: the problem's choice (1 for networks).
    chains: chains per setting.  steps: None: the engine's choice.
    burn_in: an int counts steps, a float is a fraction of the steps.
    continued_from: {"steps": …, "burn_in": …} with which a run began that was then made longer (`Run.go_on`). Step sizes and
        the like were adapted in that first burn-in. None: the run was not made longer.
    step_decay: step t has size ε·(t + 1)^(−step_decay), and averages are weighted by the step sizes; 0: constant.
    histogram: {"low": −4, "high": 4, "count": 80}: for problems with one parameter, count where the chains are after
        burn-in (see `llc_core.bins.Bins`); None: do not.
    functional_variance: k: estimate the singular fluctuation ν from the losses of all single samples, looked at every
        k-th step after burn-in; None: do not.
    polish: move w0 to the local minimum of L_n first (`llc_core.polish`), where the problem is that at w0 before.
    observable: description of a second problem with the same parameters and w0, whose excess loss is averaged along the
        chains of the first (on the data of another distribution: a data-refined coefficient); None: none.
    observe_every: steps between looks at it.
    observables: what else is watched along the chains: names of registered observables, or tables {"name": …, options…}
        (see `llc_core.observables`).
    interaction: how chains interact, {"name": "Contour", …} (see `llc_core.interactions`); None: they do not.
    grid: {field: [values]}; settings are the product of the lists, the first field varying slowest. The field "temperature"
        divides both nβ and γ of its settings (`estimate(temperatures=…)`).
    device: "cpu", "cuda", …; None: "cpu".  dtype: "float32" or "float64"; None: the engine's choice.
    """

    what = "run configuration"

    problem: Mapping[str, Any] = hyper(dict, read=json_table)
    sampler: Mapping[str, Any] | None = hyper(None, read=_named("{'name': 'SGLD', 'step_size': 1e-8}"))
    gradient: str | None = hyper(
        None,
        choices=GRADIENTS,
        help="Full data: exact. Minibatch: noisy. Control variate: minibatch minus its known error at w0.",
    )
    metric_gradient: str | None = hyper(None, choices=GRADIENTS)
    batch_size: int | None = hyper(
        None, 1, 10_000_000, log=True, help="Samples in each minibatch; not used with full data."
    )
    baseline: str = hyper("same_batch", choices=BASELINES)
    n_beta: float | None = hyper(
        None, SMALLEST, LARGEST, log=True, help="Inverse temperature times n. Automatic: n / log n."
    )
    localization: float | None = hyper(
        None, 0.0, LARGEST, log=True, symbol=r"\gamma", help="Strength of the spring that ties the chains to w0."
    )
    polish: bool = hyper(False, help="Move w0 to the minimum of the loss on all data first, and say how far that is.")
    chains: int = hyper(
        4, 1, MAX_CHAINS, help="Independent chains. Their spread gives the error bar; R-hat needs at least two."
    )
    steps: int | None = hyper(None, 1, MAX_STEPS, log=True, help="Steps of each chain.")
    burn_in: int | float = hyper(0.5, read=_burn_in)
    continued_from: Mapping[str, int] | None = hyper(None, read=json_table)
    step_decay: float = hyper(0.0, 0.0, LARGEST_DECAY)
    histogram: Mapping[str, Any] | None = hyper(None, read=lambda label, value: Bins.of(value).to_dict())
    functional_variance: int | None = hyper(None, 1, MAX_STEPS)
    observable: Mapping[str, Any] | None = hyper(None, read=json_table)
    observe_every: int = hyper(10, 1, MAX_STEPS)
    observables: Sequence[Mapping[str, Any] | str] = hyper((), read=_observables)
    interaction: Mapping[str, Any] | None = hyper(None, read=_named("{'name': 'Contour', 'high': 12.5}"))
    grid: Mapping[str, tuple[Any, ...]] = hyper(dict, read=_grid)
    seed: int = hyper(0, 0, 2**63 - 1, help="Seed of the chains' noise.")
    device: str | None = hyper(None, read=_name, help='"cpu" or "cuda".')
    dtype: str | None = hyper(
        None,
        choices=DTYPES,
        read=lambda label, value: choice(label, _name(label, value).removeprefix("torch."), DTYPES),
        help="Digits of the chains' arithmetic. Float64 is slower, and for networks whose verdict says that rounding "
        "spoils the loss. Automatic: float32, and float64 for samplers that accept or reject.",
    )

    def agree(self) -> None:
        if self.steps is not None and self.burn_in >= self.steps:
            raise ValueError(
                f"burn_in is {self.burn_in} steps but the run has only {self.steps}; leave steps to average over."
            )
        if self.continued_from is not None:
            self._put("continued_from", _continued_from(self.continued_from, self.steps, self.burn_in))

    def burn_in_steps(self, steps: int) -> int:
        """Number of steps that are left out of the average when the run has `steps` steps."""
        count = self.burn_in if isinstance(self.burn_in, int) else int(round(self.burn_in * steps))
        return min(max(count, 0), steps - 1)

    def longer(self, more: int | None = None) -> RunConfig:
        """This run with `more` further steps; None: as many as it has. steps must be set. `Run.go_on` says what becomes burn-in."""
        if self.steps is None:
            raise ValueError("steps is not known yet; give it, or take the configuration of a run.")
        added = self.steps if more is None else whole("steps", more, 1, MAX_STEPS)
        burn_in = self.burn_in_steps(self.steps)
        return self.replace(
            steps=self.steps + added,
            burn_in=self.steps if 2 * burn_in >= self.steps else burn_in,
            continued_from=self.continued_from or {"steps": self.steps, "burn_in": burn_in},
        )

    def begun_anew(self) -> RunConfig:
        """A run of the same length and share of burn-in that is long from the start, and not a shorter one made longer."""
        if self.continued_from is None or self.steps is None:
            return self
        return self.replace(continued_from=None, burn_in=self.burn_in_steps(self.steps) / self.steps)

    def to_dict(self) -> dict[str, Any]:
        """Every field, as JSON has it. `observables`, `interaction` and `polish` are left out where there are none: the keys of rows in
        stores are made of configurations, and rows from before there were such must be found again."""
        later = ("observables", "interaction", "polish")
        return {name: value for name, value in super().to_dict().items() if value or name not in later}

    def to_json(self) -> str:
        """JSON with sorted keys, except in `grid`: there the order says which field varies slowest."""
        ordered = json.loads(json.dumps(self.to_dict(), sort_keys=True))
        return json.dumps({**ordered, "grid": self.to_dict()["grid"]})

    @classmethod
    def from_json(cls, text: str) -> RunConfig:
        try:
            data = json.loads(text)
        except (ValueError, TypeError, RecursionError):
            raise ValueError("The run configuration is not valid JSON.") from None
        return cls.from_dict(data)


def _continued_from(given: Mapping[str, Any], steps: int | None, burn_in: int | float) -> dict[str, int]:
    if set(given) != {"steps", "burn_in"}:
        raise ValueError('continued_from must be {"steps": …, "burn_in": …}, the numbers that the run was begun with.')
    first = whole("continued_from steps", given["steps"], 1, MAX_STEPS)
    adapted = whole("continued_from burn_in", given["burn_in"], 0, first - 1)
    if steps is None or steps < first or not isinstance(burn_in, int) or burn_in < adapted:
        raise ValueError(
            f"continued_from says that the run was begun with {first} steps and {adapted} of burn-in; give steps and burn_in as "
            "whole numbers that are no smaller."
        )
    return {"steps": first, "burn_in": adapted}
