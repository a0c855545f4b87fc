"""Agents: exact linear beliefs, nets that take the paper's step, and contour sampling that is nothing before it begins."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sentences import tells

import llc_core
from llc_core.compute.streams import torch_stream
from llc_core.decisions import (
    BayesianLinear,
    EpsilonGreedy,
    Game,
    LinearBandit,
    Memory,
    Mushrooms,
    OpenContour,
    PosteriorMean,
    SampledNets,
    Thompson,
    made_mushrooms,
    paper_sampler,
    pcsgld,
    picsgld,
    play,
    psgld,
)
from llc_core.decisions.network_agent import weights_of

ROUNDS = 60


def side_by_side(high: float):
    """pSGLD and pICSGLD, otherwise alike, on made mushrooms whose unlucky rewards leave the memory halfway: both games, and for
    each round whether the nets are the same to the last bit."""
    contour = OpenContour(low=0, high=high, bins=200, zeta=20, rate=0.03, rate_power=0, rate_offset=1)
    given = dict(hidden=(8, 8), capacity=512, batch_size=64, steps=3, statistics_scale=8.0, first_square=1.0)
    given |= dict(weight_floor=1e-3, begin_share=0.1)
    agents = [SampledNets(paper_sampler(3e-6), each, **given) for each in (None, contour)]
    environment, same = Mushrooms(made_mushrooms(2000)), []
    games = [Game(environment, agent, rounds=ROUNDS, pulls=20, forced_pulls=100, seed=0) for agent in agents]
    for _ in range(ROUNDS):
        for game in games:
            game.advance()
        same.append(torch.equal(agents[0].state["delta"], agents[1].state["delta"]))
    return [game.finish() for game in games], same


def test_picsgld_is_psgld_bit_for_bit_before_it_is_heated():
    (plain, heated), same = side_by_side(60_000.0)
    first = int(heated.report["first_heated"])
    assert 6 < first < ROUNDS - 5  # after a tenth of the rounds, and not at the end
    assert all(same[:first]) and not any(same[first:])
    assert (plain.actions[: first + 1] == heated.actions[: first + 1]).all()
    assert (plain.regret[: first + 1] == heated.regret[: first + 1]).all()


def test_on_the_grid_the_two_part_as_soon_as_contours_act():
    (_, heated), same = side_by_side(2e6)
    assert int(heated.report["first_heated"]) == 7  # the first round after a tenth of 60
    assert all(same[:7]) and not any(same[7:])


def test_a_step_is_the_papers():
    """One step of the released code from the same place and noise: V, G, drift and noise; its weight decay is not in V here."""
    environment = LinearBandit(dim=4)
    agent = psgld(hidden=(6,), chains=2, capacity=128, batch_size=32, statistics_scale=4.0)
    agent.begin(environment, 10, 0)
    seen = environment.draw(torch_stream(0, "luck"), 100)
    actions = torch.arange(100) % 2
    agent.memory = Memory(seen.contexts, actions, seen.rewards[torch.arange(100), actions])
    before = {name: value.clone() for name, value in agent.state.items()}
    assert (before["square"] == 1).all()
    states = {name: stream.get_state() for name, stream in agent._streams.items()}
    inputs, target = agent._batch()
    noise = agent._normals(1)[0]
    for name, state in states.items():
        agent._streams[name].set_state(state)
    agent._move()
    w = before["delta"].double().requires_grad_()
    parts = [w[:, :24].view(2, 6, 4), w[:, 24:30], w[:, 30:42].view(2, 2, 6), w[:, 42:44]]
    hidden = (inputs.double() @ parts[0].transpose(1, 2) + parts[1].unsqueeze(1)).relu()
    output = hidden @ parts[2].transpose(1, 2) + parts[3].unsqueeze(1)
    chosen = output.gather(2, target[:, :, :1].long()).squeeze(2)
    loss = (chosen - target[:, :, 1].double()).square().mean(dim=1)
    (grad,) = torch.autograd.grad(loss.sum(), w)
    total = 128 * grad  # N·∇(mean squared error)
    square = 0.99 + 0.01 * (total / 32) ** 2
    metric = 1 / (0.001 + square.sqrt())
    drift = total + 0.01 * w
    moved = w - 3e-7 * metric * drift + (2 * 3e-7 * 0.3 * metric).sqrt() * noise.double()
    torch.testing.assert_close(agent.state["delta"].double(), moved.detach(), rtol=1e-5, atol=1e-7)
    torch.testing.assert_close(agent.state["square"].double(), square, rtol=1e-4, atol=1e-6)


def test_contours_leave_energies_above_the_grid_alone():
    from llc_core.groups import Groups
    from llc_core.interactions import Seen

    contour = OpenContour(low=0, high=10, bins=10, zeta=2, rate=0.1, rate_power=0, rate_offset=1)
    plain = llc_core.Contour(low=0, high=10, bins=10, zeta=2, rate=0.1, rate_power=0, rate_offset=1, freeze="never")
    layout = contour.layout(Groups(1, 3, 1), torch.ones(3, 1), 10**9)
    shared, other = contour.init(layout), plain.init(layout)
    alive, uniform = torch.ones(1, 3, dtype=torch.bool), torch.ones(1, 3)
    above = torch.tensor([[11.0, 50.0, 1e9]], dtype=torch.float64)
    shared, _ = contour.exchange(shared, Seen(0, above, above, alive, uniform), layout)
    assert (shared["theta"] == 0.1).all() and (contour.heat(shared, layout) == 1).all()
    assert torch.isneginf(contour.log_weight(0, shared, layout)).all()
    for step in range(20):
        within = torch.tensor([[3.5, 3.5, 4.5]], dtype=torch.float64)
        shared, _ = contour.exchange(shared, Seen(step, within, within, alive, uniform), layout)
        other, _ = plain.exchange(other, Seen(step, within, within, alive, uniform), layout)
    assert torch.equal(contour.heat(shared, layout), plain.heat(other, layout))
    assert (contour.heat(shared, layout)[0, 0] > 1) and (contour.heat(shared, layout)[0, 2] < 1)


def test_equal_weights_are_exactly_one():
    assert (weights_of(torch.full((4,), -90.0), 1e-3) == 1).all()
    assert (weights_of(torch.full((4,), -torch.inf), 0.0) == 1).all()
    found = weights_of(torch.tensor([0.0, -torch.inf]), 0.5)
    assert found.tolist() == pytest.approx([1, 1 / 3])


def filled(agent, environment, count=400):
    agent.begin(environment, 100, 0)
    seen = environment.draw(torch_stream(5, "luck"), count)
    actions = torch.randint(2, (count,), generator=torch_stream(6, "actions"))
    agent.learn(Memory(seen.contexts, actions, seen.rewards[torch.arange(count), actions]), True)
    return seen, actions


def test_linear_beliefs_are_the_exact_posterior():
    """Against the formulas in numpy from all rows at once; draws have the mean and variance of Student's distribution."""
    environment, agent = LinearBandit(dim=3, noise=0.5), BayesianLinear()
    seen, actions = filled(agent, environment)
    x = np.c_[seen.contexts.double().numpy(), np.ones(400)]
    for action in range(2):
        rows = (actions == action).numpy()
        a, y = x[rows], seen.rewards.numpy()[rows, action]
        inverse = a.T @ a + 0.25 * np.eye(4)
        mean = np.linalg.solve(inverse, a.T @ y)
        scale = 6 + (y @ y - mean @ inverse @ mean) / 2
        np.testing.assert_allclose(agent.weights[action].numpy(), mean, rtol=1e-9)
        assert (
            float(agent.noise_scale[action]) == pytest.approx(scale)
            and float(agent.noise_shape[action]) == 6 + len(y) / 2
        )
        point = torch.tensor([[0.3, -1.0, 0.7]]).expand(20_000, -1)
        drawn = agent.draw(point, torch_stream(0, "draws"))[:, action].numpy()
        at = np.append(point[0].double().numpy(), 1)
        variance = scale / (6 + len(y) / 2 - 1) * (at @ np.linalg.solve(inverse, at))
        assert abs(drawn.mean() - at @ mean) < 5 * np.sqrt(variance / 20_000)
        assert drawn.var() == pytest.approx(variance, rel=5 * np.sqrt(2 / 20_000) * 1.1)


