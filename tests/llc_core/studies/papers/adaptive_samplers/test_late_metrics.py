"""Two layers whose metric is the earlier one's keep the target; what Γ costs is measured for every sampler that has it."""

from __future__ import annotations

import numpy as np
import pytest

from llc_core.studies.keeping import Kept
from llc_core.studies.papers.adaptive_samplers import late_metrics
from llc_core.studies.papers.adaptive_samplers.correction_costs import CorrectionCosts
from llc_core.studies.papers.adaptive_samplers.late_metrics import LateMetrics
from llc_core.studies.papers.study import Place


@pytest.mark.slow
def test_what_holds_and_what_does_not(monkeypatch, tmp_path):
    monkeypatch.setattr(late_metrics, "ADAM_CHAINS", 512)
    study = LateMetrics(strengths=(10, 1000), held=(0.1, 10.0), chains=1_000)
    done = study.run(Place(Kept(None), tmp_path))
    wrong = [str(claim) for claim in done.claims if claim.holds is False]
    # a metric held for 0.1 is already off by .04
    assert len(wrong) == 1 and "has the bias of one that moves" in wrong[0]
    assert done.draw is not None and done.draw() is not None


@pytest.mark.slow
def test_a_planted_metric_of_the_own_weight_is_named(monkeypatch, tmp_path):
    real = late_metrics.layered_chains
    monkeypatch.setattr(late_metrics, "layered_chains", lambda own, chains, seed: real(not own, chains, seed))
    claims, _ = LateMetrics(chains=1_000)._layers(Place(Kept(None), tmp_path))
    assert [claim.holds for claim in claims] == [False, False]


def test_costs_are_told_for_each_sampler_and_network(tmp_path):
    done = CorrectionCosts(layers=("3-4-3",), steps=1, rounds=3).run(Place(Kept(None), tmp_path))
    assert len(done.table) == 6 and all(" parameters: time × " in line for line in done.table)
    assert len(done.claims) == 1 and np.isfinite([row["value"] for row in done.numbers.values()]).all()
    with pytest.raises(ValueError, match="give a list of three widths each"):
        CorrectionCosts(layers=("3-4",))
