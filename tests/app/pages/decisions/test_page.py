"""The page "Decisions" without a browser: configurations, both jobs against the engine, words, hidden answers, links."""

from __future__ import annotations

import dataclasses
import json
import math
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from waiting import on_screen, settled

from app.pages.decisions import scene, texts
from app.pages.decisions.config import BanditSettings, DecisionsConfig, OutsideSettings
from app.pages.decisions.figures.bandit import MomentFigure, RegretFigure
from app.pages.decisions.job.bandit import BanditJob, BanditProgress
from app.pages.decisions.job.digits import DigitsJob, Scores
from app.pages.decisions.page import Decisions
from app.pages.decisions.pictures import OUTCOMES, draw_game
from app.pages.decisions.presets import PRESETS, play
from app.pages.decisions.scene import get_scene
from app.runs.account import TOTAL_MEMORY
from app.runs.job import OVER, State, Status
from llc_core.decisions import BayesianLinear, Game, PosteriorMean
from llc_core.decisions import play as played
from llc_core.ensembles import predictive

SMALL = DecisionsConfig(
    bandit=BanditSettings(
        mushrooms="pleasant", rounds=40, forced_pulls=105, hidden=8, capacity=256, batch_size=32, steps=4,
        right={"agent": "pICSGLD", "policy": "thompson"},
    ),
    seed=3,
)  # fmt: skip
LITTLE = DecisionsConfig(game="digits", outside=OutsideSettings(steps=120, chains=2, hidden=8))


def finished(job, block: int = 7):
    while not job.finished:
        job.record(job.advance(block), None)
    return job


@pytest.fixture(scope="module")
def bandit() -> BanditJob:
    return finished(BanditJob(get_scene(SMALL)))


@pytest.fixture(scope="module")
def digits() -> DigitsJob:
    return finished(DigitsJob(get_scene(LITTLE)))


def test_a_net_is_counted_with_the_runs_of_all_visitors_before_it_is_learned(monkeypatch):
    monkeypatch.setenv(TOTAL_MEMORY, "20")
    monkeypatch.setattr(scene, "train", lambda *given, **named: pytest.fail("a refused net was trained"))
    with pytest.raises(ValueError, match="This net needs .* MB, and the runs of all visitors"):
        get_scene(DecisionsConfig(game="digits", outside=OutsideSettings(hidden=256), seed=77))


@pytest.mark.slow
def test_a_play_is_that_of_the_engine_whatever_the_blocks(bandit):
    own, seen, rows = SMALL.bandit, bandit.judge(), bandit.log.since(0)[1]
    assert rows[:, 0].tolist() == list(range(1, own.rounds + 1)) and bandit.log.since(len(rows))[1].shape == (0, 5)
    agents = {side: (own.agent(side), own.policy(side)) for side in ("left", "right")}
    agents["linear"] = (BayesianLinear(), PosteriorMean())
    for column, (side, (agent, policy)) in enumerate(agents.items(), 1):
        alone = played(
            own.environment(), agent, policy, rounds=own.rounds, pulls=own.pulls, forced_pulls=own.forced_pulls, seed=3
        )
        assert np.array_equal(rows[:, column], alone.regret) and np.array_equal(rows[:, 4], alone.forced)
        player = seen.players[side]
        assert player.own == pytest.approx(alone.chosen[-1]) and player.regret == alone.regret[-1]
        # A poisonous one eaten loses 15 on average and an edible one left 5: only both counts together give this.
        lost = alone.expected_regret[-1] - float(bandit_forced(own, SMALL.seed))
        assert 15 * player.bad + 5 * player.missed == pytest.approx(lost)
    again = finished(BanditJob(get_scene(SMALL)), block=1)
    assert np.array_equal(again.log.since(0)[1], rows)


def bandit_forced(own: BanditSettings, seed: int) -> float:
    """Expected regret of the forced pulls, summed round by round."""
    sums: list[float] = []
    game = Game(
        own.environment(), BayesianLinear(), rounds=own.rounds, pulls=own.pulls, forced_pulls=own.forced_pulls, seed=seed,
        watch=lambda each: sums.append(float(each.seen.expected_regret(each.actions)[each.forced].sum())),
    )  # fmt: skip
    while game.round < 6:
        game.advance()
    return sum(sums)


