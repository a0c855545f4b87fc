"""Sweeps: what is run, what a worker returns, what the store holds."""

import csv
import json
import math
import sqlite3
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch
from sentences import tells
from torch.utils.flop_counter import FlopCounterMode

from llc_core import Run, RunConfig, SweepSpec, estimate
from llc_core.engine import run as engine
from llc_core.engine import target
from llc_core.engine.adapting.coordinate_changes import CoordinateChanges
from llc_core.engine.adapting.schedule import coordinate_looks
from llc_core.potentials import DeepLinearNetwork
from llc_core.potentials.deep_linear import tensors as dln_tensors
from llc_core.potentials.deep_linear.cut import cut_of, multiplications
from llc_core.potentials.deep_linear.random_networks import drawn_widths
from llc_core.sweeps import Store, Unit, costs, export, worker
from llc_core.sweeps import spec as spec_module
from llc_core.sweeps.spec import label_of
from llc_core.sweeps.store import COLUMNS, results
from llc_core.sweeps.unit import key_of

SMALL = {
    "size_class": "1K",
    "problems": [3],
    "samplers": ["SGLD"],
    "step_sizes": [1e-9, 1e-8],
    "gradients": ["minibatch"],
    "chains": 3,
    "steps": 40,
}


def spec(**changes):
    return SweepSpec.from_dict({**SMALL, **changes})


@pytest.fixture(scope="module")
def small_rows():
    """Rows of the unit of SMALL, as a worker returns them."""
    (unit,) = spec().units()
    return worker.run_unit(unit.to_dict())


# -- what is given ----------------------------------------------------------------------------------------------------


DEEP = 50_000


@pytest.mark.parametrize(
    "text", ["chains = " + "[" * DEEP, "steps = " + "{a=" * DEEP, "samplers" + ".a" * DEEP + " = 1"]
)
def test_a_file_that_is_nested_deeply_is_one_sentence(tmp_path, text):
    (tmp_path / "deep.toml").write_text("step_sizes = [1e-8]\n" + text)
    with pytest.raises(ValueError) as caught:
        SweepSpec.from_toml(tmp_path / "deep.toml")
    tells(caught.value)


def test_a_key_of_thousands_of_parts_is_refused_before_it_is_read(tmp_path, monkeypatch):
    """The time to read it grows as their square."""
    (tmp_path / "long.toml").write_text("samplers" + ".a" * DEEP + " = 1")
    monkeypatch.setattr(spec_module.tomllib, "loads", lambda text: pytest.fail("it was read"))
    with pytest.raises(ValueError, match="nested too deeply"):
        SweepSpec.from_toml(tmp_path / "long.toml")


@pytest.mark.parametrize("as_given", [np.float32, np.float64, Decimal, Fraction, torch.tensor])
def test_numbers_of_other_libraries_are_those_they_stand_for(as_given):
    given = {"localization": 2, "n_beta": 64, "burn_in": 0.25, "batch_size": 32, "seed": 1}
    plain, found = spec(**given), spec(**{name: as_given(value) for name, value in given.items()})
    sampler = {"name": "RMSPropSGLD", "stability": as_given(0.5)}
    assert spec(samplers=[sampler]).to_dict() == spec(samplers=[{"name": "RMSPropSGLD", "stability": 0.5}]).to_dict()
    assert [u.keys for u in found.units()] == [u.keys for u in plain.units()]
    assert SweepSpec.from_dict(found.to_dict()) == found


