"""Bayesian networks in sweeps: names, and rows without a truth."""

from __future__ import annotations

import pytest

from llc_core import SweepSpec, estimate
from llc_core.potentials import build, problem_class
from llc_core.sweeps.worker import run_unit


@pytest.mark.parametrize(
    ("name", "written", "widths", "activation", "likelihood", "n"),
    [
        ("bayesian-1-6-5-1", "bayesian-1-6-5-1", [1, 6, 5, 1], "selu", "gaussian", 7),
        ("bayesian-n7-1-6-1-selu", "bayesian-1-6-1", [1, 6, 1], "selu", "gaussian", 7),
        ("bayesian-1-6-1-n12-laplace-erf", "bayesian-1-6-1-erf-laplace-n12", [1, 6, 1], "erf", "laplace", 12),
    ],
)
def test_a_name_says_all_of_a_network(name, written, widths, activation, likelihood, n):
    found = problem_class(name)
    assert found.name == written == problem_class(written).name
    said = build(found.description([3])).to_dict()
    assert (said["widths"], said["activation"], said["likelihood"]) == (widths, activation, likelihood)
    assert said["data"] == {"name": "wave", "n": n, "seed": 3}
    assert sum(a * b for a, b in found.layers(0)) == build(found.description([0])).dim


@pytest.mark.parametrize(
    ("name", "ranks", "said"),
    [
        ("bayesian-1-6-1", "paper", "leave ranks out"),
        ("bayesian-1-6-1-sine", "equal", "'sine' means nothing"),
        ("bayesian-2-6-1", "equal", "have 1 input"),
        ("bayesian-", "equal", "means nothing"),
        ("bayesian-1-1", "equal", "widths is"),
        ("bayesian-1-6-1-n0", "equal", "n is 0"),
        ("bayesian-1-²-1", "equal", "means nothing"),
    ],
)
def test_a_name_that_cannot_be_is_one_sentence(name, ranks, said):
    with pytest.raises(ValueError, match=said) as error:
        problem_class(name, ranks)
    assert "\n" not in str(error.value)


def test_a_row_of_a_sweep_is_the_estimate_of_its_network():
    spec = SweepSpec(
        size_class="bayesian-1-6-1", problems=[2], samplers=["SplitHMC"], step_sizes=[0.1], chains=3, steps=40
    )
    (unit,) = spec.units()
    rows = run_unit(unit.to_dict())
    assert [row["status"] for row in rows] == ["ok"] and rows[0]["global_llc"] is rows[0]["expected_llc"] is None
    config = unit.row_config(2, 0)
    found = estimate(build(config.problem), config.sampler, gradient="full", chains=3, steps=40, progress=False)
    assert rows[0]["llc"] == pytest.approx(found.llc, rel=1e-6) and rows[0]["dim"] == 19
