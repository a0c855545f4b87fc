"""A λ̂ that is mostly γ's says so, in the same words in `conclude`, in the app and on the command line."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from app.estimates import texts
from app.runs.job import State, Status
from llc_core import conclude, estimate
from llc_core.diagnostics.verdict import judge
from llc_core.networks import digits, potential_at, train
from llc_core.verdicts import Trust, plain_words

pytest.importorskip("sklearn")
SHARE = re.compile(r"at twice this γ \(localization\) it would be about (\d+)% lower\.")
HELD = re.compile(r"About ([\d,]+) of 1,210 directions are kept near w0 by γ, not by the loss\.")


@pytest.fixture(scope="module")
def trained():
    """Digits after 1,000 steps."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 10))
    data = digits()
    record = train(model, data, steps=1000)
    assert record.last.train_accuracy > 0.95
    return potential_at(model, record.last, data)


def at(trained, gamma, steps=1000):
    return estimate(trained, localization=gamma, steps=steps, progress=False)


@pytest.fixture(scope="module")
def tight(trained):
    return at(trained, 100.0)


def in_the_app(found):
    """What the page says at the end of a run, without its tags."""
    snapshot = SimpleNamespace(alive=np.ones(found.chains, dtype=bool), steps=found.steps, burn_in=found.burn_in)
    state = State(Status.FINISHED, snapshot=snapshot, estimate=found, notes=())
    return unescape(re.sub(r"<[^>]*>", "", texts.verdict(state)[1]))


def test_digits_at_a_large_gamma_say_how_much_is_gammas_and_how_many_directions_it_holds(trained, tight):
    """What hides the share of γ is that chains agree: at γ = 100 the error is 2% of a λ̂ that is a sixth of the one at γ = 1."""
    loose = at(trained, 1.0, steps=400)
    assert loose.llc > 4 * tight.llc and tight.r_hat < 1.05 and tight.llc_se < 0.05 * tight.llc
    said = conclude(tight)
    assert said.kind is Trust.REFUSED and not tight.converged
    share, held = SHARE.search(said.reason), HELD.search(said.reason)
    assert 25 <= int(share[1]) <= 60, "it falls by 23% and more where more than a quarter of it is γ's"
    assert 0.95 * 1210 < int(held[1].replace(",", "")) <= 1210
    assert "such as 10, or state γ with the number." in said.remedy
    for words in (in_the_app(tight), str(tight)):  # `llc-lab estimate` prints the latter
        assert share[0] in words and held[0] in words
    assert said.reason in str(tight) and said.remedy in str(tight)
    assert plain_words(said.remedy) in in_the_app(tight)


@pytest.mark.parametrize(
    "other", [{"above": 0.0}, {"above": 0.0, "gap": 0.0, "unlooked": True, "gap_se": float("nan")}]
)
def test_the_share_is_named_whatever_else_speaks_against_w0(tight, other):
    """Where the minimum lies no lower than w0, mean and variance still differ, or nothing is known: γ is not forgotten."""
    verdict = judge(replace(tight.evidence, **other))
    assert not verdict and SHARE.search(verdict.reason) and HELD.search(verdict.reason) and "state γ" in verdict.remedy
