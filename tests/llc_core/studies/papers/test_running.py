"""Tiny runs end with claims, a figure and numbers in files, go on where they were, and a planted wrong claim does not hold."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest

from llc_core.studies.papers import items
from llc_core.studies.papers.adaptive_samplers.laws import Panel
from llc_core.studies.papers.local_sampling import step_sizes
from llc_core.studies.papers.running import run_item, study_of
from llc_core.studies.papers.tables import wide


def tiny(address: str, **settings) -> items.Item:
    item = items.find(address)
    return dataclasses.replace(item, sizes={"small": item.sizes["small"].replace(**settings)})


@pytest.mark.slow
def test_laws_are_judged_and_kept(tmp_path):
    # large steps, since at small ones so few cannot tell
    item = tiny("003/figure-1", chains=512, steps=4000, seeds=3, resolution=0.0)
    study = item.sizes["small"]
    panels = [panel.replace(sampler={**panel.sampler, "step_size": 1e-2}) for panel in study.panels]
    wrong = panels[0].replace(label="planted", printed=1.5)
    item = dataclasses.replace(item, sizes={"small": study.replace(panels=[*panels, wrong])})
    done = run_item(item, "small", tmp_path)
    holds = {claim.text: claim.holds for claim in done.claims}
    assert holds["PSGLD with the published Γ: the printed constant normalises the predicted law"] is True
    assert holds["planted: the printed constant normalises the predicted law"] is False
    reaches = "reaches the predicted distribution and not the target (total variation)"
    assert holds[f"Monge {reaches}"] is True
    assert "<h1>003/figure-1" in (text := done.page.read_text()) and "Bokeh" in text
    report = json.loads(done.numbers.read_text())
    assert report["item"] == "003/figure-1" and report["settings"]["steps"] == 4000
    assert len(report["claims"]) == len(done.claims)
    assert [each["text"].partition(" reaches")[0] for each in report["claims"] if each["ours"]] == ["PSGLD without Γ"]
    said = []
    run_item(item, "small", tmp_path, say=said.append)
    assert not said, "nothing is run again"


@pytest.mark.slow
def test_a_corrected_sampler_is_held_to_the_target(tmp_path):
    item = tiny("003/figure-2", chains=2000, steps=2000, seeds=3, pair=[])
    corrected = {"name": "CorrectedPSGLD", "alpha": 0.5, "stability": 0.5, "step_size": 1e-2}
    study = item.sizes["small"].replace(
        panels=[Panel("right", corrected), Panel("too fast", {**corrected, "alpha": 0.999})]
    )
    done = run_item(dataclasses.replace(item, sizes={"small": study}), "small", tmp_path)
    assert [claim.holds for claim in done.claims] == [True, False]


@pytest.mark.slow
def test_basins_and_volumes_without_a_chain(tmp_path):
    for address in ("001/figure-3", "000/table-1"):
        done = run_item(items.find(address), "small", tmp_path)
        assert done.claims and all(claim.holds for claim in done.claims)
    done = run_item(items.find("000/figure-2"), "small", tmp_path)
    assert len(done.claims) == 12 and all(claim.holds for claim in done.claims)
    assert sum("the Hessian says" in claim.text for claim in done.claims) == 2
    powers = [claim.found for claim in done.claims if "power of −log ε" in claim.text]
    assert powers == [f"{power}, m − 1 {power}, allowed 0" for power in (0, 0, 1, 0, 0)]


@pytest.mark.slow
def test_crossings_beside_quadrature_and_print(tmp_path):
    rows = [{"k": [0, 1], "llc": [0.41, 0.45, 0.42], "nu": 0.5}]
    done = run_item(tiny("001/table-1", rows=rows, repeats=20, members=1, steps=500, long_sets=0), "small", tmp_path)
    assert len(done.found.table) == 4 and "0,1 | 0,0" in done.found.table[2] and "NUTS" not in "".join(done.found.table)
    planted = [{"k": [0, 1], "llc": [0.41, 4.5, 4.2]}, {"k": [0, 1], "h": [0, 0], "llc": [0.41, 4.5, 4.2]}]
    again = run_item(
        tiny("001/table-1", rows=planted, repeats=20, members=1, steps=500, long_sets=0), "small", tmp_path
    )
    printed = [claim.holds for claim in again.claims if "printed" in claim.text]
    assert printed == [False, False]


@pytest.mark.slow
def test_long_chains_beside_quadrature(tmp_path):
    rows = [{"k": [0, 1], "llc": [0.41, 0.45, 0.42], "nu": 0.5}]
    few = {"repeats": 20, "members": 1, "steps": 300, "long_sets": 8, "long_steps": 60, "long_warmup": 40}
    done = run_item(tiny("001/table-1", rows=rows, **few), "small", tmp_path)
    long = {claim.text[:9]: claim.holds for claim in done.claims if "NUTS" in claim.text}
    assert long == {"λ̂ of NUT": True, "ν̂ of NUT": True} and len(done.found.table) == 5
    study = tiny("001/table-1", rows=rows, **few).sizes["small"]
    cell = {"box": 0.42, "exact": 0.42, "exact_sd": 0.1}
    off = {
        "llc_off": [0.3] * 7 + [0.31],
        "llc_side": [0.2] * 7 + [0.21],
        "nu_off": [-0.3] * 7 + [-0.31],
        "nu_side": [0.2] * 7 + [0.21],
    }
    held = [claim.holds for claim in study._judged_long([[cell]], [off])]
    assert held == [False, True, True], "beyond both ends, between them, and as printed"


def cell(**changes) -> dict[str, float]:
    """A row's numbers at one step size, each another one."""
    usual = {"truth": 0.5, "exact": 0.41, "side": 0.42, "box": 0.43, "mean": 0.44, "sd": 0.1, "dead": 0, "nu": 0.61}
    return {**usual, "exact_nu": 0.51, "side_nu": 0.52, "box_nu": 0.53, **changes}


