"""Agents are those of the paper's text or of its released code, and each item says which."""

from __future__ import annotations

import pytest

from llc_core.decisions import EpsilonGreedy, PosteriorMean, Thompson
from llc_core.studies.keeping import Kept
from llc_core.studies.papers import items
from llc_core.studies.papers.contour_sampling.regrets import PRINTED, RELEASED, Regrets, agents
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


def test_figure_4_runs_the_text_and_table_2_the_code():
    versions = {name: items.find(f"002/{name}").sizes["paper"].version for name in ("figure-4", "table-2")}
    assert versions == {"figure-4": PRINTED, "table-2": RELEASED}


def test_print_has_22_features_and_the_released_code_117_columns():
    sizes = {name: items.find(f"002/{name}").sizes for name in ("figure-4", "table-2")}
    seen = {name: {size: study.mushrooms().dim for size, study in each.items()} for name, each in sizes.items()}
    assert seen == {"figure-4": {"paper": 22, "small": 22}, "table-2": {"paper": 117, "small": 22}}
    assert sizes["table-2"]["small"] == sizes["figure-4"]["small"], "plays are made once for both"


@pytest.mark.slow
def test_both_versions_play_apart(tmp_path):
    tiny = {"rounds": 12, "seeds": 2, "forced": 40, "width": 8, "capacity": 64, "batch_size": 32, "steps": 2}
    at = Place(Kept(tmp_path / "rows.jsonl"), tmp_path / "sweeps")
    found = {version: Regrets(version=version, **tiny).run(at) for version in (PRINTED, RELEASED)}
    regrets = {version: {name: row["regret"] for name, row in each.numbers.items()} for version, each in found.items()}
    assert regrets[PRINTED].keys() == regrets[RELEASED].keys() and regrets[PRINTED] != regrets[RELEASED]
    assert [len(each.claims) for each in found.values()] == [5, 5]
