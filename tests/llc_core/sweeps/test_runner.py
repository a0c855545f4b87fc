"""Sweeps with workers, clients that are killed, workers that are lost, and the command line."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lab.benchmarks.speed import sweep_work
from llc_core import SweepSpec, run_sweep
from llc_core.cli.commands import main
from llc_core.cli.sweep import hours
from llc_core.sweeps import runner
from llc_core.sweeps.runner import Assignment, client_of
from llc_core.sweeps.stopping import ask_to_stop, request_of
from llc_core.sweeps.store import Store, results

ROOT = Path(__file__).resolve().parents[3]
SMALL = {
    "size_class": "1K",
    "problems": 2,
    "samplers": ["SGLD", "RMSPropSGLD"],
    "step_sizes": [1e-9, 1e-8],
    "gradients": ["full"],
    "chains": 2,
    "steps": 60,
}
CLIENT = """
import sys
from lab.benchmarks.speed import sweep_work
from llc_core import SweepSpec, run_sweep
if __name__ == "__main__":
    spec, store, work = sys.argv[1:4]
    run_sweep(SweepSpec.from_toml(spec), store, workers=1, work=getattr(sweep_work, work))
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Files that work on the workers may be told by: of the units that began, and of the trap."""
    folder = tmp_path_factory.mktemp("written")
    with pytest.MonkeyPatch.context() as patch:
        for name in (sweep_work.LOG, sweep_work.TRAP):
            patch.setenv(name, str(folder / name))
        yield {name: folder / name for name in (sweep_work.LOG, sweep_work.TRAP)}


@pytest.fixture(scope="module")
def scheduler(written):
    """Address of a sweep's own two workers, in processes of their own, which begin but once for the file."""
    pytest.importorskip("distributed")
    with client_of(None, 2, None) as client:
        yield client.cluster.scheduler_address


@pytest.fixture(scope="module")
def whole(scheduler, tmp_path_factory):
    """Rows of SMALL from a sweep that nothing interrupted."""
    path = tmp_path_factory.mktemp("whole") / "whole.sqlite"
    told = []
    last = run_sweep(SweepSpec.from_dict(SMALL), path, scheduler=scheduler, on_progress=told.append)
    assert (last.state, last.done, last.total, last.errors) == ("finished", 8, 8, 0)
    assert [p.state for p in told][0] == "running" and told[-1] == last
    return results(path)


def numbers(rows):
    return {row["key"]: (row["status"], row["llc"], row["llc_printed"], row["r_hat"]) for row in rows}


@pytest.mark.slow
def test_a_sweep_records_every_row(whole):
    assert len(whole) == 8 and {row["status"] for row in whole} == {"ok"}
    assert all(row["llc"] > 0 and row["seconds"] > 0 and row["expected_llc"] > 0 for row in whole)


@pytest.mark.slow
def test_a_finished_sweep_starts_nothing(whole, tmp_path, monkeypatch):
    with Store(tmp_path / "a.sqlite") as store:
        store.add(whole)
    monkeypatch.setattr(runner, "client_of", None)
    last = run_sweep(SweepSpec.from_dict(SMALL), tmp_path / "a.sqlite")
    assert (last.state, last.done) == ("finished", 8)


@pytest.mark.slow
def test_a_stopped_sweep_goes_on(whole, scheduler, tmp_path):
    path, stop = tmp_path / "a.sqlite", threading.Event()

    def after_the_first_rows(progress):
        if progress.done >= 2:
            stop.set()

    spec = SweepSpec.from_dict(SMALL)
    first = run_sweep(spec, path, scheduler=scheduler, on_progress=after_the_first_rows, stop=stop)
    if first.state == "stopped":  # a fast machine may have finished meanwhile
        assert len(results(path)) == first.done < 8
        with Store(path, readonly=True) as store:
            assert store.progress()["state"] == "stopped"
    assert run_sweep(spec, path, scheduler=scheduler).state == "finished"
    assert numbers(results(path)) == numbers(whole)