def test_thompson_draws_nets_by_their_weights():
    environment, agent = LinearBandit(dim=3), psgld(hidden=(8,), capacity=256, batch_size=64, steps=2)
    seen, _ = filled(agent, environment)
    agent._weights = torch.tensor([0.0, 3.0, 1.0, 0.0], dtype=torch.float64)
    members = agent.members(seen.contexts[:1])
    torch.testing.assert_close(agent.mean(seen.contexts[:1]), 0.75 * members[1] + 0.25 * members[2])
    drawn = agent.draw(seen.contexts[:1].expand(4000, -1), torch_stream(0, "draws"))[:, 0]
    second = torch.isclose(drawn, members[1, 0, 0])
    assert (second | torch.isclose(drawn, members[2, 0, 0])).all()
    assert abs(float(second.double().mean()) - 0.75) < 5 * np.sqrt(0.75 * 0.25 / 4000)


def test_policies():
    environment, agent = LinearBandit(dim=3), BayesianLinear()
    seen, _ = filled(agent, environment)
    greedy = PosteriorMean().choose(agent, seen.contexts, torch_stream(0, "p"))
    assert torch.equal(greedy, agent.mean(seen.contexts).argmax(dim=1))
    contexts = seen.contexts.repeat(20, 1)
    tried = EpsilonGreedy(0.2).choose(agent, contexts, torch_stream(0, "p"))
    other = (tried != greedy.repeat(20)).double()  # of two actions, half of those at random are the other one
    assert abs(float(other.mean()) - 0.1) < 5 * np.sqrt(0.09 / len(other))
    assert torch.equal(EpsilonGreedy(0.0).choose(agent, seen.contexts, torch_stream(1, "p")), greedy)
    assert (Thompson().choose(agent, contexts, torch_stream(0, "p")) != greedy.repeat(20)).any()


