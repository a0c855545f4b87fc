"""The same configuration has the same numbers whatever the process has set torch to, or whatever it runs inside of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache

import numpy as np
import pytest
import torch
from cases import few

from llc_core import (
    BayesianNetwork,
    DeepLinearNetwork,
    NetworkPotential,
    RunConfig,
    decisions,
    estimate,
    free_energy,
    predictive,
)
from llc_core.engine.resolve import resolve
from llc_core.line.run import LineRun
from llc_core.networks import build_model, synthetic_text, train
from llc_core.networks.data.splits import Split
from llc_core.potentials import landscape, planar_landscape
from llc_core.potentials.deep_linear import data as linear_data
from llc_core.references.gibbs import gibbs_reference
from llc_core.samplers import samplers


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


SETTINGS = ("float64", "float16", "bfloat16", "meta", "autocast")


def settings(name: str) -> AbstractContextManager[object]:
    if name == "meta":
        return torch.device("meta")
    if name == "autocast":
        return torch.autocast("cpu", torch.bfloat16)
    return default_dtype(getattr(torch, name))


def run(problem, sampler=None, **more) -> bytes:
    found = estimate(problem, sampler, chains=2, **{"steps": 120, "seed": 3, "progress": False, **more})
    return np.array([found.llc, *found.trace.ravel()]).tobytes()


def linear(gradient: str, virtual: bool = False, **more) -> bytes:
    problem = DeepLinearNetwork.random(widths=[6, 5, 6], n=2000, seed=4, virtual=virtual)
    return run(problem, gradient=gradient, **more)


def cut_pool(gradient: str) -> bytes:
    """Data with fewer rows in memory than samples."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linear_data, "POOL_NUMBERS", 12 * 500)
        return linear(gradient, batch_size=5)


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape)


def network(method: str, **more) -> bytes:
    data = numbers(40, 3), (numbers(40) > 0).astype(np.int64)
    problem = NetworkPotential(build_model({"kind": "mlp", "widths": [3, 5, 2]}), "cross_entropy", data, method=method)
    return run(problem, **more)


def plain_numbers() -> bytes:
    """A data set of Python's numbers."""
    data = [([0.1 * i, 0.3], [0.7 * i]) for i in range(20)]
    return run(NetworkPotential(build_model({"kind": "mlp", "widths": [2, 3, 1]}), "mse", data), dtype="float64")


def attention() -> bytes:
    model = build_model({"kind": "transformer", "vocabulary": 4, "length": 6, "dim": 4, "layers": 1, "heads": 2})
    text = synthetic_text(sequences=12, length=6, vocabulary=4)
    return run(NetworkPotential(model, "cross_entropy", text.pair), steps=20)


def trained() -> bytes:
    model, x, y = build_model({"kind": "small_cnn", "side": 4}), numbers(24, 16), np.arange(24) % 10
    half = (torch.from_numpy(x.astype(np.float32)), torch.from_numpy(y))
    record = train(model, Split("toy", *half, *half), steps=5, batch_size=8)
    return b"".join(value.numpy().tobytes() for value in record.last.state.values())


def gibbs() -> bytes:
    found = gibbs_reference(DeepLinearNetwork.random(widths=[3, 2, 3], n=2000, seed=1), chains=2, sweeps=40)
    return np.array([found.llc, *found.trace.ravel()]).tobytes()


def bayesian() -> bytes:
    return run(BayesianNetwork(widths=[1, 6, 1]), "SplitHMC", steps=40)


def played(agent: str) -> bytes:
    """A short play of nets, or of exact linear beliefs, on mushrooms."""
    nets = {"hidden": (6,), "capacity": 128, "batch_size": 32}
    player = decisions.BayesianLinear() if agent == "linear" else getattr(decisions, agent)(**nets)
    policy = decisions.Thompson() if agent == "linear" else decisions.EpsilonGreedy(0.1)
    environment = decisions.Mushrooms(decisions.made_mushrooms(200))
    found = decisions.play(environment, player, policy, rounds=12, pulls=10, forced_pulls=60)
    return found.regret.tobytes() + found.actions.tobytes() + b"".join(map(np.ndarray.tobytes, found.report.values()))


def wheel() -> bytes:
    return decisions.play(decisions.WheelBandit(), decisions.BayesianLinear(), rounds=9, pulls=8).regret.tobytes()


def tempered() -> bytes:
    network = NetworkPotential(build_model({"kind": "mlp", "widths": [2, 1]}), "mse", (numbers(20, 2), numbers(20, 1)))
    found = free_energy(network, 6, steps=200, chains=4, localization=1.0)
    return np.array([found.log_z, *found.level_llc]).tobytes()


def ensemble() -> bytes:
    found = predictive(build_model({"kind": "mlp", "widths": [3, 5, 2]}), numbers(4, 32), numbers(6, 3).astype("f"))
    return found.probabilities.numpy().tobytes() + found.mutual_information.numpy().tobytes()