@pytest.mark.parametrize(
    "changes",
    [
        {"size_class": "9-" * DEEP},
        {"size_class": "x" * 2 * DEEP},
        {"size_class": [Fraction(1, 3)]},
        {"ranks": "x" * 2 * DEEP},
        {"ranks": [np.arange(1000)]},
        {"samplers": ["x" * 2 * DEEP]},
        {"samplers": [{"name": ["SGLD"]}]},
        {"samplers": [{"name": "SGLD", "x" * 2 * DEEP: 1}]},
        {"samplers": torch.zeros(40, 40)},
        {"step_sizes": {"x" * 2 * DEEP: [1e-8]}},
        {"step_sizes": torch.full((9,), 1e-8)},
        {"step_sizes": [torch.full((2,), 1e-8)]},
        {"step_sizes": [Decimal("sNaN")]},
        {"problems": np.arange(3)},
        {"burn_in": np.array([0.1, 0.2])},
        {"n_beta": torch.zeros(3)},
        {"device": {"x": 1}},
        {"x" * 2 * DEEP: 1},
    ],
)
def test_what_cannot_be_is_said_in_one_sentence_and_not_echoed_whole(changes):
    with pytest.raises(ValueError) as caught:
        spec(**changes)
    tells(caught.value)


# -- what is run ------------------------------------------------------------------------------------------------------


def test_a_sweep_is_the_product_of_its_lists():
    found = spec(
        size_class=["1K", "10K"], problems=3, ranks=["equal", "paper"], samplers=["SGLD", "HMC"],
        gradients=["full", "control_variate", "minibatch"],
    )  # fmt: skip
    units = list(found.units())
    # HMC accepts or rejects by exact energies: with full gradients only.
    assert len(units) == 2 * 2 * 3 * (3 + 1)
    assert len({u.key for u in units}) == len(units)
    assert len({key for u in units for key in u.keys}) == 2 * len(units)
    places = [(u.size_class, u.ranks, u.problems[0]) for u in units]
    changes = sum(a != b for a, b in zip(places, places[1:], strict=False))
    assert changes == 2 * 2 * 3 - 1, "units of one problem come together"


def test_a_sweep_comes_back_from_its_description_and_its_file(tmp_path):
    path = tmp_path / "sweep.toml"
    path.write_text(
        """
        size_class = "1K"
        problems = 2
        samplers = ["SGLD", { name = "RMSPropSGLD", stability = 1e-4 }]
        gradients = ["full"]
        steps = 100
        [step_sizes]
        SGLD = { from = 1e-10, to = 1e-8, count = 3 }
        others = [1e-6]
        """
    )
    found = SweepSpec.from_toml(path)
    assert found.step_sizes == {"SGLD": (1e-10, 1e-9, 1e-8), "RMSPropSGLD(stability=0.0001)": (1e-6,)}
    again = SweepSpec.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again == found and [u.key for u in again.units()] == [u.key for u in found.units()]


def test_keys_never_change():
    """A store of an older version goes on: what is finished is known by its key."""
    config = RunConfig(problem={"kind": "dln", "size_class": "1K"}, sampler={"name": "SGLD", "step_size": 1e-8}, seed=3)
    assert key_of(config) == "881c1bcccc0378b4bcbd9eda"


@pytest.mark.slow
def test_a_row_s_configuration_is_complete_by_itself(small_rows):
    config = RunConfig.from_json(small_rows[1]["config"])
    assert key_of(config) == small_rows[1]["key"] and not config.grid
    assert config.sampler == {"name": "SGLD", "step_size": 1e-8}
    assert json.loads(small_rows[1]["grid"]) == [1e-9, 1e-8]


def test_what_is_finished_is_left_out():
    (unit,) = spec().units()
    assert unit.without(set()) == [unit]
    assert unit.without(set(unit.keys)) == []
    (rest,) = unit.without({unit.keys[0]})
    assert rest.step_sizes == (1e-8,) and rest.keys == unit.keys[1:]


def test_networks_of_one_shape_are_one_unit():
    several = spec(size_class="7-5-6", problems=5, together=3)
    first, second = several.units()
    assert (first.problems, second.problems) == ((0, 1, 2), (3, 4))
    alone = list(spec(size_class="7-5-6", problems=5, together=1).units())
    assert [key for unit in alone for key in unit.keys] == [*first.keys, *second.keys], "rows are the same ones"
    finished = {first.keys[0], first.keys[2], first.keys[4], first.keys[5]}
    (rest,) = first.without(finished)
    assert rest.problems == (0, 1) and rest.step_sizes == (1e-8,)
    every = {key for unit in first.without({first.keys[3]}) for key in unit.keys}
    assert every == set(first.keys) - {first.keys[3]}


