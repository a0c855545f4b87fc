"""By hand, by vmap and by a loop: the same numbers for every kind of module, mask and cut into chunks."""

from __future__ import annotations

import math
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
from small_networks import batch, classifier, gradient_by_difference, moved
from torch import Tensor, nn
from torch.nn import functional as F

from llc_core import SGLD, NetworkPotential, RunConfig, estimate
from llc_core.engine.run import Run
from llc_core.potentials.module.losses import LOSSES, SLOPES
from llc_core.potentials.module.passes.layers import dense_stack


class Written(nn.Module):
    """A stack written with functions, as most people do."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two, self.three = nn.Linear(6, 5), nn.Linear(5, 5, bias=False), nn.Linear(5, 3)
        self.drop = nn.Dropout(0.5)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.one(x.view(x.size(0), -1)))
        return self.three(self.drop(torch.tanh(self.two(x))))


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = nn.Linear(6, 6), nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.two(x + torch.relu(self.one(x)))


class Tied(nn.Module):
    """An embedding whose tensor is also the output layer."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.out = nn.Embedding(7, 4), nn.Linear(4, 7, bias=False)
        self.out.weight = self.embedding.weight

    def forward(self, tokens: Tensor) -> Tensor:
        return self.out(torch.tanh(self.embedding(tokens).mean(1)))


class Attends(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(7, 8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True, dropout=0.1)
        self.block = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
        self.out = nn.Linear(8, 3)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens)
        x = x + self.attention(x, x, x, need_weights=False)[0]
        return self.out(self.block(x).mean(1))


class WritesAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inside, self.out = nn.Linear(2, 24), nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        switches = torch.backends.mha.get_fastpath_enabled(), torch.backends.cuda.flash_sdp_enabled()
        assert switches == (True, True), "they belong to the whole process"
        q, k, v = self.inside(x).unflatten(-1, (3, 2, 4)).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3)
        return self.out(mixed.transpose(1, 2).flatten(2).mean(1))


class Convolves(nn.Sequential):
    def __init__(self) -> None:
        super().__init__(
            nn.Conv2d(1, 3, 3),
            nn.BatchNorm2d(3),
            nn.GELU(),
            nn.AvgPool2d(2),
            nn.Flatten(),
            nn.LayerNorm(12),
            nn.Linear(12, 3),
        )
        self[1].running_mean.normal_()
        self[1].running_var.uniform_(0.5, 2)


def stack(activation: nn.Module, last: nn.Module | None = None) -> nn.Sequential:
    inner = nn.Sequential(nn.Linear(5, 5, bias=False), activation)
    return nn.Sequential(
        nn.Flatten(), nn.Linear(6, 5), activation, inner, nn.Dropout(0.3), nn.Linear(5, 3), last or nn.Identity()
    )


def flat(rows: int) -> Tensor:
    return torch.randn(rows, 2, 3)


def tokens(rows: int) -> Tensor:
    return torch.randint(0, 7, (rows, 5))


def images(rows: int) -> Tensor:
    return torch.randn(rows, 1, 6, 6)


def potential(
    module: nn.Module, inputs, loss="cross_entropy", rows: int = 24, classes: int = 3, **more
) -> NetworkPotential:
    torch.manual_seed(5)
    target = torch.randint(0, classes, (rows,)) if loss == "cross_entropy" else torch.randn(rows, classes)
    return NetworkPotential(module, loss, (inputs(rows), target), **more)


def same(one: NetworkPotential, other: NetworkPotential, atol: float = 1e-10, chains: int = 3) -> None:
    delta = moved(one, chains, 0.2)
    for on in (None, batch(one, chains), batch(one, chains, gradient="control_variate")):
        (loss, grad), (loss2, grad2) = (p.excess_loss_and_grad(delta, on) for p in (one, other))
        assert loss.abs().min() > 1e-6
        assert torch.allclose(loss, loss2, atol=atol, rtol=0) and torch.allclose(grad, grad2, atol=atol, rtol=0)
    assert torch.allclose(one.per_sample_loss(delta, 3, 17), other.per_sample_loss(delta, 3, 17), atol=atol, rtol=0)


ACTIVATIONS = [nn.ReLU(), nn.Tanh(), nn.Sigmoid(), nn.SiLU(), nn.GELU(), nn.GELU("tanh"), nn.Identity()]


@pytest.mark.parametrize("activation", ACTIVATIONS, ids=str)
def test_a_stack_by_hand_equals_vmap(activation):
    torch.manual_seed(0)
    module = stack(activation)
    by_hand = potential(module, flat)
    assert by_hand.method == "dense"
    same(by_hand, potential(module, flat, method="vmap"))


