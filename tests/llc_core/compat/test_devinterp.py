"""devinterp 1's call, answered by the engine: keys, shapes, what a step is, batches in epochs, and what is refused."""

from __future__ import annotations

import functools
import inspect
import math
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

from llc_core import SGLD, audit
from llc_core.compat import devinterp as theirs
from llc_core.compat.arguments import Moves, moves
from llc_core.compat.as_loaded import AsLoaded, in_epochs
from llc_core.potentials.module.network import NetworkPotential

ROWS = 240
N_BETA = ROWS / math.log(ROWS)
ERRORS = 4


@pytest.fixture(scope="module")
def regression():
    """A linear model at the minimum, and its data."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(ROWS, 3, generator=generator)
    y = x @ torch.tensor([[1.0], [-2.0], [0.5]]) + 0.3 * torch.randn(ROWS, 1, generator=generator)
    model = nn.Linear(3, 1, bias=False)
    with torch.no_grad():
        model.weight.copy_(torch.linalg.lstsq(x, y).solution.T)
    return model, TensorDataset(x, y)


def call(regression, batch=60, how=theirs.estimate_learning_coeff_with_summary, **given):
    model, data = regression
    usual = {"optimizer_kwargs": {"lr": 1e-3, "nbeta": N_BETA, "localization": 1.0}, "evaluate": theirs.evaluate_mse}
    usual |= {"num_draws": 40, "num_chains": 3, "seed": 1, "verbose": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return how(model, DataLoader(data, batch, shuffle=True), **{**usual, **given})


def test_arguments_have_the_names_the_order_and_the_defaults_of_version_1():
    names = [
        "model",
        "loader",
        "callbacks",
        "evaluate",
        "sampling_method",
        "optimizer_kwargs",
        "num_draws",
        "num_chains",
        "num_burnin_steps",
        "num_steps_bw_draws",
        "init_loss",
        "grad_accum_steps",
        "cores",
        "seed",
        "device",
        "gpu_idxs",
        "verbose",
        "optimize_over_per_model_param",
        "online",
        "use_amp",
    ]
    found = inspect.signature(theirs.estimate_learning_coeff_with_summary).parameters
    assert list(found) == names
    numbers = {
        "num_draws": 100,
        "num_chains": 10,
        "num_burnin_steps": 0,
        "num_steps_bw_draws": 1,
        "grad_accum_steps": 1,
    }
    assert {name: found[name].default for name in numbers} == numbers
    short = list(inspect.signature(theirs.estimate_learning_coeff).parameters)
    assert short == [name for name in names if name not in ("gpu_idxs", "online", "use_amp")]
    assert Moves().to_dict() == {
        "lr": 0.01,
        "noise_level": 1.0,
        "weight_decay": 0.0,
        "localization": 0.0,
        "nbeta": None,
    }


def test_keys_and_shapes(regression):
    found = call(regression, num_steps_bw_draws=2, num_burnin_steps=10)
    chains = [f"llc-chain/{i}" for i in range(3)]
    assert set(found) == {"llc/mean", "llc/std", *chains, "loss/trace", "init_loss", "estimate", "verdict"}
    trace = found["loss/trace"]
    assert trace.shape == (3, 40) and isinstance(found["llc/mean"], float)
    per_chain = N_BETA * (trace.mean(1) - found["init_loss"])
    np.testing.assert_allclose([found[name] for name in chains], per_chain, rtol=1e-12)
    assert found["llc/mean"] == pytest.approx(per_chain.mean()) and found["llc/std"] == pytest.approx(
        per_chain.std(ddof=1)
    )
    assert found["verdict"] is found["estimate"].converged
    assert call(regression, how=theirs.estimate_learning_coeff) == call(regression)["llc/mean"]


def test_online_keys_and_shapes(regression):
    found = call(regression, online=True)
    assert set(found) == {"llc/means", "llc/stds", "llc/trace", "loss/trace", "init_loss", "estimate", "verdict"}
    assert found["llc/means"].shape == found["llc/stds"].shape == (40,) and found["llc/trace"].shape == (3, 40)
    np.testing.assert_allclose(found["llc/trace"].std(0, ddof=1), found["llc/stds"])


def test_the_first_draw_is_at_w0_and_the_baseline_is_of_all_data(regression):
    model, data = regression
    found = call(regression)
    at_w0 = float(F.mse_loss(model(data.tensors[0]), data.tensors[1]))
    np.testing.assert_allclose(found["loss/trace"][:, 0], at_w0, rtol=1e-5)
    assert found["init_loss"] == pytest.approx(at_w0, rel=1e-5)
    # Every step after burn-in is a draw, so that both means are one.
    assert found["estimate"].llc == pytest.approx(found["llc/mean"], rel=1e-4)
    given = call(regression, init_loss=at_w0 + 0.01)
    assert given["llc/mean"] == pytest.approx(found["llc/mean"] - 0.01 * N_BETA, rel=1e-3)


def by_hand(regression, settings, steps, chains, seed=0):
    """Excess losses [steps, chains] before each step of devinterp's SGLD, on all data: its formula, written plainly."""
    model, data = regression
    x, y = (each.double() for each in data.tensors)
    w0, generator = model.weight.detach().double(), torch.Generator().manual_seed(seed)
    w, found = w0.repeat(chains, 1), []
    at_w0 = (x @ w0.T - y).square().mean()
    for _ in range(steps):
        residual = x @ w.T - y
        found.append(residual.square().mean(0) - at_w0)
        drift = settings["nbeta"] * 2 * residual.T @ x / len(x)
        drift += settings["localization"] * (w - w0) + settings["weight_decay"] * w
        noise = torch.randn(w.shape, generator=generator, dtype=torch.double)
        w = w - settings["lr"] / 2 * drift + settings["lr"] ** 0.5 * settings["noise_level"] * noise
    return torch.stack(found).numpy()


