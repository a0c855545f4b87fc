"""What a run is made of before a chain moves, and in which of torch's modes it steps."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import torch
from torch import Tensor

from llc_core.compute.precision import SINGLE
from llc_core.compute.streams import stream_seed, torch_stream
from llc_core.engine.resolve import OF_TARGET, Resolved, is_auto_step
from llc_core.engine.target import Target
from llc_core.groups import Groups, settings
from llc_core.observables import build
from llc_core.samplers import MetropolisSampler

STREAMS = ("noise", "batch", "probe", "metric", "hessian", "exchange")


class Setup:
    """The sizes, the target and the random streams of a resolved configuration.

    groups: C chains in all.  like: an empty tensor of the run's device and precision.
    target: with one number for every chain, [C, 1], the grid's values among them.
    adapting: in so many first steps something may be adapted. A run that goes on adapts nothing more, so this and
    `planned_steps` are the numbers with which the run was first begun.
    streams: a generator for each purpose, so that no use of random numbers shifts those of another.
    """

    def __init__(self, resolved: Resolved):
        config = self.config = resolved.config
        self.problem, self.sampler, self.observable = resolved.problem, resolved.sampler, resolved.observable
        self.polish = resolved.polish
        assert config.steps is not None and config.gradient is not None and config.batch_size is not None
        assert config.n_beta is not None and config.localization is not None
        self.steps, self.burn_in = config.steps, config.burn_in_steps(config.steps)
        self.gradient, self.batch_size = config.gradient, config.batch_size
        begun = config.continued_from or {"steps": self.steps, "burn_in": self.burn_in}
        self.planned_steps, self.adapting = begun["steps"], begun["burn_in"]
        self.auto_step = is_auto_step(self.sampler, config)

        self.settings = settings(config)
        self.groups = Groups(self.problem.problems, config.chains, len(self.settings))
        if self.groups.problems > 1 and config.histogram is not None:
            raise ValueError("histogram counts the visits of one problem; run the networks of a family one by one.")

        device = torch.device(str(config.device))
        self.like = torch.empty(0, dtype=torch.float64 if config.dtype == "float64" else torch.float32, device=device)
        n_beta = self.like.new_full((self.groups.count, 1), config.n_beta)
        followed = self.problem.for_proposals() if isinstance(self.sampler, MetropolisSampler) else self.problem
        self.target = Target(followed, n_beta, torch.full_like(n_beta, config.localization))
        for name in (OF_TARGET - {"temperature"}) & set(config.grid):
            setattr(self.target, name, self.of_grid(name))
        if "temperature" in config.grid:
            # All of U is divided, so that a balance of γ and a slope of the loss stays where it is.
            self.target.n_beta = self.target.n_beta / self.of_grid("temperature")
            self.target.localization = self.target.localization / self.of_grid("temperature")
        if self.sampler.in_prior_coordinates:
            self.target.use_prior_coordinates()

        self.streams = {name: torch_stream(config.seed, name, device) for name in STREAMS}
        self.noise_seed = stream_seed(config.seed, "noise")

    def of_grid(self, name: str) -> Tensor:
        """What the grid says of the field `name`, for every chain, [C, 1]."""
        values = self.like.new_tensor([float(setting[name]) for setting in self.settings])
        return values.repeat(self.groups.problems * self.groups.chains).unsqueeze(1)

    def home(self) -> Tensor:
        """Where chains begin, a new tensor δ [C, D]."""
        home = self.like.new_zeros(self.groups.count, self.problem.dim)
        if self.problem.starts_at_prior:
            stream = torch_stream(self.config.seed, "start", home.device)
            return home.normal_(generator=stream) * self.target.prior_precision.rsqrt()
        if self.problem.start is not None:
            start = self.problem.start
            # An array keeps its precision; plain numbers are float32, whatever the default of the process is.
            home += (torch.as_tensor(start) if hasattr(start, "dtype") else torch.as_tensor(start, **SINGLE)).to(home)
        return home


def can_be_asked(setup: Setup) -> bool:
    """Whether the chains move around a minimum that w0 is meant to be, and on one data set."""
    problem = setup.problem
    return not (problem.starts_at_prior or problem.walls or problem.data_sets > 1)


OWN = "llc_core."


def stepping_mode(resolved: Resolved) -> Callable[[], AbstractContextManager[object]]:
    """torch.inference_mode where nothing in a step can want autograd, else torch.no_grad. The numbers are the same.

    In inference mode an operation on small tensors takes a sixth less time. But what is made there is refused by autograd for
    ever, so parts that a user wrote, which may call it, step without.
    """
    potentials = [each for each in (resolved.problem, resolved.observable) if each is not None]
    parts = [*potentials, resolved.sampler, *map(build, resolved.config.observables)]
    own = all(type(part).__module__.startswith(OWN) for part in parts)
    return torch.inference_mode if own and all(each.own_gradients for each in potentials) else torch.no_grad
