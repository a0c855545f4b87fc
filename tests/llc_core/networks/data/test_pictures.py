"""CIFAR and SVHN from files written here: what was written is read, and what is damaged or foreign is one sentence."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.io import savemat
from sentences import tells

from llc_core.compute.streams import numpy_stream
from llc_core.networks import cifar10, cifar100, svhn

RANDOM = numpy_stream(0, "pictures")


def pictures(count: int) -> np.ndarray:
    return RANDOM.integers(0, 256, (count, 3, 32, 32), dtype=np.uint8)


def write_cifar(path, images, *labels) -> None:
    columns = [np.asarray(each, np.uint8)[:, None] for each in labels]
    np.concatenate([*columns, images.reshape(len(images), -1)], axis=1).tofile(path)


def cifar10_folder(folder):
    batches = [pictures(3) for _ in range(6)]
    for k, images in enumerate(batches[:5]):
        write_cifar(folder / f"data_batch_{k + 1}.bin", images, [k, 9, 0])
    write_cifar(folder / "test_batch.bin", batches[5], [4, 5, 6])
    return np.concatenate(batches[:5]), batches[5]


def test_cifar10(tmp_path):
    train, test = cifar10_folder(tmp_path)
    found = cifar10(tmp_path)
    assert found.targets.tolist() == [n for k in range(5) for n in (k, 9, 0)] and found.test_targets.tolist() == [
        4,
        5,
        6,
    ]
    assert torch.equal(found.inputs, torch.from_numpy(train.astype(np.float32)) / 255)
    assert torch.equal((found.test_inputs * 255).round().to(torch.uint8), torch.from_numpy(test))
    assert len(cifar10(tmp_path, rows=4)) == 4 and cifar10(tmp_path, rows=2).test_inputs.shape == (2, 3, 32, 32)


def test_cifar100_has_two_kinds_of_labels(tmp_path):
    for name in ("train.bin", "test.bin"):
        write_cifar(tmp_path / name, pictures(2), [19, 3], [99, 30])
    assert cifar100(tmp_path).targets.tolist() == [99, 30]
    assert cifar100(tmp_path, labels="coarse").test_targets.tolist() == [19, 3]


def test_svhn(tmp_path):
    image = pictures(4)
    for name in ("train_32x32.mat", "test_32x32.mat"):
        given = {"X": image.transpose(2, 3, 1, 0), "y": np.array([[10], [1], [9], [5]], np.uint8)}
        savemat(tmp_path / name, given, do_compression=True)
    found = svhn(tmp_path)
    assert found.targets.tolist() == [0, 1, 9, 5] and svhn(tmp_path, rows=2).test_targets.tolist() == [0, 1]
    assert torch.equal(found.inputs, torch.from_numpy(image.astype(np.float32)) / 255)


def damaged_cifar(folder, how: str) -> None:
    cifar10_folder(folder)
    path = folder / "data_batch_3.bin"
    content = path.read_bytes()
    if how == "absent":
        path.unlink()
    elif how == "a folder":
        path.unlink()
        path.mkdir()
    else:
        wrong_label = bytes([200]) + content[1:]
        path.write_bytes({"cut": content[:-7], "empty": b"", "foreign": b"PK" * 3073, "label": wrong_label}[how])


@pytest.mark.parametrize("how", ["absent", "a folder", "cut", "empty", "foreign", "label"])
def test_a_damaged_cifar_is_one_sentence(tmp_path, how):
    damaged_cifar(tmp_path, how)
    with pytest.raises(ValueError, match="data_batch_3") as caught:
        cifar10(tmp_path)
    tells(caught.value)


@pytest.mark.parametrize("how", ["absent", "cut", "empty", "foreign", "other arrays", "labels", "lengths", "floats"])
def test_a_damaged_svhn_is_one_sentence(tmp_path, how):
    path = tmp_path / "train_32x32.mat"
    image, labels = pictures(3).transpose(2, 3, 1, 0), np.array([[1], [2], [3]])
    if how in ("other arrays", "labels", "lengths", "floats"):
        given = {"other arrays": {"X": np.zeros((3, 3)), "z": labels}, "labels": {"X": image, "y": labels * 9},
                 "lengths": {"X": image, "y": labels[:2]}, "floats": {"X": image * 1.0, "y": labels}}  # fmt: skip
        savemat(path, given[how])
    elif how != "absent":
        savemat(path, {"X": image, "y": labels}, do_compression=True)
        content = path.read_bytes()
        path.write_bytes({"cut": content[: len(content) // 2], "empty": b"", "foreign": b"\x89PNG" * 100}[how])
    with pytest.raises(ValueError, match="train_32x32") as caught:
        svhn(tmp_path)
    tells(caught.value)