NUTS = {"llc": [0.3, 0.5], "nu": [0.6, 0.8], "divergences": 7}


def crossings(**settings):
    """The study of two rows, of which the second has no printed numbers."""
    rows = [{"k": [0, 1], "llc": [0.11, 0.12, 0.13], "nu": 0.14}, {"k": [1, 1], "h": [4, 3]}]
    return tiny("001/table-1", rows=rows, repeats=100, **settings).sizes["small"]


@pytest.mark.parametrize("long", [[], [NUTS, NUTS]], ids=["alone", "with NUTS"])
def test_every_number_of_a_row_of_crossings_stands_in_one_line(long):
    found = [[cell(), cell(mean=0.45, nu=math.nan)]] * 2
    lines = crossings()._table(found, long)
    nuts, nuts_nu = (["0.400±0.100"], ["0.700±0.100"]) if long else ([], [])
    numbers = [
        "0.500",
        "0.410",
        "0.420",
        "0.430",
        "0.11",
        *nuts,
        "0.440±0.010",
        "0.12",
        "0.610",
        "0.450±0.010",
        "0.13",
        "nan",
    ]
    numbers += ["0.510", "0.520", "0.530", "0.14", *nuts_nu]
    first, second = (line.split()[3:] for line in lines[2:4])
    assert first == numbers
    assert second == [{"0.11": "–", "0.12": "–", "0.13": "–", "0.14": "–"}.get(each, each) for each in numbers]
    assert len({wide(line) for line in lines[1:4]}) == 1, "columns stand under their names"
    assert max(map(wide, lines)) <= 140 and ("row by row: 7, 7" in lines[-1]) == bool(long)


@pytest.mark.parametrize("long", [[], [NUTS, NUTS]], ids=["alone", "with NUTS"])
def test_the_figure_of_crossings_has_the_long_chains_and_nu(long):
    pytest.importorskip("holoviews")
    drawn = crossings()._figure([[cell(), cell()]] * 2, long)
    named = [{part.label for part in each.values()} - {""} for each in drawn]
    ways = {"SGLD, ε = 0.0005", "SGLD, ε = 0.0001", *(["NUTS"] if long else [])}
    sides = {"quadrature, both sides", "quadrature, one side"}
    assert named == [{"λ", *sides, *ways}, {*sides, *ways}]
    assert not long or any(part.label == "NUTS" and 0.7 in part.dimension_values(1) for part in drawn[1].values())
    assert crossings(against="truth")._figure([[cell(), cell()]] * 2, long) is not None