@pytest.mark.slow
def test_a_sweep_that_is_stopped_before_it_begins_leaves_no_row(scheduler, tmp_path):
    stop = threading.Event()
    stop.set()
    last = run_sweep(
        SweepSpec.from_dict({**SMALL, "steps": 10**9}), tmp_path / "a.sqlite", scheduler=scheduler, stop=stop
    )
    assert last.state == "stopped" and last.done == 0 and results(tmp_path / "a.sqlite") == []


@pytest.mark.slow
def test_another_process_can_end_a_sweep(scheduler, tmp_path, capsys):
    """As the app does, and `llc-lab stop`: the units at work stop too, and an old request ends nothing."""
    path = tmp_path / "a.sqlite"
    Store(path).close()
    with pytest.raises(ValueError, match="nothing to stop"):
        ask_to_stop(path)
    request_of(path).touch()
    spec = SweepSpec.from_dict({**SMALL, "steps": 10**9})
    asked = []

    def ask(progress):
        if progress.running and not asked:
            asked.append(main(["stop", str(path)]))

    last = run_sweep(spec, path, scheduler=scheduler, on_progress=ask)
    assert asked == [0] and "asked to stop" in capsys.readouterr().out
    assert last.state == "stopped" and results(path) == [] and not request_of(path).exists()


