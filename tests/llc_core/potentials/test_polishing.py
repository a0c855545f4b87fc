"""Polishing finds the minimum of the loss on all data, and says where there is none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from cases import few
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from llc_core import DeepLinearFamily, DeepLinearNetwork, NetworkPotential, Polished, Potential, polish
from llc_core.potentials import build
from llc_core.potentials.base import Batch

EXACT = {"dtype": torch.float64}
N = 3000
TOLERANCE = 0.01
"""Of `polish` itself, in units of λ̂."""
Data = tuple[nn.Linear, Tensor, Tensor]


def _linear(seed: int) -> Data:
    """8 → 3 with noise, at the true parameter; its λ is 12."""
    torch.manual_seed(seed)
    module, x = nn.Linear(8, 3, bias=False), torch.randn(N, 8)
    return module, x, module(x).detach() + 0.5 * torch.randn(N, 3)


def _softmax(seed: int) -> Data:
    """8 → 3, classes drawn from its own probabilities: 16 of the 24 weights count, and λ is 8."""
    module, x, _ = _linear(seed)
    return module, x, torch.distributions.Categorical(logits=module(x).detach()).sample()


def _newton(problem: NetworkPotential) -> Tensor:
    """The minimum by another way: Newton's method with autograd's own Hessian of the rows' mean, in float64."""
    weight, (x, target) = problem._numbers["weight"].double(), problem.data.fields
    x, flat = x.double(), weight.flatten()

    def loss(w: Tensor) -> Tensor:
        return nn.functional.cross_entropy(x @ w.view(weight.shape).T, target)

    for _ in range(20):
        grad, hessian = torch.func.grad(loss)(flat), torch.func.hessian(loss)(flat)
        flat = flat - torch.linalg.pinv(hessian, hermitian=True, rtol=1e-9) @ grad
    return flat - weight.flatten()


def _gradient(problem: NetworkPotential, polished: Polished) -> float:
    """‖∇L_n‖ at the new w0 by plain autograd over all rows, whatever the problem says of itself."""
    network = polished.problem
    assert isinstance(network, NetworkPotential)
    names = [piece.name for piece in network.pieces]
    fixed = {name: value.double() for name, value in network._numbers.items()}
    *inputs, target = problem.data.fields

    def loss(moving: dict[str, Tensor]) -> Tensor:
        output = torch.func.functional_call(network.module, {**fixed, **moving}, (inputs[0].double(),))
        if target.is_floating_point():
            return (output - target.double()).square().sum(1).mean()
        return nn.functional.cross_entropy(output, target)

    grads = torch.func.grad(loss)({name: fixed[name] for name in names})
    return float(torch.cat([grad.flatten() for grad in grads.values()]).norm())


def _is_minimum_on_all_rows(problem: NetworkPotential, polished: Polished) -> bool:
    """By at most what the tolerance leaves: nβ·gᵀH⁻¹g/2 < tolerance, where the least curvature here is above .01."""
    return problem.n_beta * _gradient(problem, polished) ** 2 / (2 * 0.01) < TOLERANCE


@pytest.mark.parametrize("seed", [0, 1])
def test_a_linear_model_goes_to_least_squares(seed: int) -> None:
    module, x, y = _linear(seed)
    problem = NetworkPotential(module, "squared_error", (x, y))
    found = polish(problem)
    best = torch.linalg.lstsq(x.double(), y.double()).solution.T
    weight = module.weight.detach().double()
    left = ((x.double() @ (weight.flatten() + found.delta).view(3, 8).T - y).square().sum(1).mean()) - (
        (x.double() @ best.T - y).square().sum(1).mean()
    )
    assert problem.n_beta * abs(float(left)) < TOLERANCE
    fall = float((x.double() @ weight.T - y).square().sum(1).mean() - (x.double() @ best.T - y).square().sum(1).mean())
    assert found.fall == pytest.approx(fall, rel=1e-4) and found.llc == pytest.approx(problem.n_beta * fall, rel=1e-4)
    assert found.distance == pytest.approx(float((best - weight).norm()), rel=1e-3)
    assert found.relative == pytest.approx(found.distance / float(weight.norm()))
    assert found.converged and found.gradient < 1e-3 * found.gradient_before and found.gain < TOLERANCE
    assert f"the loss fell by {found.fall:.3g}, which adds {found.llc:.3g} to λ̂" in found.sentence
    again = polish(found.problem)
    assert again.converged and again.llc < TOLERANCE


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_a_cross_entropy_of_mixed_classes_goes_where_newtons_method_goes(seed: int) -> None:
    module, x, y = _softmax(seed)
    problem = NetworkPotential(module, "cross_entropy", (x, y))
    found = polish(problem)
    losses, _ = problem.excess_loss_and_grad(torch.stack([found.delta, _newton(problem)]))
    assert found.converged and problem.n_beta * abs(float(losses[0] - losses[1])) < TOLERANCE


