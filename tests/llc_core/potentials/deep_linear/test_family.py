"""Linear networks of one shape side by side: each has to come out as if it were alone."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch

from llc_core import DeepLinearFamily, DeepLinearNetwork, RunConfig, calibrate, estimate, temperature_llc
from llc_core.engine.run import Run
from llc_core.potentials import build
from llc_core.potentials.deep_linear import tensors as dln_tensors
from llc_core.studies.explain.split import explain

CHAINS = 2

WAYS = {
    "stacked by numpy": ([8, 6, 9, 7], True),
    "stacked by torch": ([8, 6, 9, 7], False),
    "one after the other": ([50, 12, 20], True),
    "wide, by torch": ([50, 12, 20], False),
    "one layer": ([6, 5], True),
}


@pytest.fixture(params=WAYS)
def family(request, monkeypatch):
    widths, numpy_preferred = WAYS[request.param]
    monkeypatch.setattr(dln_tensors, "prefers_numpy", lambda: numpy_preferred)
    return DeepLinearFamily(
        [DeepLinearNetwork.random(widths=widths, ranks="equal", n=3000, seed=seed) for seed in range(3)]
    )


def displacements(family, each=2 * CHAINS):
    generator = torch.Generator().manual_seed(0)
    return 0.1 * torch.randn(3 * each, family.dim, generator=generator, dtype=torch.float64)


def apart(family, count):
    return [(network, slice(i * count // 3, (i + 1) * count // 3)) for i, network in enumerate(family.networks)]


@pytest.mark.parametrize("gradient, size", [("full", 0), ("control_variate", 60), ("minibatch", 60), ("minibatch", 4)])
def test_loss_and_gradient_are_those_of_each_network(family, gradient, size):
    """Batches of 4 rows are evaluated on rows, larger ones by their moments; two settings share each batch."""
    delta = displacements(family)
    batch = None
    if size:
        batch = family.draw(torch.Generator().manual_seed(1), 3 * CHAINS, size, gradient, torch.float64)
        assert ("x" in batch.data) == (size == 4) and batch.baseline_loss.shape == (3 * CHAINS,)
    loss, grad = family.excess_loss_and_grad(delta, batch)
    generator = torch.Generator().manual_seed(1)
    for network, rows in apart(family, len(delta)):
        own = network.draw(generator, CHAINS, size, gradient, torch.float64) if size else None
        expected, slope = network.excess_loss_and_grad(delta[rows], own)
        torch.testing.assert_close(loss[rows], expected)
        torch.testing.assert_close(grad[rows], slope)


def test_curvature_is_that_of_each_network(family):
    delta = displacements(family)
    vector = torch.randn(delta.shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    image, factors = family.hvp(delta, vector), family.kronecker_factors(delta)
    diagonal = family.hessian_diagonal(delta, None, torch.Generator())
    losses = family.per_sample_loss(delta, 10, 30)
    for network, rows in apart(family, len(delta)):
        torch.testing.assert_close(image[rows], network.hvp(delta[rows], vector[rows]))
        torch.testing.assert_close(diagonal[rows], network.hessian_diagonal(delta[rows], None, torch.Generator()))
        torch.testing.assert_close(losses[rows], network.per_sample_loss(delta[rows], 10, 30))
        for mine, own in zip(factors, network.kronecker_factors(delta[rows]), strict=True):
            torch.testing.assert_close(mine[0][rows], own[0])
            torch.testing.assert_close(mine[1][rows], own[1])


def test_rows_gathered_together_are_each_networks_own(family):
    """What a GPU does in place of one draw after the other."""
    device, found = torch.device("cpu"), family._gather(torch.Generator().manual_seed(0), 6, 40, torch.float64)
    assert found.shape[:2] == (6, 40)
    for chain, rows in enumerate(found):
        pool = family.networks[chain // 2].data.pool(device, torch.float64)
        start = int((pool == rows[0]).all(dim=1).nonzero())
        torch.testing.assert_close(rows, pool[(start + torch.arange(40)) % len(pool)], rtol=0, atol=0)


@pytest.mark.slow
@pytest.mark.usefixtures("no_draws")
@pytest.mark.parametrize(
    "sampler, gradient, steps",
    [
        ({"name": "UnderdampedLangevin"}, "full", 900),
        ({"name": "SGLD"}, "control_variate", 1200),
    ],
)
def test_every_network_gets_the_estimate_it_has_alone(sampler, gradient, steps):
    networks = [DeepLinearNetwork.random(widths=[6, 5, 7], ranks="full", seed=seed) for seed in range(3)]
    found = estimate(DeepLinearFamily(networks), sampler["name"], gradient=gradient, chains=32, steps=steps)
    alone = [estimate(n, sampler["name"], gradient=gradient, chains=32, steps=steps, seed=9) for n in networks]
    for mine, one, network in zip(found, alone, networks, strict=True):
        assert mine.expected == one.expected and mine.baseline_loss == network.baseline_loss
        assert mine.chains == 32 and not mine.diverged and len(mine.per_chain) == 32
        assert abs(mine.llc - one.llc) < 4 * np.hypot(mine.llc_se, one.llc_se)
        assert mine.llc_se < 0.1 * mine.llc
        assert mine.diagnostics["step_size"] == pytest.approx(one.diagnostics["step_size"], rel=0.3)


@pytest.mark.slow
@pytest.mark.usefixtures("no_draws")
@pytest.mark.long
def test_step_sizes_and_coordinates_do_not_mix():
    """A network of weights a thousand times smaller has another stability limit; its neighbour must not feel it."""
    large = DeepLinearNetwork([10 * np.eye(5)] * 2)
    small = DeepLinearNetwork([0.01 * np.eye(5)] * 2)
    for sampler in ("SGLD", "UnderdampedLangevin"):
        together = estimate(DeepLinearFamily([large, small]), sampler, gradient="full", steps=1500)
        alone = [estimate(network, sampler, gradient="full", steps=1500) for network in (large, small)]
        steps = [[e.diagnostics["step_size"] for e in found] for found in (together, alone)]
        np.testing.assert_allclose(*steps, rtol=0.3)
        if sampler == "SGLD":
            assert steps[0][1] > 20 * steps[0][0]


def test_a_grid_gives_an_estimate_for_every_network_and_setting():
    networks = [DeepLinearNetwork.random(widths=[6, 5], ranks="full", seed=seed) for seed in range(2)]
    found = estimate(
        DeepLinearFamily(networks), "SGLD", gradient="minibatch", baseline="full", steps=200, chains=3,
        grid={"step_size": [1e-8, 1e-7]},
    )  # fmt: skip
    assert [e.setting for e in found] == [{"step_size": s} for _ in (0, 1) for s in (1e-8, 1e-7)]
    assert [e.config.problem for e in found] == [n.to_dict() for n in networks for _ in range(2)]
    assert [e.diagnostics["step_size"] for e in found] == pytest.approx([1e-8, 1e-7] * 2)
    assert [e.expected for e in found[::2]] == pytest.approx([n.expected_llc_of_data() for n in networks])
    assert len({e.llc for e in found}) == 4


def test_an_estimate_is_of_its_own_network():
    networks = [DeepLinearNetwork.random(widths=[6, 5], ranks="full", seed=seed) for seed in range(2)]
    family = DeepLinearFamily(networks)
    found = estimate(family, "SGLD", gradient="full", steps=400, grid={"n_beta": [30.0, 100.0]})
    with pytest.raises(ValueError, match="one problem"):
        temperature_llc([found[0], found[3]])
    # A sum in another order: five roundings of float64 in numbers some 40 times as large as their difference.
    assert temperature_llc(found[2:]).llc == pytest.approx(temperature_llc(found[2:][::-1]).llc, rel=1e-12)
    parts = explain(estimate(family, "SGLD", gradient="full", steps=400)[1], networks[1], budget=0.1)
    assert math.isfinite(parts.llc) and parts.truth < 30


@pytest.mark.parametrize(
    "work, words",
    [
        (lambda family: estimate(family, "SGLD", observable=family.member(0), steps=10), "observable has 1 networks"),
        (lambda family: estimate(family.member(0), "SGLD", observable=family, steps=10), "observable has 2 networks"),
        (lambda family: calibrate(family, "SGLD"), "problem has 2 networks side by side"),
        (lambda family: DeepLinearFamily(family.member(0)), "networks is a DeepLinearNetwork"),
        (lambda family: DeepLinearFamily(None), "networks is a NoneType"),
    ],
)
def test_what_is_of_one_problem_refuses_several(work, words):
    family = DeepLinearFamily([DeepLinearNetwork.random(widths=[6, 5], seed=seed) for seed in range(2)])
    with pytest.raises(ValueError, match=words):
        work(family)


def test_tensors_of_another_run_stay():
    """A recorded step reads their memory as long as it is replayed."""
    family = DeepLinearFamily([DeepLinearNetwork.random(widths=[6, 5], seed=seed) for seed in range(2)])
    first = family._tensors(torch.zeros(4, family.dim))
    for chains in (6, 8, 10):
        family._tensors(torch.zeros(chains, family.dim))
    assert family._tensors(torch.zeros(4, family.dim)) is first


def test_baselines_belong_to_the_networks():
    """With the other network's L_n(w0) an estimate with the baseline on all data would be off by nβ times the difference."""
    networks = [DeepLinearNetwork.random(widths=[6, 5], ranks="full", n=2000, seed=seed) for seed in (0, 2)]
    difference = networks[0].n_beta * abs(networks[0].baseline_loss - networks[1].baseline_loss)
    run = Run(
        RunConfig(sampler={"name": "SGLD", "step_size": 1e-5}, gradient="minibatch", steps=3000, chains=4),
        DeepLinearFamily(networks),
    )
    run.advance(3000)
    gap = (run.llc_per_chain("same_batch") - run.llc_per_chain("full")).reshape(2, 4).mean(axis=1)
    assert difference > 4 and np.abs(gap).max() < difference / 4


