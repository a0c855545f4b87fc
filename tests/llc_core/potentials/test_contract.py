"""What every potential keeps to: slopes, rows, batches, descriptions. What is special to one kind stands in its own folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import torch
from small_networks import classifier, gradient_by_difference
from torch import Tensor

from llc_core import DeepLinearFamily, DeepLinearNetwork, RunConfig
from llc_core.compute.streams import torch_stream
from llc_core.potentials import KINDS, BayesianNetwork, Potential, build, price
from llc_core.potentials.base import Batch

ROWS = {"x": [[0.3, -1.0], [2.0, 0.5], [-0.7, 0.1]], "y": [0.4, -1.2, 0.9]}
PLANES = {
    "crossing": {"name": "normal_crossing", "k": [1, 3]},
    "prior": {"name": "normal_crossing", "k": [2, 1], "h": [0, 3]},
    "flat": {"name": "normal_crossing", "k": [0, 2]},
    "line": {"name": "normal_crossing", "k": [3]},
    "beside": {"name": "normal_crossing", "k": [1, 3], "h": [2, 1], "at": [0.0, -1.5]},
    "U": {"name": "line_and_point", "at": "U"},
    "on the line": {"name": "line_and_point", "at": [1.0, -0.8]},
    "V": {"name": "line_and_point", "at": "V"},
    "regular": {"name": "quadratic", "scales": [1.0, 0.3]},
    "written": {"name": "formula", "rho": "w1*w2 + w1^2"},
}
MADE: dict[str, Callable[[], Potential]] = {
    "dln": lambda: DeepLinearNetwork.random(widths=[6, 4, 5, 3], layer_ranks=[4, 2, 3], n=400, seed=3),
    "dln of a class": lambda: DeepLinearNetwork.random("1K", "paper", seed=4, n=500, noise_std=0.1),
    "dln of one layer": lambda: DeepLinearNetwork.random(widths=[5, 3], n=300, seed=1),
    "dln virtual": lambda: DeepLinearNetwork.random(widths=[4, 3, 4], n=500, seed=2, virtual=True),
    "dln_family": lambda: DeepLinearFamily(
        [DeepLinearNetwork.random(widths=[4, 3, 4], n=400, seed=seed) for seed in range(2)]
    ),
    **{
        f"bayesian_network {activation} {likelihood}": lambda activation=activation, likelihood=likelihood: (
            BayesianNetwork((2, 5, 4, 1), ROWS, activation, likelihood, noise_variance=0.1)
        )
        for activation in ("selu", "relu", "erf", "tanh")
        for likelihood in ("gaussian", "laplace")
    },
    **{
        f"planar {name}": lambda values=values: build({"kind": "planar", **values, "n": 50, "data_sets": 2, "seed": 3})
        for name, values in PLANES.items()
    },
    "surface": lambda: build({"kind": "surface", "name": "mixture"}),
    "surface in noise": lambda: build({"kind": "surface", "name": "modes25", "noise": 0.25}),
    "landscape": lambda: build({"kind": "landscape", "name": "skewed"}),
    "landscape written": lambda: build({"kind": "landscape", "expression": "x^4/4 - cos(3*x)", "of": "energy"}),
    "superposition": lambda: build({"kind": "superposition", "sides": 5, "features": 7, "left_out": "mean"}),
    "module": classifier,
}
SAMPLED = ("dln", "dln of a class", "dln of one layer", "dln virtual", "dln_family", "surface in noise", "module")
"""They have gradients from batches."""
OWN_CURVATURE = (*[name for name in MADE if name.startswith(("dln", "landscape"))], "module")
"""They have Hessian products of their own, and no differences of slopes."""
LARGE = ("dln of a class",)
"""Too many parameters for a difference in every direction."""
OWN_NOISE = ("surface in noise",)
"""Their batches disturb the loss and its slope independently, as a paper has it: a batch's slope is not that of its loss."""
EVERY = pytest.mark.parametrize("name", MADE)


def side_by_side(problem: Potential) -> int:
    return problem.problems * problem.data_sets


def moves(problem: Potential, chains: int, size: float = 0.1) -> Tensor:
    return size * torch.randn(chains, problem.dim, dtype=torch.float64, generator=torch_stream(0, "moves"))


def drawn(problem: Potential, gradient: str, chains: int, seed: int = 1) -> Batch | None:
    if gradient == "full":
        return None
    return problem.draw(torch_stream(seed, "batch"), chains, 7, gradient, torch.float64)