@pytest.mark.parametrize(
    "make",
    [
        lambda: SampledNets("SGLD"),
        lambda: SampledNets(llc_core.MALA(step_size=1e-6)),
        lambda: SampledNets(llc_core.PSGLD(step_size=1e-6)),
        lambda: SampledNets(paper_sampler(), llc_core.ReplicaExchange(temperatures=(1, 2))),
        lambda: psgld(temperature=-1),
        lambda: psgld(batch_size=5000),
        lambda: EpsilonGreedy(2.0),
        lambda: BayesianLinear(precision=0),
        lambda: filled(SampledNets(llc_core.SGLD(step_size=1e-9), first_square=1.0), LinearBandit(2)),
        lambda: filled(SampledNets(llc_core.SGLD(step_size=1.0), steps=200, batch_size=8), LinearBandit(2)),
    ],
)
def test_what_cannot_be_is_one_sentence(make):
    with pytest.raises(ValueError) as caught:
        make()
    tells(caught.value)


def test_any_sampler_moves_nets():
    for sampler in (
        llc_core.SGLD(step_size=1e-6),
        llc_core.SGHMC(step_size=1e-7),
        llc_core.RMSPropSGLD(step_size=1e-7),
    ):
        agent = SampledNets(sampler, hidden=(8,), capacity=256, batch_size=64, steps=3)
        before = play(LinearBandit(3), agent, rounds=20, forced_pulls=80).report["weights"]
        assert np.allclose(before, 0.25) and torch.isfinite(agent.state["delta"]).all()
    assert psgld(batch_size=128).statistics_scale == 32 and psgld().statistics_scale == 8
    assert pcsgld().chains == 1 and pcsgld().steps == 64 and picsgld().interaction.width == pytest.approx(10 / 0.3)