def test_it_is_made_again_from_its_description():
    networks = [DeepLinearNetwork.random(widths=[6, 5, 4], seed=seed) for seed in range(2)]
    description = json.loads(json.dumps(DeepLinearFamily(networks).to_dict()))
    again = build(description)
    assert isinstance(again, DeepLinearFamily) and again.to_dict() == description
    own = DeepLinearFamily([DeepLinearNetwork([np.eye(3)]), DeepLinearNetwork([2 * np.eye(3)])])
    assert own.to_dict()["kind"] == "object"


@pytest.mark.parametrize(
    "networks, words",
    [
        ([], "networks is empty"),
        ([DeepLinearNetwork([np.eye(3)]), "1K"], "networks[1] is a str"),
        ([DeepLinearNetwork([np.eye(3)]), DeepLinearNetwork([np.eye(4)])], "networks[1].widths is [4, 4]"),
        ([DeepLinearNetwork([np.eye(3)]), DeepLinearNetwork([np.eye(3)], n=50)], "networks[1].n is 50"),
    ],
)
def test_networks_that_do_not_go_together_are_refused(networks, words):
    with pytest.raises(ValueError) as error:
        DeepLinearFamily(networks)
    assert words in str(error.value)


@pytest.mark.parametrize("values", [{}, {"networks": []}, {"networks": ["1K"]}, {"networks": [{"kind": "planar"}]}])
def test_descriptions_that_are_none_are_refused(values):
    with pytest.raises(ValueError, match="networks"):
        build({"kind": "dln_family", **values})
