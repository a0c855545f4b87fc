"""Random numbers by place: the published words, normal and independent numbers, and the same ones in every form."""

import math

import numpy as np
import pytest
import torch
from rounding import unit_roundoff, worst
from scipy import stats

from llc_core.compute import philox as generator
from llc_core.compute.philox import fill, normals, philox
from llc_core.compute.philox_layout import GROUP, LANE

U = unit_roundoff(torch.float32)
SINGLE = {"rtol": worst(8, torch.float32), "atol": 2 * math.sqrt(U) + 7 * 2 * math.pi * U}
"""Of a normal number √(−2 ln v)·cos(2πw) in float32: where v is nearly 1 its rounding by up to 2u shows in the radius as
√(4u), and w's in the angle, times a radius below 7."""


def words(*values):
    return tuple(torch.tensor(v, dtype=torch.int64) for v in values)


@pytest.mark.parametrize(
    "counter, key, expected",
    [
        ((0,) * 4, (0,) * 2, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
@pytest.mark.parametrize("few", [0, generator.FEW], ids=["torch", "numpy"])
def test_words_are_those_of_the_published_generator(counter, key, expected, few, monkeypatch):
    """The known answers that come with Random123 (Salmon et al. 2011)."""
    monkeypatch.setattr(generator, "FEW", few)
    assert tuple(int(w) for w in philox(words(*counter), key)) == expected


def test_normals_are_normal_and_independent_over_places_steps_and_seeds():
    step = torch.tensor(5)
    drawn = normals(123, step, (2, 4, 50_000), torch.float64)
    assert stats.kstest(drawn.flatten().numpy(), "norm").pvalue > 1e-3
    assert float(drawn.abs().max()) < 6.8
    single = normals(123, step, (2, 4, 50_000), torch.float32)
    assert float((drawn - single).abs().max()) < SINGLE["atol"] + SINGLE["rtol"] * 6.8
    rows = [*drawn.flatten(0, 1), normals(123, step + 1, (1, 1, 50_000), torch.float64)[0, 0]]
    rows.append(normals(124, step, (1, 1, 50_000), torch.float64)[0, 0])
    rows.append(normals(123 + (1 << 32), step, (1, 1, 50_000), torch.float64)[0, 0])
    rows.append(normals(123, step + (1 << 32), (1, 1, 50_000), torch.float64)[0, 0])
    rows.append(drawn[0, 0].roll(1))
    correlation = np.corrcoef(torch.stack(rows).numpy()) - np.eye(len(rows))
    assert np.abs(correlation).max() < 5 / math.sqrt(50_000)


@pytest.mark.parametrize("count", [1, GROUP - 1, GROUP, 2 * GROUP + 5])
@pytest.mark.parametrize("seed, step, chain, field", [(0, 0, 0, 0), (2**63 - 5, 2**35 + 7, 3, 1)])
def test_the_compiled_loop_makes_the_same_numbers(count, seed, step, chain, field):
    made = fill(torch.empty(count), seed, step, chain, field, start=3 * GROUP)
    exact = normals(seed, torch.tensor(step), (1, 1, count), torch.float64, (field, chain, 3 * GROUP))[0, 0]
    np.testing.assert_allclose(made, exact, **SINGLE)
    whole = fill(torch.empty(3 * GROUP + count), seed, step, chain, field)
    np.testing.assert_array_equal(whole[3 * GROUP :], made)
    np.testing.assert_array_equal(
        fill(torch.empty(count, dtype=torch.float64), seed, step, chain, field, 3 * GROUP), exact
    )


def test_the_compiled_loop_is_normal():
    drawn = torch.stack([fill(torch.empty(100_000), 7, step, 0) for step in range(5)]).double().flatten().numpy()
    assert stats.kstest(drawn, "norm").pvalue > 1e-3
    for power, moment, spread in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96), (6, 15, 10170)):
        assert abs((drawn**power).mean() - moment) < 4 * math.sqrt(spread / drawn.size), power
    assert drawn.min() < -4 and drawn.max() > 4
    halves = drawn[: drawn.size // 2 * 2].reshape(2, -1)
    assert abs(np.corrcoef(halves)[0, 1]) < 4 / math.sqrt(halves.shape[1])
    quarters = drawn[: 24 * GROUP].reshape(-1, 4, GROUP // 4).transpose(1, 0, 2).reshape(4, -1)
    for power in (1, 2):  # numbers of one pair share their radius: neither they nor their squares may be correlated
        correlation = np.corrcoef(quarters**power) - np.eye(4)
        assert np.abs(correlation).max() < 4.5 / math.sqrt(quarters.shape[1])


cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here")


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=cuda)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("start", [0, 1, LANE, GROUP - 1, 5 * GROUP + 700, (1 << 33) + 17])
@pytest.mark.parametrize("shape", [(1, 3, 1), (2, 2, LANE + 1), (1, 1, GROUP), (2, 3, 2 * GROUP + 5)])
def test_words_made_once_for_four_places_give_the_same_bits(shape, start, dtype, device, monkeypatch):
    """Uncompiled, `normals` makes each counter's words once, and few of them by numpy; compiled, once for each place."""
    seed, step, first = 2**63 - 5, torch.tensor(2**35 + 7, device=device), (1, 4, start)
    once = normals(seed, step, shape, dtype, first)
    with monkeypatch.context() as as_compiled:
        as_compiled.setattr(torch.compiler, "is_compiling", lambda: True)
        each = normals(seed, step, shape, dtype, first)
    assert once.shape == shape and once.is_contiguous()
    assert torch.equal(once, each)
    assert torch.equal(once[:, :, -1:], normals(seed, step, (*shape[:2], 1), dtype, (*first[:2], start + shape[2] - 1)))
