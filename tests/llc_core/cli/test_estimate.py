"""`llc-lab estimate FILE`: flags beside a file act, and who has read enough may close the pipe."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from llc_core import RunConfig
from llc_core.cli.commands import main

FILE = RunConfig(
    problem={"kind": "dln", "widths": [3, 2]}, sampler={"name": "SGLD", "step_size": 1e-9}, gradient="full", chains=2, steps=80, seed=5
)  # fmt: skip


@pytest.mark.parametrize(
    ("flags", "changed"),
    [
        ([], {}),
        (["--chains", "3", "--seed", "7"], {"chains": 3, "seed": 7}),
        (["--steps", "60"], {"steps": 60}),
        (["--step-size", "2e-9"], {"sampler": {"name": "SGLD", "step_size": 2e-9}}),
        (["--sampler", "SGNHT"], {"sampler": "SGNHT"}),
    ],
    ids=str,
)
def test_flags_beside_a_file_act(flags, changed, tmp_path, capsys):
    path = tmp_path / "run.json"
    path.write_text(FILE.to_json())
    assert main(["estimate", str(path), "--json", *flags]) == 0
    found = json.loads(capsys.readouterr().out)["config"]
    for name in ("chains", "steps", "seed"):
        assert found[name] == changed.get(name, getattr(FILE, name))
    if changed.get("sampler") == "SGNHT":
        assert found["sampler"]["name"] == "SGNHT" and found["sampler"]["step_size"] != 1e-9
    else:
        wanted = changed.get("sampler", FILE.sampler)
        assert {name: found["sampler"][name] for name in wanted} == wanted


LISTED = "import sys; from llc_core.cli.commands import main; sys.stdin.readline(); raise SystemExit(main(['paper', '--list']))"


@pytest.mark.slow
def test_a_closed_pipe_ends_without_a_word():
    """As `llc-lab paper --list | head -1` does, whose reader is gone before the rest is written."""
    with subprocess.Popen(
        [sys.executable, "-c", LISTED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as run:
        assert run.stdin is not None and run.stdout is not None and run.stderr is not None
        run.stdout.close()
        run.stdin.write(b"now\n")
        run.stdin.close()
        assert (run.stderr.read(), run.wait()) == (b"", 1)