@pytest.mark.parametrize(
    "loss",
    [*(name for name, loss in LOSSES.items() if loss in SLOPES), lambda output, target: (output - target).abs().sum(1)],
)
@pytest.mark.parametrize("last", [None, nn.Sigmoid()], ids=str)
def test_every_loss_by_hand_equals_vmap(loss, last):
    torch.manual_seed(0)
    module = stack(nn.Tanh(), last)
    by_hand = potential(module, flat, loss)
    assert by_hand.method == "dense"
    same(by_hand, potential(module, flat, loss, method="vmap"))


@pytest.mark.parametrize("wide", [False, True])
def test_a_module_written_with_functions_is_recognised(monkeypatch, wide):
    if wide:
        monkeypatch.setattr("llc_core.potentials.module.passes.dense.ONE_BY_ONE", 1)
    torch.manual_seed(0)
    module = Written()
    by_hand = potential(module, flat)
    assert by_hand.method == "dense" and len(by_hand.stack) == 3
    same(by_hand, potential(module, flat, method="loop"))


class Alone(nn.Module):
    """Its own parameters, and a second input that nobody gives."""

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(4, 6)), nn.Parameter(torch.randn(4))
        self.out = nn.Linear(4, 3)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = F.linear(x.view(x.shape[0], -1), weight=self.weight, bias=self.bias)
        return self.out(x.tanh() if mask is None else mask * x)


def test_parameters_that_belong_to_no_layer_are_recognised():
    torch.manual_seed(0)
    module = Alone()
    by_hand = potential(module, flat)
    assert by_hand.method == "dense" and [layer.weight for layer in by_hand.stack] == ["weight", "out.weight"]
    same(by_hand, potential(module, flat, method="loop"))


class Made(nn.Linear):
    """A weight that is computed is not a parameter as it stands."""

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, 2 * self.weight, self.bias)


def hooked() -> nn.Module:
    module = nn.Linear(6, 3)
    module.register_forward_hook(lambda module, inputs, output: 2 * output)
    return module


@pytest.mark.parametrize(
    "module",
    [Made(6, 3), hooked(), nn.utils.parametrizations.weight_norm(nn.Linear(6, 3))],
    ids=["computed", "hook", "weight_norm"],
)
def test_what_is_no_plain_stack_is_not_taken_for_one(module):
    def plain(rows: int) -> Tensor:
        return torch.randn(rows, 6)

    found = potential(module, plain)
    assert found.method != "dense" and dense_stack(found.module) is None
    assert not [name for name in vars(found.module) if "constant" in name], "nothing is left on the module"
    same(found, potential(module, plain, method="loop"))


def test_threads_recognise_stacks_side_by_side_and_others_run_meanwhile():
    """torch.fx's own trace replaces nn.Module.__call__ of the whole process, and for good where two of them overlap."""
    calls, both, done = (nn.Module.__call__, nn.Module.__getattr__), threading.Barrier(2), threading.Barrier(2)
    other = nn.Linear(6, 3)

    class Meets(nn.Sequential):
        def forward(self, x: Any) -> Any:
            both.wait(10)
            assert (nn.Module.__call__, nn.Module.__getattr__) == calls
            x = super().forward(x)
            done.wait(10)
            return x

    modules = [Meets(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3)) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(dense_stack, modules))
    assert [layer.weight for layer in found[0]] == ["0.weight", "2.weight"] and found[0] == found[1]
    assert (nn.Module.__call__, nn.Module.__getattr__) == calls and other(torch.ones(1, 6)).shape == (1, 3)


@pytest.mark.parametrize(
    ("module", "inputs", "classes"),
    [
        (Residual(), lambda n: torch.randn(n, 6), 3),
        (Tied(), tokens, 7),
        (Attends(), tokens, 3),
        (WritesAttention(), lambda n: torch.randn(n, 5, 2), 3),
        (Convolves(), images, 3),
    ],
    ids=lambda value: type(value).__name__,
)
def test_vmap_equals_the_loop(module, inputs, classes):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        by_vmap = potential(module, inputs, classes=classes)
    assert by_vmap.method == "vmap" and dense_stack(by_vmap.module) is None
    same(by_vmap, potential(module, inputs, classes=classes, method="loop"), 1e-9)
    result = Run(RunConfig(steps=20, gradient="minibatch", batch_size=8), by_vmap)
    result.advance(20)
    assert result.estimates()[0].diverged == 0