def test_an_architecture_has_one_spelling():
    assert spec(size_class=["10-8-10", "010-8-10", "1K"]).size_class == ("10-8-10", "1K")


def test_how_many_go_together_depends_on_the_sweep_alone():
    def sizes(**changes):
        return [len(unit.problems) for unit in spec(problems=400, **changes).units()]

    assert set(sizes()) == {1}, "networks of a named class have other shapes"
    assert sizes(size_class="7-5-6", gradients=["full"])[0] == 160 // 6
    assert sizes(size_class="7-5-6", gradients=["minibatch"])[0] == 64 // 13, "their rows must fit into memory"
    assert sizes(size_class="7-5-6", gradients=["minibatch"], dtype="float64")[0] == 32 // 13
    assert sizes(size_class="20-5-20", gradients=["minibatch"], batch_size=501)[0] == 1, (
        "and so must moments that are kept"
    )
    assert [len(u.problems) for u in spec(size_class="7-5-6", problems=40, gradients=["full"]).units()] == [5] * 8
    assert sizes(size_class="60-50", gradients=["full"])[0] == 1, "wide ones fill a core by themselves"
    assert sizes(size_class="60-50", gradients=["full"], device="cuda")[0] == 400
    assert sizes(size_class="2000-2000", gradients=["full"], device="cuda")[0] == 10
    # A GPU keeps 1,600 moments of (40 + 40)·40 numbers of each network, or, of a wide one, rows; and what three chains draw
    # is moments, with the rows for them where these are not kept.
    assert sizes(size_class="40-20-40", gradients=["minibatch"], device="cuda")[0] == 10**9 // (1600 * 80 * 40)
    assert sizes(size_class="600-9-600", gradients=["minibatch"], device="cuda")[0] == 10**9 // (1200 * 50_000)


@pytest.mark.slow
def test_virtual_data_take_no_memory():
    def units(**changes):
        return list(spec(problems=400, gradients=["minibatch"], **changes).units())

    assert len(units(size_class="7-5-6", virtual=True, batch_size=10)[0].problems) == 7, "kept moments do"
    assert len(units(size_class="7-5-6", virtual=True)[0].problems) == 160 // 6
    wide = units(size_class="600-9-600", device="cuda", virtual=True, chains=3)[0]
    assert len(wide.problems) == 10**9 // (3 * 1200 * (600 + 500))
    (unit,) = spec(size_class="7-5-6", problems=2, gradients=["minibatch"], virtual=True, steps=200, together=2).units()
    rows = worker.run_unit(unit.to_dict())
    assert [row["status"] for row in rows] == ["ok"] * 4
    assert all(RunConfig.from_json(row["config"]).problem["virtual"] for row in rows)
    assert not set(unit.keys) & set(units(size_class="7-5-6")[0].keys)


@pytest.mark.slow
def test_rows_of_networks_side_by_side_are_those_of_each():
    (unit,) = spec(size_class="7-5-6", problems=3, gradients=["full"], steps=400, together=3).units()
    rows = worker.run_unit(unit.to_dict())
    assert [(row["problem"], row["step_size"]) for row in rows] == [(s, e) for s in (0, 1, 2) for e in (1e-9, 1e-8)]
    assert [row["key"] for row in rows] == list(unit.keys) and {row["unit"] for row in rows} == {unit.key}
    for row in rows:
        problem = DeepLinearNetwork.random(widths=[7, 5, 6], ranks="equal", seed=row["problem"])
        assert row["expected_llc"] == pytest.approx(problem.expected_llc()) and row["size_class"] == "7-5-6"
        assert RunConfig.from_json(row["config"]).problem == {
            "kind": "dln", "widths": [7, 5, 6], "ranks": "equal", "seed": row["problem"],
        }  # fmt: skip