def check_slope(problem: Potential, delta: Tensor, batch: Batch | None) -> None:
    """AssertionError where the gradient is not that of the loss. A central difference of steps h = 1e-5 is off by h²·L‴/6, far
    below 1e-6 for these losses, and by rounding, ε·L/h, 1e-9 where L is 100.
    """
    loss, slope = problem.excess_loss_and_grad(delta, batch)
    assert loss.abs().min() > 1e-12, "nothing is asked where nothing moves"
    torch.testing.assert_close(slope, gradient_by_difference(problem, delta, batch), rtol=1e-6, atol=1e-6)


def check_rows(problem: Potential, delta: Tensor) -> None:
    """AssertionError where a chain's numbers depend on the chains beside it, or those of a problem on the other problems."""
    together = problem.excess_loss_and_grad(delta)
    for chain in range(len(delta)):
        # Every place of this batch is taken by one chain, so that it is seen in the place that it has.
        alone = problem.excess_loss_and_grad(delta[chain : chain + 1].expand_as(delta).contiguous())
        for one, other in zip(together, alone, strict=True):
            torch.testing.assert_close(one[chain], other[chain], rtol=1e-10, atol=1e-12)


def check_zero(problem: Potential) -> None:
    """AssertionError where the excess loss at w0 is not 0."""
    at_w0, _ = problem.excess_loss_and_grad(torch.zeros(side_by_side(problem), problem.dim, dtype=torch.float64))
    torch.testing.assert_close(at_w0, torch.zeros_like(at_w0), rtol=0, atol=1e-12)


def test_every_kind_is_asked():
    made = {name: make() for name, make in MADE.items()}
    assert {problem.kind for problem in made.values()} == {*KINDS, "object"}
    assert {name for name, problem in made.items() if problem.gradients != ("full",)} == set(SAMPLED)
    assert {name for name, problem in made.items() if type(problem).hvp is not Potential.hvp} == set(OWN_CURVATURE)


@pytest.mark.parametrize("name", [name for name in MADE if name not in LARGE])
def test_the_gradient_is_that_of_the_loss(name):
    problem = MADE[name]()
    chains = 2 * side_by_side(problem)
    for gradient in ["full"] if name in OWN_NOISE else problem.gradients:
        check_slope(problem, moves(problem, chains), drawn(problem, gradient, chains))