def test_a_weight_that_is_a_transposed_view_is_taken_as_it_is():
    module = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))
    module[0].weight = nn.Parameter(torch.randn(4, 5).T)
    data = torch.randn(12, 4), torch.randn(12, 2)
    both = [NetworkPotential(module, "mse", data, method=method) for method in ("dense", "loop")]
    delta = 0.1 * torch.randn(1, both[0].dim)
    for one, other in zip(*(p.excess_loss_and_grad(delta) for p in both), strict=True):
        assert torch.allclose(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("method", ["dense", "vmap", "loop"])
def test_masks_patterns_and_frozen_parameters(method):
    torch.manual_seed(0)
    module = stack(nn.Tanh())
    everything = potential(module, flat, method=method)
    delta = moved(everything, 3, 0.2)
    full_loss, full_grad = everything.excess_loss_and_grad(delta)
    names = [piece.name for piece in everything.pieces]
    mask = torch.zeros(5, 6, dtype=torch.bool)
    mask[1:3] = True
    some = potential(module, flat, method=method, parameters={"1.weight": mask, names[-1]: True})
    assert some.layers == ((12,), (3,)) and some.dim == 15
    at = torch.cat([mask.flatten().nonzero().squeeze(1), torch.arange(everything.dim - 3, everything.dim)])
    only = torch.zeros_like(delta)
    only[:, at] = delta[:, at]
    loss, grad = some.excess_loss_and_grad(delta[:, at])
    exact_loss, exact_grad = everything.excess_loss_and_grad(only)
    assert torch.allclose(loss, exact_loss) and torch.allclose(grad, exact_grad[:, at])
    module[1].weight.requires_grad_(False)
    try:
        trained = potential(module, flat, method=method)
        assert trained.dim == everything.dim - 30 and potential(module, flat, parameters="*").dim == everything.dim
        loss, grad = trained.excess_loss_and_grad(delta[:, 30:])
        assert torch.allclose(grad, gradient_by_difference(trained, delta[:, 30:], None), atol=1e-8)
    finally:
        module[1].weight.requires_grad_(True)
    last = potential(module, flat, method=method, parameters=["5.*"])
    loss, grad = last.excess_loss_and_grad(delta[:, -last.dim :])
    assert [p.name for p in last.pieces] == ["5.weight", "5.bias"]
    assert torch.allclose(grad, gradient_by_difference(last, delta[:, -last.dim :], None), atol=1e-8)
    assert full_loss.shape == (3,) and full_grad.shape == delta.shape


@pytest.mark.parametrize("method", ["dense", "vmap", "loop"])
@pytest.mark.parametrize("chunk", [1, 5, 24])
def test_chunks_change_nothing(method, chunk):
    torch.manual_seed(0)
    module = stack(nn.ReLU())
    same(potential(module, flat, method=method), potential(module, flat, method=method, chunk=chunk), 1e-13)


def test_a_shared_tensor_counts_once():
    torch.manual_seed(0)
    module = Tied()
    problem = potential(module, tokens, classes=7)
    assert problem.dim == 28 and problem.layers == ((7, 4),)
    for name in ("out.weight", "embedding.*"):
        assert potential(module, tokens, classes=7, parameters=name).dim == 28
    delta = moved(problem, 2, 0.2)
    grad = problem.excess_loss_and_grad(delta)[1]
    assert torch.allclose(grad, gradient_by_difference(problem, delta, None), atol=1e-9)
    twice = nn.Linear(6, 6)
    shared = potential(nn.Sequential(twice, nn.Tanh(), twice), lambda n: torch.randn(n, 6), classes=6)
    assert shared.method == "dense" and shared.dim == 42
    delta = moved(shared, 2, 0.2)
    assert torch.allclose(shared.excess_loss_and_grad(delta)[1], gradient_by_difference(shared, delta, None), atol=1e-8)


def test_what_vmap_cannot_do_is_looped_with_one_warning():
    class Branches(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.out = nn.Linear(6, 3)

        def forward(self, x: Tensor) -> Tensor:
            y = self.out(x)
            return y if float(y.sum()) > 0 else 2 * y

    with pytest.warns(UserWarning, match="one after another") as caught:
        problem = potential(Branches(), lambda n: torch.randn(n, 6))
    assert len(caught) == 1 and problem.method == "loop" and "\n" not in str(caught[0].message)
    delta = moved(problem, 2)
    assert problem.excess_loss_and_grad(delta)[1].shape == delta.shape


def test_several_inputs_data_sets_and_loaders():
    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.out = nn.Linear(4, 2)

        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            return self.out(torch.cat([x, y], 1))

    torch.manual_seed(0)
    x, y, z = torch.randn(9, 1), torch.randn(9, 3), torch.randn(9, 2)
    module = Two()
    sets = [
        (x, y, z),
        (x.numpy(), y.numpy(), z.numpy()),
        torch.utils.data.TensorDataset(x, y, z),
        torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y, z), batch_size=4),
        [(x[i], y[i], z[i]) for i in range(9)],
    ]
    problems = [NetworkPotential(module, "mse", data) for data in sets]
    assert len({p.baseline_loss for p in problems}) == 1
    pairs = [(torch.randn(4), i % 2) for i in range(9)]
    assert NetworkPotential(nn.Linear(4, 2), "cross_entropy", pairs).samples == 9


