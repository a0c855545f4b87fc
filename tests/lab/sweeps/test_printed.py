"""The sweeps that are called printed have the numbers of Hitchcock & Hoogland's Table 2, and their rows come from such runs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from llc_core import SweepSpec, run_sweep
from llc_core.samplers import build
from llc_core.studies.papers.items import find
from llc_core.sweeps import results
from llc_core.sweeps.series import PAPER

ROOT = Path(__file__).resolve().parents[3]
SMALL_CLASS = SweepSpec.from_toml(ROOT / "lab/sweeps/printed_1k.toml")
OF_THE_PAPER = {
    "figure-3": ("100M",), "figure-5": ("10M",), "figure-6": ("1M",), "figure-7": ("100K",),
    "figure-8": ("100K", "1M", "10M", "100M"),
}  # fmt: skip
PRINTED = {"1K": (SMALL_CLASS, ("1K",))} | {
    name: (find(f"000/{name}").sizes["paper"].sweep, classes) for name, classes in OF_THE_PAPER.items()
}


@pytest.mark.parametrize("name", PRINTED)
def test_what_is_called_printed_is_printed(name):
    spec, classes = PRINTED[name]
    assert spec.size_class == classes and spec.problems == tuple(range(100)) and spec.ranks == ("paper",)
    assert (spec.steps, spec.burn_in, spec.chains, spec.batch_size) == (50_000, 0.9, 1, 500)
    assert spec.gradients == ("minibatch",) and spec.interaction is None
    assert spec.localization in (None, 1.0) and spec.n_beta is None, "γ = 1 and n/log n of their networks"
    samplers = [build(values) for values in spec.samplers]
    assert tuple(sampler.name for sampler in samplers[:5]) == PAPER
    dynamics = [(sampler.name, sampler.dynamics) for sampler in samplers if hasattr(sampler, "dynamics")]
    assert dynamics[:2] == [("SGHMC", "printed"), ("SGNHT", "printed")]
    beside = [] if name == "1K" else [("SGHMC", "corrected"), ("SGNHT", "corrected")]
    assert dynamics[2:] == beside and len(samplers) == 5 + len(beside)


def test_the_small_figures_have_both_dynamics_and_two_share_their_rows():
    small = {name: find(f"000/{name}").sizes["small"].sweep for name in OF_THE_PAPER}
    assert small.pop("figure-8") == small["figure-3"]
    assert len({str(spec.to_dict()) for spec in small.values()}) == len(small), (
        "each of the others has networks of its own"
    )
    for spec in small.values():
        assert {*spec.step_sizes} >= {"SGHMC", "SGHMC(dynamics=printed)", "SGNHT", "SGNHT(dynamics=printed)"}


@pytest.mark.slow
def test_all_figures_are_of_the_same_rows():
    """So that the last one starts nothing when the others are there."""
    keys = {
        name: {key for unit in spec.units() for key in unit.keys} for name, (spec, _) in PRINTED.items() if name != "1K"
    }
    assert keys.pop("figure-8") == set().union(*keys.values())


@pytest.mark.slow
def test_printed_dynamics_go_into_the_rows(tmp_path):
    small = replace(
        SMALL_CLASS,
        size_class="5-4-5",
        problems=[0],
        steps=1000,
        step_sizes={label: [1e-9] for label in SMALL_CLASS.step_sizes},
    )
    run_sweep(small, tmp_path / "small.sqlite", workers=1)
    rows = {row["sampler"]: row for row in results(tmp_path / "small.sqlite")}
    assert set(rows) == {"SGLD", "RMSPropSGLD", "AdamSGLD", "SGHMC(dynamics=printed)", "SGNHT(dynamics=printed)"}
    assert all(row["llc_printed"] is not None and row["chains"] == 1 for row in rows.values())
    configs = {name: json.loads(row["config"]) for name, row in rows.items()}
    assert all(config["burn_in"] == 0.9 for config in configs.values())
    assert all(configs[name]["sampler"]["dynamics"] == "printed" for name in rows if "printed" in name)
