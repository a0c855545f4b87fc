"""The NUTS reference: agrees with quadrature."""

from __future__ import annotations

import pytest
import torch

from llc_core import nuts_reference, planar_landscape, posterior

torch.set_num_threads(1)


def test_nuts_agrees_with_quadrature():
    pytest.importorskip("pyro", reason="pyro-ppl is an optional extra")
    problem = planar_landscape("quadratic", data_sets=2)
    result = nuts_reference(problem, chains=4, steps=250, warmup=100)
    exact = posterior(problem).llc
    assert abs(result.llc - exact.mean()) < 4 * result.llc_se + 0.05
    assert result.expected == pytest.approx(exact.mean()) and result.trace.shape == (250, 4)
    assert result.diagnostics["divergences"] >= 0 and result.config.sampler["name"] == "NUTS"
    # each chain has its own data set
    assert abs(result.per_chain[:2].mean() - exact[0]) < 0.35 and abs(result.per_chain[2:].mean() - exact[1]) < 0.35
