"""Draws of outputs and of weights: those of the chains, jointly, thinned, and bounded in number."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from targets import Quadratic

from llc_core import BayesianNetwork, Run, RunConfig, estimate

INPUTS = [-1.0, 0.0, 1.5]


def watched(most: int) -> tuple[BayesianNetwork, dict, np.ndarray]:
    problem = BayesianNetwork((1, 4, 1))
    asked = [{"name": "Predictions", "inputs": INPUTS, "most": most}, {"name": "WeightDraws", "count": 5, "most": most}]
    config = RunConfig(
        sampler={"name": "MALA", "step_size": 1e-3},
        chains=3,
        steps=60,
        burn_in=20,
        dtype="float64",
        observables=asked,
    )
    run, places = Run(RunConfig.from_json(config.to_json()), problem), []
    for _ in range(60):
        places.append(run.displacements)
        run.advance(1)
    return problem, dict(run.estimates()[0].observables), np.array(places)[20:]


@pytest.mark.parametrize("most", [64, 16])
def test_draws_are_those_of_the_chains_and_their_number_is_bounded(most):
    problem, found, places = watched(most)
    steps = found["Predictions"]["steps"]
    assert len(steps) <= most and (np.diff(steps) == (1 if most == 64 else 4)).all()
    assert len(steps) == (40 if most == 64 else 10)
    by_hand = np.stack([problem.predict(torch.from_numpy(places[t]), INPUTS).numpy() for t in steps])
    np.testing.assert_allclose(found["Predictions"]["draws"], by_hand, rtol=1e-12)
    weights = found["WeightDraws"]
    np.testing.assert_array_equal(weights["draws"], places[steps][:, :, weights["places"]])
    assert len(set(weights["places"])) == 5 and np.ptp(by_hand, axis=0).min() > 0, "the chains moved"


@pytest.mark.parametrize(
    ("problem", "asked", "said"),
    [
        (Quadratic([1.0, 2.0]), {"name": "Predictions", "inputs": [1.0]}, "needs the outputs of a network"),
        (BayesianNetwork((1, 4, 1)), {"name": "Predictions"}, "inputs is empty"),
        (BayesianNetwork((1, 4, 1)), {"name": "Predictions", "inputs": 3}, "inputs is 3"),
        (BayesianNetwork((1, 4, 1)), {"name": "Predictions", "inputs": [[1.0, 2.0]]}, "inputs has the shape"),
        (BayesianNetwork((1, 4, 1)), {"name": "WeightDraws", "most": 3}, "WeightDraws.most"),
    ],
)
def test_what_cannot_be_drawn_is_one_sentence(problem, asked, said):
    with pytest.raises(ValueError, match=said):
        estimate(problem, steps=10, observables=[asked])


def test_predict_asks_for_outputs_and_weights():
    found = estimate(BayesianNetwork((1, 4, 1)), chains=3, steps=40, burn_in=20, predict=np.array(INPUTS))
    assert found.observables["Predictions"]["draws"].shape == (20, 3, 3)
    assert found.observables["WeightDraws"]["draws"].shape == (20, 3, 13)


@pytest.mark.slow
def test_whole_networks_of_that_size_are_drawn_to_disk(tmp_path, monkeypatch):
    """As many weights as ResNet-20 has: more than memory should keep of many draws. On disk they are the same, and memory holds a row."""
    from llc_core import NetworkPotential, predictive
    from llc_core.engine.machine import memory_needed
    from llc_core.networks import build_model

    net = build_model({"kind": "mlp", "widths": [64, 400, 600, 10]}, 0)
    inputs = torch.rand(16, 64, generator=torch.Generator().manual_seed(0))
    problem = NetworkPotential(net, "cross_entropy", (inputs, torch.arange(16) % 10))
    assert problem.dim > 270_000
    given = dict(sampler={"name": "SGLD", "step_size": 1e-6}, chains=2, steps=24, burn_in=4, batch_size=8, seed=1)
    asked = {"name": "WeightDraws", "count": problem.dim, "most": 16}
    monkeypatch.setenv("LLC_LAB_DRAWS", str(tmp_path))
    kept, needed = [], []
    for on_disk in (False, True):
        config = RunConfig(**given, observables=[{**asked, "on_disk": on_disk}])
        run = Run(config, problem)
        needed.append(memory_needed(run.config, problem)[0])
        run.advance(24)
        kept.append(run.estimates()[0].observables["WeightDraws"])
    memory, disk = kept
    assert disk["draws"].shape == (10, 2, problem.dim) and isinstance(disk["draws"], np.memmap)
    np.testing.assert_array_equal(disk["draws"], memory["draws"].astype(np.float32))
    np.testing.assert_array_equal(disk["steps"], memory["steps"])
    assert needed[0] - needed[1] > 60 * 2 * 4 * problem.dim and len(list(tmp_path.iterdir())) == 1
    said = predictive(problem, disk, inputs)
    torch.testing.assert_close(said.probabilities, predictive(problem, memory, inputs).probabilities)


def test_draws_on_disk_need_a_folder_that_the_process_names(tmp_path, monkeypatch):
    monkeypatch.delenv("LLC_LAB_DRAWS", raising=False)
    asked = {"name": "WeightDraws", "on_disk": True}
    with pytest.raises(ValueError, match="name one in the environment's LLC_LAB_DRAWS"):
        estimate(BayesianNetwork((1, 4, 1)), steps=40, observables=[asked])
    monkeypatch.setenv("LLC_LAB_DRAWS", str(tmp_path / "none"))
    with pytest.raises(ValueError, match="where no file can be made"):
        estimate(BayesianNetwork((1, 4, 1)), steps=40, observables=[asked])
    with pytest.raises(ValueError, match="on_disk is 'here'"):
        estimate(BayesianNetwork((1, 4, 1)), steps=40, observables=[{**asked, "on_disk": "here"}])