@pytest.mark.slow
def test_an_error_of_one_network_is_not_one_of_its_neighbours(monkeypatch):
    (unit,) = spec(size_class="7-5-6", problems=3, gradients=["full"], together=3).units()
    usual = worker._problem

    def fails(description):
        if '"seed": 1' in description:
            raise RuntimeError("no such network")
        return usual(description)

    fails.cache_clear = usual.cache_clear
    monkeypatch.setattr(worker, "_problem", fails)
    rows = worker.run_unit(unit.to_dict())
    assert [row["status"] for row in rows] == ["ok", "ok", "error", "error", "ok", "ok"]
    assert [row["key"] for row in rows] == list(unit.keys)


def test_variants_of_a_sampler_have_names_of_their_own():
    assert label_of({"name": "SGHMC"}) == label_of({"name": "SGHMC", "friction": 0.1}) == "SGHMC"
    assert label_of({"name": "SGHMC", "dynamics": "printed"}) == "SGHMC(dynamics=printed)"


def test_the_same_runs_have_the_same_keys_however_they_are_written():
    (plain,) = spec(samplers=["SGHMC"]).units()
    (written,) = spec(samplers=[{"name": "SGHMC", "friction": 0.1}], burn_in=20).units()
    (other,) = spec(samplers=[{"name": "SGHMC", "friction": 0.2}]).units()
    (later,) = spec(samplers=["SGHMC"], burn_in=21).units()
    assert written.keys == plain.keys and not {*other.keys, *later.keys} & set(plain.keys)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"size_class": "2K"}, "size_class is '2K'; choose one of 1K"),
        ({"size_class": "10-"}, "size_class is '10-'; choose one of 1K"),
        ({"size_class": "10-0-10"}, "widths[1] is 0"),
        ({"size_class": [[10, 8]]}, "size_class holds [10, 8]; give names"),
        ({"together": 0}, "together is 0"),
        ({"virtual": 1}, "virtual is 1; it must be true or false"),
        ({"virtual": True, "size_class": "20000-3-3"}, "virtual data of 20000 inputs and 3 outputs have at most"),
        ({"problems": 0}, "problems is 0; it must be at least 1"),
        ({"problems": []}, "problems is []; give a list"),
        ({"ranks": "low"}, "ranks is 'low'"),
        ({"problems": "all"}, "problems is 'all'; give how many, or a list of seeds"),
        ({"samplers": ["SLGD"]}, "samplers: Unknown sampler 'SLGD'"),
        ({"samplers": [3]}, "samplers: sampler is 3; give one such as SGLD()"),
        ({"samplers": [{"friction": 1}]}, "samplers: sampler {'friction': 1} has no name; add one of PSGLD"),
        ({"samplers": [{"name": "SGLD", "step_size": 1}]}, "give them in step_sizes"),
        ({"samplers": "SGLD"}, "samplers is 'SGLD'; give a list"),
        ({"step_sizes": [0.0]}, "step_size is 0"),
        ({"step_sizes": {"from": 1, "to": 0.1, "count": 3}}, "the smaller end first"),
        ({"step_sizes": {"from": 1, "to": 0.1}}, "give from, to and count"),
        ({"step_sizes": {"HMC": [1]}}, "step_sizes names 'HMC'"),
        ({"samplers": ["SGLD", "SGHMC"], "step_sizes": {"SGLD": [1e-8]}}, "step_sizes has none for SGHMC"),
        ({"samplers": ["HMC"]}, "add 'full' to gradients"),
        ({"gradients": ["exact"]}, "gradients is 'exact'"),
        ({"chains": 0}, "chains is 0"),
        ({"burn_in": 50}, "burn_in is 50 steps but the run has only 40"),
        ({"speed": 1}, "Unknown key 'speed' in the sweep"),
    ],
)
def test_a_sweep_that_cannot_be_is_one_sentence(changes, words):
    with pytest.raises(ValueError, match="(?s).*") as caught:
        spec(**changes)
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_files_that_are_no_sweeps(tmp_path):
    with pytest.raises(ValueError, match="cannot be read"):
        SweepSpec.from_toml(tmp_path / "none.toml")
    path = tmp_path / "bad.toml"
    path.write_text("steps = ")
    with pytest.raises(ValueError, match="not valid TOML"):
        SweepSpec.from_toml(path)
    path.write_text("steps = 3")
    with pytest.raises(ValueError, match="samplers is missing"):
        SweepSpec.from_toml(path)