def test_nothing_is_stopped_where_there_is_no_store(tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        main(["stop", str(tmp_path / "none.sqlite")])
    assert end.value.code == 2 and "no store" in capsys.readouterr().err


@pytest.mark.slow
def test_more_step_sizes_run_those_that_are_missing(whole, scheduler, tmp_path, monkeypatch):
    with Store(tmp_path / "a.sqlite") as store:
        store.add(whole)
    spec = SweepSpec.from_dict({**SMALL, "step_sizes": [1e-9, 3e-9, 1e-8]})
    last = run_sweep(spec, tmp_path / "a.sqlite", scheduler=scheduler, work=sweep_work.trivial)
    found = {row["key"]: row for row in results(tmp_path / "a.sqlite")}
    assert (last.done, last.total) == (12, 12) and len(found) == 12
    assert {json.dumps(row["step_size"]) for row in found.values() if row["seconds"] == 0} == {"3e-09"}


@pytest.mark.slow
def test_what_fails_is_a_row_and_can_be_tried_again(scheduler, tmp_path):
    spec, path = SweepSpec.from_dict({**SMALL, "samplers": ["SGLD"]}), tmp_path / "a.sqlite"
    last = run_sweep(spec, path, scheduler=scheduler, work=sweep_work.failing)
    assert (last.state, last.done, last.errors) == ("finished", 4, 2)
    assert {row["error"] for row in results(path) if row["problem"] == 1} == {"RuntimeError: no way back"}
    assert run_sweep(spec, path).errors == 2, "what is recorded is not run again unless asked for"
    again = run_sweep(spec, path, scheduler=scheduler, retry_errors=True)
    assert (again.done, again.errors) == (4, 0)


@pytest.mark.slow
def test_a_client_that_is_killed_loses_nothing_that_was_recorded(whole, scheduler, written, tmp_path):
    """Killed without a word after its first rows. `lab.benchmarks.speed.sweeps` does this ten times, at random moments."""
    path, log, file = tmp_path / "a.sqlite", written[sweep_work.LOG], tmp_path / "sweep.toml"
    lines = [f"{name} = {json.dumps(value)}" for name, value in SMALL.items()]
    file.write_text("\n".join(lines))
    command = [sys.executable, "-c", CLIENT, str(file), str(path), "logged"]
    client = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"})
    try:
        while client.poll() is None and not (path.exists() and _rows(path)):
            threading.Event().wait(0.02)
    finally:
        client.send_signal(signal.SIGKILL)
        client.wait()
    recorded = {row["unit"] for row in results(path)}
    started = log.read_text().split()
    again = run_sweep(SweepSpec.from_toml(file), path, scheduler=scheduler, work=sweep_work.logged)
    assert (again.state, again.done, again.errors) == ("finished", 8, 0)
    assert numbers(results(path)) == numbers(whole)
    later = log.read_text().split()[len(started) :]
    assert recorded and not recorded & set(later), "nothing runs again after it was recorded"


def _rows(path):
    try:
        return results(path)
    except ValueError:  # the file is being made
        return []


# -- the command line -------------------------------------------------------------------------------------------------


@pytest.fixture
def sweep_file(tmp_path):
    path = tmp_path / "sweep.toml"
    lines = [f"{name} = {json.dumps(value)}" for name, value in {**SMALL, "problems": 1}.items()]
    path.write_text("\n".join(lines))
    return path


@pytest.mark.slow
def test_a_sweep_from_the_command_line(sweep_file, scheduler, tmp_path, capsys):
    store = tmp_path / "a.sqlite"
    assert main(["sweep", str(sweep_file), "--dry-run"]) == 0
    words = capsys.readouterr().out
    assert words.startswith("2 units, 4 rows\n") and re.search(r"about \S+ \S+ of one worker", words)
    command = ["sweep", str(sweep_file), "--store", str(store), "--scheduler", scheduler]
    assert main(command) == 0
    said = capsys.readouterr()
    assert said.out == f"4 rows are in {store}.\n" and "4 of 4 rows, finished" in said.err
    assert main([*command, "--dry-run"]) == 0
    assert capsys.readouterr().out == "Nothing is left to run.\n"
    assert main(["export", str(store), "--out", str(tmp_path / "a.csv")]) == 0
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 5


def test_a_problem_s_units_go_to_one_worker_until_one_has_nothing_else():
    spec = SweepSpec.from_dict(
        {**SMALL, "problems": 3, "samplers": ["SGLD", "SGHMC"], "gradients": ["full", "minibatch"]}
    )
    shares = Assignment(spec.units())
    first, second = shares.next("a"), shares.next("b")
    assert (first.problems, second.problems) == ((0,), (1,))
    assert [shares.next("a").problems[0] for _ in range(4)] == [0, 0, 0, 2], "the third problem is nobody's yet"
    assert [shares.next("b").problems[0] for _ in range(4)] == [1, 1, 1, 2], "then it helps"
    shares.forget(["b"])
    assert shares.next("c").problems == (2,) and shares.next("b").problems == (2,) and shares.next("b") is None
    every = Assignment(spec.units())
    handed = [unit.key for _ in range(12) for unit in [every.next("a")] if unit]
    assert sorted(handed) == sorted(unit.key for unit in spec.units())


@pytest.mark.parametrize(
    "words, message",
    [
        (["sweep", "none.toml", "--store", "a.sqlite"], "'none.toml' cannot be read"),
        (["sweep", "{file}"], "--store is missing"),
        (["sweep", "{file}", "--store", "a.sqlite", "--workers", "0"], "--workers is 0"),
        (["sweep", "{file}", "--store", "."], "The store '.' is a folder; give the path of a file."),
        (["sweep", "{file}", "--store", "none/a.sqlite", "--dry-run"], "folder of the store"),
        (
            ["sweep", "{file}", "--store", "a.sqlite", "--scheduler", "banana"],
            "scheduler is 'banana'; give its address",
        ),
        (["export", "none.sqlite", "--out", "a.csv"], "There is no store at"),
        (["export", "none.sqlite", "--out", "none/a.nc"], "there is no such folder; make it first"),
        (["estimate", "--problem", "-1"], "--problem is -1; it must be at least 0"),
        (["estimate", "none.json"], "'none.json' cannot be read"),
        (["estimate", "--step-size", "1e-8"], "add --sampler"),
        (["estimate", "--widths", "3"], "widths has 1 entries"),
        (["estimate", "run.json", "--virtual"], "--virtual is of a network made here"),
        (["estimate", "--sampler", "HMC", "--gradient", "minibatch"], "use gradient='full'"),
    ],
)
def test_wrong_words_end_in_one_sentence(sweep_file, words, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as exit:
        main([word.format(file=sweep_file) for word in words])
    assert exit.value.code == 2
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1


@pytest.mark.slow
@pytest.mark.usefixtures("no_draws")
@pytest.mark.long
def test_an_estimate_from_the_command_line(tmp_path, capsys):
    pytest.importorskip("h5netcdf")
    out = tmp_path / "run.nc"
    assert main(["estimate", "--widths", "4", "3", "4", "--steps", "300", "--json", "--out", str(out)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["llc"] == pytest.approx(found["expected"], rel=0.5) and out.stat().st_size > 1000
    file = tmp_path / "run.json"
    file.write_text(json.dumps(found["config"]))
    assert main(["estimate", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["llc"] == found["llc"], "a saved configuration gives the same number"
    assert main(["estimate", str(file), "--json", "--dtype", "float64"]) == 0
    double = json.loads(capsys.readouterr().out)
    assert double["config"]["dtype"] == "float64" != found["config"]["dtype"]
    assert double["llc"] != found["llc"] and double["llc"] == pytest.approx(found["llc"], rel=0.5)


@pytest.mark.parametrize(
    "out, grid, message",
    [
        ("a.nc", {"step_size": [1e-9, 1e-8]}, "this configuration has 2; give one problem and leave its grid out"),
        ("nowhere/a.nc", {}, "no such folder"),
        (".", {}, "which is a folder; give the name of a file in it"),
    ],
)
def test_what_cannot_be_written_is_said_before_the_run(tmp_path, capsys, monkeypatch, out, grid, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("llc_core.engine.run.Run.advance", lambda *a: pytest.fail("it ran"))
    problem = {"kind": "dln", "widths": [4, 3, 4]}
    Path("run.json").write_text(json.dumps({"problem": problem, "sampler": {"name": "SGLD"}, "grid": grid}))
    with pytest.raises(SystemExit):
        main(["estimate", "run.json", "--out", out])
    assert message in capsys.readouterr().err


def test_what_is_no_sweep_is_said_before_a_store_is_made(sweep_file, tmp_path):
    spec, path = SweepSpec.from_toml(sweep_file), tmp_path / "a.sqlite"
    for arguments, options, message in (
        (("x.toml",), {}, "spec is a str; give a SweepSpec"),
        ((spec,), {"workers": 0}, "workers is 0; it must be at least 1"),
        ((spec,), {"scheduler": "tcp://here"}, "give its address with the port"),
    ):
        with pytest.raises(ValueError, match=message):
            run_sweep(*arguments, path, **options)
    assert not path.exists()


def test_durations_are_read_easily():
    assert [hours(h) for h in (0.001, 0.5, 3.26)] == ["4 s", "30 min", "3.3 h"]


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_nothing(whole, scheduler, written, tmp_path):
    """The last that these workers do: the one that takes its place need not have begun when the other has done its units."""
    trap = written[sweep_work.TRAP]
    trap.touch()
    last = run_sweep(SweepSpec.from_dict(SMALL), tmp_path / "a.sqlite", scheduler=scheduler, work=sweep_work.trapped)
    assert not trap.exists() and (last.state, last.done, last.errors) == ("finished", 8, 0)
    assert numbers(results(tmp_path / "a.sqlite")) == numbers(whole)


# -- SLURM ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_job_script_of_a_cluster(sweep_file, capsys):
    pytest.importorskip("dask_jobqueue")
    from lab import slurm

    sweep_file.write_text(sweep_file.read_text() + '\ndevice = "cuda"')
    command = [str(sweep_file), "--print-script", "--gpu", "--walltime", "02:30:00", "--memory", "9GB"]
    assert slurm.main([*command, "--directive=--partition=short"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("#!")
    for wanted in ("#SBATCH -t 02:30:00", "#SBATCH --mem=9G", "#SBATCH --partition=short", "#SBATCH --gres=gpu:1"):
        assert wanted in lines
    (worker,) = [line for line in lines if "distributed.cli.dask_worker tcp://" in line]
    assert "--nthreads 1" in worker and "--resources GPU=1" in worker


@pytest.mark.slow
def test_gpu_jobs_are_for_sweeps_on_gpus(sweep_file, capsys):
    from lab import slurm

    with pytest.raises(SystemExit):
        slurm.main([str(sweep_file), "--print-script", "--gpu"])
    assert 'add device = "cuda"' in capsys.readouterr().err