@pytest.mark.parametrize(
    "changes", [{}, {"noise_level": 1.6}, {"weight_decay": 60.0}, {"noise_level": 0.7, "weight_decay": 20.0}]
)
def test_a_step_is_that_of_devinterp(regression, changes):
    """lr, noise_level, weight_decay and localization in the same formula: the same mean loss at every draw."""
    settings = {"lr": 4e-3, "nbeta": N_BETA, "localization": 5.0, "noise_level": 1.0, "weight_decay": 0.0, **changes}
    steps, chains = 60, 400
    found = call(regression, batch=ROWS, optimizer_kwargs=settings, num_draws=steps, num_chains=chains)
    ours = (found["loss/trace"] - found["init_loss"]).T * N_BETA
    other = by_hand(regression, settings, steps, chains) * N_BETA
    error = np.hypot(ours.std(1, ddof=1), other.std(1, ddof=1)) / math.sqrt(chains)
    assert (np.abs(ours.mean(1) - other.mean(1)) <= ERRORS * error + 1e-4).all()
    assert ours[-20:].mean() > 0.1


def test_a_step_at_half_the_size_is_told_apart(regression):
    """The check above sees a factor of 2 in lr."""
    settings = {"lr": 4e-3, "nbeta": N_BETA, "localization": 5.0, "noise_level": 1.0, "weight_decay": 0.0}
    found = call(regression, batch=ROWS, optimizer_kwargs=settings | {"lr": 8e-3}, num_draws=60, num_chains=400)
    ours = (found["loss/trace"] - found["init_loss"]).T * N_BETA
    other = by_hand(regression, settings, 60, 400) * N_BETA
    error = np.hypot(ours.std(1, ddof=1), other.std(1, ddof=1)) / 20
    assert (np.abs(ours.mean(1) - other.mean(1)) > ERRORS * error + 1e-4).any()


def test_noise_level_becomes_step_and_temperature():
    how = moves("SGLD", {"lr": 0.02, "noise_level": 2.0})
    assert how.sampler() == SGLD(step_size=0.08) and how.heat == 4.0
    thermostat = moves(SimpleNamespace(__name__="sgnht"), {"lr": 1e-3, "diffusion_factor": 0.05}).sampler()
    assert (thermostat.name, thermostat.step_size, thermostat.friction) == ("SGNHT", 1e-3, 0.05)