def test_the_mushroom_of_the_moment_is_the_one_that_nets_are_divided_on(bandit):
    seen = bandit.judge()
    moment = seen.moment
    assert moment is not None and not moment.forced and set(moment.beliefs) == {"left", "right"}
    for side in ("left", "right"):
        belief = moment.beliefs[side]
        assert len(belief.each) == 4 and belief.weights.sum() == pytest.approx(1)
        assert belief.mean == pytest.approx(float(belief.weights @ belief.each), rel=1e-5)
    assert moment.beliefs["left"].ate == (moment.beliefs["left"].mean > 0), "the policy is the mean"
    words = texts.mushroom_words(moment)
    assert "<b>odor</b>" in words and "spore print" in words
    told = texts.moment_words(SMALL, moment, True)
    assert "of 4 nets would eat it" in told and ("edible: +5" if moment.edible else "poisonous") in told
    hidden = texts.moment_words(SMALL, moment, False)
    assert "edible" not in hidden and "poisonous" not in hidden and "gave" not in hidden
    even, uneven = (dataclasses.replace(belief, weights=np.array(each)) for each in ([0.25] * 4, [0.7, 0.1, 0.1, 0.1]))
    assert "effective share" not in texts.belief_words(SMALL, "right", even, False)
    assert "worth 1.9 of 4 (effective share 0.48)" in texts.belief_words(SMALL, "right", uneven, False)
    figure = MomentFigure()
    figure.show(moment)
    assert len(figure.dots.data["x"]) == 8 and figure.truth.data["x"] == [5.0 if moment.edible else -15.0]


def test_what_is_remembered_adds_up(bandit):
    seen, own = bandit.judge(), SMALL.bandit
    for side in ("left", "right"):
        assert sum(seen.players[side].memory) == own.capacity and min(seen.players[side].memory) >= 0
    early = BanditJob(get_scene(SMALL)).advance(2)
    assert sum(early.players["left"].memory) == 40 and early.players["linear"].memory == (0, 0, 0)
    assert math.isnan(early.players["left"].eaten) and early.players["left"].own == 0
    assert "16% full" in texts.memory_words(SMALL, early)


@pytest.mark.slow
def test_draws_are_scored_as_the_engine_scores_them(digits):
    seen, scene = digits.judge(), get_scene(LITTLE)
    rows = digits.log.since(0)[1]
    assert seen.draws == rows[-1, 0] == 2 * 80 and rows[-1, 3] == 120
    assert rows[-1, 1] == seen.scores.auroc and rows[-1, 2] == seen.scores.information
    assert (seen.said.inside.probabilities.sum(1) - 1).abs().max() < 1e-12
    run = finished(DigitsJob(scene), block=1000)
    assert np.array_equal(run.log.since(0)[1], rows), "whatever the blocks"
    net = scene.digits.network
    alone = predictive(net, torch.zeros(1, net.dim), scene.digits.outside)
    torch.testing.assert_close(alone.probabilities, scene.digits.one.outside.probabilities)
    assert Scores.of(scene.digits.one, scene.digits).auroc > 0.8
    assert set(scene.digits.split.targets.tolist()) == set(range(5)) and scene.digits.outside_targets.min() == 5


