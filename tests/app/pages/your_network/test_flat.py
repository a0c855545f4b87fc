"""The panel "A flat direction": what it walks along is flat, what it compares with is not, and where there is none it says so."""

from __future__ import annotations

import pytest
from cases import few

from app.pages.your_network.config import NETWORKS
from app.pages.your_network.panels.flat import FACTORS, NONE, FlatPanel, free, strongest, walk
from app.pages.your_network.scene import NetworkConfig, link_config, untrained
from app.runs.job import State, Status
from llc_core.networks import build_model

EPS = 2.0**-52


def of_file(config: dict) -> NetworkConfig:
    """With weights of a file, for which nothing has to be trained."""
    found = link_config(config)
    weights = build_model(NETWORKS[found.choice.network].model, seed=3).state_dict()
    return NetworkConfig(found.problem, found.settings, found.resolved, weights)


@pytest.mark.parametrize("config", few([{"network": "small"}, {"network": "heads", "part": "head:0.1"}], 1), ids=str)
def test_the_loss_stays_along_it_and_not_beside_it(config):
    found = of_file(config)
    job, panel = walk(found), FlatPanel()
    panel.show(found)
    job.record(job.advance(len(FACTORS)), None)
    assert job.finished
    panel.receive(State(Status.FINISHED), job.log.items)
    assert [factor for _, factor, _ in panel.found] == list(FACTORS)
    for _, _, seen in panel.found:
        assert abs(seen.along) <= EPS * found.resolved.problem.dim
        assert abs(seen.across) > 1e3 * abs(seen.along) and seen.across_se > 0
    assert panel._table.object.count("<tr>") == 1 + len(FACTORS)
    name = strongest(free(found, untrained(found.choice.network, found.choice.part, 16)), found.weights).name
    assert (
        f"With {name} 4 times as large" in panel.words.object
        and "Random directions of the same length" in panel.words.object
    )
    panel.show(found)
    assert panel.found, "another run of the same weights keeps what was measured"
    panel.show(of_file(config))
    assert not panel.found and not panel._table.object


@pytest.mark.parametrize("part", ["layer:0", "layer:2"])
def test_a_layer_alone_has_none_and_that_is_said(part):
    panel = FlatPanel()
    panel.show(of_file({"network": "small", "part": part}))
    panel.start()
    assert panel._handle is None and NONE in panel.words.object and 'role="alert"' in panel.words.object
