"""The configuration of a page that estimates λ, resolved once: from its side bar, or from a link or a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self, TypeVar

from app.controls.devices import offered
from app.controls.run_controls import LENGTH
from app.controls.run_fields import DEFAULTS
from app.runs.allowance import check_allowance, run_memory
from app.sharing.json_files import read_json
from llc_core import Potential, RunConfig
from llc_core.engine.resolve import Resolved, automatic_dtype, resolve
from llc_core.fields import Settings, short

S = TypeVar("S", bound=Settings)
OFFERED = tuple(DEFAULTS)
"""Fields of RunConfig that the side bar has a control for."""
QUICK_PARAMETERS = 32 * 200_000
"""Of all chains together. Where there are more, a step of a linear network takes .3 s and longer."""
IGNORED = ("problem",)
"""Fields that are no setting of the side bar: the editor shows the problem."""


@dataclass(frozen=True)
class PageConfig:
    """What a page shows and what it runs. Everything in it has been checked.

    problem: what the page's editor shows.  settings: what the other controls show, keys as in OFFERED.
    resolved: the same with nothing left open; the run takes it as it is.
    """

    problem: Any
    settings: Mapping[str, Any]
    resolved: Resolved

    @property
    def complete(self) -> RunConfig:
        """The complete configuration of the run."""
        return self.resolved.config

    @property
    def lengths(self) -> tuple[int, int]:
        """Steps of the run, and those of burn-in."""
        assert self.complete.steps is not None
        return self.complete.steps, self.complete.burn_in_steps(self.complete.steps)

    @property
    def memory(self) -> float:
        """Bytes that the run takes beside its problem."""
        return run_memory(self.complete, self.resolved.problem)[0]

    @property
    def is_slow(self) -> bool:
        """Whether a step takes so long on a processor that the pictures of other visitors must not wait for it."""
        return self.complete.device == "cpu" and self.complete.chains * self.resolved.problem.dim > QUICK_PARAMETERS

    def longer(self) -> Self:
        """The run that goes on until it has twice as many steps."""
        config = self.complete.longer()
        settings = {**self.settings, **{name: getattr(config, name) for name in LENGTH}}
        return replace(self, settings=settings, resolved=replace(self.resolved, config=config))


def from_side_bar(
    description: Any, settings: Mapping[str, Any], problem_of: Callable[[Any, Mapping[str, Any]], Potential]
) -> PageConfig:
    """What editor and controls say. Raises ValueError, one sentence, where it cannot be run here.

    problem_of: makes the problem that the editor describes, at these settings.
    """
    problem = problem_of(description, settings)
    resolved = _resolve_here(RunConfig(problem=problem.to_dict(), **settings), problem)
    return PageConfig(description, settings, resolved)


def from_configuration(description: Any, config: RunConfig, problem: Potential) -> PageConfig:
    """What a link or a file says, with the settings that show it; on the processor where its device is not here. Raises ValueError as
    `from_side_bar`."""
    device = offered(config.device)
    resolved = _resolve_here(config.replace(device=device), problem)
    complete = resolved.config
    assert complete.steps is not None
    if isinstance(config.burn_in, int) and config.continued_from is None:  # the side bar has a share of the steps
        complete = complete.replace(burn_in=config.burn_in / complete.steps)
    settings = {name: getattr(complete, name) for name in OFFERED}
    settings |= {"n_beta": config.n_beta, "device": device}
    settings["dtype"] = None if config.dtype == automatic_dtype(resolved.sampler) else config.dtype
    return PageConfig(description, settings, replace(resolved, config=complete))


def refuse_unoffered(config: RunConfig) -> None:
    """Raises ValueError where a field of the configuration has no control on a page."""
    defaults = RunConfig()
    for field in fields(config):
        name, value = field.name, getattr(config, field.name)
        if name not in (*OFFERED, *IGNORED) and value != getattr(defaults, name):
            raise ValueError(
                f"{name} is {short(value)}; this page has no control for it: use llc_core.estimate instead."
            )


def parse_file(text: str) -> Any:
    """The JSON in a configuration file. Raises ValueError, one sentence, where it is too long or no JSON."""
    return read_json(text, "a run configuration")


def read_settings(kind: type[S], text: str) -> S:
    """What a page's configuration file says; ValueError with one sentence for anything else."""
    return kind.from_dict(read_json(text, f"a {kind.what}"))


def _resolve_here(config: RunConfig, problem: Potential) -> Resolved:
    """Resolve, and refuse what takes more memory than a visitor may have."""
    resolved = resolve(config, problem)
    check_allowance(resolved.config, problem)
    return resolved
