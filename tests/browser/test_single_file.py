"""The page without a server in a browser: its exact numbers are llc_core's, its particles have the exact distribution, all can use it."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_checks import faults
from playwright.sync_api import Browser, Error, Page, expect

from lab.page import build
from llc_core import DeepLinearNetwork
from llc_core.potentials.deep_linear.random_networks import draw_network
from llc_core.stationary.exact import exact_law
from llc_core.stationary.predictions import masses
from llc_core.theory.coefficients import learning_coefficient, local_learning_coefficient
from llc_core.theory.rank_tables import masked_rank_table
from llc_core.types import LearningCoefficient

EXACT, LINE, GUESS = (build.read(build.HERE, name) for name in ("exact.js", "line.js", "guess.js"))
CASES, TABLES = 10_000, 1_500
LIMIT = 200_000
"""Entries that the search for a multiplicity may compute, on both sides."""
SIZES = {"desk": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}


@pytest.fixture(scope="module")
def quick(browser_type, browser_type_launch_args) -> Iterator[Browser]:
    """A browser of its own, which compiles scripts as a visitor's does; none of these tests needs the app."""
    opened = browser_type.launch(
        executable_path=browser_type_launch_args["executable_path"], args=["--no-sandbox", "--disable-gpu"]
    )
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def empty(quick) -> Page:
    return quick.new_page()


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> str:
    target: Path = tmp_path_factory.mktemp("page") / "llc.html"
    build.main([str(target)])
    return target.as_uri()


