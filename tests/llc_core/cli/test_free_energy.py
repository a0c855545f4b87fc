"""`llc-lab free-energy`: the numbers of `free_energy`, as text and as JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest

from llc_core import DeepLinearNetwork, RunConfig, free_energy, surface
from llc_core.cli.commands import main

SHORT = ["free-energy", "--chains", "6", "--steps", "300", "--seed", "3"]
SHORTER = {"chains": 6, "steps": 300, "seed": 3}


def said(capsys, *more: str) -> dict:
    assert main([*SHORT, "--json", *more]) == 0
    return json.loads(capsys.readouterr().out)


def same(found: dict, wanted) -> None:
    assert (found["llc"], found["log_z"], found["gradients"]) == (wanted.llc, wanted.log_z, wanted.gradients)
    np.testing.assert_array_equal(found["levels"], wanted.levels)
    assert found["local_barrier"][0] is None and found["evidence"] == {
        str(m): share for m, share in wanted.evidence.items()
    }
    assert set(found) == set(vars(wanted))


def test_a_surface(capsys):
    asked = ["--surface", "product", "--exponents", "2", "2", "--n-beta", "1000"]
    wanted = free_energy(surface("product", exponents=(2, 2)), n_beta=1000.0, **SHORTER)
    same(said(capsys, *asked), wanted)
    assert main([*SHORT, *asked]) == 0
    assert capsys.readouterr().out == f"{wanted}\n"
    assert f"λ = {wanted.llc:.4g}" in str(wanted)


def test_levels_and_their_number(capsys):
    levels = ["--ladder", "1", "5", "20", "50", "80", "100"]
    same(
        said(capsys, "--surface", "sum", *levels),
        free_energy(surface("sum"), [1.0, 5.0, 20.0, 50.0, 80.0, 100.0], **SHORTER),
    )
    assert len(said(capsys, "--surface", "sum", "--ladder", "9", "--n-beta", "100")["levels"]) == 9


@pytest.mark.slow
def test_a_network_and_the_file_of_a_run(capsys, tmp_path):
    network = DeepLinearNetwork.random(widths=[2, 2], n=100, seed=4)
    wanted = free_energy(network, n_beta=20.0, multiplicity=1, **SHORTER)
    file = tmp_path / "run.json"
    file.write_text(RunConfig(problem=network.to_dict(), n_beta=20.0, seed=3).to_json())
    assert main(["free-energy", str(file), "--chains", "6", "--steps", "300", "--multiplicity", "1", "--json"]) == 0
    same(json.loads(capsys.readouterr().out), wanted)
    assert said(capsys, "--widths", "2", "2", "--multiplicity", "1")["multiplicity"] == 1


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--surface", "sum", "--widths", "2", "2"], "--surface is given beside widths"),
        (["--exponents", "2", "4"], "add --surface sum"),
        (["--surface", "sum", "--ladder", "3", "2"], "ladder is"),
        (["--surface", "sum", "--ladder", "1", "2", "4", "--n-beta", "9"], "ladder and n_beta are both given"),
        (["no-such-file.json"], "cannot be read"),
    ],
)
def test_bad_options_are_one_sentence(capsys, more, words):
    with pytest.raises(SystemExit) as ended:
        main([*SHORT, *more])
    assert ended.value.code == 2 and words in capsys.readouterr().err