def test_training_the_module_further_does_not_move_w0():
    torch.manual_seed(0)
    module = stack(nn.Tanh())
    problem = potential(module, flat)
    delta = moved(problem)
    before = problem.excess_loss_and_grad(delta)[0]
    with torch.no_grad():
        for p in module.parameters():
            p.add_(1.0)
    assert torch.equal(problem.excess_loss_and_grad(delta)[0], before) and module.training


def test_a_fingerprint_names_the_problem():
    one, again, other = classifier(), classifier(), classifier(seed=1)
    assert one.to_dict() == again.to_dict() != other.to_dict()
    assert one.to_dict()["kind"] == "object" and classifier(n=10**6).to_dict() != one.to_dict()


def test_hessian_products_and_settings_that_share_batches():
    problem = classifier()
    delta, vector = moved(problem, 2), moved(problem, 2, 1.0, seed=9)
    step = 1e-4 * vector
    above, below = (problem.excess_loss_and_grad(delta + s * step)[1] for s in (1, -1))
    assert torch.allclose(problem.hvp(delta, vector), (above - below) / 2e-4, atol=1e-5)
    for kind in ("minibatch", "control_variate"):
        two = batch(problem, 2, gradient=kind)
        together = problem.excess_loss_and_grad(delta.repeat_interleave(3, 0), two)
        alone = problem.excess_loss_and_grad(delta, two)
        assert all(torch.allclose(a, b.repeat_interleave(3, 0)) for a, b in zip(together, alone, strict=True))


@pytest.mark.slow
def test_chains_on_two_cores_give_the_numbers_of_one(monkeypatch):
    monkeypatch.setattr("llc_core.potentials.module.network.BY_CHAIN", {"cpu": 1})
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
    data = torch.randn(300, 6), torch.randint(0, 3, (300,))
    found, before = [], torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            problem = NetworkPotential(module, "cross_entropy", data, batch_size=50)
            result = estimate(problem, "SGLD", gradient="control_variate", steps=150, seed=1, progress=False)
            assert problem.spreads_chains and torch.get_num_threads() == threads
            found.append(result.per_chain)
    finally:
        torch.set_num_threads(before)
    assert math.isfinite(found[0].sum())
    np.testing.assert_array_equal(*found)


class Looked(nn.Module):
    def __init__(self, sparse):
        super().__init__()
        torch.manual_seed(0)
        self.words, self.out = nn.Embedding(6, 3, sparse=sparse), nn.Linear(3, 2)

    def forward(self, x):
        return self.out(self.words(x).mean(dim=1))


def test_a_sparse_gradient_is_that_of_the_dense_one():
    rows, delta = (torch.arange(20).reshape(5, 4) % 6, torch.arange(5) % 2), torch.full((2, 26), 0.1)
    sparse, dense = (NetworkPotential(Looked(each), "cross_entropy", rows, method="loop") for each in (True, False))
    for a, b in zip(sparse.excess_loss_and_grad(delta, None), dense.excess_loss_and_grad(delta, None), strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.slow
def test_few_rows_set_an_automatic_step_and_judge_no_given_one(monkeypatch):
    """The largest curvature of few rows is too large: a step that was given would be called unstable."""
    torch.manual_seed(0)
    x, module = torch.randn(1500, 40), nn.Linear(40, 1)
    problem = NetworkPotential(module, "squared_error", (x, x[:, :1]), batch_size=50)
    problem._row_bytes = 1 << 20
    first = x[problem.data.order][:64]
    few = NetworkPotential(module, "squared_error", (first, first[:, :1]), shuffle=False)
    vector, at = torch.randn(1, problem.dim), torch.zeros(1, problem.dim)
    torch.testing.assert_close(problem.rough_hvp(at, vector), few.hvp(at, vector), rtol=1e-3, atol=1e-3)
    looked = []
    rough = NetworkPotential.rough_hvp
    monkeypatch.setattr(NetworkPotential, "rough_hvp", lambda *given: looked.append(1) or rough(*given))
    estimate(problem, SGLD(step_size=1e-5), steps=60, chains=2, progress=False)
    assert not looked
    estimate(problem, "SGLD", steps=60, chains=2, progress=False)
    assert looked