# -- what a worker returns --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_rows_are_the_engine_s_estimates(small_rows):
    problem = DeepLinearNetwork.random("1K", "equal", seed=3)
    options = {
        "gradient": "minibatch",
        "chains": 3,
        "steps": 40,
        "grid": {"step_size": [1e-9, 1e-8]},
        "progress": False,
    }
    direct = estimate(problem, "SGLD", **options)
    printed = estimate(problem, "SGLD", baseline="first_batch", **options)
    for row, one, other in zip(small_rows, direct, printed, strict=True):
        assert row["llc"] == one.llc and row["llc_se"] == one.llc_se
        beside = (
            (one.llc_from_variance, one.llc_from_variance_se) if math.isfinite(one.llc_from_variance) else (None, None)
        )
        assert (row["llc_from_variance"], row["llc_from_variance_se"]) == beside
        assert row["llc_printed"] == pytest.approx(other.llc) and abs(other.llc - one.llc) > 1
        assert row["expected_llc"] == one.expected and row["dim"] == problem.dim
        assert (row["status"], row["dead"], row["chains"], row["steps"]) == ("ok", 0, 3, 40)
    assert small_rows[0]["llc"] != small_rows[1]["llc"]


@pytest.mark.slow
def test_chains_that_blow_up_are_a_row_without_a_number():
    (unit,) = spec(step_sizes=[1e-9, 1e-3], steps=300).units()
    good, bad = worker.run_unit(unit.to_dict())
    assert good["status"] == "ok" and bad["status"] == "diverged"
    assert bad["llc"] is None and bad["llc_printed"] is None and bad["dead"] == 3
    current = Run(unit.config)
    current.advance(300)
    first = [np.flatnonzero(np.isnan(chain))[0] for chain in current.estimates()[1].trace.T]
    assert 0 < bad["lost_after"] == min(sorted(first)[1], 99), (
        "when two of three were lost: with their first block at the latest"
    )
    assert good["lost_after"] == 300


def test_an_error_is_a_row_with_its_text():
    (unit,) = spec(batch_size=5_000_000).units()
    rows = worker.run_unit(unit.to_dict())
    assert [row["status"] for row in rows] == ["error", "error"]
    assert (
        rows[0]["error"] == "ValueError: batch_size is 5000000, but there are only 1000000 samples; use at most that."
    )
    assert [row["key"] for row in rows] == list(unit.keys)


def test_a_cancelled_unit_stops_at_the_end_of_a_block(monkeypatch):
    (unit,) = spec(steps=1_000_000).units()
    blocks = []
    advance = Run.advance

    def counted(self, steps):
        blocks.append(steps)
        if len(blocks) == 3:
            worker.cancel("this one")
        return advance(self, steps)

    monkeypatch.setattr(Run, "advance", counted)
    with pytest.raises(worker.Cancelled):
        worker.run_unit(unit.to_dict(), "this one")
    assert len(blocks) == 3


# -- the store --------------------------------------------------------------------------------------------------------


def test_a_store_gives_back_what_it_was_given(tmp_path, small_rows):
    path = tmp_path / "a.sqlite"
    with Store(path) as store:
        store.add(small_rows)
        store.add(small_rows[:1])
        assert store.keys() == {row["key"] for row in small_rows}
        store.report({"steps": 40}, "running", done=2, total=4)
        assert store.progress()["spec"] == {"steps": 40} and store.progress()["done"] == 2
    found = results(path)
    assert len(found) == 2 and set(found[0]) == set(COLUMNS)
    for row, given in zip(found, small_rows, strict=True):
        assert {name: row[name] for name in given} == given


def test_rows_are_recorded_all_or_none(tmp_path, small_rows):
    with Store(tmp_path / "a.sqlite") as store:
        with pytest.raises(sqlite3.IntegrityError):
            store.add([small_rows[0], {**small_rows[1], "status": "perhaps"}])
        assert store.rows() == []


