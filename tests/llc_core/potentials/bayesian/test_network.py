"""Bayesian networks: gradients, priors, descriptions, prices, and bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from llc_core import RunConfig
from llc_core.engine.run import Run
from llc_core.potentials import BayesianNetwork, build, price
from llc_core.potentials.bayesian.collapsed import features

ROWS = {"x": [[0.3, -1.0], [2.0, 0.5], [-0.7, 0.1]], "y": [0.4, -1.2, 0.9]}


def test_loss_is_the_printed_likelihood():
    delta = torch.randn(2, BayesianNetwork((2, 3, 1), ROWS).dim, dtype=torch.float64)
    for likelihood, scale in (("gaussian", math.sqrt(0.05)), ("laplace", math.sqrt(0.05 / 2))):
        problem = BayesianNetwork((2, 3, 1), ROWS, likelihood=likelihood)
        f = problem.predict(delta, ROWS["x"]).numpy()
        law = {"gaussian": torch.distributions.Normal, "laplace": torch.distributions.Laplace}[likelihood]
        density = law(torch.from_numpy(f), scale).log_prob(torch.tensor(ROWS["y"], dtype=torch.float64))
        torch.testing.assert_close(problem.per_sample_loss(delta, 0, 3), -density)


def test_predictions_are_those_of_a_plain_network():
    problem = BayesianNetwork((1, 3, 2, 1), activation="tanh")
    delta = torch.randn(1, problem.dim, dtype=torch.float64)
    w = delta[0].numpy()
    first, b1 = w[:3].reshape(3, 1), w[3:6]
    second, b2 = w[6:12].reshape(2, 3), w[12:14]
    last, b3 = w[14:16].reshape(1, 2), w[16:17]
    x = np.array([[-1.0], [0.5]])
    f = np.tanh(np.tanh(x @ first.T + b1) @ second.T + b2) @ last.T + b3
    np.testing.assert_allclose(problem.predict(delta, x[:, 0])[0].numpy(), f[:, 0], rtol=1e-12)


def test_features_carry_the_prior_of_the_output_layer():
    problem = BayesianNetwork((1, 6, 5, 1))
    white = torch.randn(2, problem.dim, dtype=torch.float64)
    hidden = problem.layout.hidden_dim
    direct = problem.predict(white * problem.variances.sqrt(), problem.data.x)
    psi = features(problem, white[:, :hidden])
    torch.testing.assert_close(torch.bmm(psi, white[:, hidden:].unsqueeze(2)).squeeze(2), direct)


def test_chains_begin_at_draws_of_the_prior():
    problem = BayesianNetwork((1, 30, 30, 1))
    for sampler in ("MALA", "SplitHMC", "SGLD"):
        run = Run(RunConfig(sampler={"name": sampler, "step_size": 1e-9}, chains=50, steps=2, dtype="float64"), problem)
        run.advance(1)
        white = run.displacements / problem.variances.sqrt().numpy()
        assert abs(white.mean()) < 4.5 / math.sqrt(white.size)
        assert abs(white.var() - 1) < 4.5 * math.sqrt(2 / white.size)


def test_description_and_price():
    problem = BayesianNetwork((2, 7, 1), ROWS, "erf", "laplace", noise_variance=0.1)
    assert build(problem.to_dict()).to_dict() == problem.to_dict()
    assert RunConfig(problem=problem.to_dict()).problem["kind"] == "bayesian_network"
    assert price(problem.to_dict()).parameters == problem.dim
    assert price({"kind": "bayesian_network", "widths": [1, 2000, 2000, 1]}).held > 8 * 2000 * 2000


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"widths": [1, 1]}, "widths is"),
        ({"widths": [1, 10**9, 1]}, r"widths\[1\] is"),
        ({"widths": [1, 5, 2]}, "widths ends with 2"),
        ({"widths": [3, 5, 1]}, "widths begins with 3"),
        ({"data": {"x": [1, 2], "y": [1]}}, "data.x has 2"),
        ({"data": {"x": [1, math.nan], "y": [1, 2]}}, r"data.x\[1\]"),
        ({"data": {"x": [[1], [1, 2]], "y": [1, 2]}}, "rows of one length"),
        ({"data": {"name": "moons"}}, "wave"),
        ({"activation": "gelu"}, "activation is"),
        ({"noise_variance": 0}, "noise_variance is 0"),
        ({"depth": 2}, "Unknown key"),
    ],
)
def test_bad_input_is_one_sentence(values, said):
    with pytest.raises(ValueError, match=said) as error:
        build({"kind": "bayesian_network", **values})
    assert "\n" not in str(error.value)