@pytest.mark.parametrize("seed", [0, 1])
def test_only_what_may_move_is_moved(seed: int) -> None:
    _, x, y = _linear(seed)
    module = nn.Sequential(nn.Linear(8, 6), nn.Tanh(), nn.Linear(6, 3))
    problem = NetworkPotential(module, "squared_error", (x, y), parameters="2.*")
    found = polish(problem)
    network = found.problem
    assert isinstance(network, NetworkPotential) and found.converged
    for name in ("0.weight", "0.bias"):
        assert torch.equal(network._numbers[name], module.get_parameter(name))
    features = torch.cat([torch.tanh(module[0](x)), torch.ones(N, 1)], 1).detach().double()
    best = (features @ torch.linalg.lstsq(features, y.double()).solution - y).square().sum(1).mean()
    left = network.baseline_loss - float(best)
    assert abs(problem.n_beta * left) < TOLERANCE + problem.n_beta * 1e-6  # baselines are of float32


class _FirstChunk(NetworkPotential):
    """The planted fault: a pass that ends with its first chunk of rows."""

    def excess_loss_and_grad(self, delta: Tensor, batch: Batch | None = None) -> tuple[Tensor, Tensor]:
        from llc_core.potentials.module.passes.any_module import Position

        return self._loss_and_grad(self._place(delta), Position(delta), None, 100)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("made", [_linear, _softmax], ids=["linear", "softmax"])
def test_data_that_come_in_pieces_all_count(made: Callable[[int], Data], seed: int) -> None:
    module, x, y = made(seed)
    loss = "squared_error" if y.is_floating_point() else "cross_entropy"
    loader = DataLoader(TensorDataset(x, y), batch_size=64)
    problem = NetworkPotential(module, loss, loader, chunk=100)
    whole = NetworkPotential(module, loss, (x, y))
    found = polish(problem)
    assert _is_minimum_on_all_rows(problem, found)
    assert found.llc == pytest.approx(polish(whole).llc, abs=TOLERANCE)
    assert not _is_minimum_on_all_rows(problem, polish(_FirstChunk(module, loss, loader)))


@pytest.mark.parametrize("hidden", [False, True], ids=["linear", "hidden layer"])
@pytest.mark.parametrize("seed", [0, 1])
def test_separable_classes_have_no_minimum(seed: int, hidden: bool) -> None:
    teacher, x, _ = _linear(seed)
    module = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)) if hidden else nn.Linear(8, 3)
    problem = NetworkPotential(module, "cross_entropy", (x, teacher(x).argmax(1)))
    found = polish(problem)
    assert found.problem is problem and not found.converged and found.distance == found.fall == 0
    assert found.sentence.startswith("There is no minimum to find") and "weight decay" in found.sentence
    assert polish(problem, passes=4).problem is not problem  # which are too few to say so


@pytest.mark.parametrize("seed", [0, 1])
def test_a_class_that_never_occurs_has_no_minimum(seed: int) -> None:
    """The loss has a positive infimum, and only some weights grow."""
    _, x, y = _softmax(seed)
    found = polish(NetworkPotential(nn.Linear(8, 4), "cross_entropy", (x, y)), passes=2000)
    assert found.sentence.startswith("There is no minimum to find"), found