@pytest.mark.slow
def test_the_sentence_follows_the_numbers(bandit, digits):
    seen = bandit.judge()
    said = texts.bandit_headline(SMALL, seen, True)
    a, b = (seen.players[side].own for side in ("left", "right"))
    assert f"{min(a, b):,.0f}" in said and f"{max(a, b):,.0f}" in said and "in this one play" in said
    better = "pSGLD" if a < b else "pICSGLD"
    assert said.startswith(f"After 40 rounds {better} has lost")
    assert "chance" in texts.bandit_headline(SMALL, None, True)
    assert f"{a:,.0f}" not in texts.bandit_headline(SMALL, seen, False)
    one = Scores.of(get_scene(LITTLE).digits.one, get_scene(LITTLE).digits)
    found = digits.judge()
    told = texts.digits_headline(found, one, True)
    assert ("no better than" in told) == (found.scores.auroc <= one.auroc) and f"{found.scores.auroc:.1%}" in told
    equal = texts.digits_headline(
        dataclasses.replace(found, scores=dataclasses.replace(one, auroc=one.auroc + 1e-6)), one, True
    )
    assert f"{one.auroc:.1%} of pairs, as often as the single net." in equal, (
        "better than 94.4%, in 94.4%, would be a riddle"
    )
    assert "%" not in texts.digits_headline(found, one, False)
    same = SMALL.replace(bandit=BanditSettings(mushrooms="pleasant", left=play("pSGLD"), right=play("pSGLD")))
    assert texts.names(same) == ("pSGLD (left)", "pSGLD (right)")


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_every_preset_can_be_run_and_says_one_thing(preset):
    config = preset.config
    assert 60 < len(preset.lesson) < 250 and preset.lesson.endswith(".")
    ElementTree.fromstring(draw_game(config))
    assert DecisionsConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config
    if config.plays:
        play = BanditJob(get_scene(config))
        seen = play.advance(1)
        assert isinstance(seen, BanditProgress) and seen.steps == 1 and seen.moment.forced
        at, *regret = OUTCOMES[preset.name]["regret"][2]
        later = play.advance(int(at) - 1)
        assert [later.players[side].regret for side in ("left", "right")] == regret, "as the tile draws it"