def test_errors_can_be_asked_for_again(tmp_path, small_rows):
    with Store(tmp_path / "a.sqlite") as store:
        store.add([small_rows[0], {**small_rows[1], "status": "error", "llc": None}])
        assert store.keys(with_errors=False) == {small_rows[0]["key"]} < store.keys()


def test_only_one_writes(tmp_path):
    path = tmp_path / "a.sqlite"
    with (
        Store(path) as one,
        one.writing(),
        Store(path) as other,
        pytest.raises(ValueError, match="Another sweep is writing"),
        other.writing(),
    ):
        pass
    with Store(path) as again, again.writing():
        pass


def test_files_that_are_no_stores(tmp_path):
    with pytest.raises(ValueError, match="There is no store at"):
        Store(tmp_path / "none.sqlite", readonly=True)
    with pytest.raises(ValueError, match="folder of the store"):
        Store(tmp_path / "none" / "a.sqlite")
    garbage = tmp_path / "garbage.sqlite"
    garbage.write_bytes(b"not a database" * 100)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE results (key TEXT)")
    for path in (garbage, other):
        before = path.read_bytes()
        for readonly in (True, False):
            with pytest.raises(ValueError, match="is not a store"):
                Store(path, readonly=readonly)
        assert path.read_bytes() == before


def test_a_store_that_was_half_made_is_made_whole(tmp_path, small_rows, monkeypatch):
    path = tmp_path / "a.sqlite"
    monkeypatch.setattr("llc_core.sweeps.store.PROGRESS", "id INTEGER, this is no SQL (")
    with pytest.raises(ValueError, match="is not a store of LLC Lab; give a file"):
        Store(path)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="is not a store of LLC Lab; give a file"):  # nothing is in it
        Store(path, readonly=True)
    with Store(path) as store:
        store.add(small_rows)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 7")
    with pytest.raises(ValueError, match="is of another version of LLC Lab .of stores 7, not 2.; use that one"):
        Store(path)


def test_folders_and_closed_places_are_no_stores(tmp_path, monkeypatch):
    for readonly in (True, False):
        with pytest.raises(ValueError, match="is a folder; give the path of a file|There is no store"):
            Store(tmp_path, readonly=readonly)

    def refuse(*arguments, **options):
        raise sqlite3.OperationalError("unable to open database file")

    with monkeypatch.context() as patched:
        patched.setattr("sqlite3.connect", refuse)
        with pytest.raises(ValueError, match="cannot be opened .unable to open database file.; give a file"):
            Store(tmp_path / "a.sqlite")
    (tmp_path / "a.sqlite.lock").mkdir()  # nothing that can be opened for writing
    with Store(tmp_path / "a.sqlite") as store, pytest.raises(ValueError, match="cannot be written"), store.writing():
        pass


def test_readers_change_nothing(tmp_path, small_rows):
    path = tmp_path / "a.sqlite"
    with Store(path) as store:
        store.add(small_rows)
    with Store(path, readonly=True) as store, pytest.raises(ValueError, match="reading only"):
        store.add(small_rows)


@pytest.mark.parametrize("ending", ["csv", "parquet", "nc"])
def test_exports_hold_the_numbers(tmp_path, small_rows, ending):
    pandas = pytest.importorskip("pandas")
    with Store(tmp_path / "a.sqlite") as store:
        store.add([*small_rows[:1], {**small_rows[1], "llc": None, "status": "diverged"}])
        rows = store.rows()
    path = tmp_path / f"out.{ending}"
    export.export(rows, path)
    if ending == "nc":
        import xarray

        found = xarray.open_dataset(path, engine="h5netcdf").llc.sel(size_class="1K", sampler="SGLD").values.ravel()
    else:
        found = (pandas.read_csv if ending == "csv" else pandas.read_parquet)(path)["llc"].to_numpy(dtype=float)
    assert found[0] == rows[0]["llc"] and math.isnan(found[1]) and len(found) == 2


