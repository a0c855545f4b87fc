"""Agents are those of the paper's text or of its released code, and each item says which."""

from __future__ import annotations

import re

import pytest
from sentences import tells

from llc_core.decisions import EpsilonGreedy, PosteriorMean, Thompson
from llc_core.studies.keeping import Kept
from llc_core.studies.papers import items
from llc_core.studies.papers.contour_sampling.regrets import (
    PRINTED,
    RELEASED,
    BanditTable,
    Regrets,
    agents,
    settings_lines,
    settings_of,
)
from llc_core.studies.papers.study import Place


@pytest.mark.parametrize(
    "version, policy, bins, rate, greedy, factors",
    [
        (PRINTED, Thompson, 100, 5e-7, "PSGLD", (0.999, 1.0)),
        (RELEASED, PosteriorMean, 200, 1e-6, "SGLD", (1.0, 0.999)),
    ],
)
def test_the_text_and_the_code_differ_in_policy_bins_and_epsgreedy(version, policy, bins, rate, greedy, factors):
    made = {name: (make(), own) for name, (make, own) in agents(version).items()}
    assert {name: type(own) for name, (_, own) in made.items()} == {
        name: EpsilonGreedy if name == "EpsGreedy" else policy for name in made
    }
    for name in ("pCSGLD", "pICSGLD"):
        contour = made[name][0].interaction
        assert contour.bins == bins and contour.width == pytest.approx(10 / 0.3)
    agent = made["EpsGreedy"][0]
    assert agent.sampler.name == greedy and agent.temperature == 0
    assert (agent.step_factor, agent.round_factor) == factors
    assert agent.sampler.step_size == pytest.approx(2 * rate)


@pytest.mark.parametrize("size", items.SIZES)
def test_table_2_has_both_versions_and_shares_the_plays_of_figure_4(size):
    """Print has 22 features and the released code 117 columns."""
    figure, table = (items.find(f"002/{name}").sizes[size] for name in ("figure-4", "table-2"))
    printed, released = (table.plays(version) for version in (PRINTED, RELEASED))
    assert printed == figure and (printed.mushrooms().dim, released.mushrooms().dim) == (22, 117)
    assert released.replace(version=PRINTED, columns="features", seeds=printed.seeds) == printed
    assert size == "paper" or released.cost().seconds < 100, "it took 51 s"


def test_the_table_of_settings_says_what_the_agents_have():
    """By hand, of the paper's appendix and of the released README; what is as printed is left out of the released line."""
    table = items.find("002/table-2").sizes["small"]
    found = {version: settings_of(table.plays(version)) for version in (PRINTED, RELEASED)}
    columns = ("sampler", "ε", "ε here", "ε times", "τ", "chains", "steps", "batch", "acts by", "ω; ζ; bins of θ")
    wanted = {
        "EpsGreedy": ("RMSProp", "5e-07", "2e-05", "0.999 a step", "0", "4", "16", "512", "0.003-greedy", "–"),
        "Dropout": ("SGD, drops 0.5", "1e-06", "1e-05", "–", "0", "4", "16", "512", "Thompson", "–"),
        "pCSGLD": ("pSGLD", "5e-08", "2e-06", "–", "0.3", "1", "64", "512", "Thompson", "0.006; 20; 100 × 10"),
        "pICSGLD": ("pSGLD", "3e-07", "1.2e-05", "–", "0.3", "4", "16", "512", "Thompson", "0.03; 20; 100 × 10"),
    }
    assert {name: tuple(found[PRINTED][name][key] for key in columns) for name in wanted} == wanted
    changed = {
        name: {key: value for key, value in row.items() if value != found[PRINTED][name][key]}
        for name, row in found[RELEASED].items()
    }
    assert changed["EpsGreedy"] == {"sampler": "SGD", "ε": "1e-06", "ε here": "1e-05", "ε times": "0.999 a round"}
    assert changed["pICSGLD"] == {"acts by": "posterior mean", "ω; ζ; bins of θ": "0.03; 20; 200 × 10"}
    lines = settings_lines(found)
    assert len(lines) == 1 + 2 * 6 and max(map(len, lines)) <= 140
    for name, line in zip(found[PRINTED], lines[2::2], strict=True):
        assert line.split("  ")[-1].strip() in changed[name].values()
        assert len(re.split(r"\s{2,}", line.strip())) == 1 + len(changed[name])


@pytest.mark.slow
def test_both_versions_play_apart(tmp_path):
    tiny = {"rounds": 12, "seeds": 2, "forced": 40, "width": 8, "capacity": 64, "batch_size": 32, "steps": 2}
    at = Place(Kept(tmp_path / "rows.jsonl"), tmp_path / "sweeps")
    found = {version: Regrets(version=version, **tiny).run(at) for version in (PRINTED, RELEASED)}
    regrets = {version: {name: row["regret"] for name, row in each.numbers.items()} for version, each in found.items()}
    assert regrets[PRINTED].keys() == regrets[RELEASED].keys() and regrets[PRINTED] != regrets[RELEASED]
    assert [len(each.claims) for each in found.values()] == [5, 5]
    said = []
    table = BanditTable(printed=tiny).run(Place(at.kept, tmp_path, say=said.append))
    assert not said, "the table's plays are those"
    for version, words in ((PRINTED, "as printed"), (RELEASED, "as released")):
        assert [each.found for each in table.claims if each.text.startswith(words)] == [
            each.found for each in found[version].claims
        ]
        assert table.numbers[version]["pSGLD"]["regret"] == regrets[version]["pSGLD"]
        assert table.numbers[version]["pSGLD"]["τ"] == "0.3"
    assert max(map(len, table.table)) <= 140 and len(table.table) == 13 + 3 + 1 + 1 + 6
    pytest.importorskip("holoviews")
    assert len(table.draw()) == 2


@pytest.mark.parametrize("fields", [3, {"speed": 3}, {"rounds": 0}])
def test_what_cannot_be_is_one_sentence(fields):
    with pytest.raises(ValueError) as caught:
        BanditTable(printed=fields)
    tells(caught.value)
