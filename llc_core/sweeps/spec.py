"""What a sweep runs: problems × samplers × gradients × step sizes, read from a TOML file. Long, since every field as it is written in
a file is checked here and brought into one form.
"""

from __future__ import annotations

import itertools
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from llc_core.config import DTYPES, GRADIENTS, RunConfig
from llc_core.engine.resolve import check_sampler
from llc_core.fields import Settings, check_hyper, choice, hyper, hyper_fields, hyper_of, number, one_line, short, whole
from llc_core.interactions import build as build_interaction
from llc_core.potentials import problem_class
from llc_core.samplers import MetropolisSampler, build
from llc_core.sweeps.unit import Unit, levels_of, workload

OTHERS = "others"
"""In step_sizes: of the samplers that are not named there."""
PLAIN = (int, float, str, bool, type(None))
"""What JSON has for single values; others, such as numpy's, are stored as what they are read as."""
MAX_STEP_SIZES = 1000
MAX_PROBLEMS = 1_000_000


def label_of(sampler: Mapping[str, Any]) -> str:
    """The name, with the fields that differ from their defaults: "RMSPropSGLD(stability=0.1)"."""
    built = build(sampler)
    changed = [
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in built.changed().items()
    ]
    return f"{built.name}({', '.join(changed)})" if changed else built.name


def names(name: str, value: Any, known: tuple[str, ...]) -> tuple[str, ...]:
    items = (value,) if isinstance(value, str) else _list(name, value)
    return tuple(dict.fromkeys(choice(name, item, known) for item in items))


def size_classes(label: str, value: Any) -> tuple[str, ...]:
    items = (value,) if isinstance(value, str) else _list(label, value)
    for item in items:
        if not isinstance(item, str):
            raise ValueError(f"{label} holds {short(item)}; give names such as '1K' or widths such as '10-8-10'.")
    return tuple(dict.fromkeys(problem_class(item).name for item in items))


def kinds_of_ranks(label: str, value: Any) -> tuple[str, ...]:
    """A name or a list of names; whether they are known is up to the class of problems."""
    items = (value,) if isinstance(value, str) else _list(label, value)
    for item in items:
        if not isinstance(item, str):
            raise ValueError(f"{label} holds {short(item)}; give names such as 'equal'.")
    return tuple(dict.fromkeys(items))


def problem_seeds(label: str, value: Any) -> tuple[int, ...]:
    if isinstance(value, list | tuple):
        return tuple(dict.fromkeys(whole(label, seed, 0, 2**31) for seed in _list(label, value)))
    if isinstance(value, str) or value is None:
        raise ValueError(f"{label} is {short(value)}; give how many, or a list of seeds such as [0, 1, 2].")
    return tuple(range(whole(label, value, 1, MAX_PROBLEMS)))


def sampler_tables(label: str, value: Any) -> tuple[dict[str, Any], ...]:
    found: dict[str, dict[str, Any]] = {}
    for item in _list(label, value):
        values = {"name": item} if isinstance(item, str) else item
        if isinstance(values, Mapping) and "step_size" in values:
            raise ValueError("samplers must not hold a step_size; give them in step_sizes.")
        try:
            built = build(values)
        except ValueError as error:
            raise ValueError(f"{label}: {error}") from None
        # Without what is the default anyway, so that the same sampler has one key however it is written.
        changed = built.changed()
        given = {k: v if type(v) in PLAIN else changed[k] for k, v in dict(values).items() if k in changed}
        found[label_of(built.to_dict())] = {"name": built.name, **given}
    return tuple(found.values())


def step_sizes_of(value: Any, samplers: tuple[Mapping[str, Any], ...]) -> dict[str, tuple[float, ...]]:
    """By the label of each sampler."""
    labels = {label_of(sampler): build(sampler) for sampler in samplers}
    if not isinstance(value, Mapping) or {"from", "to", "count"} & set(value):
        value = {OTHERS: value}
    for name in value:
        if name not in labels and name != OTHERS and name not in {s.name for s in labels.values()}:
            raise ValueError(f"step_sizes names {short(name)}; the samplers of this sweep are {', '.join(labels)}.")
    found = {}
    for label, sampler in labels.items():
        given = value.get(label, value.get(sampler.name, value.get(OTHERS)))
        if given is None:
            raise ValueError(f"step_sizes has none for {label}; add them, or 'others' for all that are not named.")
        about = hyper_fields(sampler)["step_size"]
        sizes = [float(check_hyper(label, "step_size", e, about)) for e in _sizes(given)]
        found[label] = tuple(sorted(set(sizes)))
    return found