def test_batches_come_in_epochs_and_each_chain_has_its_own(regression):
    model, data = regression
    problem = AsLoaded(model, "mse", data.tensors, decay=0.0, epochs=True)
    generator = torch.Generator().manual_seed(0)
    places = torch.stack([problem.draw(generator, 3, 60, "minibatch", torch.float32).data["places"] for _ in range(8)])
    for chain in range(3):
        for epoch in range(2):
            rows = places[4 * epoch : 4 * epoch + 4, chain].flatten()
            assert sorted(rows.tolist()) == list(range(ROWS))
    assert not torch.equal(places[:, 0], places[:, 1])
    assert in_epochs(DataLoader(data, 10, shuffle=True)) and in_epochs(DataLoader(data, 10))
    assert not in_epochs(DataLoader(data, 10, sampler=RandomSampler(data, replacement=True)))


def test_accumulated_batches_make_one_step(regression):
    """Four batches of 60 are all data: no noise of batches, and the numbers of a batch of 240."""
    one, four = call(regression, batch=240), call(regression, batch=60, grad_accum_steps=4)
    assert one["estimate"].config.gradient == four["estimate"].config.gradient == "full"
    np.testing.assert_allclose(one["loss/trace"], four["loss/trace"], rtol=1e-6)


def test_only_what_a_mask_lets_move_moves(regression):
    mask = torch.tensor([[True, False, True]])
    found = call(regression, optimize_over_per_model_param={"weight": mask})
    assert found["estimate"].dim == 2
    with pytest.raises(ValueError, match="optimize_over_per_model_param is a list"):
        call(regression, optimize_over_per_model_param=[mask])


def test_evaluate_is_taken_as_it_comes(regression):
    def with_outputs(model, batch):
        x, y = batch
        return F.mse_loss(model(x), y), {"output": model(x)}

    known, plain = call(regression, batch=ROWS), call(regression, batch=ROWS, evaluate=with_outputs)
    np.testing.assert_allclose(known["loss/trace"], plain["loss/trace"], rtol=1e-5)

    def evaluate(criterion, model, data):
        return criterion(model(data[0]), data[1]), {}

    evaluate.__module__ = "devinterp.utils"
    assert theirs._criterion(functools.partial(evaluate, F.cross_entropy)) is F.cross_entropy
    assert theirs._criterion(functools.partial(with_outputs, F.mse_loss)) is None
    assert theirs._criterion(with_outputs) is None


def test_an_n_beta_of_the_batch_size_is_devinterps_and_said_to_be_too_hot(regression):
    assert theirs.default_nbeta(64) == pytest.approx(64 / math.log(64))
    assert theirs.default_nbeta(DataLoader(regression[1], 16), 2) == pytest.approx(32 / math.log(32))
    with pytest.warns(UserWarning, match="nbeta is 1"):
        assert theirs.default_nbeta(1) == 1
    model, data = regression
    with pytest.warns(
        UserWarning, match=r"made from the batch size 60 and not from the 240 rows: too hot\. Pass nbeta=43\.79"
    ):
        theirs.estimate_learning_coeff(
            model,
            DataLoader(data, 60),
            evaluate=theirs.evaluate_mse,
            optimizer_kwargs={"lr": 1e-4},
            num_draws=3,
            num_chains=2,
            seed=0,
        )


def test_train_mode_is_said(regression):
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.1), nn.Linear(4, 1))
    with pytest.warns(UserWarning, match="model has BatchNorm1d, Dropout: devinterp samples in train mode"):
        theirs.estimate_learning_coeff(
            model, DataLoader(regression[1], 60), evaluate=theirs.evaluate_mse, optimizer_kwargs={"lr": 1e-6, "nbeta": 10},
            num_draws=3, num_chains=2, seed=0,
        )  # fmt: skip


