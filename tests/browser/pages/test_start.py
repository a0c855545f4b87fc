"""The page "Start" in a browser: what its script says is exact is compared with quadrature here, and its chains with both."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect
from scipy.integrate import quad
from scipy.special import gamma

from app.components.base import text_beside
from app.components.drawings import valley
from app.pages import start

MATH = text_beside(valley.__file__, "valley_math.js")
ASKED = "([t, n]) => ({...exact(t), ...posterior(t, n), room: volume(t, 1 / n)})"
WALKED = """([t, n]) => {
  let seed = 1, chains = Array.from({length: 40}, () => [0, 0])
  const random = () => (seed = seed * 16807 % 2147483647) / 2147483647
  const means = chains.map(() => 0), steps = 4000
  for (let i = -400; i < steps; i += 1) chains.forEach((place, k) => {
    chains[k] = hop(t, n, place, random)
    if (i >= 0) means[k] += n * loss(t, ...chains[k]) / steps
  })
  return means
}"""
VALLEYS = [(t, n) for t in (0.0, 0.4, 1.0, 1.7, 2.0, 2.6, 3.0) for n in (20.0, 1e3, 1e5)]


def by_quadrature(t: float, n: float) -> tuple[float, float, float]:
    """Free energy, mean of nK and share of the square below 1/n, by Gauss-Legendre on pieces that shrink towards 0 in both weights."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    ends = np.concatenate([[0.0], np.geomspace(1e-7, 1.0, 60)])
    at = np.concatenate([(b - a) / 2 * nodes + (a + b) / 2 for a, b in zip(ends, ends[1:], strict=False)])
    width = np.concatenate([(b - a) / 2 * weights for a, b in zip(ends, ends[1:], strict=False)])
    x, y = at[:, None], at[None, :]
    cost = n * (x**2 + (y ** (4 / (2 - t)) if t < 2 else 0) if t <= 2 else x**2 * (3 - t + (t - 2) * y**2))
    share = width[:, None] * width[None, :] * np.exp(-cost)
    below = 1 / n - (at ** (4 / (2 - t)) if t < 2 else 0 * at)
    steep = np.ones_like(at) if t <= 2 else 3 - t + (t - 2) * at**2
    room = float(width @ np.minimum(1, np.sqrt(np.maximum(below, 0) / steep)))
    return -float(np.log(share.sum())), float((share * cost).sum() / share.sum()), room


@pytest.mark.parametrize(("t", "n"), VALLEYS)
def test_what_is_said_to_be_exact_is(page, t, n):
    said = page.evaluate(f"(given) => {{ {MATH}; return ({ASKED})(given) }}", [t, n])
    free, mean, room = by_quadrature(t, n)
    assert said["free"] == pytest.approx(free, rel=1e-4, abs=1e-5)
    assert said["mean"] == pytest.approx(mean, rel=1e-3)
    assert said["room"] == pytest.approx(room, rel=2e-3)
    assert (said["lambda"], said["multiplicity"]) == (max(1 - t / 4, 0.5), 2 if t == 3 else 1)


@pytest.mark.parametrize(("t", "n"), [(0.0, 1e3), (1.0, 1e3), (2.0, 1e4), (2.6, 20.0), (3.0, 1e4)])
def test_chains_meet_the_loss_that_is_expected(page, t, n):
    means = np.array(page.evaluate(f"(given) => {{ {MATH}; return ({WALKED})(given) }}", [t, n]))
    error = means.std(ddof=1) / np.sqrt(len(means))
    _, expected, _ = by_quadrature(t, n)
    assert abs(means.mean() - expected) < 4 * error < 0.06


def test_chains_with_a_wrong_rule_are_found_out(page):
    """Planted: hops are accepted as if the loss weighed half."""
    wrong = MATH.replace("Math.exp(n * (loss", "Math.exp(n / 2 * (loss")
    assert wrong != MATH
    means = np.array(page.evaluate(f"(given) => {{ {wrong}; return ({WALKED})(given) }}", [1.0, 1e3]))
    assert abs(means.mean() - by_quadrature(1.0, 1e3)[1]) > 8 * means.std(ddof=1) / np.sqrt(len(means))


def test_a_link_that_hides_answers_shows_no_exact_coefficient(app):
    from app.sharing.links import Link, encode

    app.page.goto(f"{app.address}?c={encode(Link('start', {'bend': 1.0, 'samples': 3.0}, ('answers',)))}")
    expect(app.page.locator(".board")).to_contain_text("How many does it use?")
    expect(app.page.locator(".truth")).to_be_hidden()
    app.button("Play").click()
    expect(app.page.locator(".hat")).to_have_text(re.compile("^0\\.[678]"))


