"""The spread of θ: claims hold for draws of theory's distribution and not for others; copies that meet at every step are one θ."""

from __future__ import annotations

import numpy as np
import pytest

from llc_core.studies.keeping import Kept
from llc_core.studies.papers import theta_laws
from llc_core.studies.papers.contours import learned, line_loop, two_sided
from llc_core.studies.papers.study import Place
from llc_core.studies.papers.theta_laws import OWN, STEP, Spread, ThetaCopies, ThetaSpread, theta_law

pytest.importorskip("numba")
RUNS, MARKS = 1200, (1000, 50_000)


def drawn(chains: int, wider: float, tails: bool, seed: int) -> np.ndarray:
    """θ [runs, marks, 1, bins] as theory has it, but so much wider, and far from θ* at the first mark."""
    law, random = theta_law(OWN, STEP), np.random.default_rng(seed)
    found = []
    for mark in MARKS:
        wanted = Spread(np.zeros((1, OWN.bins)), mark, law, chains).wanted
        values = random.multivariate_normal(np.zeros(OWN.bins), wanted, RUNS)
        if tails:
            values *= (
                np.sqrt(3 / 5)
                * (random.standard_t(5, (RUNS, 1)) ** 2 + 1e-9) ** 0.5
                * random.choice([-1, 1], (RUNS, 1))
            )
            values *= 1 / np.sqrt(3 / 5) / np.sqrt(5 / 3)
        found.append(law.fixed + wider * values + (0.2 if mark == MARKS[0] else 0.0) * (np.arange(OWN.bins) == 0))
    return np.stack(found, axis=1)[:, :, None]


def judged(monkeypatch, tmp_path, wider: float = 1.0, tails: bool = False):
    monkeypatch.setattr(
        ThetaSpread,
        "thetas",
        lambda self, at, chains, marks, every=None: drawn(chains, wider if chains > 1 else 1.0, tails, chains),
    )
    done = ThetaSpread(runs=RUNS, chains=5, steps=MARKS).run(Place(Kept(None), tmp_path))
    assert done.draw is not None
    return {claim.text: claim.holds for claim in done.claims}


def test_draws_of_theory_are_judged_right_and_wider_ones_wrong(monkeypatch, tmp_path):
    assert all(judged(monkeypatch, tmp_path).values())
    wrong = {text for text, holds in judged(monkeypatch, tmp_path, wider=1.4).items() if not holds}
    assert "5 chain(s), 50,000 steps: the variance is what theory has" in wrong
    assert "5 chains that share θ have 1/5 of the variance of one" in wrong and not any(
        "1 chain(s)" in text for text in wrong
    )


def test_heavy_tails_are_no_normal(monkeypatch, tmp_path):
    held = judged(monkeypatch, tmp_path, tails=True)
    assert not any(holds for text, holds in held.items() if "θ is normal" in text)


def test_copies_that_meet_at_every_step_are_one_theta():
    loop = line_loop(two_sided)
    one = learned(loop, OWN, 3, [50, 400], 5, STEP)
    copies = learned(loop, OWN, 3, [50, 400], 5, STEP, every=1)
    assert one.shape == (2, 1, OWN.bins) and copies.shape == (2, 3, OWN.bins)
    assert np.abs(copies - one).max() < 1e-12
    apart = learned(loop, OWN, 3, [400], 5, STEP, every=0)
    assert np.ptp(apart, axis=1).max() > 1e-3, "copies that never meet differ"
    assert np.array_equal(apart[0, 0], learned(loop, OWN, 3, [400], 5, STEP, every=500)[0, 0])


@pytest.mark.slow
def test_chains_have_the_spread_of_theory(tmp_path):
    """Within four standard errors at 300 runs, where 1/ω is a hundred times what chains remember."""
    thetas = ThetaSpread(runs=300, steps=(2_000, 20_000)).thetas(Place(Kept(None), tmp_path), 1, (20_000,))
    found = Spread(thetas[:, 0, 0], 20_000, theta_law(OWN, STEP), 1).total()
    assert abs(found.value - 1) < 4 * found.se and found.se < 0.15


@pytest.mark.slow
def test_copies_are_told_with_their_messages(tmp_path):
    done = ThetaCopies(runs=20, steps=2_000, every=(10,)).run(Place(Kept(None), tmp_path))
    assert [line.rsplit("; ")[1] for line in done.table] == ["400 bytes a step", "40 bytes a step", "0 bytes a step"]
    assert theta_laws.rate(2_000) * 10 < theta_laws.FREE and len(done.claims) == 4
