"""Files of weights that others made: tensors, or one sentence, and never more memory than the file's size."""

from __future__ import annotations

import zipfile
from collections import OrderedDict
from pathlib import Path

import pytest
import torch
from sentences import tells

from llc_core.networks import build_model, load_state, save_state

SMALL = {"kind": "mlp", "widths": [3, 2]}


def refused(path: Path) -> str:
    with pytest.raises(ValueError) as caught:
        load_state(path)
    tells(caught.value)
    return str(caught.value)


def deflated(path: Path) -> Path:
    """The same archive, compressed."""
    packed = path.with_name("packed.pt")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as to:
        for name in source.namelist():
            to.writestr(name, source.read(name))
    return packed


def test_what_is_unpacked_is_bounded_and_not_the_file_alone(tmp_path, monkeypatch):
    packed = deflated(save_state(tmp_path / "zeros.pt", {"w": torch.zeros(4_000_000)}))
    assert packed.stat().st_size < 100_000
    monkeypatch.setattr(torch, "load", lambda *given, **more: pytest.fail("it was unpacked"))
    assert "unpacks to 16,0" in refused(packed)


@pytest.mark.parametrize("odd", [3, ["a"], {"": 3}])
def test_what_a_file_says_beside_its_tensors_is_left_out(tmp_path, odd):
    model = build_model(SMALL)
    state = OrderedDict(model.state_dict())
    state._metadata = odd
    torch.save(state, tmp_path / "odd.pt")
    again = build_model(SMALL, 1)
    again.load_state_dict(load_state(tmp_path / "odd.pt"))
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))


def test_odd_names_are_one_line(tmp_path):
    assert "must end in one of" in refused(tmp_path / ("a." + "b" * 400))
    assert "does not exist" in refused(tmp_path / ("b" * 400 + ".pt"))
    torch.save([1], tmp_path / "two\nlines.pt")
    assert refused(tmp_path / "two\nlines.pt").startswith("two lines.pt holds no mapping")


@pytest.mark.parametrize(
    "tensor",
    [
        torch.zeros(1).expand(10**9),
        torch.zeros(2**40, device="meta"),
        torch.sparse_coo_tensor(
            torch.zeros(2, 1, dtype=torch.long), torch.ones(1), (2**20, 2**20), check_invariants=True
        ),
    ],
    ids=["one number a billion times", "no numbers", "sparse"],
)
def test_tensors_that_say_more_than_the_file_holds_are_refused(tmp_path, tensor):
    torch.save({"w": tensor}, tmp_path / "a.pt")
    assert (tmp_path / "a.pt").stat().st_size < 10_000
    assert "The entry 'w' in a.pt is no tensor with a number in memory for each entry" in refused(tmp_path / "a.pt")


def test_tied_weights_and_views_are_read(tmp_path):
    both = torch.arange(6.0)
    torch.save(
        {"a": both, "b": both, "half": both[::2], "turned": both.view(2, 3).T, "none": torch.zeros(0)},
        tmp_path / "a.pt",
    )
    found = load_state(tmp_path / "a.pt")
    assert torch.equal(found["b"], both) and torch.equal(found["half"], both[::2]) and len(found["none"]) == 0