def test_which_of_two_networks_generalises_is_guessed_before_it_is_shown(app):
    app.page.goto(f"{app.address}?page=start")
    card = app.page.locator("section.card", has_text="which one has found the rule?")
    first, second = (card.get_by_role("button", name=name) for name in ("Network A", "Network B"))
    expect(first).to_contain_text("100%")
    expect(card).not_to_contain_text("never saw")
    first.press("Enter")
    expect(first).to_have_attribute("aria-pressed", "true")
    expect(card.get_by_role("status")).to_have_text(re.compile("^No. Network B gets 9[0-9]% of the new sums right"))
    second.click()
    expect(card.get_by_role("status")).to_have_text(re.compile("^Yes."))
    expect(card.locator(".truth")).to_have_count(2)


def test_the_two_networks_are_alike_in_loss_and_not_in_lambda():
    found = json.loads((Path(start.__file__).parent / "panels/twins.json").read_text())
    rule, heart = found["rule"], found["heart"]
    assert rule["trusted"] and heart["trusted"]
    assert rule["accuracy"] == heart["accuracy"] == 1
    assert abs(rule["loss"] - heart["loss"]) < 0.05 * rule["loss"]
    assert heart["llc"] - rule["llc"] > 5 * (heart["llc_se"] ** 2 + rule["llc_se"] ** 2) ** 0.5
    assert rule["hidden"] > 0.9 > 0.6 > heart["hidden"]


RIVALS = text_beside(valley.__file__, "rivals_math.js")


@pytest.mark.parametrize("c", [0.001, 0.005, 0.03, 0.1])
@pytest.mark.parametrize("n", [10.0, 300.0, 1e5])
def test_what_two_solutions_cost_is_what_quadrature_says(page, c, n):
    said = page.evaluate(f"([c, n]) => {{ {RIVALS}; return [freeEnergies(c, n), shareOfB(c, n)] }}", [c, n])
    free = {
        "A": -np.log(quad(lambda u: np.exp(-n * u**2), 0, 1, points=[min(0.5, 3 / n**0.5)])[0] / 2),
        "B": n * c - np.log(quad(lambda u: np.exp(-n * (1 - c) * u**6), 0, 1)[0] / 2),
    }
    assert said[0] == pytest.approx(free, abs=1e-5)
    assert said[1] == pytest.approx(1 / (1 + np.exp(np.clip(free["B"] - free["A"], -700, 700))), abs=1e-5)


def test_both_are_as_likely_where_the_page_says_that_they_change_places(page):
    for c in (0.001, 0.005, 0.02):
        turn, share = page.evaluate(f"(c) => {{ {RIVALS}; return [change(c), shareOfB(c, change(c))] }}", c)
        assert share == pytest.approx(0.5, abs=1e-6)
        # What theory says to leading order: n c = (1/2 - 1/6) log n, up to a constant of the two shapes.
        constant = 6 * gamma(7 / 6) / 3 / np.sqrt(np.pi)
        assert turn * c == pytest.approx(np.log(turn) / 3 + np.log(constant) - np.log(1 - c) / 6, rel=1e-3)


def test_which_solution_the_data_choose_is_guessed_before_it_is_shown(app):
    app.page.goto(f"{app.address}?page=start")
    card = app.page.locator("section.card", has_text="which one do the data choose?")
    expect(card.get_by_label("Samples n:")).to_be_hidden()
    expect(card).not_to_contain_text("%")
    card.get_by_role("button", name="Mostly at A").press("Enter")
    expect(card.get_by_role("status")).to_have_text(re.compile("^No. At 100 samples 7[0-9]% of the posterior is at B"))
    slider = card.get_by_label("Samples n:")
    slider.fill("4")
    expect(card.get_by_role("status")).to_have_text(re.compile("^At 10,000 samples almost none"))


def test_on_a_projector_every_chart_is_on_the_first_screen(app):
    """Words are half as large again there, and the rows above the charts with them."""
    app.page.set_viewport_size({"width": 1920, "height": 1080})
    app.page.goto(f"{app.address}?page=start&preset=bowl&hide=answers&present=1")
    charts = app.page.locator(".charts svg")
    expect(charts.first).to_be_visible()
    app.page.wait_for_function("document.documentElement.style.fontSize === '150%'")
    boxes = [chart.bounding_box() for chart in charts.all()]
    assert len(boxes) == 3 and all(box["height"] >= 300 and box["y"] + box["height"] <= 1080 for box in boxes), boxes