@pytest.mark.parametrize("seed", [0, 1])
def test_a_deep_linear_network_goes_to_least_squares_on_its_data(seed: int) -> None:
    for widths in ([6, 5], [6, 4, 5], [1, 1, 1]):
        problem = DeepLinearNetwork.random(widths=widths, n=2000, seed=seed)
        found = polish(problem)
        fitted = problem._fitted_noise  # by reduced-rank regression
        assert found.converged and problem.n_beta * abs(fitted - found.fall) < TOLERANCE
        assert found.problem.baseline_loss == pytest.approx(problem.baseline_loss - fitted, rel=1e-6)
    one = DeepLinearNetwork.random(widths=[6, 5], n=2000, seed=seed)
    assert polish(one).problem.expected_llc_at(one.n_beta, 1.0) == pytest.approx(15, abs=TOLERANCE)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_minimum_stays(seed: int) -> None:
    for problem in (
        DeepLinearNetwork.random("1K", noise_std=0, seed=seed),
        DeepLinearNetwork([torch.zeros(3, 4), torch.zeros(4, 3)], noise_std=0, seed=seed),
        build({"kind": "landscape", "name": "double_well"}),
    ):
        found = polish(problem)
        assert found.problem is problem and found.converged and found.distance == 0 and not found.delta.any()
        assert "it is a minimum" in found.sentence


@pytest.mark.parametrize("layers", [2, 3])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_saddle_is_left(seed: int, layers: int) -> None:
    """At weights of 0 the loss of two layers has no slope, and that of three no curvature either."""
    _, x, y = _linear(seed)
    module = nn.Sequential(*(nn.Linear(8, 8, bias=False) for _ in range(layers - 1)), nn.Linear(8, 3, bias=False))
    for weight in module.parameters():
        nn.init.zeros_(weight)
    problem = NetworkPotential(module, "squared_error", (x, y))
    found = polish(problem)
    best = (x.double() @ torch.linalg.lstsq(x.double(), y.double()).solution - y).square().sum(1).mean()
    assert found.sentence.startswith("The loss has no slope at w0, which is no minimum all the same")
    assert problem.n_beta * (problem.baseline_loss - found.fall - float(best)) < TOLERANCE + problem.n_beta * 1e-6


