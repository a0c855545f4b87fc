"""Chains of classifiers that were ended go on where they were, and give what a run without an interruption gives, bit for bit."""

from __future__ import annotations

import copy
import dataclasses

import pytest
import torch
from made_pictures import QUICK, task
from sentences import tells

from llc_core.ensembles.draw_file import DrawFile
from llc_core.networks import bookmarks
from llc_core.studies.pictures import METHODS, ClassifierChains, PictureTask, measure

NORMED = {"kind": "resnet", "depth": 8, "width": 2, "channels": 1, "side": 8}
FULL = dataclasses.replace(
    QUICK, description=NORMED, augment=True, erase=True, reduced_from=1, hottest=1.01, correction=0.0, bin_width=1.0
)
"""All that a run may remember: norms, varied pictures, anchors, swaps and a contour that is left and met again."""
STEPS = 4 * 2


def pictures() -> PictureTask:
    made = task()
    square = {name: getattr(made.split, name).reshape(-1, 1, 8, 8) for name in ("inputs", "test_inputs")}
    return dataclasses.replace(
        made, split=dataclasses.replace(made.split, **square), foreign=made.foreign.reshape(-1, 1, 8, 8)
    )


class Ended(Exception):
    pass


def moves(monkeypatch, ended: int | None = None) -> list[int]:
    """Has a number for each step from now on; the step number `ended` moves the weights, and then all ends."""
    done, move = [], ClassifierChains._move

    def moving(self, rows):
        move(self, rows)
        done.append(len(done) + 1)
        if len(done) == ended:
            raise Ended

    monkeypatch.setattr(ClassifierChains, "_move", moving)
    return done


@pytest.fixture
def always(monkeypatch):
    monkeypatch.setattr(bookmarks, "SECONDS", 0.0)


def figures(found) -> dict[str, float]:
    return {name: value for name, value in found.figures().items() if name != "seconds"}


@pytest.mark.parametrize("ended", [6, 7], ids=["in the middle of an epoch", "before its draws"])
@pytest.mark.parametrize("name", ["SGHMC", "reSGHMC", "cycSWAG", "MultiSWAG", "ICSGHMC", "ICSGHMC, released"])
def test_a_run_that_was_ended_goes_on(tmp_path, always, name, ended):
    """The last step that is kept, 5 or 6, is the first or the second of the third of four epochs; of a long chain of its last four."""
    ended += STEPS * (METHODS[name].epochs(FULL) // FULL.epochs - 1)
    steps = METHODS[name].epochs(FULL) * 2
    whole = measure(pictures(), FULL, name)
    with pytest.MonkeyPatch.context() as patched, pytest.raises(Ended):
        moves(patched, ended)
        measure(pictures(), FULL, name, kept=tmp_path)
    with pytest.MonkeyPatch.context() as patched:
        done = moves(patched)
        found = measure(pictures(), FULL, name, kept=tmp_path)
    assert len(done) == steps - ended + 1, "the step that was not kept, and those after it"
    for part in ("inside", "outside"):
        ours, theirs = vars(getattr(found, part)), vars(getattr(whole, part))
        assert all(torch.equal(ours[key], theirs[key]) for key in theirs)
    assert figures(found) == figures(whole) and found.gradients == whole.gradients
    (only,) = tmp_path.iterdir()
    assert only.suffix == ".pt"


@pytest.mark.parametrize("lost", ["nothing", "norms", "shared", "anchors", "random", "orders"])
def test_the_comparison_sees_what_was_lost(lost):
    """Two chains side by side: the second goes on from what the first said of itself, but for one part."""
    name = "ICSGHMC" if lost == "shared" else "reSGHMC"

    def made() -> ClassifierChains:
        return ClassifierChains(pictures(), FULL, METHODS[name])

    one, seen = made(), []
    one.advance()
    one.advance(lambda: seen.append(copy.deepcopy(one.state_dict())) if not seen else None)
    start = made()
    start.advance()
    other = made()
    other.load_state_dict(seen[0] if lost == "nothing" else {**seen[0], lost: start.state_dict()[lost]})
    for chains in (one, other):
        while not chains.finished:
            chains.advance()
    states = [chains.state_dict() for chains in (one, other)]
    same = torch.equal(states[0]["state"]["delta"], states[1]["state"]["delta"])
    norms = [[buffer for each in state["norms"] for buffer in each.values()] for state in states]
    assert (same and all(torch.equal(a, b) for a, b in zip(*norms, strict=True))) == (lost == "nothing")


def test_another_run_has_another_file(tmp_path):
    def path(settings=QUICK, name="SGHMC", seed=0, made=None, also=None):
        chains = ClassifierChains(made or task(), settings, METHODS[name], seed=seed)
        return chains.bookmark(tmp_path, also).path

    others = [
        path(dataclasses.replace(QUICK, zeta=1.0)),
        path(name="SGLD"),
        path(name="ICSGHMC"),
        path(name="ICSGHMC, released"),
        path(seed=1),
        path(made=task(70)),
        path(also="walk"),
    ]
    assert path() == path() and len({path(), *others}) == 1 + len(others)


def test_a_file_of_draws_does_not_go_on(tmp_path):
    with pytest.raises(ValueError, match="draws and kept are both given") as caught:
        measure(task(), QUICK, "SGHMC", draws=DrawFile(tmp_path / "draws"), kept=tmp_path)
    tells(caught.value)
