"""A GPU can be chosen where there is one, and nothing speaks of it where there is none."""

from __future__ import annotations

import pytest

from app.controls import devices as found
from app.controls import run_fields
from app.controls.run_controls import Controls
from app.estimates import networks
from app.estimates.networks import check_size, link_config
from app.sharing import reading

LARGE = {"kind": "dln", "widths": [500, 500], "n": 1000, "seed": 0}
SMALL = {"kind": "dln", "widths": [4, 3], "n": 1000, "seed": 0}


@pytest.fixture
def with_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (found, run_fields, networks):
        monkeypatch.setattr(module, "devices", lambda: ("cpu", "cuda"))


def test_without_one_there_is_nothing_to_choose() -> None:
    controls = Controls()
    assert found.devices()[0] == "cpu"
    if found.devices() == ("cpu",):
        assert controls.field("device") is None and controls.values["device"] is None


def test_what_is_chosen_is_in_the_settings(with_gpu: None) -> None:
    controls = Controls()
    assert controls.values["device"] is None
    controls.apply("device", "cuda")
    assert controls.values["device"] == "cuda"
    controls.show({"device": None})
    assert controls.values["device"] is None


def test_large_networks_are_for_a_gpu(with_gpu: None) -> None:
    with pytest.raises(
        ValueError,
        match="has 250,000 parameters; this page takes up to 200,000. For larger ones choose a GPU under Advanced",
    ):
        check_size(LARGE, {"device": None})
    assert check_size(LARGE, {"device": "cuda"}).parameters == 250_000
    with pytest.raises(ValueError, match="this server gives each run"):
        check_size({**LARGE, "widths": [20_000, 20_000]}, {"device": "cuda"})


def test_a_link_from_a_machine_with_a_gpu_opens_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found, "devices", lambda: ("cpu",))
    shown = link_config({"problem": SMALL, "sampler": {"name": "SGLD"}, "steps": 200, "device": "cuda"})
    assert shown.settings["device"] is None and shown.complete.device == "cpu"


def test_a_link_keeps_the_gpu_where_it_is(with_gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    resolve = reading.resolve
    monkeypatch.setattr(
        reading,
        "resolve",
        lambda config, problem: (asked.append(config.device), resolve(config.replace(device=None), problem))[1],
    )
    shown = link_config({"problem": SMALL, "sampler": {"name": "SGLD"}, "steps": 200, "device": "cuda"})
    assert asked == ["cuda"] and shown.settings["device"] == "cuda"
