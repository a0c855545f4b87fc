"""The sweeps that are called printed have the numbers of Hitchcock & Hoogland's Table 2, and their rows come from such runs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from llc_core import SweepSpec, run_sweep
from llc_core.samplers import build
from llc_core.sweeps import results
from llc_core.sweeps.series import PAPER

FOLDER = Path(__file__).resolve().parents[3] / "lab/sweeps"
PRINTED = sorted(FOLDER.glob("printed_*.toml"))
CLASSES = {"printed_1k": ("1K",), "printed_100k": ("100K",), "printed_large": ("1M", "10M", "100M")}


def on_a_cpu(path: Path, tmp_path: Path) -> SweepSpec:
    copy = tmp_path / path.name
    copy.write_text(path.read_text().replace('device = "cuda"\n', ""))
    return SweepSpec.from_toml(copy)


@pytest.mark.parametrize("path", PRINTED, ids=lambda path: path.stem)
def test_what_is_called_printed_is_printed(path, tmp_path):
    spec = on_a_cpu(path, tmp_path)
    assert spec.size_class == CLASSES[path.stem] and spec.problems == tuple(range(100)) and spec.ranks == ("paper",)
    assert (spec.steps, spec.burn_in, spec.chains, spec.batch_size) == (50_000, 0.9, 1, 500)
    assert spec.gradients == ("minibatch",) and spec.interaction is None
    assert spec.localization in (None, 1.0) and spec.n_beta is None, "γ = 1 and n/log n of their networks"
    samplers = [build(values) for values in spec.samplers]
    assert tuple(sampler.name for sampler in samplers) == PAPER
    assert [sampler.dynamics for sampler in samplers if hasattr(sampler, "dynamics")] == ["printed", "printed"]


def test_all_of_them_are_looked_at():
    assert {path.stem for path in PRINTED} == set(CLASSES)


@pytest.mark.slow
def test_printed_dynamics_go_into_the_rows(tmp_path):
    spec = on_a_cpu(FOLDER / "printed_1k.toml", tmp_path)
    small = replace(
        spec, size_class="5-4-5", problems=[0], steps=1000, step_sizes={label: [1e-9] for label in spec.step_sizes}
    )
    run_sweep(small, tmp_path / "small.sqlite", workers=1)
    rows = {row["sampler"]: row for row in results(tmp_path / "small.sqlite")}
    assert set(rows) == {"SGLD", "RMSPropSGLD", "AdamSGLD", "SGHMC(dynamics=printed)", "SGNHT(dynamics=printed)"}
    assert all(row["llc_printed"] is not None and row["chains"] == 1 for row in rows.values())
    configs = {name: json.loads(row["config"]) for name, row in rows.items()}
    assert all(config["burn_in"] == 0.9 for config in configs.values())
    assert all(configs[name]["sampler"]["dynamics"] == "printed" for name in rows if "printed" in name)
