"""Why this number: the job gives the engine's split piece by piece, and the bars and words are those numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest

from app.controls.run_fields import DEFAULTS
from app.pages.local_geometry.config import get_problem
from app.pages.local_geometry.panels.why.job import WhyJob, bars, opening, short_label, signed, value_text
from app.pages.local_geometry.panels.why.panel import WhyPanel
from app.pages.local_geometry.presets import PRESETS
from app.runs.job import Status
from llc_core import RunConfig, run
from llc_core.studies.explain.parts import CAUSES, Explanation, Part
from llc_core.studies.explain.split import explain

PROBLEM = get_problem(PRESETS[0].problem)


def estimate_of(**changes):
    whole = run(RunConfig(problem=PROBLEM.to_dict(), **{**DEFAULTS, **changes}), PROBLEM)
    for _ in whole:
        pass
    return whole.estimates()[0]


@pytest.fixture(scope="module")
def noisy():
    """Minibatch gradients heat this chain: the largest part must be theirs."""
    return estimate_of(sampler={"name": "SGLD"}, gradient="minibatch", batch_size=100, chains=4, steps=1500)


@pytest.fixture(scope="module")
def stages(noisy) -> list[Explanation]:
    job, found = WhyJob(noisy, PROBLEM, budget=2), []
    while not job.finished:
        found.append(job.advance(1).explanation)
    return [one for one in found if one is not None]


@pytest.mark.slow
def test_the_job_is_the_engine_s_split(noisy, stages):
    exact = explain(noisy, PROBLEM, budget=2)
    last = stages[-1]
    assert [(p.name, p.value, p.se) for p in last.parts] == [(p.name, p.value, p.se) for p in exact.parts]
    assert last.share == 1 and last.doing == ""
    assert last.dominant.name == "minibatch" and last.dominant.value > 10 * last.dominant.se


@pytest.mark.slow
def test_parts_add_up_at_every_stage(stages):
    for found in stages:
        if found.parts and "known so far" not in found.truth_label:
            assert sum(part.value for part in found.parts) == pytest.approx(found.total)
    shares = [found.share for found in stages]
    assert shares == sorted(shares) and len({len(found.parts) for found in stages}) > 1, "parts appear as they come"


def part(name: str, value: float, se: float) -> Part:
    return Part(name, CAUSES[name.split("+")[0]], value, se, f"A sentence on {name} < 1.", "how & why")


def made(*parts: Part, share: float = 1.0) -> Explanation:
    total = sum(p.value for p in parts)
    return Explanation(parts, 7.5 + total, 7.5, "local λ", total, 0.05, np.eye(len(parts)), share=share)


def places(html: str, kind: str) -> list[tuple[float, float]]:
    return [
        (float(left), float(left) + float(width))
        for left, width in re.findall(rf'class="{kind}" style="left:([-\d.]+)%;width:([\d.]+)%"', html)
    ]


def test_bars_are_to_scale_and_within_their_frame():
    html = bars(made(part("minibatch", 2.0, 0.1), part("step_size", -0.5, 0.2), part("finite_n", 1.0, 0.0)))
    drawn, errors = places(html, "part"), places(html, "error")
    widths = [right - left for left, right in drawn]
    assert widths == pytest.approx([4 * widths[1], widths[1], 2 * widths[1], 5 * widths[1]], abs=0.1)
    assert drawn[1][1] == pytest.approx(drawn[0][0], abs=0.02), "negative parts end where positive ones begin"
    assert len(errors) == 2, "what is exact has no error bar"
    for left, right in drawn + errors:
        assert 0 <= left <= right <= 100
    assert "&lt; 1." in html and "how &amp; why" in html and "< 1" not in html


def test_an_error_as_wide_as_twice_itself():
    html = bars(made(part("minibatch", 1.0, 0.25)))
    (left, right), whole = places(html, "error")[0], places(html, "part")[0]
    assert right - left == pytest.approx(whole[1] - whole[0], abs=0.02)


def test_the_opening_names_the_largest_part_only_when_it_is_clear_and_final():
    clear, unclear = part("minibatch", 2.0, 0.1), part("minibatch", 0.1, 0.1)
    assert "Largest part: minibatch noise." in opening(made(clear))
    assert "No part is clearly different from 0." in opening(made(unclear))
    assert "Largest" not in opening(made(clear, share=0.5))
    assert "−" in opening(made(part("mixing", -2.0, 0.1))) and "+" not in opening(made(part("mixing", -2.0, 0.1)))


def test_labels_fit_beside_a_bar():
    for name in (*CAUSES, "mixing+localization", "+".join(CAUSES)):
        label = short_label(part(name, 1.0, 0.1))
        assert 3 < len(label) <= 40
    assert short_label(part("+".join(CAUSES), 1.0, 0.1)) == "not separated yet"
    assert signed(-0.25) == "−0.25" and value_text(0.412, 0.03) == "+0.412 ± 0.030"
    assert value_text(-0.412, 0.0) == "−0.412"


def test_the_panel_runs_it_through_the_manager_and_stops_at_once(noisy):
    panel = WhyPanel()
    panel.show(PROBLEM)
    assert panel.button.disabled
    panel.update(noisy)
    assert not panel.button.disabled
    panel._on_button(None)
    handle = panel._handle
    assert handle is not None and panel.button.label == "Stop"
    panel._on_button(None)
    assert handle.state.status is Status.CANCELLED and panel.button.label == "Explain"
    panel.update(noisy)
    panel.show(PROBLEM)
    assert panel.button.disabled and panel.bars.object == ""


def test_a_run_that_cannot_be_split_is_refused_in_words(noisy):
    other = get_problem(PRESETS[1].problem)
    with pytest.raises(ValueError, match="problem is not the one that was estimated"):
        WhyJob(noisy, other)