def test_a_spreadsheet_runs_nothing_of_an_export(tmp_path, small_rows):
    path = tmp_path / "out.csv"
    dangerous = ["=1+1", "+1", "-1", "@x", "\t=1"]
    rows = [{**dict.fromkeys(COLUMNS), **small_rows[0], "error": text, "llc": -0.5} for text in dangerous]
    export.export(rows, path)
    with path.open(newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    assert [row["error"] for row in found] == [f"'{text}" for text in dangerous]
    assert {row["llc"] for row in found} == {"-0.5"}, "a negative number is no formula"


def test_several_sweeps_in_one_store_lose_no_row(small_rows):
    pytest.importorskip("xarray")
    longer = [{**row, "key": f"b{row['key']}", "steps": 400, "llc": 2.0} for row in small_rows]
    wider = [{**row, "key": f"c{row['key']}", "steps": 400, "chains": 9, "llc": 3.0} for row in small_rows]
    again = [{**row, "key": f"d{row['key']}", "config": "{}", "llc": 4.0} for row in small_rows]
    assert "steps" not in export.to_dataset(small_rows).dims
    two = export.to_dataset([*small_rows, *longer])
    assert two.steps.values.tolist() == [40, 400] and float(two.llc.sel(steps=400).mean()) == 2.0
    every = export.to_dataset([*small_rows, *longer, *wider, *again])
    assert {"steps", "chains", "config"} <= set(every.dims) and int(every.llc.notnull().sum()) == 4 * len(small_rows)


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(ValueError, match="ends in '.xls'"):
        export.export([], tmp_path / "a.xls")


# -- what it will cost ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("gradient", ["full", "control_variate", "minibatch"])
@pytest.mark.parametrize("batch_size", [None, 10])
@pytest.mark.parametrize("problem, is_cut", [(3, True), (7, False)])
def test_operations_are_those_of_the_engine_s_products(gradient, batch_size, problem, is_cut, monkeypatch):
    monkeypatch.setattr(dln_tensors, "prefers_numpy", lambda: False)  # the counter sees torch's products only
    (unit,) = spec(problems=[problem], gradients=[gradient], steps=1, batch_size=batch_size).units()
    (longer,) = spec(problems=[problem], gradients=[gradient], steps=20, batch_size=batch_size).units()
    run = Run(longer.config)
    run.advance(3)  # makes the data, looks at the curvature
    with FlopCounterMode(display=False) as counter:
        run.advance(1)
    # The counter does not know products that are added in place: one of every four, the moments aside.
    widths = drawn_widths("1K", problem)
    assert bool(cut_of(widths)) == is_cut
    fours = multiplications(widths, cut_of(widths)) - widths[-1] * widths[0] ** 2
    if gradient == "minibatch" and batch_size:
        fours = 4 * batch_size * sum(a * b for a, b in zip(widths[1:], widths[2:], strict=False))
    in_place = 6 * 2 * fours // 4
    assert counter.get_total_flops() + in_place == costs.operations(unit)


@pytest.mark.slow
@pytest.mark.parametrize("sampler, gradients", [("UnderdampedLangevin", 1), ("HMC", 10)])
def test_operations_count_the_change_of_coordinates(sampler, gradients, monkeypatch):
    monkeypatch.setattr(dln_tensors, "prefers_numpy", lambda: False)
    monkeypatch.setattr(target, "prefers_numpy", lambda: False)
    (unit,) = spec(samplers=[sampler], gradients=["full"], steps=400).units()
    run = Run(unit.config)

    def counted(steps):
        with FlopCounterMode(display=False) as counter:
            run.advance(steps)
        return counter.get_total_flops()

    run.advance(2)
    before = -counted(1) + counted(2)  # the report of each `advance` turns the chains' places back too
    run.advance(6)  # coordinates are changed at step 10
    after = -counted(1) + counted(2)
    (plain,) = spec(gradients=["full"], steps=400).units()
    turned = costs.operations(unit) - gradients * costs.operations(plain)
    assert after > before and (after - before) * (400 - 10) == turned
    (short,) = spec(samplers=[sampler], gradients=["full"], steps=40).units()  # burn-in too short for it
    assert costs.operations(short) == gradients * costs.operations(plain) / 10


@pytest.mark.slow
@pytest.mark.parametrize("gradient", ["control_variate", "minibatch"])
def test_noisy_gradients_keep_the_coordinates(gradient):
    (unit,) = spec(samplers=["UnderdampedLangevin"], gradients=[gradient], steps=400).units()
    (plain,) = spec(gradients=[gradient], steps=400).units()
    run = Run(unit.config)
    run.advance(100)
    assert run._target.coordinates is None and costs.operations(unit) == costs.operations(plain)


@pytest.mark.slow
@pytest.mark.parametrize("burn_in", [50, 200, 730, 2000])
def test_looks_at_the_curvature_are_foretold(burn_in, monkeypatch):
    found = {"looks": 0, "changes": 0}
    collect, change = CoordinateChanges.collect, CoordinateChanges.change

    def counted(self, step, state):
        found["changes"] += 1
        return change(self, step, state)

    def looked(self, state):
        found["looks"] += 1
        return collect(self, state)

    monkeypatch.setattr(CoordinateChanges, "collect", looked)
    monkeypatch.setattr(CoordinateChanges, "change", counted)
    (unit,) = spec(samplers=["UnderdampedLangevin"], gradients=["full"], steps=2 * burn_in, chains=1).units()
    Run(unit.config).advance(burn_in)
    looks, changes = coordinate_looks(burn_in)
    # At the last change nothing is watched any more: its factors would never be used.
    assert (looks, changes) == (found["looks"] + 1, found["changes"]) and changes >= 3


@pytest.mark.slow
@pytest.mark.parametrize("sampler, steps, adapted", [("SGLD", 400, False), ("HMC", 400, True), ("HMC", 60, False)])
def test_a_trial_is_timed_in_adapted_coordinates(sampler, steps, adapted, monkeypatch):
    made = []

    class Watched(Run):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(engine, "Run", Watched)
    (unit,) = spec(samplers=[sampler], gradients=["full"], steps=steps).units()
    seconds, making = costs._trial(unit)
    (run,) = made
    assert (run._target.coordinates is not None) == adapted and seconds > 0 and making >= 0


def test_small_networks_that_go_through_numpy_are_not_counted_as_cut(monkeypatch):
    (unit,) = spec(problems=[3], gradients=["full"]).units()
    counts = []
    for preferred in (True, False):
        monkeypatch.setattr(dln_tensors, "prefers_numpy", lambda preferred=preferred: preferred)
        counts.append(costs.operations(unit))
    widths = drawn_widths("1K", 3)
    expected = [multiplications(widths, 0), multiplications(widths, cut_of(widths))]
    assert counts[0] / counts[1] == pytest.approx(expected[0] / expected[1])


def test_widths_are_those_of_the_network():
    for seed in range(5):
        assert drawn_widths("1K", seed) == DeepLinearNetwork.random("1K", seed=seed).widths


def test_the_fit_finds_planted_costs():
    random = np.random.default_rng(0)
    features = np.exp(random.uniform(0, 12, size=(12, 3)))
    planted = np.array([3e-4, 2e-9, 5e-10])
    np.testing.assert_allclose(costs._fit(features, features @ planted), planted, rtol=1e-6)


@pytest.mark.slow
def test_a_calibration_counts_units_and_rows():
    found = costs.measure_costs(spec(problems=2, steps=30))
    assert (found.units, found.rows) == (2, 4)
    assert found.operations == sum(costs.operations(u) for u in spec(problems=2, steps=30).units())
    assert 0 < found.hours < 1 and found.hours_on(2) == found.hours / 2
    assert costs.measure_costs(spec(), []).units == 0


def test_units_travel_as_plain_data():
    (unit,) = spec().units()
    assert Unit.from_dict(json.loads(json.dumps(unit.to_dict()))).key == unit.key
