"""`llc-lab paper` with a whole paper: every item that can be run is, one that cannot is said, and what holds is counted at the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from llc_core.cli import paper
from llc_core.cli.commands import main
from llc_core.studies.papers import running
from llc_core.studies.papers.claims import Claim
from llc_core.studies.papers.items import items


@pytest.fixture
def ran(monkeypatch):
    """Addresses in the order they were run; figure 2 cannot be, and every other item has one claim of each kind."""
    seen = []

    def run_item(item, size, folder, **others):
        seen.append(item.address)
        assert others["workers"] == 1
        if item.name == "figure-2":
            raise ValueError("This item needs a file; give it.")
        claims = [Claim("a", True, "1"), Claim("b", None, "2")]
        return SimpleNamespace(found=SimpleNamespace(table=["a row"]), claims=claims, page="p", numbers="n")

    monkeypatch.setattr(running, "run_item", run_item)
    return seen


@pytest.mark.parametrize("asked", ["003", "all"])
def test_what_can_be_run_is(ran, capsys, asked):
    assert main(["paper", asked, "--workers", "1"]) == 0
    wanted = [item.address for item in items() if item.sizes and asked in (item.paper, "all")]
    assert ran == wanted
    summary = capsys.readouterr().out.splitlines()[-len(wanted) :]
    assert [line.split()[0] for line in summary] == wanted
    for line in summary:
        assert line.endswith(
            "not run: This item needs a file; give it." if "/figure-2 " in line else "1 yes, 1 not decided"
        )


def test_several_papers_run_side_by_side(ran, monkeypatch, capsys):
    """Threads stand for processes. Each line of the runs says which paper it is of; at the end they stand in their order."""
    monkeypatch.setattr(paper, "ProcessPoolExecutor", lambda side, mp_context: ThreadPoolExecutor(side))
    assert main(["paper", "all", "--workers", "3"]) == 0
    wanted = [item.address for item in items() if item.sizes]
    assert sorted(ran) == sorted(wanted) and ran != wanted
    *lines, _ = said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said[-len(wanted) :]] == wanted
    papers = {address.split("/")[0] for address in wanted}
    assert all(line.split(" | ")[0] in papers for line in lines[: -len(wanted) + 1])


@pytest.mark.slow
def test_an_interrupt_ends_the_papers_that_run_and_begins_no_other(tmp_path):
    """In processes, two of them. The others would take half an hour."""
    command = [sys.executable, "-m", "llc_core", "paper", "all", "--workers", "2", "--out", str(tmp_path)]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        begun = set()
        while len(begun) < 2 and (line := run.stdout.readline()):
            begun.add(line.split(" | ")[0])
        os.killpg(run.pid, signal.SIGINT)
        said, _ = run.communicate(timeout=300)
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
    lines = said.splitlines()
    assert run.returncode == 130 and lines[-1].startswith("Ended; what was done is kept")
    assert {line.split(" | ")[0] for line in lines[:-1]} <= begun


def test_a_paper_is_priced(ran, capsys):
    main(["paper", "003", "--dry-run"])
    said = capsys.readouterr().out.splitlines()
    assert not ran and said[-1].startswith("Together: about ") and len(said) == 2 * 6 + 1


def test_a_device_is_not_priced_and_the_price_says_so(ran, capsys):
    for asked, added in (([], ""), (["--device", "cuda"], "; that is the processor, cuda is not priced")):
        main(["paper", "003/figure-1", "--dry-run", *asked])
        assert capsys.readouterr().out.rstrip().endswith(f" on this machine{added}")
    main(["paper", "003", "--dry-run", "--device", "cuda"])
    assert (
        capsys.readouterr()
        .out.rstrip()
        .endswith(", less where items share runs; that is the processor, cuda is not priced")
    )


def test_the_first_networks_of_a_sweep_are_priced(ran, capsys):
    asked = ["paper", "000/figure-5", "--size", "paper", "--dry-run"]
    main([*asked, "--problems", "3"])
    said = capsys.readouterr().out
    assert "here 3 networks in place of 100\n" in said and "3 networks of about 10 million parameters: about " in said
    assert not ran


@pytest.mark.parametrize(
    "item, problems, sentence",
    [
        ("003/figure-1", 3, "003/figure-1 is no sweep over problems; leave --problems out."),
        ("000", 3, "--problems is of one item; name one such as 000/figure-5."),
        ("000/figure-5", 1, "--problems is 1; it must be at least 2."),
        ("000/figure-5", 101, "--problems is 101; it must be at most 100."),
    ],
)
def test_problems_that_cannot_be_chosen_are_refused(ran, capsys, item, problems, sentence):
    with pytest.raises(SystemExit):
        main(["paper", item, "--size", "paper", "--problems", str(problems)])
    assert capsys.readouterr().err.strip() == f"llc-lab: {sentence}" and not ran
