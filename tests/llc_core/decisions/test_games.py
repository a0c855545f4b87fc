"""Plays: luck shared by all agents, the forced phase apart, learning that shows in the regret, and bands over seeds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sentences import tells

from llc_core.decisions import (
    BayesianLinear,
    Game,
    LinearBandit,
    Mushrooms,
    Thompson,
    difference,
    made_mushrooms,
    play,
    psgld,
    regret_curve,
)

REAL = Path(__file__).resolve().parents[3] / "lab/data/mushroom.csv"


def test_agents_share_their_luck_and_the_forced_phase():
    environment = Mushrooms(made_mushrooms(500))
    plays = [
        play(environment, agent, policy, rounds=30, forced_pulls=205)
        for agent, policy in ((BayesianLinear(), None), (BayesianLinear(), Thompson()), (psgld(hidden=(4,)), None))
    ]
    first = plays[0]
    for other in plays[1:]:
        assert (other.actions[:10] == first.actions[:10]).all() and (other.forced[:10] == first.forced[:10]).all()
        assert (other.actions[10, :5] == first.actions[10, :5]).all() and other.forced[-1] == first.forced[-1]
    assert first.forced_pulls == 205 and (first.forced[:10] == first.regret[:10]).all()
    assert (np.diff(first.forced[10:]) == 0).all() and (first.chosen[:10] == 0).all()
    again = play(environment, BayesianLinear(), rounds=30, forced_pulls=205)
    assert (again.actions == first.actions).all() and (np.diff(first.seconds) > 0).all()


def test_exact_linear_regression_learns_a_linear_bandit():
    """Its own pulls lose less than a twentieth of what chance loses; a policy that does not learn loses all of that."""
    bandit = LinearBandit(dim=6)
    found = play(bandit, BayesianLinear(), rounds=100, forced_pulls=200)
    own = (found.expected_regret[-1] - found.expected_regret[9]) / (20 * 90)
    assert 0 <= own < bandit.random_regret / 20
    ignorant = play(bandit, BayesianLinear(precision=1e12), Thompson(), rounds=100, forced_pulls=200)
    assert (ignorant.expected_regret[-1] - ignorant.expected_regret[9]) / 1800 > bandit.random_regret / 2


def test_the_linear_baseline_on_the_real_mushrooms():
    """Below 6,000 at round 520, of which the forced phase alone is about 1,024 · 4.91."""
    found = play(Mushrooms(REAL), BayesianLinear(), rounds=520)
    assert found.regret[-1] < 6000 and abs(found.forced[-1] - 1024 * 4.91) < 5 * 15 * 32


def test_a_game_goes_on_round_by_round():
    whole = play(LinearBandit(3), BayesianLinear(), rounds=12, forced_pulls=40, seed=4)
    last = Game(LinearBandit(3), BayesianLinear(), rounds=12, pulls=20, forced_pulls=40, seed=4)
    for _ in range(12):
        last.advance()
    assert (last.finish().regret == whole.regret).all() and last.round == 12
    with pytest.raises(ValueError) as caught:
        last.advance()
    tells(caught.value)


def test_bands_over_seeds():
    bandit = LinearBandit(3)
    plays, others = (
        [play(bandit, BayesianLinear(), policy, rounds=10, forced_pulls=40, seed=s) for s in range(4)]
        for policy in (None, Thompson())
    )
    curve = regret_curve(plays)
    rows = np.array([p.regret for p in plays])
    np.testing.assert_allclose(curve.mean, rows.mean(axis=0))
    np.testing.assert_allclose(curve.high - curve.mean, 2 * rows.std(axis=0, ddof=1) / 2)
    np.testing.assert_allclose(curve.mean - curve.low, curve.high - curve.mean)
    gap = difference(plays, others)
    np.testing.assert_allclose(gap.mean, rows.mean(axis=0) - regret_curve(others).mean, atol=1e-12)
    assert (gap.mean[:2] == 0).all() and np.isnan(regret_curve(plays[:1]).se).all()
    for bad in (lambda: regret_curve([]), lambda: regret_curve(plays + others), lambda: difference(plays, others[::-1]),
                lambda: regret_curve(plays, "luck")):  # fmt: skip
        with pytest.raises(ValueError) as caught:
            bad()
        tells(caught.value)


def test_a_round_is_seen_before_the_agent_learns_from_it():
    """What the agent believes then is what it decided by, and watching changes nothing."""
    environment, agent = Mushrooms(made_mushrooms(500)), BayesianLinear()
    seen: list[tuple[np.ndarray, np.ndarray, float]] = []

    def watch(played) -> None:
        best = agent.mean(played.seen.contexts).argmax(dim=1).numpy()
        own = ~played.forced.numpy()
        seen.append((best[own], played.actions.numpy()[own], float(played.got.sum())))

    game = Game(environment, agent, rounds=12, pulls=20, forced_pulls=105, seed=4, watch=watch)
    while game.round < 12:
        game.advance()
    found = game.finish()
    assert [len(best) for best, *_ in seen] == [0] * 5 + [15] + [20] * 6
    assert all((best == actions).all() for best, actions, _ in seen)
    alone = play(environment, BayesianLinear(), rounds=12, forced_pulls=105, seed=4)
    assert (alone.actions == found.actions).all() and (alone.regret == found.regret).all()