def _sizes(value: Any) -> list[float]:
    if isinstance(value, Mapping):
        if set(value) != {"from", "to", "count"}:
            raise ValueError(f"step_sizes has the keys {short(list(value))}; give from, to and count.")
        low, high = number("step_sizes.from", value["from"]), number("step_sizes.to", value["to"])
        count = whole("step_sizes.count", value["count"], 1, MAX_STEP_SIZES)
        if not 0 < low <= high:
            raise ValueError(f"step_sizes go from {low:g} to {high:g}; give a range above 0, the smaller end first.")
        ratio = math.log(high / low) / max(count - 1, 1)
        return [float(f"{low * math.exp(i * ratio):.6g}") for i in range(count)]
    sizes = [number("step_sizes", e) for e in _list("step_sizes", value)]
    if len(sizes) > MAX_STEP_SIZES:
        raise ValueError(f"step_sizes has {len(sizes)} values; at most {MAX_STEP_SIZES} run as one batch.")
    return sizes


def _list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"{name} is {short(value)}; give a list of at least one.")
    return list(value)


def of_a_run(name: str, default: Any) -> Any:
    """A field that is checked as RunConfig's; what JSON has stays as it is written, since keys of rows are made of it."""
    about = hyper_fields(RunConfig)[name]

    def read(label: str, value: Any) -> Any:
        found = check_hyper("", label, value, about)
        return value if type(value) in PLAIN else found

    return hyper(default, read=read)


LARGEST_FILE = 1_000_000
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
LONG_KEY = re.compile(rf"(?<![\w-])(?:{_PART}\.[ \t]*+){{20}}")
"""A key such as a.a.a.… of so many parts: the time to read it grows as their square, and no sweep has one."""
SETTINGS = (
    "chains",
    "steps",
    "seed",
    "burn_in",
    "localization",
    "n_beta",
    "batch_size",
    "dtype",
    "device",
    "interaction",
)
"""Fields of a sweep that are those of all its runs."""
LEAST_UNITS = 8
"""Units of one sampler and gradient that a sweep on processors should have, so that several of them have work."""


