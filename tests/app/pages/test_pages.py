"""Pages, presets, words and drawings, without a browser."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
import toy_page

import app.pages
from app.controls.run_fields import DEFAULTS
from app.estimates import texts
from app.estimates.figures import first_range
from app.pages import load_pages
from app.pages.local_geometry.config import get_problem
from app.pages.local_geometry.pictures import draw_network
from app.pages.local_geometry.presets import PRESETS, available
from app.runs.job import State, Status
from app.runs.manager import manager
from app.style import numbers
from app.style.figures import GrowingRange, nice_above
from app.style.formula import displayable
from llc_core import LearningCoefficient, RunConfig, Verdict
from llc_core.diagnostics.evidence import Evidence
from llc_core.engine.resolve import resolve
from llc_core.samplers import build
from llc_core.samplers.registry import samplers


@pytest.mark.slow
def test_the_window_opens_without_the_engine():
    code = "import sys, app.window.shell, app.session.errors; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_pages_are_found():
    pages = load_pages()
    assert [page.title for page in pages] == [
        "Start",
        "Local geometry",
        "Stationary bias",
        "Your network",
        "Stages",
        "Polygons",
        "Landscapes",
        "Many modes",
        "Weights and functions",
        "Decisions",
        "Benchmark",
    ]
    assert [page.main for page in pages] == [True] * 4 + [False] * 7, "those of the header come first"


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """The pages with one more, in a folder of its own; it is gone afterwards."""
    toy_page.write(tmp_path)
    monkeypatch.setattr(app.pages, "__path__", [*app.pages.__path__, str(tmp_path)])
    yield next(page for page in load_pages() if page.key == "toy")
    for name in [name for name in sys.modules if name.split(".")[:3] == ["app", "pages", "toy"]]:
        del sys.modules[name]
    del app.pages.toy


def test_a_page_is_one_folder(toy):
    assert len(toy_page.MODULES) == 3
    view = toy.build()
    try:
        view.restore({"problem": {"width": 4}, "steps": 200, "chains": 2})
        assert view.configuration()["problem"] == {"width": 4} and view.words.object == "<p>λ is 4.</p>"
        view._live.run = manager().submit(view._live._build)
        limit = time.monotonic() + 60
        while view._live.run.state.status is not Status.FINISHED or view._live.run.state.estimate.steps < 200:
            assert time.monotonic() < limit
            view._live._poll()
            time.sleep(0.01)
        view._live._poll()
        assert view.transport.step == 200 and len(view.losses.source.data["step"]) == 200
        view.editor.width._on_user("text", "12")
        assert view.fault.visible and "width is 12" in view.fault.object
    finally:
        view.close()


def test_afterwards_the_toy_is_gone():
    assert "toy" not in [page.key for page in load_pages()]


def test_presets_are_possible_and_each_says_one_thing():
    chosen = available(samplers())
    assert len(chosen) >= 6 and len({preset.name for preset in PRESETS}) == len(PRESETS)
    for preset in chosen:
        problem = get_problem(preset.problem)
        resolve(RunConfig(problem=problem.to_dict(), **{**DEFAULTS, **preset.settings}), problem)
        assert preset.lesson.endswith(".") and len(preset.lesson) < 160


def test_the_regular_preset_is_regular_and_the_singular_one_is_not():
    problems = {preset.name: get_problem(preset.problem) for preset in PRESETS}
    assert float(problems["regular"].local_learning_coefficient) == problems["regular"].dim / 2
    assert float(problems["singular"].local_learning_coefficient) < problems["singular"].dim / 4
    assert problems["local"].local_learning_coefficient.value == 32
    assert problems["local"].learning_coefficient.value == 29


@pytest.mark.parametrize("widths, ranks", [([4, 3, 4], None), ([8, 6], [0]), ([100, 5, 300], [2, 5]), ([3] * 40, None)])
def test_drawings_are_valid_and_described(widths, ranks):
    picture = ElementTree.fromstring(draw_network(widths, ranks))
    assert str(widths[0]) in picture.attrib["aria-label"]
    for element in picture.iter("circle"):
        assert 0 <= float(element.attrib["cy"]) <= 150


@pytest.mark.parametrize("name", sorted(samplers(conditionals=True)))
def test_formulas_need_no_root_sign_from_a_font(name):
    shown = displayable(samplers(conditionals=True)[name].formula)
    assert r"\sqrt" not in shown and "quad" not in shown
    assert shown.count("$") % 2 == 0 and shown.count("{") == shown.count("}")


def test_formulas_are_split_where_they_may_wrap():
    assert displayable(r"a\quad b,\quad \sqrt{2\epsilon}x") == r"$a$ &emsp; $b$ &emsp; $\surd (2\epsilon)x$"
    assert displayable(r"\sqrt{\epsilon}\,\xi") == r"$\surd \epsilon\,\xi$"
    assert displayable(r"\sqrt{1") == r"$\surd (1)$"


def test_numbers_carry_as_many_digits_as_their_error_has_to_say():
    assert numbers.with_error(7.21634, 0.0312) == "7.216 ± 0.031"
    assert numbers.with_error(149.5, 2.4) == "149.5 ± 2.4"
    assert numbers.with_error(41234.0, 120.0) == "41,234 ± 120"
    assert numbers.with_error(float("nan"), 1.0) == numbers.UNKNOWN
    assert numbers.with_error(3.5, float("nan")) == "3.5"
    assert numbers.coefficient(LearningCoefficient(Fraction(15, 2), 3)) == "15/2 = 7.5 (m = 3)"
    assert numbers.coefficient(LearningCoefficient(Fraction(29), None)) == "29 (m = ?)"
    assert numbers.power_of_ten(10**6) == "10⁶" and numbers.power_of_ten(1234) == "1,234"


def judged(
    ok: bool, reason: str, remedy: str = "", wants_steps: bool = False, llc: float = 10.0, expected: float = 10.0
) -> State:
    estimate = SimpleNamespace(
        from_temperatures=None,
        steps=1000,
        burn_in=100,
        converged=Verdict(ok, reason, remedy, wants_steps),
        llc=llc,
        llc_se=0.1,
        expected=expected,
        relative_error=llc / expected - 1,
        r_hat=1.0,
        reference=math.nan,
        reference_se=0.0,
        chains=4,
        ess=900.0,
        setting={},
        evidence=Evidence(llc=llc, se=0.1, chains=4, kept_steps=900, sampler=build("SGLD")),
        config=RunConfig(sampler={"name": "SGLD"}, localization=1.0),
        learning_coefficient=LearningCoefficient(Fraction(8)),
        local_learning_coefficient=LearningCoefficient(Fraction(10)),
    )
    snapshot = SimpleNamespace(steps=1000, burn_in=100, alive=np.ones(4, dtype=bool))
    return State(status=Status.RUNNING, snapshot=snapshot, estimate=estimate)  # type: ignore[arg-type]


def test_the_verdict_says_whether_to_trust_and_what_to_change():
    tone, words = texts.verdict(judged(True, "Fine."))
    assert tone == "fair" and words.startswith("<b>The chains agree.</b>") and "γ = 1" in words
    confirmed = judged(True, "Fine.")
    confirmed.estimate.reference = 10.0
    assert texts.verdict(confirmed) == ("good", "<b>Trust it.</b> Fine.")
    assert "Trust it" not in texts.verdict(confirmed, with_answers=False)[1]
    tone, words = texts.verdict(judged(False, "R-hat is 1.2.", "Take more steps.", True))
    assert tone == "warn" and "What to change" not in words and "Run more" not in words, "it is taking more steps"
    tone, words = texts.verdict(replace(judged(False, "R-hat is 1.2.", "Take more steps.", True), status=Status.PAUSED))
    assert tone == "warn" and "Take more steps." in words
    assert "Halve" in texts.verdict(judged(False, "The step is too large.", "Halve the step size."))[1]
    finished = replace(judged(False, "R-hat is 1.2.", "Take more steps.", True), status=Status.FINISHED)
    tone, words = texts.verdict(finished)
    assert tone == "bad" and words.endswith("<b>Run more</b> takes them from here.")
    assert texts.verdict(judged(False, "2 of 4 chains diverged."))[0] == "bad"
    assert texts.verdict(State(status=Status.FAILED, message="a < b"))[1].endswith("a &lt; b")
    assert "number 3" in texts.verdict(State(status=Status.QUEUED, place=3))[1]


def test_chains_that_agree_on_a_wrong_value_are_not_called_trustworthy():
    tone, words = texts.verdict(judged(True, "Fine.", llc=14.0))
    assert tone == "warn" and "40% above" in words
    tone, words = texts.verdict(judged(True, "Fine.", llc=8.2))
    assert tone == "warn" and "global λ = 8" in words
    assert texts.verdict(judged(True, "Fine.", llc=10.3))[0] == "fair"
    refuted = judged(True, "Fine.", llc=14.0)
    refuted.estimate.reference = 10.0
    tone, words = texts.verdict(refuted)
    assert tone == "bad" and "40% above the exact value 10" in words and "smaller step size" in words


def test_ranges_only_grow_and_end_on_round_numbers():
    y = GrowingRange()
    y.reset(0, 10)
    y.cover(2, 8)
    assert (y.range.start, y.range.end) == (0, 10)
    y.cover(2, 33)
    assert y.range.end == 40
    y.cover(float("nan"), float("inf"))
    assert y.range.end == 40
    y.cover(-7, 5)
    assert (y.range.start, y.range.end) == (-10, 40)
    assert nice_above(0.031) == pytest.approx(0.04) and nice_above(1000) == 1000 and nice_above(float("nan")) == 1
    low, high = first_range([7.23, 7.5])
    assert 0 < low < 7.23 and high > 7.5