@pytest.fixture
def opened(quick, address, request) -> Iterator[Page]:
    """The page, at a size, in a scheme, moving or not; what it asks for and what it complains of fails the test."""
    options = {"viewport": SIZES["desk"], "reduced_motion": "no-preference", **getattr(request, "param", {})}
    page, problems = quick.new_page(**options), list[str]()
    page.on("console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda asked: None if asked.url == address else problems.append(asked.url))
    page.goto(address)
    page.locator("html[data-ready]").wait_for()
    yield page
    page.close()
    assert problems == []


# -- exact numbers ------------------------------------------------------------------------------------------------------


def numbers(found: LearningCoefficient) -> list[int | None]:
    return [found.value.numerator, found.value.denominator, found.multiplicity]


def drawn_cases(count: int) -> list[dict[str, Any]]:
    """Random widths and layer ranks, with what llc_core says of them."""
    draw, cases = random.Random(0), []
    for seed in range(count):
        most = draw.choice([1, 2, 3, 5, 9, 20])
        widths = [draw.randint(1, most) for _ in range(draw.randint(2, 9))]
        if draw.random() < 0.25:
            widths = [most] * len(widths)
        ranks = [draw.randint(0, min(pair)) for pair in zip(widths, widths[1:], strict=False)]
        table = draw_network(None, None, widths, ranks, seed).rank_table
        least, here = learning_coefficient(widths, table[0][-1]), local_learning_coefficient(widths, table, LIMIT)
        cases.append({"widths": widths, "ranks": ranks, "table": table, "all": numbers(least) + numbers(here)})
    return cases


def drawn_tables(count: int) -> list[dict[str, Any]]:
    """Random rows and columns are zero: these tables have more ties, and multiplicities that must be searched for."""
    draw, cases = random.Random(1), []
    for _ in range(count):
        most = draw.choice([2, 3, 4, 6, 12])
        widths = [draw.randint(1, most) for _ in range(draw.randint(3, 12))]
        some = [
            [draw.sample(range(h), draw.randint(0, h)) if draw.random() < 0.6 else None for h in widths]
            for _ in range(2)
        ]
        table = masked_rank_table(widths, some[0][1:], some[1][:-1])
        least, here = learning_coefficient(widths, table[0][-1]), local_learning_coefficient(widths, table, LIMIT)
        cases.append({"widths": widths, "table": table, "all": numbers(least) + numbers(here)})
    return cases


ASKED = """([cases, limit]) => { EXACT
  const both = (a, b) => [a.top, a.bottom, a.multiplicity, b.top, b.bottom, b.multiplicity]
  return cases.map(({widths, ranks, table}) => ({
    table: ranks ? rankTable(widths, ranks) : table,
    all: both(globalCoefficient(widths, table[0][widths.length - 1]), localCoefficient(widths, table, limit)),
  }))
}"""


def differing(page: Page, cases: list[dict[str, Any]], script: str = EXACT) -> int:
    given = [{key: value for key, value in case.items() if key != "all"} for case in cases]
    found = page.evaluate(ASKED.replace("EXACT", script), [given, LIMIT])
    assert len(found) == len(cases)
    return sum(a["all"] != b["all"] or a["table"] != b["table"] for a, b in zip(found, cases, strict=True))


def test_ten_thousand_networks_have_the_same_coefficients(empty):
    cases = drawn_cases(CASES)
    assert differing(empty, cases) == 0
    assert sum(case["all"][5] not in (None, 1) for case in cases) > CASES / 20
    assert sum(case["all"][:2] != case["all"][3:5] for case in cases) > CASES / 10, "global and local are two things"


def test_tables_with_searched_multiplicities_have_the_same_coefficients(empty):
    cases = drawn_tables(TABLES)
    assert differing(empty, cases) == 0
    assert sum(case["all"][5] != 1 for case in cases) > TABLES / 10


@pytest.mark.parametrize(
    "right, wrong",
    [
        ("largest < rest && total < l * rest", "largest < rest"),
        ("- (l - 1) * total * total", "- l * total * total"),
        ("[...group].reverse()", "group"),
        ("level[giver] === level[taker] + 1", "level[giver] === level[taker]"),
        ("widths[s] - ranks[s][t]", "widths[s]"),
        ("kept.slice(s, t)", "kept.slice(s + 1, t)"),
    ],
)
def test_a_planted_error_of_the_formulas_is_found(empty, right, wrong):
    assert EXACT.count(right) == 1
    with suppress(Error):  # what has become wrong may end the script
        assert differing(empty, drawn_cases(300), EXACT.replace(right, wrong)) > 0


def test_the_coefficient_of_one_layer_is_half_the_rank_of_its_second_derivative(empty):
    script = f"([widths, ranks]) => {{ {EXACT}; return layerCoefficients(widths, rankTable(widths, ranks)).map((each) => each.value) }}"
    for widths, ranks in (([4, 3, 5], [2, 3]), ([3, 3, 3, 3], [2, 1, 3]), ([5, 4, 4, 2], [4, 0, 2]), ([6, 2], [1])):
        weights = DeepLinearNetwork.random(widths=widths, layer_ranks=ranks, seed=1).weights
        expected = []
        for layer in range(len(weights)):
            before, after = np.eye(widths[0]), np.eye(widths[layer + 1])
            for w in weights[:layer]:
                before = w @ before
            for w in weights[layer + 1 :]:
                after = w @ after
            expected.append(np.linalg.matrix_rank(np.kron(after, before.T)) / 2)
        assert empty.evaluate(script, [widths, ranks]) == expected


@pytest.mark.parametrize(
    "typed, said",
    [
        (("6 6-6", "3;3"), {"widths": [6, 6, 6], "ranks": [3, 3]}),
        (("4, 7", ""), {"widths": [4, 7], "ranks": [4]}),
        (("6", ""), "Give from 2 to 13 widths, such as 6, 6, 6."),
        (("6, x", "1"), "Give widths from 1 to 1000, such as 6, 6, 6."),
        (("6, 0", "0"), "Give widths from 1 to 1000, such as 6, 6, 6."),
        (("6, 1e3", "0"), "Give widths from 1 to 1000, such as 6, 6, 6."),
        (("6, 4, 6", "3"), "Give 2 ranks, one for each layer, or none."),
        (("6, 4, 6", "3, 5"), "Give layer 2 a rank from 0 to 4."),
        (("6, 4, 6", "3, y"), "Give layer 2 a rank from 0 to 4."),
    ],
)
def test_what_is_typed_is_a_network_or_one_sentence(empty, typed, said):
    read = f"(typed) => {{ {EXACT}; {GUESS}; try {{ return readNetwork(...typed) }} catch (error) {{ return error.message }} }}"
    assert empty.evaluate(read, list(typed)) == said


# -- particles on the line ----------------------------------------------------------------------------------------------

PSGLD = {"published": {"name": "PSGLD", "alpha": 0.9}, "corrected": {"name": "CorrectedPSGLD", "alpha": 0.5}}
GROUPS, CELLS = 40, slice(21, 61)
"""Independent groups of particles, and the bins from −2 to 2, which are looked at in pairs."""
WALKED = """(name) => { LINE
  let seed = 7
  const normal = normals(() => (seed = seed * 16807 % 2147483647) / 2147483647)
  return Array.from({length: GROUPS}, () => {
    const {x, move} = particles(name, 60, normal), counts = Array(BINS + 2).fill(0)
    for (let i = 0; i < 6000; i += 1) { move(); if (i >= 3000 && i % 20 === 0) count(x, counts) }
    return counts
  })
}""".replace("GROUPS", str(GROUPS))


def described(page: Page, name: str) -> dict[str, Any]:
    """The sampler as the page has it."""
    asked = page.evaluate(f"(name) => {{ {LINE}; return SAMPLERS[name] }}", name)
    return {**PSGLD[name], "alpha": asked["alpha"], "step_size": asked["step"], "stability": asked["stability"]}


def errors_off(page: Page, name: str, script: str = LINE) -> float:
    """By how many standard errors, at most, the histogram is off the chain's exact distribution."""
    counts = np.array(page.evaluate(WALKED.replace("LINE", script), name), float)
    shares = (counts / counts.sum(axis=1, keepdims=True))[:, CELLS].reshape(GROUPS, -1, 2).sum(axis=2)
    expected = exact_law(described(page, name), "normal").masses()[CELLS].reshape(-1, 2).sum(axis=1)
    return float(np.abs((shares.mean(axis=0) - expected) / (shares.std(axis=0, ddof=1) / np.sqrt(GROUPS))).max())


@pytest.mark.parametrize("name", PSGLD)
def test_particles_have_the_exact_distribution(empty, name):
    assert errors_off(empty, name) < 4.5  # of 20 cells: by chance once in a thousand


@pytest.mark.parametrize(
    "name, right, wrong",
    [
        ("published", "rate * g * metric * metric / (root + TINY)", "g * metric * metric / (root + TINY)"),
        ("corrected", "- g * metric * metric * metric", "- rate * g * metric * metric * metric"),
        ("corrected", "Math.sqrt(step * metric)", "Math.sqrt(1.2 * step * metric)"),
    ],
)
def test_particles_with_a_planted_error_are_found_out(empty, name, right, wrong):
    assert right in LINE
    assert errors_off(empty, name, LINE.replace(right, wrong)) > 6


@pytest.mark.parametrize("name", PSGLD)
def test_what_is_predicted_is_what_the_engine_predicts(empty, name):
    found = empty.evaluate(f"(name) => {{ {LINE}; return predicted(name).masses }}", name)
    assert found == pytest.approx(masses(described(empty, name), "normal"), abs=1e-9)
    target = masses("SGLD", "normal")
    off = empty.evaluate(
        f"([name, target]) => {{ {LINE}; return apart(predicted(name).masses, target) }}", [name, list(target)]
    )
    assert off > 0.2 if name == "published" else off < 1e-9, "one has a hole, and one has none"


# -- the page -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "opened",
    [
        {"color_scheme": "light"},
        {"color_scheme": "dark"},
        {"color_scheme": "dark", "viewport": SIZES["phone"], "reduced_motion": "reduce"},
        {"viewport": SIZES["phone"]},
        {"viewport": {"width": 320, "height": 640}},
    ],
    indirect=True,
    ids=["light", "dark", "dark phone, still", "phone", "smallest phone"],
)
def test_everybody_can_use_the_page(opened):
    opened.get_by_role("button", name="Reveal").click()
    assert opened.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert faults(opened) == []
    dark = opened.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    lightness = opened.evaluate(
        "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number).reduce((a, b) => a + b) / 3"
    )
    assert lightness < 60 if dark else lightness > 200


