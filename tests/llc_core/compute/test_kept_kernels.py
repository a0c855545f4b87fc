"""Compiled loops on the disk: loaded once kept, and never where what they are made of has changed."""

from __future__ import annotations

import re
import types
from pathlib import Path

import numpy as np
import pytest
import torch
from cases import few

from llc_core.compute import kept_kernels
from llc_core.engine.stepping.compiled import CompiledUpdate
from llc_core.samplers import SGLD, hyperparameters
from llc_core.types import Energy

numba = pytest.importorskip("numba")
MOVE = SGLD().line().move


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    import llc_core.compute.philox_kernel  # noqa: F401  it is kept where it was

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    return tmp_path


def plain(move=MOVE, **options):
    """A loop around `move`, made anew as in another process."""
    inner = numba.njit(move)

    @numba.njit(**options)
    def loop(x, p):
        return inner(x, x, x, x, p)

    return loop


def looped(move=MOVE, *settings):
    return kept_kernels.keep(plain(move), (move,), *settings)


def called(loop) -> tuple[int, int]:
    """(loaded, compiled) after one call."""
    loop(0.5, (1.0,))
    return sum(loop.stats.cache_hits.values()), sum(loop.stats.cache_misses.values())


def twin(function, **changed):
    """The same function of the engine with other code."""
    code = function.__code__.replace(**changed)
    made = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__)
    made.__module__, made.__qualname__ = function.__module__, function.__qualname__
    return made


def test_the_second_process_loads_what_the_first_compiled(folder):
    assert called(looped()) == (0, 1)
    assert called(looped()) == (1, 0)
    assert looped()(0.5, (1.0,)) == looped().py_func(0.5, (1.0,))


def test_numba_itself_never_finds_again_what_it_keeps_of_such_a_loop(folder):
    assert [called(plain(cache=True)) for _ in range(2)] == [(0, 1), (0, 1)]
    assert len(list(folder.rglob("*.nbc"))) == 2


def test_other_settings_functions_and_kinds_of_arguments_are_compiled(folder):
    assert called(looped()) == (0, 1)
    assert called(looped(MOVE, "float32")) == (0, 1)
    assert called(looped(twin(MOVE, co_consts=(*MOVE.__code__.co_consts, 7)))) == (0, 1)
    again = looped()
    again(np.float32(0.5), (np.float32(1.0),))
    assert not sum(again.stats.cache_hits.values())


def test_a_changed_source_is_compiled_and_takes_the_place_of_the_old(folder, monkeypatch):
    called(looped())
    before = {path.name for path in folder.rglob("*.nbc")}
    monkeypatch.setattr(kept_kernels, "source", lambda: "another")
    assert called(looped()) == (0, 1)
    after = {path.name for path in folder.rglob("*.nbc")}
    assert len(before) == len(after) == 1 and not before & after


def test_a_function_is_named_by_its_code_and_not_where_it_has_numbers_of_its_own():
    name = kept_kernels._name
    assert name(MOVE) and name(MOVE) == name(twin(MOVE))
    assert name(twin(MOVE, co_consts=(*MOVE.__code__.co_consts, 7))) != name(MOVE)
    share = 2.0

    def stranger(x):
        return share * x

    assert not name(stranger) and not name(twin)
    stranger.__module__ = MOVE.__module__
    assert not name(stranger), "its number is not in the source of the engine"


def test_nothing_that_a_loop_calls_stands_where_the_digest_does_not_look():
    above = re.compile(rf"llc_core\.({'|'.join(kept_kernels.ABOVE)})\b|from llc_core import")
    folders = ("compute", "engine", "interactions", "line", "plane", "potentials", "samplers")
    files = [path for folder in folders for path in (kept_kernels.ENGINE / folder).rglob("*.py")]
    assert len(files) > 100
    assert not [path for path in files if above.search(path.read_text())]
    own = twin(MOVE)
    own.__module__ = "llc_core.studies.stages"
    assert kept_kernels._name(MOVE) and not kept_kernels._name(own)


def test_a_loop_of_strangers_leaves_nothing_on_the_disk(folder):
    loop = looped(lambda a, b, g, h, p: (a, b))
    assert loop(0.5, (1.0,)) == (0.5, 0.5)
    assert not list(folder.rglob("*.nb?"))


@pytest.mark.parametrize("dtype", few(["float32", "float64"], 1))
def test_a_run_on_the_line_is_the_same_when_its_loop_was_kept(folder, monkeypatch, dtype):
    from llc_core.line import kernel, simulate

    found = []
    for _ in range(2):
        monkeypatch.setattr(kernel, "_COMPILED", {})
        run = simulate(SGLD(step_size=0.01), "skewed", steps=60, chains=50, dtype=dtype, burn_in=10, record_every=1)
        (loop,) = kernel._COMPILED.values()
        found.append((run.counts.copy(), run.moments, sum(loop.stats.cache_hits.values())))
    assert [hits for _, _, hits in found] == [0, 1]
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


def test_a_compiled_update_is_the_same_when_its_loop_was_kept(folder, monkeypatch):
    from llc_core.engine.stepping import compiled_kernel

    sampler, found = SGLD(step_size=0.1), []
    ones = torch.ones(2, 30)
    hp = hyperparameters(sampler, 2, ones)
    for _ in range(2):
        monkeypatch.setattr(compiled_kernel, "_COMPILED", {})
        state = {"delta": ones.clone()}
        CompiledUpdate(sampler, seed=5).step(state, Energy(ones[:, 0], ones, ones, ones[:, :1], ones[:, :1]), hp, 1)
        (loop,) = compiled_kernel._COMPILED.values()
        found.append((state["delta"], sum(loop.stats.cache_hits.values())))
    assert [hits for _, hits in found] == [0, 1]
    assert torch.equal(found[0][0], found[1][0]) and not torch.equal(found[0][0], ones)
