"""What one visitor may take: refused in one sentence, before anything of the page changes."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from app.pages import load_pages
from app.pages.local_geometry.config import get_problem
from app.pages.local_geometry.panels.sweep.job import SweepJob
from app.pages.local_geometry.panels.sweep.values import COUNT
from app.pages.local_geometry.panels.why.job import affordable
from app.runs.allowance import DEFAULT_MEGABYTES, VISITOR_MEMORY, allowance, check_allowance, run_memory
from app.sharing.reading import QUICK_PARAMETERS, PageConfig
from llc_core import NetworkPotential, RunConfig, with_rows
from llc_core.engine.machine import memory_needed
from llc_core.engine.resolve import resolve
from llc_core.potentials.deep_linear import evaluation

WIDE = {"kind": "dln", "widths": [200, 200, 200], "seed": 0}
FEW_ROWS = {**WIDE, "n": 1000}
"""So that its chains are what takes the memory, and not its data."""


def complete(**changes):
    problem = get_problem(WIDE)
    return resolve(RunConfig(problem=problem.to_dict(), **changes), problem).config, problem


def test_the_limit_counts_chains_times_parameters(monkeypatch):
    monkeypatch.setattr(evaluation, "available_cores", lambda: 2)
    config, problem = complete(chains=4, sampler={"name": "UnderdampedLangevin"})
    monkeypatch.setenv(VISITOR_MEMORY, "20")
    check_allowance(config, problem)
    with pytest.raises(ValueError, match=r"^8 chains of 80,000 parameters need 31 MB, but this server .* 20 MB. Use"):
        check_allowance(config.replace(chains=8), problem)
    grid = config.replace(sampler={"name": "SGLD"}, grid={"step_size": (1e-9, 1e-8)})
    with pytest.raises(ValueError, match="^8 chains"):
        check_allowance(grid, problem)


def test_by_default_the_page_s_own_limits_are_within(monkeypatch):
    monkeypatch.delenv(VISITOR_MEMORY, raising=False)
    assert allowance() == DEFAULT_MEGABYTES
    assert QUICK_PARAMETERS * 4 * 10 / 2**20 < DEFAULT_MEGABYTES


def test_a_card_is_limited_by_its_own_memory(monkeypatch):
    """The server's share for a visitor is of the server's memory: chains on a card take none of it."""
    monkeypatch.setattr("app.runs.allowance.card_memory", lambda device: {"cuda": 80 * 2.0**20}[device])
    config, problem = complete(chains=8)
    monkeypatch.setenv(VISITOR_MEMORY, "20")
    assert allowance("cuda") == 80 and allowance("mps") == allowance("cpu") == allowance() == 20
    with pytest.raises(ValueError, match="gives each run 20 MB"):
        check_allowance(config, problem)
    assert check_allowance(config.replace(device="cuda"), problem) < 80 * 2**20
    with pytest.raises(ValueError, match="gives each run 80 MB"):
        check_allowance(config.replace(device="cuda", chains=32), problem)


def test_long_steps_are_not_made_among_the_pictures_of_others():
    config, problem = complete(chains=8)
    resolved = resolve(config, problem)
    quick = PageConfig({}, {}, resolved)
    assert not quick.is_slow
    assert replace(quick, resolved=replace(resolved, config=config.replace(chains=81))).is_slow
    there = config.replace(chains=81, device="cuda")
    assert not replace(quick, resolved=replace(resolved, config=there)).is_slow


@pytest.mark.parametrize("text", ["lots", "0", "-3", "nan"])
def test_nonsense_in_the_environment_is_said(monkeypatch, text):
    monkeypatch.setenv(VISITOR_MEMORY, text)
    with pytest.raises(ValueError, match=f"{VISITOR_MEMORY} is '{text}'; set it to"):
        allowance()


def test_a_page_refuses_and_keeps_what_it_had(monkeypatch):
    page = next(page for page in load_pages() if page.key == "local-geometry")
    view = page.build()
    try:
        before = view.configuration()
        get_problem(FEW_ROWS)  # what has to be made first is made in a thread, see test_waiting
        monkeypatch.setenv(VISITOR_MEMORY, "40")
        with pytest.raises(ValueError, match="chains of 80,000 parameters need"):
            view.restore({"problem": FEW_ROWS, "chains": 16})
        assert view.configuration() == before
        view.controls.show({**view.controls.values, "chains": 32})
        view.editor.problem = FEW_ROWS
        view._on_settings()
        assert view.fault.visible and "this server gives each run 40 MB" in view.fault.object
    finally:
        view.close()


def test_batches_and_activations_count(monkeypatch):
    """Of 32 chains with large batches they are more than the states."""
    problem = get_problem({"kind": "dln", "widths": [150, 2, 150], "n": 1000, "seed": 0})

    def needed(**changes):
        return run_memory(resolve(RunConfig(problem=problem.to_dict(), **changes), problem).config, problem)[0]

    full = needed(chains=32)
    assert (
        full > 2 * memory_needed(resolve(RunConfig(problem=problem.to_dict(), chains=32), problem).config, problem)[0]
    )
    assert needed(chains=32, gradient="minibatch", batch_size=500) > full + 32 * 4 * 150 * 300
    monkeypatch.setenv(VISITOR_MEMORY, f"{full / 2**20 - 1}")
    with pytest.raises(ValueError, match="^32 chains of 600 parameters need"):
        check_allowance(resolve(RunConfig(problem=problem.to_dict(), chains=32), problem).config, problem)


def test_losses_of_probe_rows_count(monkeypatch):
    """All copies of what is kept of them, and a pass over them: 500 probe rows of 4 chains, 1,024 looks."""
    inputs, targets = torch.zeros(700, 5), torch.zeros(700, dtype=torch.long)
    problem = NetworkPotential(torch.nn.Linear(5, 2), "cross_entropy", (inputs[:200], targets[:200]))
    probes = with_rows(problem, (inputs[200:], targets[200:]))
    watched = [{"name": "RowLosses", "rows": [0, 1], "most": 1024}]
    config = resolve(RunConfig(chains=4, observables=watched), problem, probes).config
    alone, both = run_memory(config, problem)[0], run_memory(config, problem, probes)[0]
    size = 8 if config.dtype == "float64" else 4
    assert both - alone == size * 4 * 1024 * 4 * 500 + probes.step_bytes(4, "full", 500, size)
    monkeypatch.setenv(VISITOR_MEMORY, f"{(alone + both) / 2**21}")
    check_allowance(config, problem)
    with pytest.raises(ValueError, match="^4 chains of 12 parameters need"):
        check_allowance(config, problem, probes)


def test_an_explanation_has_as_many_chains_as_there_is_room_for(monkeypatch):
    """Its runs have full gradients whatever the estimate has, and up to four times its chains."""
    config, problem = complete(chains=8)
    estimate = SimpleNamespace(config=config)
    budget, need = affordable(estimate, problem, 4.0)
    assert budget == 4.0 and need == pytest.approx(32 * run_memory(config.replace(chains=1), problem)[0])
    monkeypatch.setenv(VISITOR_MEMORY, "60")
    budget, need = affordable(estimate, problem, 4.0)
    assert budget < 4.0 and need <= 60 * 2**20


def test_a_sweep_is_refused_too(monkeypatch):
    config, problem = complete(chains=4, sampler={"name": "SGLD"})
    monkeypatch.setenv(VISITOR_MEMORY, "13")
    with pytest.raises(ValueError, match=f"^{4 * COUNT} chains|^[0-9]+ chains of 80,000"):
        SweepJob(config, problem, "localization")


def test_a_link_may_not_ask_for_virtual_data():
    """Their moments are a pass over all rows, as many as the link says, and everybody's runs would wait for it."""
    with pytest.raises(ValueError, match="virtual is true; a page keeps the rows of its network"):
        get_problem({**WIDE, "virtual": True, "n": 10**9})