class _Pair(nn.Module):
    """Two units, equal at w0, for data that two unlike ones made."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = nn.Parameter(torch.tensor([[1.0, 0.5], [1.0, 0.5]]))
        self.outside = nn.Parameter(torch.tensor([0.5, 0.5]))

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(x @ self.inside.T) @ self.outside.unsqueeze(1)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_saddle_on_the_way_is_left_too(seed: int) -> None:
    """Equal units have equal gradients, so that the way down keeps them equal."""
    torch.manual_seed(seed)
    module, x = _Pair(), torch.randn(1000, 2)
    unlike = torch.tanh(x @ torch.tensor([[1.5, 0.0], [0.2, 1.2]]).T) @ torch.tensor([[1.0], [0.7]])
    y = unlike + 0.3 * torch.randn(1000, 1)
    problem = NetworkPotential(module, "squared_error", (x, y))
    found = polish(problem)
    with torch.no_grad():
        module.inside.add_(0.5 * torch.randn(2, 2))
    beside = NetworkPotential(module, "squared_error", (x, y))
    other = polish(beside)
    lowest = problem.baseline_loss - found.fall
    assert problem.n_beta * (lowest - (beside.baseline_loss - other.fall)) < 2 * TOLERANCE
    assert found.converged and "came by a place without a slope" in found.sentence


class _Heads(nn.Module):
    """Two heads of attention, equal at w0 where `seed` is None."""

    def __init__(self, seed: int | None) -> None:
        super().__init__()
        torch.manual_seed(0 if seed is None else seed)
        heads = 1 if seed is None else 2
        shapes = {"query": (4, 2), "key": (4, 2), "value": (4, 2), "out": (2, 1)}
        for name, shape in shapes.items():
            made = 0.7 * torch.randn(heads, *shape)
            self.register_parameter(name, nn.Parameter(made.expand(2, *shape).clone()))

    def forward(self, x: Tensor) -> Tensor:
        scores = torch.einsum("bti,hid,bsj,hjd->bhts", x, self.query, x, self.key)
        return torch.einsum("bhts,bsi,hid,hdo->bo", scores.softmax(-1), x, self.value, self.out) / 4


@pytest.mark.parametrize("seed", few([3, 5, 8], 1))
def test_a_way_out_of_a_weak_saddle_is_gone_to_its_end(seed: int) -> None:
    """The first steps out of it bring almost nothing, each more than the one before."""
    torch.manual_seed(10 + seed)
    x, teacher = torch.randn(300, 4, 4), _Heads(seed)
    with torch.no_grad():
        y = teacher(x) + 0.1 * torch.randn(300, 1)
    problem = NetworkPotential(_Heads(None), "squared_error", (x, y))
    found = polish(problem)
    assert found.converged
    for restart in (1, 2):
        module = _Heads(None)
        with torch.no_grad():
            torch.manual_seed(70 + restart)
            for name, value in module.named_parameters():
                value.copy_(found.problem._numbers[name]).add_(0.03 * torch.randn_like(value))
        beside = NetworkPotential(module, "squared_error", (x, y))
        lower = polish(beside)
        left = found.problem.baseline_loss - (beside.baseline_loss - lower.fall)
        assert problem.n_beta * left < 20 * TOLERANCE, "a saddle is taken for a minimum"


def test_passes_that_end_while_it_is_asked_for_a_saddle_are_said() -> None:
    module, x, y = _linear(0)
    problem = NetworkPotential(module, "squared_error", (x, y))
    whole = polish(problem)
    few = next(found for passes in range(3, whole.passes) if (found := polish(problem, passes=passes)).converged)
    assert "was not asked to the end" in few.sentence and "was not asked" not in whole.sentence


def test_passes_that_are_used_up_are_said_and_what_was_won_is_kept() -> None:
    module, x, y = _linear(0)
    found = polish(NetworkPotential(module, "squared_error", (x, y)), passes=3)
    assert not found.converged and found.fall > 0 and found.passes <= 3 + 25  # a line search is not cut short
    assert "3 passes were used up" in found.sentence


def test_what_a_callback_raises_ends_it() -> None:
    module, x, y = _linear(0)
    seen: list[tuple[int, float]] = []

    def watch(passes: int, fall: float) -> None:
        seen.append((passes, fall))
        if passes == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        polish(NetworkPotential(module, "squared_error", (x, y)), callback=watch)
    assert [passes for passes, _ in seen] == [1, 2, 3, 4, 5] and seen[-1][1] > seen[0][1] == 0


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (DeepLinearFamily([DeepLinearNetwork.random(widths=[2, 2], seed=s) for s in (0, 1)]), "one at a time"),
        (build({"kind": "bayesian_network"}), "leave polish out"),
        (build({"kind": "planar", "name": "normal_crossing"}), "cannot be moved"),
    ],
    ids=["family", "prior", "planar"],
)
def test_what_cannot_be_polished_says_why(problem: Potential, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        polish(problem)
    with pytest.raises(ValueError, match="passes"):
        polish(DeepLinearNetwork.random(widths=[2, 2]), passes=0)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_pull_leads_to_the_mode_of_the_localised_posterior(seed: int) -> None:
    """Of the linear model it is ridge regression around w0; separable classes have one too."""
    module, x, y = _linear(seed)
    problem = NetworkPotential(module, "squared_error", (x, y))
    found = polish(problem, localization=500.0)
    weight, x, y = module.weight.detach().double(), x.double(), y.double()
    pull = 500.0 / (2 * problem.n_beta)
    ridge = torch.linalg.solve(x.T @ x / N + pull * torch.eye(8, **EXACT), x.T @ (y - x @ weight.T) / N).T
    assert float((found.delta - ridge.flatten()).norm()) < 1e-4 * float(ridge.norm())
    assert found.fall == pytest.approx(-float(problem.excess_loss_and_grad(found.delta[None])[0]), rel=1e-9)
    labels = (x @ torch.ones(8, **EXACT) > 0).long()
    held = polish(NetworkPotential(nn.Linear(8, 2), "cross_entropy", (x.float(), labels)), localization=1.0)
    assert held.converged and held.distance > 0 and held.fall > 0
