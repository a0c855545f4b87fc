"""Stationary laws on the line: against printed constants, against simulation, and the bugs these tests must catch."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from llc_core.histogram import Bins
from llc_core.potentials.landscapes import LANDSCAPES, landscape
from llc_core.samplers import (
    PSGLD,
    SGLD,
    CorrectedPSGLD,
    DriftAdamSGLD,
    MongeSGLD,
    ShampooSGLD,
)
from llc_core.samplers.base import Law
from llc_core.stationary import (
    LimitLaw,
    density,
    distances_to_target,
    kl_divergence,
    limit_law,
    masses,
    metric,
    moments,
    normalizer,
    target_law,
    target_masses,
    total_variation,
    wasserstein,
)

# -- the limit of small steps -----------------------------------------------------------------------------------------

INSIDE = {"stability_form": "inside"}
ROWS = [
    # sampler, Z, TV(predicted, target), E|x|, E x², density at 0: Rensmeyer & Niggemann's experiments on N(0, 1)
    (PSGLD(alpha=0.9, stability=0.1), 1.12391, 0.2461, 1.1649, 1.795, 0.0564),
    (PSGLD(alpha=0.9, stability=0.1, gamma_term="dropped"), 1.11373, 0.2688, 1.2026, 1.889, 0.0444),
    (PSGLD(alpha=0.9, stability=1e-4, **INSIDE), 1.25795, 0.279, 1.214, None, 0.0),
    (PSGLD(alpha=0.9, stability=0.1, **INSIDE), 1.23458, 0.268, 1.197, None, 0.062),
    (PSGLD(alpha=0.9, stability=0.1**0.5, **INSIDE), 1.12219, 0.220, 1.128, None, 0.159),
    (CorrectedPSGLD(alpha=0.9, stability=0.1), 1.0, 0.0, 0.7979, 1.0, 0.3989),
    (MongeSGLD(beta=1.0), 0.5, 0.2420, 1.1968, 2.0, 0.1995),
    (ShampooSGLD(), 1.253314, 0.3024, 1.2533, 2.0, 0.0),
    # the printed weight e^{−a|x|}(|x| + λ)^{aλ} is λ^{aλ} at the mode, where ours is 1
    (DriftAdamSGLD(a=1.0, beta=0.5, stability=0.1), 2.049526 * 0.1**0.1, 0.1780, 0.5558, 0.5185, 0.6495),
]


@pytest.mark.parametrize("sampler, z, variation, mean_abs, second, at_mode", ROWS, ids=lambda v: getattr(v, "name", ""))
def test_predicted_laws_have_the_printed_constants(sampler, z, variation, mean_abs, second, at_mode):
    assert normalizer(sampler, "normal") == pytest.approx(z, abs=1e-4 * max(1, z / 2))
    assert distances_to_target(sampler, "normal").total_variation == pytest.approx(variation, abs=6e-4)
    found = moments(sampler, "normal")
    assert found["mean"] == pytest.approx(0, abs=1e-9)
    assert found["mean_abs"] == pytest.approx(mean_abs, abs=6e-4)
    if second is not None:
        assert found["second"] == pytest.approx(second, abs=6e-4)
    assert density(sampler, "normal", 0.0) == pytest.approx(at_mode, abs=5e-4)


class WrongShare(PSGLD):
    """PSGLD whose law has the wrong part of Γ."""

    share = 0.0

    def law(self) -> Law:
        return Law(super().law().metric, self.share)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.9, 1.0])
def test_constants_see_a_wrong_share_of_gamma(share):
    wrong = type("WrongShare", (WrongShare,), {"share": share})(alpha=0.9, stability=0.1)
    assert abs(normalizer(wrong, "normal") - 1.12391) > 50e-4 * (share != 0) + 5e-4


@pytest.mark.parametrize("name", LANDSCAPES)
@pytest.mark.parametrize(
    "sampler",
    [
        SGLD(),
        PSGLD(alpha=0.5, stability=0.5),
        PSGLD(alpha=0.99, stability=1e-4, **INSIDE),
        ShampooSGLD(),
        MongeSGLD(beta=2.0),
        DriftAdamSGLD(a=0.5),
    ],
    ids=lambda s: s.name,
)
def test_densities_are_normalised_and_their_masses_add_up(name, sampler):
    law, target = limit_law(sampler, name), landscape(name)
    reach = 40 if name == "student_t" else 8
    cuts = np.unique(np.concatenate([np.linspace(-reach, reach, 33), [-1.5, 0.0, 1.5]]))
    total = sum(quad(law.density, a, b, limit=200, epsabs=1e-12)[0] for a, b in zip(cuts, cuts[1:], strict=False))
    outside = law.cumulative(-reach) + 1 - law.cumulative(reach)
    assert total + outside == pytest.approx(1, abs=1e-8)
    bins = Bins(-3, 3, 30)
    found = law.masses(bins)
    assert found.shape == (32,) and found.min() >= 0 and found.sum() == pytest.approx(1, abs=1e-12)
    first = quad(law.density, bins.edges[15], bins.edges[16], limit=200, epsabs=1e-12)[0]
    assert found[16] == pytest.approx(first, abs=1e-8)
    assert np.all(metric(sampler, target, np.array([0.3, 1.0])) > 0)
    if isinstance(sampler, SGLD):
        np.testing.assert_allclose(law.density(bins.centers), target.density(bins.centers), rtol=1e-8)


def test_heavy_tails_are_followed_or_refused():
    assert target_law("student_t").moments()["second"] == pytest.approx(5 / 3, rel=1e-9)
    # temperature 2.5 leaves tails x^{−2.4}: a law without a mean of |x|²
    law = LimitLaw(Law(temperature=2.5), landscape("student_t"))
    assert law.cumulative(np.inf) == 1 and law.moments()["second"] == np.inf
    with pytest.raises(ValueError, match="tail has infinite mass; choose a target with lighter tails"):
        LimitLaw(Law(temperature=7.0), landscape("student_t"), "X")


def test_distances_of_known_laws():
    shift = 0.3
    bins = Bins(-8, 8.3, 4000)
    edges = bins.edges
    law = target_law("normal")
    p, q = (
        np.diff(law.cumulative(edges), prepend=0, append=1),
        np.diff(law.cumulative(edges - shift), prepend=0, append=1),
    )
    assert total_variation(p, q) == pytest.approx(2 * law.cumulative(shift / 2) - 1, abs=1e-5)
    assert kl_divergence(p, q) == pytest.approx(shift**2 / 2, rel=1e-3)
    assert wasserstein(p, q, bins) == pytest.approx(shift, abs=1e-4)
    for f in (total_variation, kl_divergence, lambda a, b: wasserstein(a, b, bins)):
        assert f(p, p) == 0
    assert kl_divergence([1, 1], [1, 0]) == np.inf and kl_divergence([1, 0], [1, 1]) == pytest.approx(np.log(2))
    with pytest.raises(ValueError, match="same bins"):
        total_variation(p, q[1:])


def test_distances_on_the_line_agree_with_those_of_fine_bins():
    bins = Bins(-3.4, 3.4, 4000)
    sampler = PSGLD(alpha=0.9, stability=0.1)
    fine = distances_to_target(sampler, "double_well")
    p, q = masses(sampler, "double_well", bins), target_masses("double_well", bins)
    assert fine.total_variation == pytest.approx(total_variation(p, q), abs=1e-5)
    assert fine.kl_divergence == pytest.approx(kl_divergence(p, q), abs=1e-5)
    assert fine.wasserstein == pytest.approx(wasserstein(p, q, bins), abs=1e-5)


def test_a_sampler_without_a_limit_is_refused_in_a_sentence():
    class Lost(SGLD):
        def law(self) -> Law | None:
            return None

    with pytest.raises(ValueError, match="no limit law"):
        density(Lost(), "normal", 0.0)
    with pytest.raises(ValueError, match="Unknown sampler"):
        density("NoSuch", "normal", 0.0)
