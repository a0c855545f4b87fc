"""Sentences on figures for those who do not see them: at most one a second, and the last one at once."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from app.pages.decisions.config import BanditSettings, DecisionsConfig
from app.pages.decisions.figures.bandit import RegretFigure
from app.pages.landscapes.figures import PlaneFigure
from app.style import legend
from app.style.legend import HeardLegend


def test_a_sentence_is_renewed_once_a_second_and_at_the_end_at_once(monkeypatch):
    clock = SimpleNamespace(now=100.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(legend, "time", clock)
    heard = HeardLegend()
    heard.begin("Regret", [("left", "nets")], "regret")
    assert "data-summary" not in heard.view.object and "nets" in heard.view.object
    heard.say("One < two.")
    assert '<p class="heard" data-summary="regret">One &lt; two.</p>' in heard.view.object
    clock.now += 0.5
    heard.say("Two.")
    assert "One" in heard.view.object
    heard.say("Two.", now=True)
    assert ">Two.<" in heard.view.object
    clock.now += 1.5
    heard.say("Three.")
    assert ">Three.<" in heard.view.object
    heard.begin("Regret", [], "regret")
    assert "Three" not in heard.view.object


def test_figures_say_what_they_show_and_not_what_is_hidden():
    figure = RegretFigure()
    assert figure.summary() == ""
    figure.reset(DecisionsConfig(bandit=BanditSettings(rounds=40, pulls=2, forced_pulls=4)), 3.0)
    figure.stream(np.array([[1.0, 10, 20, 30, 10], [40.0, 1500, 900, 700, 10]]))
    assert figure.summary() == "After 40 rounds the left regret is 1,500, the right one 900; chance would have 240."
    assert figure.full
    figure.show_answers(False)
    assert figure.summary() == ""
    plane = PlaneFigure()
    assert plane.summary() == ""
    plane.heads.data = {"x": [0.5, -1.25, np.nan], "y": [0.0, 2.0, 0.0], "color": ["a"] * 3}
    assert plane.summary() == "2 chains are drawn: w1 is between -1.2 and 0.5, w2 between 0 and 2."
