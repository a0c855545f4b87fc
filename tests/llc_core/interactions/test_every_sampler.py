"""Every sampler with every interaction, on a surface, a linear network and a torch network: they run, or say in one sentence why not."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import torch
from cases import few

import llc_core
from llc_core.engine.stepping.interacting import Interacting
from llc_core.samplers import MetropolisSampler
from llc_core.samplers.registry import samplers

STEPS = 6
SIGNS = ("SGLRW",)
"""Their steps have one length, so that a weaker pull may show only after many of them."""
KINDS = samplers()
INTERACTIONS = {
    "contour": llc_core.Contour(low=-5.0, high=20.0, bins=10, clip=3.0, rate=0.3, rate_offset=1.0),
    "replica exchange": llc_core.ReplicaExchange(temperatures=(1.0, 2.0, 5.0)),
    "cyclical": llc_core.Cyclical(length=3),
    "Stein": llc_core.SteinVariational(temperature=0.5, bandwidth=1.0),
}


@functools.cache
def problem(kind: str):
    if kind == "surface":
        return llc_core.surface(noise=0.0)
    if kind == "linear network":
        return llc_core.DeepLinearNetwork([np.eye(2), np.diag([1.0, 0.0])], noise_std=0.1)
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2))
    inputs = torch.randn(40, 2)
    return llc_core.NetworkPotential(net, "cross_entropy", (inputs, (inputs[:, 0] > 0).long()))


def run(kind: str, name: str, interaction=None) -> llc_core.Run:
    config = llc_core.RunConfig(
        sampler={"name": name, "step_size": 1e-5},
        interaction=None if interaction is None else interaction.to_dict(),
        gradient="full",
        n_beta=10.0,
        chains=4,
        steps=STEPS,
        burn_in=STEPS // 2,
    )
    made = llc_core.Run(config, problem(kind))
    made.advance(STEPS)
    return made


@pytest.mark.parametrize("kind", ["surface", "linear network", "torch network"])
@pytest.mark.parametrize("name", few(KINDS, 3))
def test_it_runs_or_says_why_not(name, kind):
    sampler = KINDS[name]().complete(False)
    if isinstance(sampler, MetropolisSampler) or sampler.adapts_coordinates:
        for interaction in INTERACTIONS.values():
            with pytest.raises(ValueError, match=rf"^{name} [^.]*cannot interact; [^.]*\.$"):
                run(kind, name, interaction)
        return
    alone = run(kind, name).displacements
    for about, interaction in INTERACTIONS.items():
        if interaction.heats_noise and not sampler.heats_by_noise:
            with pytest.raises(ValueError, match=rf"^{name} [^.]*cannot interact; [^.]*\.$"):
                run(kind, name, interaction)
            continue
        made = run(kind, name, interaction)
        places = made.displacements
        assert np.isfinite(places).all() and np.ptp(places) > 0, about
        if about == "replica exchange":
            assert places.shape[0] == 3 * len(alone) and made._stepper.shared["tried"].sum() > 0
        else:
            assert places.shape == alone.shape and (name in SIGNS or not np.array_equal(places, alone)), about


@pytest.mark.parametrize("about", INTERACTIONS)
def test_recorded_steps_leave_interacting_chains_as_they_are(about, monkeypatch):
    """Where steps are recorded, chains that interact still go step by step: the same numbers to the last bit."""
    plain = run("linear network", "SGLD", INTERACTIONS[about]).displacements
    for how in ("graphs", "fused"):
        monkeypatch.setenv("LLC_LAB_GPU", how)
        made = run("linear network", "SGLD", INTERACTIONS[about])
        assert isinstance(made._stepper, Interacting) and np.array_equal(made.displacements, plain)
