"""A GPU can be chosen where there is one, and nothing speaks of it where there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import torch

from app.controls import devices as found
from app.controls import run_fields
from app.controls.run_controls import Controls
from app.estimates.networks import link_config
from app.pages import load_pages
from app.pages.functions import presets as functions
from app.pages.functions.config import FunctionsConfig
from app.pages.functions.controls import RunPanel
from app.pages.landscapes import presets as landscapes
from app.pages.polygons import presets as polygons
from app.sharing import reading
from llc_core.potentials import build

SMALL = {"kind": "dln", "widths": [4, 3], "n": 1000, "seed": 0}


@pytest.fixture
def with_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (found, run_fields):
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


def test_every_page_with_settings_of_an_engine_s_run_offers_it(with_gpu: None) -> None:
    """ "Benchmark" has it beside its live run. The others step on the processor alone, see docs/app.md."""
    offering = set()
    for page in load_pages():
        view = page.build()
        try:
            if "device" in fields_of(view):
                offering.add(page.key)
        finally:
            view.close()
    assert offering == {"local-geometry", "your-network", "landscapes", "polygons", "functions"}


def fields_of(view: Any) -> Mapping[str, Any]:
    panel = getattr(view, "controls", None) or getattr(view, "run_panel", None)
    return getattr(panel, "fields", {})


def problems() -> Iterator[Any]:
    """One for each potential of a page that offers a device."""
    yield pytest.param(SMALL, torch.float32, id="linear")
    for presets in (landscapes, polygons):
        for preset in presets.PRESETS:
            yield pytest.param(preset.problem, torch.float32, id=preset.name)
    for preset in functions.PRESETS:
        if preset.config.problem["kind"] == "bayesian_network":
            yield pytest.param(preset.config.problem, torch.float64, id=preset.name)


@pytest.mark.parametrize("problem, dtype", problems())
def test_losses_are_worked_out_where_the_chains_are(problem: dict[str, Any], dtype: torch.dtype) -> None:
    """The device "meta" knows shapes alone, and refuses tensors of the processor beside its own, as a card does."""
    made = build(problem)
    made.excess_loss_and_grad(torch.zeros(3, made.dim, dtype=dtype))  # what is the same on every device
    there = torch.zeros(3, made.dim, dtype=dtype, device="meta")
    made.prepare(there[:0])
    loss, slope = made.excess_loss_and_grad(there)
    assert loss.device.type == slope.device.type == "meta"
    assert loss.shape == (3,) and slope.shape == (3, made.dim)


def test_a_run_of_functions_is_made_where_its_settings_say(with_gpu: None) -> None:
    panel = RunPanel()
    panel.show(FunctionsConfig())
    panel.fields["device"].set("cuda")
    config = FunctionsConfig(**panel.values)
    assert config.run.device == "cuda" and config.to_dict()["device"] == "cuda"
    assert "device" not in FunctionsConfig().to_dict(), "links of before stay the same"
    with pytest.raises(ValueError, match="device is 7; give a name"):
        FunctionsConfig(device=7)


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