@pytest.mark.parametrize(
    "name, auroc, error", [("digits", 0.953, 0.004), ("stuck", 0.936, 0.003), ("hot", 0.938, 0.005)]
)
def test_a_tile_of_digits_draws_what_its_lesson_says(name, auroc, error):
    """AUROC of the histogram that is drawn, against the mean of five splits: four of one split's deviations, and what bins blur."""
    known, others = (np.array(OUTCOMES[name]["entropy"][kind]) for kind in ("inside", "outside"))
    assert f"{auroc} ± {error}" in next(each.lesson for each in PRESETS if each.name == name).replace("fell to ", "")
    below = np.cumsum(known) - known / 2
    assert abs(float(others @ below) - auroc) < 4 * error * math.sqrt(5) + 0.005


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"game": "chess"}, "game is 'chess'; choose one of mushrooms, digits"),
        ({"bandit": {"rounds": 5}}, "rounds is 5; it must be at least 20"),
        ({"bandit": {"left": {"agent": "human"}}}, "left.agent is 'human'"),
        ({"bandit": {"left": "pSGLD"}}, "left is 'pSGLD'; give a table"),
        ({"bandit": {"batch_size": 2000}}, "batch_size is 2000; it must be at most 1024"),
        ({"bandit": {"step_size": 0}}, "step_size is 0; it must be at least 1e-10"),
        ({"bandit": {"hidden": 256, "capacity": 4096, "batch_size": 2048, "steps": 64}}, "This page takes up to 3"),
        ({"bandit": {"mushrooms": "../../etc/passwd"}}, "mushrooms is '../../etc/passwd'"),
        ({"outside": {"steps": 10**9}}, "steps is 1000000000; it must be at most 20000"),
        ({"outside": {"temperature": "hot"}}, "temperature"),
        ({"outside": 3}, "outside must be a JSON object"),
        ({"wrong": 1}, "Unknown key 'wrong'"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_what_cannot_be_played_is_refused_in_words(changes, words):
    with pytest.raises(ValueError, match=words):
        DecisionsConfig.from_dict({**SMALL.to_dict(), **changes})


@pytest.fixture
def page():
    made = Decisions()
    yield made
    made.close()


def shown(page: Decisions, snapshot, status: Status = Status.RUNNING) -> None:
    """As the page's ticks would show it."""
    page._ticks = -1
    page._on_poll(State(status=status, version=99, snapshot=snapshot), None)


def test_a_link_comes_back_and_a_change_keeps_the_rest(page):
    for wanted in (SMALL, LITTLE):
        page.restore(wanted.to_dict())
        settled(page)
        assert page.configuration() == wanted.to_dict() and page.game.value == wanted.game
        assert page.tiles.selected == "" and "Your own settings" in page.lesson.object
    page.editor.fields["chains"]._on_user("text", "3")
    after = settled(page).configuration()
    assert (
        after["outside"] == {**LITTLE.to_dict()["outside"], "chains": 3}
        and after["bandit"] == LITTLE.to_dict()["bandit"]
    )
    page.editor.fields["chains"]._on_user("text", "0")
    assert settled(page).configuration() == after
    page.game.value = "mushrooms"
    assert settled(page).configuration() == PRESETS[0].config.to_dict() and page.tiles.selected == PRESETS[0].name
    page.editor.fields["right_agent"].widget.value = "pCSGLD"
    assert settled(page).configuration()["bandit"]["right"]["agent"] == "pCSGLD" and not page.fault.visible


def test_what_cannot_be_run_changes_nothing(page):
    before = page.configuration()
    for wrong in ({"game": 3}, {"bandit": {"rounds": 0}}, {"unknown": 1}):
        with pytest.raises(ValueError):
            page.restore({**SMALL.to_dict(), **wrong})
    assert page.configuration() == before and page.tiles.selected == PRESETS[0].name


@pytest.mark.slow
def test_hidden_answers_tell_neither_the_mushroom_nor_who_is_better(page, bandit, digits):
    page.restore(SMALL.to_dict())
    shown(settled(page), bandit.judge(), Status.FINISHED)
    assert State(status=Status.FINISHED).status in OVER and "has lost" in page.headline.object
    assert "poisonous eaten" in page.panel.table.object and page.panel.curve.visible
    page.answers.visible = False
    own = f"{bandit.judge().players['left'].own:,.0f}"
    for text in (page.headline.object, page.panel.table.object, page.panel._said.object):
        assert own not in text and "gave" not in text and "edible:" not in text
    assert not page.panel.curve.visible and not page.panel.moment.truth.data["x"]
    assert {item["title"] for item in page.tiles.items} == {f"No. {i + 1}" for i in range(len(PRESETS))}
    assert texts.TASK in page.lesson.object
    with pytest.raises(ValueError, match="press Reveal"):
        page.takeaway.content("curves")
    page.restore(LITTLE.to_dict())
    shown(settled(page), digits.judge())
    assert texts.DIGITS_TASK in page.lesson.object and "%" not in page.headline.object
    assert f"{digits.judge().scores.auroc:.3f}" not in page.panel.table.object
    assert not page.panel.table.visible or page.panel.table not in page.panel.view.select()
    both = page.panel.scale.sources["inside"].data
    assert not len(page.panel.scale.sources["outside"].data["y"]) and len(set(both["y"])) == 6, "no lane tells"
    assert list(both["x"]) == sorted(both["x"]), "nor does the order"
    page.answers.visible = True
    lanes = {kind: set(source.data["y"]) for kind, source in page.panel.scale.sources.items()}
    assert not lanes["inside"] & lanes["outside"]
    assert f"{digits.judge().scores.auroc:.3f}" in page.panel.table.object


def test_the_curves_can_leave_the_forced_pulls_out(bandit):
    figure, rows = RegretFigure(), bandit.log.since(0)[1]
    figure.reset(SMALL, 2.0)
    figure.stream(rows[:20])
    figure.show_own(True)
    figure.stream(rows[20:])
    assert np.array_equal(figure.source.data["left"], rows[:, 1] - rows[:, 4]) and figure.source.data["left"][4] == 0
    figure.show_own(False)
    assert np.array_equal(figure.source.data["right"], rows[:, 2])
    assert np.array_equal(figure.source.data["round"], rows[:, 0])


def test_the_run_ends_when_the_page_closes(page):
    run = on_screen(page)._live.run
    assert run is not None
    page.close()
    assert run.state.status is Status.CANCELLED or not run.playing