def test_a_guess_is_revealed_by_keyboard(opened):
    widths, ranks = [8, 3, 9, 4], [2, 1, 3]
    network = DeepLinearNetwork.random(widths=widths, layer_ranks=ranks)
    opened.get_by_label("Widths").fill("8, 3, 9, 4")
    opened.get_by_label("Rank of each layer").fill("2, 1, 3")
    section = opened.locator("#guess")
    expect(section).not_to_contain_text("behaves like")
    opened.keyboard.press("Tab")
    opened.keyboard.press("Tab")
    opened.keyboard.press("Enter")  # which says what it is: the button after the fields
    expect(section).to_contain_text(
        f"of its {network.dim} weights: λ = {float(network.local_learning_coefficient.value):g}"
    )
    expect(section.locator(".layers div")).to_have_count(3)
    opened.keyboard.press("Tab")
    opened.keyboard.press("ArrowLeft")
    expect(section).to_contain_text(f"My guess: {network.dim - 1} of {network.dim} weights")
    expect(section).not_to_contain_text("behaves like")  # another guess is another question
    expect(opened.locator("#on pre .asked")).to_have_text("widths=[8, 3, 9, 4], layer_ranks=[2, 1, 3]")
    opened.get_by_label("Widths").fill("8, 3")
    expect(section).to_contain_text("Give 1 rank, one for each layer, or none.")
    expect(opened.get_by_role("button", name="Reveal")).to_be_disabled()


