"""What a command says and writes, where the terminal is poor or gone."""

from __future__ import annotations

import io
import sys

import pytest

from llc_core.cli.commands import main
from llc_core.engine import machine
from llc_core.potentials.deep_linear import network as dln_network

SHORT = ["estimate", "--widths", "3", "2", "--steps", "60", "--chains", "2"]


def test_a_result_is_shown_where_the_output_has_no_greek_letters(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii", write_through=True))
    assert main(SHORT) == 0
    assert written.getvalue().startswith(b"?? = ") and b"R-hat" in written.getvalue()


class Closed(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError("nobody reads")


def test_a_file_is_written_before_anything_is_printed(monkeypatch, tmp_path):
    pytest.importorskip("h5netcdf")
    monkeypatch.setattr(sys, "stdout", Closed())
    assert main([*SHORT, "--out", str(tmp_path / "a.nc")]) == 1
    assert (tmp_path / "a.nc").stat().st_size > 0


def test_a_result_whose_file_cannot_be_written_is_shown(monkeypatch, tmp_path, capsys):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")

    def full(self: object, *given: object, **more: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(xarray.Dataset, "to_netcdf", full)
    with pytest.raises(SystemExit) as ended:
        main([*SHORT, "--out", str(tmp_path / "a.nc")])
    said = capsys.readouterr()
    assert ended.value.code == 2 and "cannot be written (No space left on device)" in said.err
    assert said.out.startswith("λ̂ = ")


@pytest.mark.parametrize("command", ["estimate", "free-energy"])
@pytest.mark.parametrize("widths", [["1000000", "2000"], ["190000", "1"]])
def test_a_network_that_no_machine_holds_is_refused_before_it_is_made(monkeypatch, capsys, command, widths):
    monkeypatch.setattr(machine, "_memory", lambda device: 8 * 2**30)
    monkeypatch.setattr(dln_network.DeepLinearNetwork, "random", lambda **given: pytest.fail("it was made"))
    with pytest.raises(SystemExit) as ended:
        main([command, "--widths", *widths])
    said = capsys.readouterr().err
    assert ended.value.code == 2 and "GiB for its data and products, and this machine has 8.0 GiB" in said


def test_memory_that_is_not_there_and_names_that_cannot_be_are_one_sentence(monkeypatch, capsys):
    def short(*given: object, **named: object) -> None:
        raise MemoryError("Unable to allocate 9 GiB")

    with pytest.raises(SystemExit):
        main([*SHORT, "--out", "x" * 5000])
    monkeypatch.setattr(dln_network.DeepLinearNetwork, "random", short)
    with pytest.raises(SystemExit):
        main(SHORT)
    said = capsys.readouterr().err
    assert said.count("\n") == 2 and len(said) < 400 and "File name too long" in said
    assert "no memory for this (Unable to allocate 9 GiB)" in said
