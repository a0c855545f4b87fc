"""What the engine chooses where a RunConfig says None, and checks that need both the config and the problem. Long, since each
choice and each check is said once, whether chains can interact and what that adds among them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from llc_core.config import RunConfig
from llc_core.engine.machine import check_memory, checked_device
from llc_core.fields import check_hyper, short
from llc_core.interactions import Interaction
from llc_core.interactions import build as build_interaction
from llc_core.observables import build as build_observable
from llc_core.observables.base import gives_samples
from llc_core.potentials import build as build_potential
from llc_core.potentials.base import Potential
from llc_core.potentials.polishing import PASSES, polish
from llc_core.samplers import MetropolisSampler, Sampler, build, numeric_fields
from llc_core.types import Polish

OF_TARGET = {"n_beta", "localization", "temperature"}
"""Fields of a grid that belong to the target; the others are hyperparameters of the sampler. A temperature divides nβ and γ."""
UNDERDAMPED = "UnderdampedLangevin"
"""What takes the place of exact draws where these cannot be made."""


@dataclass(frozen=True)
class Resolved:
    """A configuration in which nothing is left open, beside the objects that it describes.

    Made once for each change, by `resolve`, and handed to `Run`, to what checks a visitor's allowance, and to figures.
    polish: what was done where `config.polish` asks for it; the problem is then that at the new w0, and `config` describes it at the
    former one, so that it can be run again. None: nothing was done, or not yet.
    """

    config: RunConfig
    problem: Potential
    sampler: Sampler
    observable: Potential | None = None
    polish: Polish | None = None

    def polished(self, passes: int = PASSES) -> Resolved:
        """This at the local minimum of L_n. passes: as in `polish`."""
        done = polish(self.problem, passes=passes, n_beta=self.config.n_beta, device=self.config.device)
        observable = self.observable
        if observable is not None and done.distance > 0:
            observable = observable.moved(done.delta)
        _prepare(done.problem, self.config)
        config = self.config.replace(polish=True)
        return replace(self, config=config, problem=done.problem, observable=observable, polish=done.record)

    def at(self, problem: Potential) -> Resolved:
        """The same run at another point of the same problem: the network with other weights, of the same data and shape."""
        complete = self.config.replace(problem=problem.to_dict())
        _prepare(problem, complete)
        return replace(self, config=complete, problem=problem, polish=None)


def resolve(config: RunConfig, problem: Potential | None = None, observable: Potential | None = None) -> Resolved:
    """Settle what `config` leaves open; ValueError says in one sentence what does not fit.

    problem, observable: live objects in place of those that the configuration describes.
    """
    problem = _problem(config, problem)
    gradient = config.gradient if config.gradient is not None else problem.gradients[0]
    batch_size = config.batch_size if config.batch_size is not None else problem.batch_size
    _check_fit(config, problem, gradient, batch_size)
    sampler = build(config.sampler) if config.sampler is not None else _default_sampler(config, problem, gradient)
    interaction = None if config.interaction is None else build_interaction(config.interaction)
    sampler = sampler.complete(problem.has_factors and gradient == "full" and interaction is None)
    if isinstance(sampler, MetropolisSampler) and gradient != "full":
        raise ValueError(f"{sampler.name} accepts or rejects by exact energies; use gradient='full'.")
    if sampler.needs_conditionals:
        _check_conditionals(config, problem, sampler, gradient)
    if sampler.in_prior_coordinates and _without_prior(config, problem):
        raise ValueError(
            f"localization is 0, and {sampler.name} moves in the coordinates of a Gaussian prior; give localization > 0 or "
            "another sampler."
        )
    steps = config.steps if config.steps is not None else problem.default_steps(gradient, sampler.name)
    if isinstance(config.burn_in, int) and config.burn_in >= steps:
        raise ValueError(
            f"burn_in is {config.burn_in} steps but the run has only {steps}; leave steps to average over."
        )
    dtype = config.dtype or automatic_dtype(sampler)
    device = checked_device(config.device)
    if device.startswith("mps") and dtype == "float64":
        raise ValueError(
            f"device is {device!r}, which has no double precision, and this run of {sampler.name} is in float64; use 'cpu'."
        )
    complete = config.replace(
        problem=problem.to_dict(),
        sampler=sampler.to_dict(),
        gradient=gradient,
        batch_size=batch_size,
        steps=steps,
        n_beta=config.n_beta if config.n_beta is not None else problem.n_beta,
        localization=config.localization if config.localization is not None else problem.localization,
        observables=[build_observable(each).to_dict() for each in config.observables],
        device=device,
        dtype=dtype,
    )
    _prepare(problem, complete)
    if interaction is not None:
        complete = with_interaction(complete, interaction, problem, sampler, is_auto_step(sampler, config))
    elif problem.walls:
        check_walls(problem, sampler)
    check_grid(complete, sampler)
    if "temperature" in complete.grid and has_prior(problem, device):
        raise ValueError(
            "temperatures divide nβ and γ, and would leave this problem's prior of its own as it is; leave them out."
        )
    observable = resolve_observable(complete, problem, observable)
    check_memory(complete, problem, observable)
    if observable is not None:
        complete = complete.replace(observable=observable.to_dict())
    for each in complete.observables:
        build_observable(each).check(problem, observable)
    return Resolved(complete, problem, sampler, observable)


def _problem(config: RunConfig, problem: Potential | None) -> Potential:
    """The live problem, or the one that the configuration describes."""
    if problem is None:
        return build_potential(config.problem)
    if not isinstance(problem, Potential):
        raise ValueError(
            f"problem must be a potential such as DeepLinearNetwork.random('1K'), not a {type(problem).__name__}."
        )
    if config.problem.get("kind") == "object" and config.problem != problem.to_dict():
        raise ValueError(
            "The configuration describes another problem than the one passed beside it; pass one of the two."
        )
    return problem


def _check_fit(config: RunConfig, problem: Potential, gradient: str, batch_size: int) -> None:
    """Raises ValueError where the configuration asks for what the problem does not offer."""
    offered = ", ".join(problem.gradients)
    if gradient not in problem.gradients:
        raise ValueError(f"gradient is {gradient!r}; this problem offers {offered}.")
    if config.metric_gradient is not None and config.metric_gradient not in problem.gradients:
        raise ValueError(f"metric_gradient is {config.metric_gradient!r}; this problem offers {offered}.")
    if config.histogram is not None and problem.dim != 1:
        raise ValueError(f"histogram needs a problem with one parameter; this one has {problem.dim:,}: leave it out.")
    if {gradient, config.metric_gradient} - {"full", None} and batch_size > problem.samples > 0:
        raise ValueError(f"batch_size is {batch_size}, but there are only {problem.samples} samples; use at most that.")
    if config.functional_variance is not None and not gives_samples(problem):
        raise ValueError(
            f"functional_variance needs the losses of single samples, which a problem of kind {problem.kind} does not "
            "give: leave it out."
        )


def _default_sampler(config: RunConfig, problem: Potential, gradient: str) -> Sampler:
    """The problem's own choice; exact draws only where steps are left open too, since a number of steps is one of Langevin
    steps, and where they can be made."""
    chosen = build(problem.default_sampler(gradient))
    if not chosen.needs_conditionals:
        return chosen
    can = config.steps is None and set(config.grid) <= OF_TARGET and config.metric_gradient is None
    can &= config.device in (None, "cpu") and config.dtype != "float32" and not _without_localization(config)
    return chosen if can else build(UNDERDAMPED)


def has_prior(problem: Potential, device: str | torch.device) -> bool:
    """Whether the target holds more than the loss and γ."""
    home = torch.zeros(problem.problems * problem.data_sets, problem.dim, device=device)
    return problem.prior_energy_and_grad(home) is not None


def _without_localization(config: RunConfig) -> bool:
    gammas = config.grid.get("localization", (config.localization,))
    return any(gamma is not None and gamma <= 0 for gamma in gammas)


def _without_prior(config: RunConfig, problem: Potential) -> bool:
    """Whether nothing but the loss holds the chains at some setting."""
    gamma = config.localization is None and problem.localization <= 0 and "localization" not in config.grid
    return (gamma or _without_localization(config)) and problem.prior_precision(torch.empty(0)) is None


def _check_conditionals(config: RunConfig, problem: Potential, sampler: Sampler, gradient: str) -> None:
    """Raises ValueError where a sampler that draws from exact conditional distributions cannot run."""
    if sampler.name not in problem.exact_samplers:
        raise ValueError(
            f"{sampler.name} draws from exact conditional distributions, which a problem of kind {problem.kind} does not have; use "
            f"{UNDERDAMPED}."
        )
    if gradient != "full":
        raise ValueError(f"{sampler.name} sees all data at once; use gradient='full'.")
    if _without_prior(config, problem):
        raise ValueError(
            f"localization is 0; the distributions that {sampler.name} draws from are proper only above 0."
        )
    if config.dtype == "float32":
        raise ValueError(f"dtype is float32; {sampler.name} works in float64: leave dtype out.")
    for gamma in config.grid.get("localization", (config.localization,)):
        problem.check_conditionals(gamma)


def resolve_observable(config: RunConfig, problem: Potential, observable: Potential | None) -> Potential | None:
    """The second problem, whose loss is averaged along the chains of the first; None where there is none."""
    if observable is None:
        if config.observable is None:
            return None
        observable = build_potential(config.observable)
    elif not isinstance(observable, Potential):
        raise ValueError(f"observable must be a potential, not a {type(observable).__name__}.")
    if observable.dim != problem.dim:
        raise ValueError(
            f"observable has {observable.dim:,} parameters and the problem {problem.dim:,}; they must be the same ones."
        )
    if observable.problems != problem.problems:
        raise ValueError(
            f"observable has {observable.problems} networks side by side and the problem {problem.problems}; give as many."
        )
    given = config.observable or {}
    if given.get("kind") == "object" and given != observable.to_dict():
        raise ValueError("The configuration describes another observable than the one passed beside it.")
    return observable


def check_grid(config: RunConfig, sampler: Sampler) -> None:
    fields = numeric_fields(sampler)
    for name, values in config.grid.items():
        if name in fields:
            for value in values:
                check_hyper(sampler.name, name, value, fields[name])
        elif name in ("n_beta", "localization"):
            for value in values:
                config.replace(grid={}, **{name: value})
        elif name == "temperature":
            if len(set(values)) < max(len(values), 2) or values[0] != 1 or min(values) <= 0:
                raise ValueError(
                    f"temperatures is {short(list(values))}; give 1 and then at least one other, each once and above 0."
                )
            for n_beta in (each / t for each in config.grid.get("n_beta", (config.n_beta,)) for t in values):
                config.replace(grid={}, n_beta=n_beta)
        else:
            allowed = ", ".join([*fields, *sorted(OF_TARGET)])
            raise ValueError(f"grid has no field {short(name)} for {sampler.name}; choose among {allowed}.")


def automatic_dtype(sampler: Sampler) -> str:
    """The precision of a run that names none: methods that accept or reject compare small differences of energies, and
    exact draws invert matrices."""
    exact = isinstance(sampler, MetropolisSampler) or sampler.needs_conditionals
    return "float64" if exact else "float32"


def _prepare(problem: Potential, config: RunConfig) -> None:
    """Tell the problem where and in which precision it will be evaluated."""
    dtype = torch.float64 if config.dtype == "float64" else torch.float32
    problem.prepare(torch.empty(0, dtype=dtype, device=config.device))


def is_auto_step(sampler: Sampler, config: RunConfig) -> bool:
    return getattr(sampler, "step_size", 0.0) is None and "step_size" not in config.grid


def with_interaction(
    config: RunConfig, interaction: Interaction, problem: Potential, sampler: Sampler, automatic: bool
) -> RunConfig:
    """The configuration with the interaction's own grid; ValueError where chains cannot interact. automatic: the step size."""
    check_sampler(sampler)
    if interaction.heats_noise and not sampler.heats_by_noise:
        raise ValueError(
            f"{sampler.name} has noise of one temperature, so with {interaction.name} its chains cannot interact; use SGLD."
        )
    if problem.by_chain:
        raise ValueError(
            "This network is so wide that a CPU steps chain by chain, and such chains cannot interact; use a GPU."
        )
    if automatic and interaction.largest_heat() is None:
        raise ValueError(
            f"step_size is automatic, but {interaction.name} has no bound on what it multiplies the force by; give step_size, or clip."
        )
    grid = dict(config.grid)
    ladder = getattr(interaction, "ladder", None)
    if ladder is not None:
        assert config.n_beta is not None
        levels = ladder(config.n_beta)
        if grid.get("n_beta", levels) != levels:
            raise ValueError("grid has n_beta, which are the levels of ReplicaExchange; leave it out.")
        grid.pop("n_beta", None)
        grid["n_beta"] = levels  # levels vary fastest
    complete = config.replace(grid=grid, interaction=interaction.to_dict())
    settings = 1
    for values in complete.grid.values():
        settings *= len(values)
    interaction.members_of(config.chains, settings)
    return complete


def check_sampler(sampler: Sampler) -> None:
    """ValueError where its chains cannot interact."""
    if isinstance(sampler, MetropolisSampler) or sampler.needs_conditionals:
        raise ValueError(
            f"{sampler.name} takes its own decisions within a step, so its chains cannot interact; use SGLD or UnderdampedLangevin."
        )
    if sampler.adapts_coordinates:
        raise ValueError(
            f"{sampler.name} adapts its coordinates, in which chains cannot interact; turn that off, or use SGLD."
        )


def check_walls(problem: Potential, sampler: Sampler) -> None:
    if isinstance(sampler, MetropolisSampler) or sampler.needs_conditionals:
        raise ValueError(f"{sampler.name} does not know of this problem's walls; use SGLD or UnderdampedLangevin.")
