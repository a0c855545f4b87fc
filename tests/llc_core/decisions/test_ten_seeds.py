"""Every policy over ten seeds on bandits whose optimum is known: its own expected regret a pull, of which the oracle has 0.

pytest -s tests/llc_core/decisions/test_ten_seeds.py        prints them
"""

from __future__ import annotations

import numpy as np
import pytest
from cases import few

from llc_core.decisions import (
    BayesianLinear,
    EpsilonGreedy,
    LinearBandit,
    Mushrooms,
    PosteriorMean,
    SampledNets,
    Thompson,
    WheelBandit,
    made_mushrooms,
    paper_sampler,
    play,
)

POLICIES = {"mean": PosteriorMean(), "Thompson": Thompson(), "ε-greedy": EpsilonGreedy(0.05)}
BANDITS = {
    "made mushrooms": (lambda: Mushrooms(made_mushrooms()), 400, 100),
    "linear": (lambda: LinearBandit(dim=6), 200, 60),
    "wheel": (lambda: WheelBandit(delta=0.8), 400, 60),
}
"""Bandit, forced pulls, rounds of 20 pulls."""
NETS = {
    "hidden": (16, 16),
    "capacity": 512,
    "batch_size": 64,
    "steps": 4,
    "statistics_scale": 8.0,
    "first_square": 1.0,
    "weight_floor": 1e-3,
}
SHARES = {"made mushrooms": 0.35, "linear": 0.1, "wheel": 0.2}
"""Of the regret of chance, below which exact regression stays; it can express the second bandit alone."""


def own_regret(make, policy, bandit, forced: int, rounds: int) -> tuple[float, float]:
    """Mean over ten seeds and its standard error, a pull of the agent's own."""
    plays = [play(bandit, make(), policy, rounds=rounds, forced_pulls=forced, seed=seed) for seed in range(10)]
    for each in plays:
        assert (np.diff(each.expected_regret, prepend=0) >= 0).all(), "nobody is better than the oracle"
    first = forced // 20
    own = np.array([p.expected_regret[-1] - p.expected_regret[first - 1] for p in plays]) / (20 * (rounds - first))
    return float(own.mean()), float(own.std(ddof=1) / np.sqrt(len(own)))


def told(agent: str, policy: str, name: str, bandit, mean: float, se: float) -> None:
    print(f"{name}, {agent}, {policy}: {mean:.4f} ± {se:.4f} a pull, optimum 0, chance {bandit.random_regret:.4f}")


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", few(BANDITS, 1))
def test_exact_regression_lies_between_the_optimum_and_chance(name, policy):
    make, forced, rounds = BANDITS[name]
    bandit = make()
    mean, se = own_regret(BayesianLinear, POLICIES[policy], bandit, forced, rounds)
    told("linear regression", policy, name, bandit, mean, se)
    assert mean >= 0 and mean + 5 * se < SHARES[name] * bandit.random_regret


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_nets_lie_between_the_optimum_and_chance(policy):
    bandit = LinearBandit(dim=6)
    mean, se = own_regret(lambda: SampledNets(paper_sampler(3e-5), **NETS), POLICIES[policy], bandit, 200, 60)
    told("pSGLD", policy, "linear", bandit, mean, se)
    assert mean >= 0 and mean + 5 * se < bandit.random_regret
