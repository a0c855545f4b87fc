"""The spread of θ: claims hold for draws of theory's distribution and not for others; copies that meet at every step are one θ."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from llc_core.studies.keeping import Kept
from llc_core.studies.papers.contour_sampling import theta_laws
from llc_core.studies.papers.contour_sampling.contours import learned, line_loop, two_sided
from llc_core.studies.papers.contour_sampling.theta_laws import OWN, STEP, Spread, ThetaCopies, ThetaSpread, theta_law
from llc_core.studies.papers.study import Place

pytest.importorskip("numba")
RUNS, MARKS = 2500, (1000, 50_000)


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


@pytest.mark.slow
def test_draws_of_theory_are_judged_right_and_wider_ones_wrong(monkeypatch, tmp_path):
    assert all(judged(monkeypatch, tmp_path).values())
    wrong = {text for text, holds in judged(monkeypatch, tmp_path, wider=1.4).items() if not holds}
    assert {
        f"5 chain(s), 50,000 steps: the variance along direction {k} is what theory has" for k in (1, 2, 3, 4)
    } <= wrong
    assert "5 chains that share θ have 1/5 of the variance of one" in wrong and not any(
        "1 chain(s)" in text for text in wrong
    )


@pytest.mark.slow
def test_heavy_tails_are_no_normal(monkeypatch, tmp_path):
    held = judged(monkeypatch, tmp_path, tails=True)
    assert not any(holds for text, holds in held.items() if "θ is normal" in text)


def leaning(chains: int) -> np.ndarray:
    """As `drawn`, but with scores of a gamma distribution, which leans to one side; its variances are theory's."""
    law, random = theta_law(OWN, STEP), np.random.default_rng(chains)
    wanted = Spread(np.zeros((1, OWN.bins)), MARKS[1], law, chains).wanted
    values, vectors = np.linalg.eigh(wanted)
    scores = (random.gamma(8.0, size=(RUNS, OWN.bins)) - 8) / np.sqrt(8)
    theta = law.fixed + (scores * np.sqrt(np.maximum(values, 0))) @ vectors.T
    return np.stack([theta + 0.2 * (np.arange(OWN.bins) == 0), theta], axis=1)[:, :, None]


@pytest.mark.slow
def test_what_leans_is_no_normal(monkeypatch, tmp_path):
    monkeypatch.setattr(ThetaSpread, "thetas", lambda self, at, chains, marks, every=None: leaning(chains))
    done = ThetaSpread(runs=RUNS, chains=5, steps=MARKS).run(Place(Kept(None), tmp_path))
    held = {claim.text.partition(": ")[2]: claim.holds for claim in done.claims}
    assert held["it leans to no side (skewness, the largest)"] is False
    assert held["θ is normal (largest distance of Kolmogorov and Smirnov over the directions)"] is False


def test_the_bound_of_a_fitted_normal_is_the_known_one():
    """At one in a hundred 1.035/√n for large n (Stephens 1974); by draws it has an error of some 1%."""
    assert theta_laws.lilliefors(10_000, 0.01) * 100 == pytest.approx(1.035, rel=0.04)
    values = np.random.default_rng(4).standard_normal((300, 1))
    known = stats.kstest((values[:, 0] - values.mean()) / values.std(ddof=1), "norm").statistic
    assert theta_laws.distances(values)[0] == pytest.approx(known)


@pytest.mark.slow
def test_the_printed_fixed_point_is_that_of_fine_bins():
    """Far from it at five bins, at any ε, and nearer at fifteen: sums of |differences| .275, .269 and .164."""

    def off(bins: int, step: float) -> float:
        own = OWN.replace(bins=bins)
        inner = np.exp(-own.edges[:-1])
        wanted = (inner - np.append(inner[1:], 0.0)) ** (1 / own.zeta)
        return float(np.abs(theta_law(own, step).fixed - wanted / wanted.sum()).sum())

    assert theta_laws.printed_fixed() == pytest.approx([0.538, 0.242, 0.109, 0.049, 0.063], abs=6e-4)
    assert off(5, STEP) == pytest.approx(off(5, STEP / 5), abs=0.02)
    assert off(15, STEP / 5) < 0.7 * off(5, STEP / 5)


@pytest.mark.slow
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
    assert [line.rsplit("; ")[1] for line in done.table] == [
        "400 bytes a step as means of copies, 80 as indices of bins",
        "40 bytes a step",
        "0 bytes a step",
    ]
    assert theta_laws.rate(2_000) * 10 < theta_laws.FREE and len(done.claims) == 4
