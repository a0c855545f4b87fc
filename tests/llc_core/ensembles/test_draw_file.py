"""Draws on disk: bounded, evenly thinned, the same bits back, and nothing is unpickled."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from sentences import tells

from llc_core.ensembles.draw_file import DrawFile, read_draws


def state(k: int) -> dict[str, torch.Tensor]:
    return {"a": torch.full((2, 3), float(k)), "steps": torch.tensor(k), "b": torch.arange(4.0) + k}


@pytest.mark.parametrize("count", [1, 7, 8, 30, 100])
def test_what_is_kept_is_bounded_and_evenly_thinned(tmp_path, count):
    file = DrawFile(tmp_path / "new", most=8)
    for k in range(count):
        file.add([state(k)], [float(-k)])
    found, logs = read_draws(tmp_path / "new")
    kept = [int(each["steps"]) for each in found]
    assert len(kept) == len(file) <= 8 and kept[0] == 0 and len(set(np.diff(kept))) <= 1
    assert count - kept[-1] <= (kept[1] - kept[0] if len(kept) > 1 else 1) and logs.tolist() == [-k for k in kept]
    for each, k in zip(found, kept, strict=True):
        assert all(
            torch.equal(each[name], value) and each[name].dtype == value.dtype for name, value in state(k).items()
        )
    assert (tmp_path / "new" / "draws.npy").stat().st_size == 128 + 8 * 11 * 4


def test_what_is_no_folder_of_draws_is_one_sentence(tmp_path):
    made = tmp_path / "made"
    file = DrawFile(made, most=4)
    file.add([state(1)], [0.0])
    with pytest.raises(ValueError) as full:
        DrawFile(made)
    with pytest.raises(ValueError) as other:
        file.add([{"a": torch.zeros(3)}], [0.0])
    head = json.loads((made / "draws.json").read_text())
    found = [full, other]
    for wrong in ({**head, "draws": 9}, {**head, "shapes": []}, [], {**head, "log_weights": ["a"]}):
        (made / "draws.json").write_text(json.dumps(wrong))
        with pytest.raises(ValueError) as caught:
            read_draws(made)
        found.append(caught)
    (made / "draws.json").write_text(json.dumps(head))
    np.save(made / "draws.npy", np.array([object()]), allow_pickle=True)
    with pytest.raises(ValueError) as pickled:
        read_draws(made)
    for each in (*found, pickled):
        tells(each.value)
