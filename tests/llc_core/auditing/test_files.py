"""Files of traces, read without unpickling, and `llc-lab audit`."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lab.benchmarks.verdicts.traces import Made, clean
from llc_core import DeepLinearNetwork, audit, estimate
from llc_core.auditing.files import read
from llc_core.cli.commands import main
from llc_core.extras import MissingExtra


@pytest.fixture(scope="module")
def found() -> Made:
    return clean(np.random.default_rng(0), "moves")


def status(*words: object) -> int:
    return main(["audit", *map(str, words)])


def test_npz_with_the_keys_of_devinterp_1(found, tmp_path, capsys):
    path = tmp_path / "run.npz"
    np.savez(path, **{"loss/trace": found.traces, "init_loss": found.init_loss, "llc/mean": 3.0})
    assert status(path, "--n-beta", found.n_beta) == 0
    assert "Nothing speaks against these traces." in capsys.readouterr().out
    assert status(path, "--n-beta", found.n_beta, "--init-loss", found.init_loss + 10) == 1
    assert status(path, "--n-beta", found.n_beta, "--json", "--n", 10**6) == 0
    seen = json.loads(capsys.readouterr().out.splitlines()[-1])
    same = audit(found.traces, found.n_beta, found.init_loss)
    assert (
        seen["ok"]
        and seen["llc"] == pytest.approx(same.llc)
        and not any("give n." in each for each in seen["unchecked"])
    )
    with pytest.raises(SystemExit):
        status(path)
    assert "The file does not say n_beta; add --n-beta." in capsys.readouterr().err


def test_npy_and_both_kinds_of_csv(found, tmp_path):
    np.save(tmp_path / "a.npy", found.traces)
    np.savetxt(tmp_path / "wide.csv", found.traces.T, delimiter=",", header="chain 0, chain 1", comments="")
    np.savetxt(tmp_path / "bare.csv", found.traces.T, delimiter=",")
    rows = ["draw,chain,loss"] + [
        f"{t},{c},{v!r}" for c, line in enumerate(found.traces.tolist()) for t, v in enumerate(line)
    ]
    (tmp_path / "long.csv").write_text("\n".join(rows[:1] + rows[:0:-1]))
    for name in ("a.npy", "wide.csv", "bare.csv", "long.csv"):
        np.testing.assert_allclose(read(tmp_path / name).traces, found.traces, err_msg=name)


def test_a_chain_that_ends_early_in_a_table_is_nan(found, tmp_path):
    (tmp_path / "a.csv").write_text("chain,draw,loss\n0,0,1\n0,1,2\n1,0,3\n")
    traces = read(tmp_path / "a.csv").traces
    np.testing.assert_array_equal(traces, [[1, 2], [3, np.nan]])


def test_netcdf_of_the_engine_and_of_others(found, tmp_path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    result = estimate(DeepLinearNetwork.random(widths=[3, 2], n=100, seed=0), "SGLD", steps=400, seed=0)
    result.to_dataset().to_netcdf(tmp_path / "ours.nc", engine="h5netcdf")
    kept = read(tmp_path / "ours.nc")
    assert kept.traces.shape == (4, 200) and kept.n_beta == pytest.approx(result.n_beta)
    assert kept.facts["burn_in"] == 200 and kept.facts["full"]
    assert audit(kept.traces, kept.n_beta, kept.init_loss).llc == pytest.approx(result.llc)
    other = xarray.Dataset(
        {"loss_trace": (("draw", "chain"), found.traces.T)}, attrs={"nbeta": found.n_beta, "init_loss": found.init_loss}
    )
    other.to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    kept = read(tmp_path / "other.nc")
    np.testing.assert_allclose(kept.traces, found.traces)
    assert (kept.n_beta, float(kept.init_loss)) == pytest.approx((found.n_beta, found.init_loss))


def store(zarr, path, found: Made, burn_in: bool):
    """As devinterp 2 lays it out: losses by row and token."""
    group = zarr.open_group(str(path), mode="w")
    spread = np.linspace(-1, 1, 6).reshape(2, 3)
    losses = found.traces[:, :, None, None] + spread
    name = "sampling_loss_micro" if burn_in else "sampling_loss"
    group.create_array(name, data=losses.astype("f4"), chunks=(1, 50, 2, 3))
    group.create_array(
        "init_loss", data=np.full((len(found.traces), 3), found.init_loss, "f4") + spread[0] - spread[0].mean()
    )
    sampler = {"n_beta": found.n_beta, "batch_size": 2, "localization": 10.0, "num_burnin_steps": 70}
    group.attrs.update({"metadata": {"config": {"sampler": sampler}}, "completed": 1})


@pytest.mark.parametrize("burn_in", [True, False])
def test_zarr_of_devinterp_2(found, tmp_path, burn_in, capsys):
    zarr = pytest.importorskip("zarr")
    store(zarr, tmp_path / "a.zarr", found, burn_in)
    kept = read(tmp_path / "a.zarr")
    np.testing.assert_allclose(kept.traces, found.traces, rtol=1e-4)
    assert kept.n_beta == found.n_beta and kept.init_loss == pytest.approx(found.init_loss, rel=1e-4)
    assert kept.facts == {"full": False, "burn_in": 0 if burn_in else 70, "batch_size": 2, "localization": 10.0}
    status(tmp_path / "a.zarr")
    assert ("of burn-in too" in capsys.readouterr().out) == burn_in


def test_zarr_without_its_library_is_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "zarr", None)
    (tmp_path / "a.zarr").mkdir()
    with pytest.raises(MissingExtra, match=r'needs zarr; install it with: pip install "llc-lab\[zarr\]"'):
        read(tmp_path / "a.zarr")


def test_nothing_is_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("unpickled",))

    np.save(tmp_path / "a.npy", np.array([Trap()], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "a.npz", traces=np.array([Trap()], dtype=object))
    for name in ("a.npy", "a.npz"):
        with pytest.raises(ValueError, match="only unpickling could read; save plain arrays"):
            read(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.pkl", b"x", ["'a.pkl' ends in '.pkl'", ".zarr, .nc, .npz"]),
        ("a.pt", b"x", ["'a.pt' ends in '.pt'"]),
        ("a.csv", b"a,b\nc,d\n", ["'a.csv' is no table of numbers"]),
        ("b.csv", b"", ["'b.csv' is no table of numbers"]),
        ("c.csv", b"\xff\xfe\x00", ["'c.csv' is no table of numbers"]),
        ("a.npz", b"not a zip", ["a.npz", "give another file"]),
        ("b.npz", b"PK\x03\x04 broken", ["b.npz", "give another file"]),
        ("a.nc", b"not hdf", ["a.nc", "give another file"]),
        ("none.csv", None, ["There is no file", "give the path"]),
    ],
)
def test_what_cannot_be_read_is_one_sentence(tmp_path, name, content, words):
    if name.endswith(".nc"):
        pytest.importorskip("h5netcdf")
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError) as caught:
        read(tmp_path / name)
    said = str(caught.value)
    assert all(word in said for word in words) and said.endswith(".") and "\n" not in said, said


def test_arrays_without_a_known_name(tmp_path):
    np.savez(tmp_path / "a.npz", values=np.zeros((2, 50)))
    with pytest.raises(ValueError, match="'a.npz' has no traces; call them one of loss/trace, traces"):
        read(tmp_path / "a.npz")