@EVERY
def test_the_excess_loss_is_nothing_at_w0_and_chains_do_not_mix(name):
    problem = MADE[name]()
    check_zero(problem)
    check_rows(problem, moves(problem, 2 * side_by_side(problem)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@EVERY
def test_shapes_and_types_are_kept_and_what_is_given_stays(name, dtype):
    problem = MADE[name]()
    chains = 3 * side_by_side(problem)
    delta = moves(problem, chains).to(dtype)
    before = delta.clone()
    loss, slope = problem.excess_loss_and_grad(delta)
    near = {"rtol": 1e-4, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 1e-9, "atol": 1e-12}
    torch.testing.assert_close(problem.excess_loss(delta), loss, **near)
    assert loss.shape == (chains,) and slope.shape == delta.shape and loss.dtype == slope.dtype == dtype
    assert torch.isfinite(loss).all() and torch.isfinite(slope).all() and torch.equal(delta, before)


@pytest.mark.parametrize("name", SAMPLED)
def test_batches_follow_their_seed_and_are_right_on_average(name):
    """A mean over 600 batches is nearly normal: of a hundred of them one is beyond 5 standard errors for one seed in 17,000."""
    problem = MADE[name]()
    for gradient in problem.gradients:
        if gradient != "full":
            check_batches(problem, gradient)


def check_batches(problem: Potential, gradient: str) -> None:
    one, same, other = (drawn(problem, gradient, 3 * side_by_side(problem), seed) for seed in (1, 1, 2))
    assert one.baseline_loss.shape == (3 * side_by_side(problem),)
    assert all(torch.equal(one.data[key], same.data[key]) for key in one.data)
    assert any(not torch.equal(one.data[key], other.data[key]) for key in one.data)

    count = 600 * side_by_side(problem)
    delta = moves(problem, side_by_side(problem), 0.01).repeat_interleave(600, 0)
    found = problem.excess_loss_and_grad(delta, drawn(problem, gradient, count))
    exact = problem.excess_loss_and_grad(delta)
    for mean, true in zip(found, exact, strict=True):
        error = (mean - true).view(side_by_side(problem), 600, -1)
        se = error.std(1) / 600**0.5
        assert (error.mean(1).abs() <= 5 * se + 1e-12).all()


@EVERY
def test_the_loss_is_the_mean_over_its_samples(name):
    problem = MADE[name]()
    if not problem.samples or problem.problems > 1 or problem.samples > 1000:
        assert name in (
            "dln virtual",
            "dln_family",
            "surface",
            "surface in noise",
            "landscape",
            "landscape written",
            "superposition",
        )
        return
    delta = moves(problem, side_by_side(problem))
    each = problem.per_sample_loss(delta, 0, problem.samples)
    at_w0 = problem.per_sample_loss(torch.zeros_like(delta), 0, problem.samples)
    torch.testing.assert_close(each.mean(1) - at_w0.mean(1), problem.excess_loss_and_grad(delta)[0])
    assert torch.allclose(problem.per_sample_loss(delta, 1, 3), each[:, 1:3])


@pytest.mark.parametrize("name", OWN_CURVATURE)
def test_curvature_is_the_slope_of_the_slope(name):
    problem = MADE[name]()
    delta = moves(problem, side_by_side(problem))
    vector = moves(problem, side_by_side(problem), 1.0).flip(1)
    above, below = (problem.excess_loss_and_grad(delta + sign * 1e-5 * vector)[1] for sign in (1, -1))
    found = problem.hvp(delta, vector)
    torch.testing.assert_close(found, (above - below) / 2e-5, rtol=1e-4, atol=1e-4 * float(found.abs().max()))


@pytest.mark.parametrize("name", [name for name in MADE if name not in OWN_NOISE])
def test_products_with_the_hessian_are_of_the_rows_that_the_gradient_is_of(name):
    """Against differences a tenth as long as those that potentials without products of their own take."""
    problem = MADE[name]()
    chains = 2 * side_by_side(problem)
    delta, vector = moves(problem, chains), moves(problem, chains, 1.0).flip(1)
    found = []
    for gradient in problem.gradients:
        batch = drawn(problem, gradient, chains)
        above, below = (problem.excess_loss_and_grad(delta + sign * 1e-5 * vector, batch)[1] for sign in (1, -1))
        found.append(problem.hvp_on(delta, batch, vector))
        torch.testing.assert_close(
            found[-1], (above - below) / 2e-5, rtol=1e-4, atol=1e-4 * float(found[-1].abs().max())
        )
    for other in found[1:]:
        assert (other - found[0]).abs().max() > 1e-2 * found[0].abs().max(), "batches have curvatures of their own"


@EVERY
def test_a_description_makes_the_same_problem_and_says_what_it_takes(name):
    problem = MADE[name]()
    description = json.loads(json.dumps(problem.to_dict()))
    if problem.kind == "object":
        with pytest.raises(ValueError, match="exists only as an object"):
            build(description)
        assert MADE[name]().to_dict() == description
        return
    again = build(description)
    assert type(again) is type(problem) and json.loads(json.dumps(again.to_dict())) == description
    delta = moves(problem, side_by_side(problem))
    for one, other in zip(problem.excess_loss_and_grad(delta), again.excess_loss_and_grad(delta), strict=True):
        assert torch.equal(one, other)
    assert again.start == pytest.approx(problem.start)
    assert RunConfig.from_json(RunConfig(problem=description).to_json()).problem == description
    assert price(description).parameters == problem.dim * problem.problems
    with pytest.raises(ValueError, match="unheard_of|has the key networks alone") as error:
        build({**description, "unheard_of": 1})
    assert "\n" not in str(error.value)


class Faulty(Potential):
    """A potential with one planted fault."""

    def __init__(self, problem: Potential, fault: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]):
        self.problem, self.fault = problem, fault
        self.dim, self.n = problem.dim, problem.n

    def excess_loss_and_grad(self, delta: Tensor, batch: Batch | None = None) -> tuple[Tensor, Tensor]:
        return self.fault(*self.problem.excess_loss_and_grad(delta, batch))


FAULTS: dict[str, tuple[Any, Any]] = {
    "a slope that is off by a ten-thousandth": (lambda loss, slope: (loss, 1.0001 * slope), check_slope),
    "a slope that has two parameters exchanged": (lambda loss, slope: (loss, slope.flip(1)), check_slope),
    "a loss that is not an excess": (lambda loss, slope: (loss + 1e-9, slope), check_zero),
    "a loss that is the mean over the chains": (lambda loss, slope: (loss.mean().expand_as(loss), slope), check_rows),
}


@pytest.mark.parametrize(("fault", "check"), FAULTS.values(), ids=FAULTS)
def test_a_planted_fault_is_seen(fault, check):
    problem = MADE["dln"]()
    delta = moves(problem, 2)
    given = {check_slope: (delta, None), check_rows: (delta,), check_zero: ()}[check]
    check(problem, *given)
    with pytest.raises(AssertionError):
        check(Faulty(problem, fault), *given)