@dataclass(frozen=True)
class SweepSpec(Settings):
    """A sweep.

    size_class: a name such as "1K", or widths such as "10-8-10", or Bayesian networks such as "bayesian-1-20-20-1" (see
        `llc_core.potentials.bayesian.costs`), or a list of these.  problems: how many random networks
        of each class and kind of ranks (their seeds are 0, 1, …), or a list of seeds.
    ranks: "equal", "paper" or "full", or a list of them.
    samplers: names, or {"name": …, fields …} for a variant.
    step_sizes: a list, or {"from": …, "to": …, "count": …} with equal ratios; or a table of such, sampler → step sizes,
        with "others" for the samplers that it does not name.
    gradients: of "full", "control_variate", "minibatch".
    chains, steps, seed, burn_in, localization, n_beta, batch_size, dtype, device: as in RunConfig.
    interaction: a name, or {"name": …, fields …}; None: chains do not interact. Of a ladder of temperatures, rows are those of its
        first level, which is the target.
    together: how many networks of one shape are one batch on a worker; None: so many that their chains fill the device.
        Only where size_class gives widths, since those of a named class all have other shapes.
    virtual: whether every row of a problem's data is made where it is used (`DeepLinearNetwork`).

    Samplers with a Metropolis test run with full gradients only.
    """

    what = "sweep"

    size_class: tuple[str, ...] = hyper(("1K",), read=size_classes)
    problems: tuple[int, ...] = hyper(tuple(range(10)), read=problem_seeds)
    ranks: tuple[str, ...] = hyper(("equal",), read=kinds_of_ranks)
    samplers: tuple[Mapping[str, Any], ...] = hyper(({"name": "SGLD"},), read=sampler_tables)
    step_sizes: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    gradients: tuple[str, ...] = hyper(("full",), read=lambda label, value: names(label, value, GRADIENTS))
    chains: int = hyper_of(RunConfig, "chains", 4)
    steps: int = hyper_of(RunConfig, "steps", 5000)
    seed: int = hyper_of(RunConfig, "seed", 0)
    burn_in: int | float = of_a_run("burn_in", 0.5)
    localization: float | None = of_a_run("localization", None)
    n_beta: float | None = of_a_run("n_beta", None)
    batch_size: int | None = of_a_run("batch_size", None)
    dtype: str | None = hyper(None, choices=DTYPES)
    device: str | None = of_a_run("device", None)
    together: int | None = hyper(None, 1, 10_000)
    virtual: bool = hyper(False)
    interaction: Mapping[str, Any] | None = hyper(None, read=lambda label, value: build_interaction(value).to_dict())

    def agree(self) -> None:
        self._put("step_sizes", step_sizes_of(self.step_sizes, self.samplers))
        self._check_interaction()
        usual = RunConfig()
        if (
            self.burn_in != usual.burn_in
            and type(self.burn_in) is int
            and self.burn_in == usual.burn_in_steps(self.steps)
        ):
            self._put("burn_in", usual.burn_in)  # the same, so that it has the same key
        for name, ranks in itertools.product(self.size_class, self.ranks):
            problem_class(name, ranks, self.virtual)  # a class that cannot be raises here
        if not any(True for _ in self.units()):
            raise ValueError(
                "This sweep has no run: its samplers accept or reject by exact energies; add 'full' to gradients."
            )
        next(self.units()).config  # noqa: B018  a configuration that cannot be raises here

    def _check_interaction(self) -> None:
        """ValueError where a sampler cannot have it."""
        if self.interaction is None:
            return
        built = build_interaction(self.interaction)
        for sampler, gradient in itertools.product(self.samplers, self.gradients):
            check_sampler(build(sampler).complete(gradient == "full"))
        built.members_of(self.chains, 1)

    def units(self) -> Iterator[Unit]:
        """Every unit, those of one problem together, so that a worker can keep its data."""
        settings = {name: getattr(self, name) for name in SETTINGS}
        for size_class, ranks in itertools.product(self.size_class, self.ranks):
            each = self._side_by_side(size_class, ranks, settings)
            for start in range(0, len(self.problems), each):
                problems = self.problems[start : start + each]
                for sampler, gradient in itertools.product(self.samplers, self.gradients):
                    if gradient != "full" and isinstance(build(sampler), MetropolisSampler):
                        continue
                    label = label_of(sampler)
                    sizes = self.step_sizes[label]
                    yield Unit(size_class, ranks, problems, label, sampler, gradient, sizes, settings, self.virtual)

    def _side_by_side(self, size_class: str, ranks: str, settings: Mapping[str, Any]) -> int:
        """How many problems of a class are one unit.

        It depends on the sweep alone and not on the machine, so that a sweep that goes on elsewhere has the same units.
        """
        problems = problem_class(size_class, ranks, self.virtual)
        if self.together is not None:
            return self.together if problems.of_one_shape else 1
        sampled = [gradient for gradient in self.gradients if gradient != "full"]
        most_steps = max(len(sizes) for sizes in self.step_sizes.values())
        work = workload(settings, sampled[0] if sampled else "full", most_steps * levels_of(settings))
        most = problems.most_side_by_side(work)
        return most if work.on_gpu else min(most, math.ceil(len(self.problems) / LEAST_UNITS))

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it; without an interaction where there is none, as before there were any."""
        return {k: v for k, v in super().to_dict().items() if k != "interaction" or v is not None}

    @classmethod
    def from_dict(cls, values: Any) -> SweepSpec:
        """From parsed TOML or JSON; ValueError, one sentence, for anything that is no sweep."""
        for name, example in _EXAMPLES.items():
            if isinstance(values, Mapping) and name not in values:
                raise ValueError(f"{name} is missing in the sweep; give for example {example}.")
        return super().from_dict(values)

    @classmethod
    def from_toml(cls, path: str | Path) -> SweepSpec:
        """Read a file. ValueError where it cannot be read, is no TOML, or is no sweep."""
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            raise ValueError(f"{short(str(path))} cannot be read ({error.strerror}); check the path.") from None
        if len(content) > LARGEST_FILE:
            raise ValueError(f"{short(str(path))} has {len(content):,} bytes; a sweep has at most {LARGEST_FILE:,}.")
        try:
            text = content.decode()
            if LONG_KEY.search(text):
                raise RecursionError
            values = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{short(str(path))} is not valid TOML: {one_line(str(error))}.") from None
        except RecursionError:
            raise ValueError(
                f"The file {short(str(path))} is nested too deeply; write tables in a table at most."
            ) from None
        return cls.from_dict(values)


_EXAMPLES = {"samplers": 'samplers = ["SGLD"]', "step_sizes": "step_sizes = [1e-8, 1e-7]"}