def test_seeds(regression):
    one, again, other = (call(regression, seed=seed)["loss/trace"] for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert not np.isclose(one[:, 1:], other[:, 1:], rtol=1e-9).any()
    torch.manual_seed(3)
    free = call(regression, seed=None)["loss/trace"]
    assert not np.array_equal(free, call(regression, seed=None)["loss/trace"])


def test_a_chain_that_diverges_is_nan(regression):
    found = call(regression, optimizer_kwargs={"lr": 10.0, "nbeta": N_BETA}, num_draws=200)
    assert math.isnan(found["llc/mean"]) and found["loss/trace"].shape == (3, 200) and not found["verdict"]


@pytest.mark.slow
@pytest.mark.rare
def test_a_long_run_keeps_its_draws(regression):
    found = call(regression, num_draws=50, num_steps_bw_draws=500, num_chains=1)
    assert found["loss/trace"].shape == (1, 50) and np.unique(found["loss/trace"]).size == 50
    with pytest.raises(ValueError, match="num_draws is 25000, but of a run 20,000 losses are kept"):
        call(regression, num_draws=25000, num_chains=1)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"callbacks": [print]}, ["callbacks is [", "estimate(callback=…)"]),
        ({"use_amp": True}, ["use_amp is True", "leave it out"]),
        ({"gpu_idxs": [0, 1]}, ["gpu_idxs is [0, 1]", "device='cuda'"]),
        ({"seed": [1, 2, 3]}, ["seed is [1, 2, 3]", "one whole number"]),
        ({"num_draws": 0}, ["num_draws is 0", "at least 1"]),
        ({"num_chains": 2.5}, ["num_chains", "whole number", "2.5"]),
        ({"cores": "all"}, ["cores", "'all'"]),
        ({"sampling_method": nn.Linear}, ["sampling_method", "Linear", "SGLD or SGNHT"]),
        ({"sampling_method": "rmsprop_sgld"}, ["sampling_method is 'rmsprop_sgld'", "llc_core.estimate"]),
        ({"optimizer_kwargs": [1e-3]}, ["optimizer_kwargs is a list", "dictionary"]),
        ({"optimizer_kwargs": {"lr": "adaptive"}}, ["optimizer_kwargs.lr", "'adaptive'"]),
        ({"optimizer_kwargs": {"lr": -1.0}}, ["optimizer_kwargs.lr is -1;", "greater than 0"]),
        ({"optimizer_kwargs": {"noise_level": 0.0}}, ["optimizer_kwargs.noise_level is 0;", "greater than 0"]),
        (
            {"optimizer_kwargs": {"bounding_box_size": 0.5}},
            ["optimizer_kwargs.bounding_box_size is 0.5", "localization"],
        ),
        ({"optimizer_kwargs": {"nbeta": 3.0, "temperature": 3.0}}, ["temperature and nbeta", "nbeta alone"]),
        ({"optimizer_kwargs": {"learning_rate": 1e-3}}, ["'learning_rate'", "known keys", "lr"]),
        (
            {"sampling_method": "SGNHT", "optimizer_kwargs": {"localization": 1.0}},
            ["optimizer_kwargs.localization is 1", "SGNHT has none"],
        ),
    ],
)
def test_what_has_no_counterpart_is_one_sentence(regression, given, words):
    with pytest.raises(ValueError) as caught:
        call(regression, **given)
    said = str(caught.value)
    assert all(word in said for word in words), said
    assert said.endswith(".") and "\n" not in said and said.count(". ") == 0


def test_what_says_nothing_is_taken(regression):
    quiet = {"lr": 1e-3, "nbeta": N_BETA, "bounding_box_size": None, "save_noise": False, "metrics": []}
    found = call(regression, optimizer_kwargs=quiet, callbacks=[], gpu_idxs=None, use_amp=False, cores=4)
    assert math.isfinite(found["llc/mean"]) and quiet["lr"] == 1e-3


def test_a_loader_without_a_batch_size_is_refused(regression):
    loader = DataLoader(regression[1], batch_size=None)
    with pytest.raises(ValueError, match="loader has no batch_size"):
        theirs.estimate_learning_coeff(regression[0], loader, evaluate=theirs.evaluate_mse)


def test_sgnht_runs(regression):
    how = {"lr": 1e-3, "nbeta": N_BETA, "diffusion_factor": 0.05}
    found = call(regression, batch=ROWS, sampling_method="SGNHT", optimizer_kwargs=how, num_draws=2000, num_chains=4)
    assert found["estimate"].config.sampler["name"] == "SGNHT" and 0.5 < found["llc/mean"] < 3


def test_its_own_trace_is_audited_without_a_fault(regression):
    found = call(
        regression,
        num_draws=1500,
        num_burnin_steps=500,
        num_chains=4,
        optimizer_kwargs={"lr": 4e-3, "nbeta": N_BETA, "localization": 1.0},
    )
    told = audit(found["loss/trace"], N_BETA, found["init_loss"], n=ROWS, batch_size=60, burn_in=500)
    assert told, told
    assert issubclass(AsLoaded, NetworkPotential)
