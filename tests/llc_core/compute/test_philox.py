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
        ((0,) * 4, (0,) * 2, (0x5F6FB709, 0x0D893F64, 0x4F121F81, 0x4F730A48)),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x5207DDC2, 0x45165E59, 0x4D8EE751, 0x8C52F662)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0x4DFCCABA, 0x190A87F0, 0xC47362BA, 0xB6B5242A),
        ),
    ],
)
@pytest.mark.parametrize("few", [0, generator.FEW], ids=["torch", "numpy"])
def test_words_are_those_of_the_published_generator(counter, key, expected, few, monkeypatch):
    """The known answers of `philox4x32 7` that come with Random123 (Salmon et al. 2011)."""
    monkeypatch.setattr(generator, "FEW", few)
    assert tuple(int(w) for w in philox(words(*counter), key)) == expected


def bits_of(numbers):
    """The bits [128, N] that words of the counters and keys [6, N] have."""
    a, b, c, d, *key = torch.from_numpy(numbers)
    made = torch.stack(torch.broadcast_tensors(*philox((a, b, c, d), tuple(key)))).numpy()
    return np.unpackbits(made.astype("<u4")[..., None].view(np.uint8), axis=-1).swapaxes(1, 2).reshape(128, -1)


def avalanche(as_in_runs, count=4096):
    """The furthest that any bit of the words is from being turned by any bit of counter and key every second time, in standard errors."""
    random = np.random.default_rng(0)
    numbers = random.integers(0, 1 << 32, (6, count))
    if as_in_runs:  # few places, chains and steps, and one seed: nearly all bits are 0
        few = [random.integers(0, most, count) for most in (LANE, 8, 10_000, 1)]
        numbers = np.stack([few[0], few[1] << 8, *few[2:], *np.repeat(numbers[4:, :1], count, 1)])
    before, worst = bits_of(numbers), 0.0
    for bit in range(6 * 32):
        turned = numbers.copy()
        turned[bit // 32] ^= 1 << bit % 32
        share = (before ^ bits_of(turned)).mean(1)
        worst = max(worst, float(np.abs(share - 0.5).max()) * 2 * math.sqrt(count))
    return worst


BITS = 6 * 32 * 128
UNLIKELY = stats.norm.isf(1e-3 / 2 / BITS)
"""Of so many normal numbers one is further out in a test of a thousand."""


@pytest.mark.parametrize("as_in_runs", [False, True])
def test_every_bit_turns_every_bit_as_often_as_not(as_in_runs):
    assert avalanche(as_in_runs) < UNLIKELY


@pytest.mark.parametrize("rounds", [3, 4, 5, 6])
def test_fewer_rounds_are_seen(rounds, monkeypatch):
    monkeypatch.setattr(generator, "ROUNDS", rounds)
    assert avalanche(False) > 3 * UNLIKELY and avalanche(True) > 3 * UNLIKELY


def neighbours(monkeypatch):
    """The largest correlation of powers of normals that lie beside each other on any axis of a run, in standard errors, and how
    many correlations there are."""
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)  # words of three rounds lack dimensions
    seeds, shape = (7, 8, 9, 7 + (1 << 32)), (2, 3, 2 * GROUP)

    def drawn(seed, step):
        return normals(seed, torch.tensor(step), shape, torch.float64).expand(shape).numpy()

    z = np.stack([[drawn(seed, step) for step in range(4)] for seed in seeds])  # seed, step, field, chain, place
    pairs = [(z[:2], z[1:3]), (z[0], z[3]), (z[..., :-LANE], z[..., LANE:])]
    for axis in (1, 2, 3, 4):
        moved = np.moveaxis(z, axis, 0)
        pairs.append((moved[:-1], moved[1:]))
    found = []
    for one, other in pairs:
        x, y = one.ravel(), other.ravel()
        for u, v in ((x, y), (x * x, y * y), (x * x * x, y * y * y)):
            found.append(abs(np.corrcoef(u, v)[0, 1]) * math.sqrt(x.size))
    return max(found), len(found)


def test_neighbours_of_a_run_are_independent(monkeypatch):
    worst, count = neighbours(monkeypatch)
    assert worst < stats.norm.isf(1e-3 / 2 / count)


@pytest.mark.parametrize("rounds", [3, 5])
def test_neighbours_of_fewer_rounds_are_not(rounds, monkeypatch):
    monkeypatch.setattr(generator, "ROUNDS", rounds)
    assert neighbours(monkeypatch)[0] > 20


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
