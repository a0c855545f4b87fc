"""A row for each token: its loss is the token's part of the row's, so that what is known of tokens adds up to what is known of rows."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

import llc_core
from llc_core.networks import build_model, synthetic_text, token_rows
from llc_core.studies.covariances.draws import row_draws


def test_tokens_add_up_to_their_row_at_w0_and_along_the_chains():
    texts = synthetic_text(sequences=6, length=8, vocabulary=5, seed=3).inputs
    torch.manual_seed(1)
    model = build_model({"kind": "transformer", "vocabulary": 5, "length": 8, "dim": 8, "layers": 1, "heads": 2})
    targets = texts.clone()
    targets[1, 3:5] = -100
    network = llc_core.NetworkPotential(model, "next_token", texts)
    each = token_rows(texts[:2], targets[:2])
    assert each.places.tolist() == [[0, t] for t in range(1, 8)] + [[1, t] for t in (1, 2, 5, 6, 7)]
    probes = llc_core.with_rows(network, (each.tokens, each.targets))
    plain = F.cross_entropy(model(texts[:2])[:, :-1].transpose(1, 2), texts[:2, 1:], reduction="none")
    found = probes.per_sample_loss(torch.zeros(1, network.dim), 0, probes.samples)[0]
    torch.testing.assert_close(found, plain[each.places[:, 0], each.places[:, 1] - 1] / 7, rtol=1e-5, atol=1e-6)

    run = llc_core.estimate(
        network,
        "SGLD",
        steps=60,
        chains=3,
        localization=10.0,
        observables=["RowLosses"],
        observable=probes,
        progress=False,
    )
    draws = row_draws(run)
    torch.testing.assert_close(
        torch.from_numpy(draws.of_probes[:, :, :7].sum(axis=2)),
        torch.from_numpy(draws.of_rows[:, :, 0]),
        rtol=1e-4,
        atol=1e-5,
    )


def test_other_shapes_are_one_sentence():
    with pytest.raises(ValueError, match=r"tokens is \(3,\) and targets \(3,\); give whole numbers \[rows, T\]"):
        token_rows(torch.arange(3))