def synthetic(width: float, seed: int = 0) -> step_sizes.Errors:
    """A sampler whose mean error is within 20% over `width` decades, on fifty networks."""
    random = np.random.default_rng(seed)
    sizes, truths = np.logspace(-10, -6, 17), np.linspace(100, 1000, 50)
    off = np.maximum(np.abs(np.log10(sizes) + 8) - width / 2, 0)[:, None] * 2
    errors = off + random.normal(0, 0.05, (17, 50))
    return step_sizes.Errors(
        sizes, (1 + errors) * truths, errors, truths, np.full(50, 5000.0), np.full(errors.shape, np.nan)
    )


@pytest.mark.slow
def test_a_wider_range_of_step_sizes_is_found():
    found = {"SGLD": synthetic(0.8), "RMSPropSGLD": synthetic(2.0, 1)}
    every = np.arange(50)
    assert found["RMSPropSGLD"].decades(every, 0.2) == pytest.approx(2.2, abs=0.1)
    right = step_sizes.judged(found, 0.2)[0]
    swapped = step_sizes.judged({"SGLD": found["RMSPropSGLD"], "RMSPropSGLD": found["SGLD"]}, 0.2)[0]
    assert right.holds is True and swapped.holds is False and "±" in right.found
    nowhere = step_sizes.judged(
        {name: dataclasses.replace(each, errors=each.errors + 9) for name, each in found.items()}, 0.2
    )
    assert nowhere[0].holds is None


def test_missing_estimates_end_a_range():
    errors = synthetic(2.0)
    errors.errors[8:, :4] = np.nan
    assert errors.usable(np.arange(50)).all(), "4 of 50 are less than a tenth"
    errors.errors[8:, :5] = np.nan
    assert errors.usable(np.arange(50)).tolist() == [True] * 8 + [False] * 9, "as the paper's figure leaves out 10%"
    assert errors.decades(np.arange(50), 0.2) < 1.2


@pytest.mark.slow
def test_a_tiny_sweep_ends_with_claims(tmp_path):
    item = items.find("000/figure-6")
    spec = item.sizes["small"].sweep
    small = spec.replace(size_class="5-4-5", problems=4, steps=400, step_sizes=[1e-9, 1e-8, 1e-7])
    sizes = {**item.sizes, "small": item.sizes["small"].replace(sweep=small)}
    done = run_item(dataclasses.replace(item, sizes=sizes), "small", tmp_path, workers=1)
    text = done.page.read_text()
    assert len(done.claims) == 15 and "networks of 5-4-5 in place of about 1 million parameters</h1>" in text
    numbers = json.loads(done.numbers.read_text())["numbers"]
    assert len(numbers) == 7 and "decades of ε that work" in text
    assert all(of["summary"]["largest ε"] == 1e-7 for of in numbers.values())


def test_a_device_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(ValueError, match="device is 'abacus'") as raised:
        run_item(items.find("001/figure-2"), "small", tmp_path / "made", device="abacus")
    assert "\n" not in str(raised.value) and not (tmp_path / "made").exists()


@pytest.mark.slow
def test_what_there_is_more_than_printed_stands_on_the_page(tmp_path):
    item = tiny("003/figure-1", chains=64, steps=100, seeds=2, resolution=0.0)
    assert "one chain in print" in item.state
    done = run_item(item, "small", tmp_path)
    assert f"More than printed: {item.more}." in done.page.read_text()


def test_what_cannot_be_run_says_what_it_needs():
    with pytest.raises(ValueError, match="002/figure-5 cannot be run: not yet: needs the printed page"):
        study_of(items.find("002/figure-5"), "small")
