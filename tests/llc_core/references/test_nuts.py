"""The NUTS reference: agrees with quadrature, and says in one sentence what is missing without Pyro."""

from __future__ import annotations

import sys

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


def test_its_absence_is_one_sentence(monkeypatch):
    for name in ("pyro", "pyro.infer"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"pyro-ppl; install it with: pip install 'llc-lab\[reference\]'"):
        nuts_reference(planar_landscape("quadratic"))
