"""λ̂ of heads over training: a tiny run ends with claims, and what is judged of tables by hand is what they say."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from llc_core.networks import AdamW, bookmarks, build_model
from llc_core.networks.data.splits import Split
from llc_core.studies.keeping import Kept
from llc_core.studies.papers.items import find
from llc_core.studies.papers.local_sampling import heads
from llc_core.studies.papers.local_sampling.heads import Heads
from llc_core.studies.papers.study import Place

SMALL = find("000/figure-4").sizes["small"]
TINY = SMALL.replace(
    vocabulary=258,
    length=8,
    dim=4,
    layers=1,
    heads=2,
    checkpoints=[1, 3],
    rows=8,
    chain_batch=4,
    steps=10,
    step_sizes=[1e-3, 1e-2],
)


def table(llc, dead=None):
    """llc: [checkpoints, heads, ε]."""
    llc = np.array(llc, float)
    return {"llc": llc, "se": 0 * llc, "dead": np.zeros_like(llc) if dead is None else np.array(dead, float)}


def judged(**found):
    return {
        claim.text.partition(" (")[0]: claim.holds for claim in SMALL.replace(step_sizes=[0.1, 0.2, 0.3])._claims(found)
    }


HEADS = np.linspace(1, 2, 8)


def rising(factors, last: float = 1.0):
    """Eight heads at three checkpoints, times a factor for each ε; the largest ε times `last`."""
    llc = np.array([1.0, 2.0, 4.0])[:, None, None] * HEADS[None, :, None] * np.array(factors)
    llc[..., -1] *= last
    return llc


def test_a_rise_a_failure_and_a_wider_range_are_found():
    found = judged(SGLD=table(rising([0.7, 1.0, 1.0], 50.0)), RMSProp=table(rising([0.95, 1.0, 1.0])))
    assert found["SGLD: λ̂ of heads rises over the training"] is True
    assert found["SGLD: estimates fail at ε = 0.3, the largest"] is True
    assert found["RMSProp: estimates fail at ε = 0.3, the largest"] is False
    assert found["RMSProp depends less on ε than SGLD where both work"] is True
    assert found["both samplers order heads and checkpoints alike"] is True


def test_planted_faults_are_named():
    falling = rising([1.0, 1.0, 1.0])[::-1]
    dead = np.zeros((3, 8, 3))
    dead[-1, :, -1] = 1
    found = judged(SGLD=table(falling, dead), RMSProp=table(rising([0.5, 1.0, 1.4])))
    assert found["SGLD: λ̂ of heads rises over the training"] is False
    assert found["SGLD: estimates fail at ε = 0.3, the largest"] is True
    assert found["RMSProp depends less on ε than SGLD where both work"] is False
    assert found["both samplers order heads and checkpoints alike"] is False


def test_spreads_over_step_sizes_are_compared_where_both_work():
    """RMSProp works at one step size alone, or at the first two; SGLD is steady there, and not at the last."""
    text = "RMSProp depends less on ε than SGLD where both work"
    alone = np.where(np.arange(3) == 0, rising([1.0, 1.0, 1.0]), np.nan)
    assert judged(SGLD=table(rising([1.0, 1.0, 1.0])), RMSProp=table(alone))[text] is None
    steep = table(rising([1.0, 1.0, 2.5]))
    assert judged(SGLD=steep, RMSProp=table(rising([0.8, 1.0, 1.0], 50.0)))[text] is False
    assert judged(SGLD=steep, RMSProp=table(rising([0.8, 1.0, 1.0])))[text] is True


def test_lost_heads_have_no_estimate():
    llc = np.ones((1, 3, 3))
    llc[0, 0, 2], llc[0, 1, 2] = np.nan, 3.5
    assert SMALL._lost(table(llc))[:, 2].tolist() == [True, True, False]


@pytest.mark.slow
@pytest.mark.long
def test_a_tiny_run_ends_with_claims_and_goes_on(tmp_path):
    place = Place(Kept(tmp_path / "rows.jsonl"), tmp_path)
    done = TINY.run(place)
    assert len(done.claims) == 6 and len(done.table) == 5
    assert done.draw is not None and len(place.kept.rows) == 8
    assert not (tmp_path / "rows.trainings").exists(), "a training whose rows are all there leaves nothing"
    said = []
    Heads.run(TINY, Place(place.kept, tmp_path, say=said.append))
    assert not said, "nothing is run again"


@pytest.fixture
def tokens(monkeypatch):
    """In place of the text that ships with Python, whose tokenizer takes longer to learn than all else here."""
    drawn = torch.randint(258, (50, 9), generator=torch.Generator().manual_seed(0))
    few = Split("tokens", drawn[:40, :8], drawn[:40, 1:], drawn[40:, :8], drawn[40:, 1:])
    monkeypatch.setattr(heads, "text_rows", lambda length, vocabulary: few)


def test_a_training_that_was_ended_goes_on_beside_the_rows(tmp_path, tokens, monkeypatch):
    """As where the command is ended in step 5 of 6 and given again: the estimates are of the very same weights."""
    study = TINY.replace(checkpoints=[1, 6])
    whole = heads._Course(study, Place(Kept(), tmp_path)).checkpoints
    assert not list(tmp_path.iterdir()), "rows that are held in memory alone leave nothing"
    monkeypatch.setattr(bookmarks, "SECONDS", 0.0)
    step, done = AdamW.step, []

    def ending(self, *given):
        done.append(step(self, *given))
        if len(done) == 5:
            raise KeyboardInterrupt
        return done[-1]

    monkeypatch.setattr(AdamW, "step", ending)
    with pytest.raises(KeyboardInterrupt):
        study.run(Place(Kept(tmp_path / "000.jsonl"), tmp_path))
    assert len(list((tmp_path / "000.trainings").iterdir())) == 1
    found = heads._Course(study, Place(Kept(tmp_path / "000.jsonl"), tmp_path)).checkpoints
    assert len(done) == 5 + 2 and found.keys() == whole.keys() == {1, 6}
    for at, checkpoint in found.items():
        assert checkpoint.test_loss == whole[at].test_loss
        assert all(torch.equal(value, whole[at].state[name]) for name, value in checkpoint.state.items())


def test_training_and_chains_are_on_the_device_that_was_asked_for(tmp_path, tokens, monkeypatch):
    asked = []

    def on_the_processor(run):
        def made(*given, device, **others):
            asked.append((run.__name__, device))
            return run(*given, **others)

        return made

    for run in ("train", "estimate"):
        monkeypatch.setattr(heads, run, on_the_processor(getattr(heads, run)))
    study = TINY.replace(checkpoints=[1, 2], per_layer=1)
    study.run(Place(Kept(), tmp_path, device="cuda"))
    assert asked == [("train", "cuda"), *[("estimate", "cuda")] * 4]


def test_the_price_of_the_printed_size():
    printed = find("000/figure-4").sizes["paper"]
    model = build_model(
        {
            "kind": "transformer",
            **{key: getattr(SMALL, key) for key in ("vocabulary", "length", "dim", "layers", "heads")},
        }
    )
    assert SMALL.parameters == sum(each.numel() for each in model.parameters())
    assert printed.cost().seconds > 1000 * SMALL.cost().seconds


def test_heads_must_fit():
    with pytest.raises(ValueError, match="per_layer is 3 of 2 heads"):
        SMALL.replace(per_layer=3)
    with pytest.raises(ValueError, match="dim is 5, which 2 heads cannot share"):
        SMALL.replace(dim=5)