def test_sections_are_reached_and_the_flat_direction_is_walked_by_keyboard(opened):
    opened.get_by_role("button", name="3 Network").focus()
    opened.keyboard.press("Enter")
    expect(opened.locator("#network")).to_be_focused()
    opened.get_by_role("button", name="Hidden unit 2 of layer 2").focus()
    opened.keyboard.press("Enter")
    opened.locator("#factor").focus()
    opened.keyboard.press("End")
    expect(opened.locator("#network .said")).to_contain_text("changes by 0.0%")
    opened.get_by_label("weaken what leaves it as much").press("Space")
    expect(opened.locator("#network .said")).to_contain_text("This direction has walls")


def test_the_valley_leads_on(opened):
    opened.get_by_role("button", name="Guess a network").click()
    expect(opened.locator("#guess")).to_be_focused()
    valley = opened.locator("#valley")
    valley.get_by_label("Bend the valley").focus()
    opened.keyboard.press("End")
    expect(valley.locator(".truth strong")).to_have_text("0.50")
    expect(valley.locator(".hat")).to_have_text(re.compile(r"^0\.\d{3} ± "))


def test_the_largest_network_that_can_be_typed_has_an_answer(opened):
    widths = [1000, 999, *[1000] * 11]
    opened.get_by_label("Widths").fill(" ".join(map(str, widths)))
    opened.get_by_label("Rank of each layer").fill("")
    opened.get_by_role("button", name="Reveal").click()
    table = masked_rank_table(widths)
    exact = local_learning_coefficient(widths, table).value
    expect(opened.locator("#guess .truth")).to_have_text(f"{float(exact):.15g}")


def test_what_should_move_moves_and_the_button_stops_it(opened):
    hole, said = opened.locator("#hole"), opened.locator("#hole .said").first
    hole.scroll_into_view_if_needed()
    expect(said).to_contain_text("of the visits are in the wrong place")
    hole.get_by_role("button", name="Pause").click()
    picture = "document.querySelector('#hole canvas').toDataURL()"
    before = opened.evaluate(picture)
    opened.wait_for_timeout(300)
    assert opened.evaluate(picture) == before
    hole.get_by_role("button", name="Play").click()
    opened.wait_for_timeout(300)
    assert opened.evaluate(picture) != before


def test_the_recorded_run_ends_with_its_estimate(opened):
    run = opened.locator("#run")
    run.scroll_into_view_if_needed()
    expect(run).to_contain_text(re.compile(r"λ̂ = \d+\.\d\d ± 0\.\d\d"), timeout=60_000)
    expect(run).not_to_contain_text("Exact λ")
    run.get_by_role("button", name="Show λ").click()
    expect(run).to_contain_text("Exact λ: 12.0")
    run.get_by_role("button", name="Ranks 1, 1, 1").click()
    expect(run).not_to_contain_text("Exact λ")


@pytest.mark.parametrize("opened", [{"reduced_motion": "reduce"}], indirect=True)
def test_nothing_moves_where_that_is_not_wanted(opened):
    for section in ("#valley", "#hole", "#run"):
        expect(opened.locator(section).get_by_role("button", name="Play")).to_be_visible()