def wide(method: str) -> bytes:
    """Products so large that torch hands them to a library that may shorten them; tensors are made inside, too."""
    data = torch.from_numpy(numbers(120, 64).astype("f")), torch.arange(120, device="cpu") % 10
    model = build_model({"kind": "mlp", "widths": [64, 64, 10]})
    return run(NetworkPotential(model, "cross_entropy", data, method=method), "SGLD", steps=12)


CASES = {
    **{f"linear, {gradient}": lambda g=gradient: linear(g) for gradient in ("full", "minibatch", "control_variate")},
    "linear, few rows a batch": lambda: linear("minibatch", batch_size=4),
    "linear, float64": lambda: linear("control_variate", dtype="float64"),
    "linear, virtual": lambda: linear("minibatch", virtual=True),
    "linear, cut pool": lambda: cut_pool("minibatch"),
    **{f"sampler {name}": lambda s=name: linear("full", sampler=s, steps=60) for name in samplers()},
    **{f"network, {how}": lambda m=how: network(m, steps=40) for how in ("dense", "vmap", "loop")},
    "network, minibatch": lambda: network("auto", gradient="minibatch", batch_size=7),
    "network, control variate": lambda: network("vmap", gradient="control_variate", batch_size=7, steps=40),
    "network of plain numbers": plain_numbers,
    "transformer": attention,
    "training": trained,
    "plane": lambda: run(planar_landscape("normal_crossing", start=[0.1, 0.3])),
    "plane, float64": lambda: run(planar_landscape("normal_crossing", start=[0.1, 0.3]), "HMC"),
    "line": lambda: run(landscape("double_well")),
    "many chains on the line": lambda: (
        LineRun({"name": "SGLD", "step_size": 1e-3}, "double_well", chains=50, steps=20, seed=1)
        .advance(20)
        .moments.tobytes()
    ),
    "Gibbs": gibbs,
    "Bayesian network": bayesian,
    **{f"decisions, {agent}": lambda a=agent: played(a) for agent in ("psgld", "picsgld", "linear")},
    "decisions on the wheel": wheel,
    "tempering": tempered,
    "ensemble": ensemble,
}


@cache
def usual(case: str) -> bytes:
    return CASES[case]()


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_numbers_do_not_depend_on_the_process_s_settings(case):
    expected = usual(case)
    for name in SETTINGS:
        with settings(name):
            assert CASES[case]() == expected, name


@contextmanager
def short_products() -> Iterator[None]:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        yield
        assert torch.get_float32_matmul_precision() == "medium", "what the caller has set is left"
    finally:
        torch.set_float32_matmul_precision(before)


@pytest.mark.parametrize("setting", [short_products, torch.inference_mode, torch.no_grad])
@pytest.mark.parametrize("method", few(["vmap", "dense", "loop"], 1))
def test_numbers_depend_neither_on_short_products_nor_on_inference_mode(method, setting):
    expected = wide(method)
    with setting():
        assert wide(method) == expected


def test_what_is_kept_of_a_problem_is_not_made_by_the_caller_s_autocast():
    """Losses at w0 and batches are kept: who looks at them first must not change the run after."""
    expected = network("vmap", gradient="control_variate", batch_size=7, steps=20)
    data = numbers(40, 3), (numbers(40) > 0).astype(np.int64)
    problem = NetworkPotential(build_model({"kind": "mlp", "widths": [3, 5, 2]}), "cross_entropy", data, method="vmap")
    with settings("autocast"):
        assert problem.baseline_loss > 0
    assert run(problem, gradient="control_variate", batch_size=7, steps=20) == expected


def test_a_device_that_is_not_here_is_refused_in_a_sentence():
    if torch.backends.mps.is_available():
        pytest.skip("there is one")
    with pytest.raises(ValueError, match="no MPS device is available here; use 'cpu'"):
        linear("full", device="mps")


@pytest.mark.parametrize("settings", [{"sampler": {"name": "HMC"}}, {"dtype": "float64"}])
def test_a_device_without_double_precision_is_refused_where_a_run_needs_it(monkeypatch, settings):
    monkeypatch.setattr("llc_core.engine.resolve.checked_device", lambda name: name)
    config = RunConfig(problem={"kind": "dln", "widths": [3, 2], "n": 100}, device="mps", **settings)
    with pytest.raises(ValueError, match="'mps', which has no double precision, and this run of .* use 'cpu'"):
        resolve(config)


def test_a_cuda_device_that_is_not_among_those_here_is_refused_in_a_sentence(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(
        ValueError, match="device is 'cuda:2', but the last CUDA device here is 'cuda:1'; use that or 'cuda'"
    ):
        linear("full", device="cuda:2")
