"""Rows that are too many for the memory: the numbers are those of rows in memory, and the memory stays small."""

from __future__ import annotations

import errno
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import torch
from cases import few
from sentences import tells
from small_networks import gradient_by_difference, moved
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, IterableDataset

from llc_core import CrossEntropy, NetworkPotential, estimate, llc_over_training
from llc_core.compute.memory import free_memory
from llc_core.compute.streams import torch_stream
from llc_core.potentials.module.data.kept import Fetched, Held, Spooled, taken_in

ROWS, WORDS = 150, 7
SAME = 1e-6
torch.manual_seed(0)
X, Y = torch.randn(ROWS, 4), torch.randint(0, 3, (ROWS,))
SENTENCES = [torch.randint(0, WORDS, (2 + (3 * i) % 8,)) for i in range(ROWS)]
"""The longest are behind the first rows that are read together, too."""
SENTENCES[ROWS - 1] = torch.randint(0, WORDS, (12,))


class ByPlace(Dataset):
    def __init__(self, rows) -> None:
        self.rows, self.asked = rows, 0

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int):
        self.asked += 1
        return self.rows[index]


class Stream(IterableDataset):
    def __init__(self, rows) -> None:
        self.rows = rows

    def __iter__(self):
        return iter(self.rows)


class Reader(nn.Module):
    """Logits of the next token from the tokens so far."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.embed, self.out = nn.Embedding(WORDS, 5), nn.Linear(5, WORDS)

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        return self.out(self.embed(input_ids).cumsum(1).tanh())


def classifier() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))


def padded(items: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    fill = {"input_ids": 3, "attention_mask": 0, "labels": -100}
    return {
        name: nn.utils.rnn.pad_sequence([item[name] for item in items], batch_first=True, padding_value=fill[name])
        for name in items[0]
    }


PAIRS = [(X[i], int(Y[i])) for i in range(ROWS)]
NAMED = [{"input_ids": row, "attention_mask": torch.ones_like(row), "labels": row.clone()} for row in SENTENCES]
SOFT = torch.softmax(torch.randn(ROWS, 3), 1)
FORMS = {
    "tensors": (lambda: (X, Y), classifier, "cross_entropy", Held),
    "tensors of token": (lambda: torch.stack([row[:2] for row in SENTENCES]), Reader, "next_token", Held),
    "a data set": (lambda: ByPlace(PAIRS), classifier, "cross_entropy", Fetched),
    "soft labels": (lambda: ByPlace(list(zip(X, SOFT, strict=True))), classifier, "cross_entropy", Fetched),
    "label weights": (lambda: ByPlace(PAIRS), classifier, CrossEntropy(weight=[1.0, 2.0, 0.5]), Fetched),
    "a loader": (lambda: DataLoader(ByPlace(PAIRS), batch_size=7), classifier, "cross_entropy", Fetched),
    "a stream": (lambda: Stream(PAIRS), classifier, "cross_entropy", Spooled),
    "a loader of a stream": (lambda: DataLoader(Stream(PAIRS), batch_size=7), classifier, "cross_entropy", Spooled),
    "a loader that drops": (
        lambda: DataLoader(ByPlace(PAIRS), batch_size=7, drop_last=True), classifier, "cross_entropy", Spooled
    ),
    "batches": (lambda: ((X[i : i + 7], Y[i : i + 7]) for i in range(0, ROWS, 7)), classifier, "cross_entropy", Spooled),
    "tokens of any length": (lambda: ByPlace(SENTENCES), Reader, "next_token", Fetched),
    "a stream of any length": (lambda: Stream(SENTENCES), Reader, "next_token", Spooled),
    "dictionaries": (lambda: ByPlace(NAMED), Reader, "next_token", Fetched),
    "a loader that pads": (
        lambda: DataLoader(ByPlace(NAMED), batch_size=7, collate_fn=padded), Reader, "next_token", Fetched
    ),
    "a stream of dictionaries": (lambda: Stream(NAMED), Reader, "next_token", Spooled),
    "a stream of half precision": (
        lambda: Stream([(x.bfloat16(), y) for x, y in PAIRS]), classifier, "cross_entropy", Spooled
    ),
}  # fmt: skip


def both(form: str, **more) -> tuple[NetworkPotential, NetworkPotential]:
    """In memory, and not."""
    data, module, loss, _ = FORMS[form]
    more = {"batch_size": 6, **more}
    return tuple(NetworkPotential(module(), loss, data(), memory=memory, **more) for memory in (10**9, 0))  # type: ignore[return-value]


@pytest.mark.filterwarnings("ignore:The loss at w0 is")
@pytest.mark.parametrize("form", FORMS)
def test_the_numbers_are_those_of_rows_in_memory(form):
    data, _, _, kind = FORMS[form]
    assert isinstance(taken_in(data(), memory=0), kind)
    assert type(taken_in(data(), memory=10**9)).__name__ == "Given"
    inside, outside = both(form, sample_weights=torch.linspace(0.5, 1.5, 147 if "drops" in form else ROWS))
    assert not hasattr(outside.data, "fields") and outside.n == inside.n and outside.samples == inside.samples
    if form != "a loader that pads":  # whose collator fills what does not count with numbers of its own
        assert outside.to_dict() == inside.to_dict()
    assert outside.baseline_loss == pytest.approx(inside.baseline_loss, rel=SAME)
    delta = moved(inside, 4)
    for gradient in ("full", "minibatch", "control_variate"):
        batch = None if gradient == "full" else inside.draw(torch_stream(1, "batch"), 2, 6, gradient, delta.dtype)
        (one, slope), (other, same) = (each.excess_loss_and_grad(delta, batch) for each in (inside, outside))
        assert float(one.abs().min()) > 0
        assert torch.allclose(one, other, rtol=SAME, atol=1e-12) and torch.allclose(slope, same, rtol=SAME, atol=1e-12)


@pytest.mark.filterwarnings("ignore:The loss at w0 is")
@pytest.mark.parametrize("form", ["a data set", "a stream", "a loader that pads", "a stream of any length"])
@pytest.mark.parametrize("gradient", few(["minibatch", "full"], 1))
def test_an_estimate_is_the_same(form, gradient):
    runs = [
        estimate(each, "SGLD", gradient=gradient, chains=2, steps=20, step_size=1e-3, seed=3) for each in both(form)
    ]
    assert abs(runs[0].llc) > 1e-3
    assert runs[1].llc == pytest.approx(runs[0].llc, rel=SAME)
    assert runs[1].trace == pytest.approx(runs[0].trace, rel=SAME, abs=1e-9)


@pytest.mark.parametrize("form", few(["tensors", "a data set", "a stream"], 1))
@pytest.mark.parametrize("gradient", ["full", "minibatch"])
def test_micro_batches_add_up_to_one_batch(form, gradient):
    """And their gradient is that of the loss."""
    results = []
    for chunk in (ROWS, 4):
        problem = both(form, chunk=chunk, batch_size=30)[1]
        delta = moved(problem, 2)
        batch = None if gradient == "full" else problem.draw(torch_stream(1, "batch"), 2, 30, gradient, delta.dtype)
        results.append(problem.excess_loss_and_grad(delta, batch))
        assert torch.allclose(results[-1][1], gradient_by_difference(problem, delta, batch), atol=1e-8)
    for one, other in zip(*results, strict=True):
        assert torch.allclose(one, other, rtol=SAME, atol=1e-12)


def test_a_data_set_is_asked_for_the_rows_of_a_micro_batch_alone():
    data = ByPlace(PAIRS)
    problem = NetworkPotential(classifier(), "cross_entropy", data, batch_size=6, chunk=3, memory=0)
    problem.baseline_loss  # noqa: B018 - all rows, once
    assert 2 * ROWS <= data.asked < 4 * ROWS  # once more before, and some of them to see what the data are
    most, seen = [], problem.data._kept.rows
    problem.data._kept.rows = lambda places: most.append(len(places)) or seen(places)
    data.asked = 0
    problem.excess_loss_and_grad(
        moved(problem, 2).float(), problem.draw(torch_stream(1, "batch"), 2, 6, "minibatch", torch.float32)
    )
    assert most == [6, 6] and data.asked == 12  # two chains


class Augmented(ByPlace):
    def __getitem__(self, index: int):
        x, y = super().__getitem__(index)
        return x + torch.randn(4), y


def test_a_data_set_with_rows_at_random_is_written_down_as_it_is_read_once():
    data = Augmented(PAIRS)
    problem = NetworkPotential(classifier(), "cross_entropy", data, memory=0)
    assert isinstance(problem.data._kept, Spooled)
    zero = torch.zeros(1, problem.dim)
    assert float(problem.excess_loss_and_grad(zero)[0]) == 0
    assert data.asked < 2 * ROWS


def test_files_have_no_name_and_reader_s_arrays_are_not_copied(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    problem = NetworkPotential(classifier(), "cross_entropy", Stream(PAIRS), memory=0)
    assert problem.baseline_loss > 0 and list(tmp_path.iterdir()) == []
    mapped = np.memmap(tmp_path / "x.npy", dtype=np.float32, mode="w+", shape=(ROWS, 4))
    mapped[:] = X.numpy()
    kept = taken_in((mapped, Y.numpy()), memory=0)
    assert kept.given.columns[0].data_ptr() == mapped.ctypes.data
    assert NetworkPotential(classifier(), "cross_entropy", kept).baseline_loss == problem.baseline_loss


def test_checkpoints_share_what_is_read():
    model, data = classifier(), Stream(PAIRS)
    states = {0: model.state_dict(), 1: {k: v + 0.1 for k, v in model.state_dict().items()}}
    more = {"chains": 2, "steps": 10, "step_size": 1e-3, "sampler": "SGLD", "gradient": "full"}
    inside, outside = (llc_over_training(model, states, data, memory=memory, **more) for memory in (10**9, 0))
    for step in states:
        assert outside[step].llc == pytest.approx(inside[step].llc, rel=SAME)


# -- memory --------------------------------------------------------------------------------------------------------

MEASURE = """
    import sys
    import torch
    from torch import nn
    from torch.utils.data import Dataset, IterableDataset
    from lab.benchmarks.speed.memory import forget_peak, resident
    from llc_core import NetworkPotential, estimate

    torch.set_num_threads(1)
    ROWS, WIDTH = 6000, 20_000

    def row(index):
        return torch.full((WIDTH,), (index % 97) / 97.0), index % 2

    class ByPlace(Dataset):
        def __len__(self):
            return ROWS
        def __getitem__(self, index):
            return row(index)

    class Stream(IterableDataset):
        def __iter__(self):
            return map(row, range(ROWS))

    def once(data, memory):
        problem = NetworkPotential(nn.Linear(WIDTH, 2), "cross_entropy", data, memory=memory, batch_size=8, chunk=8)
        estimate(problem, "SGLD", gradient="minibatch", chains=2, steps=5, step_size=1e-9, n_beta=10.0)

    small = ByPlace()
    ByPlace.__len__ = lambda self: 64
    once(small, None)
    ByPlace.__len__ = lambda self: ROWS
    before = resident("VmRSS")
    forget_peak()
    once({"place": ByPlace, "stream": Stream}[sys.argv[1]](), None if sys.argv[2] == "all" else 0)
    print(resident("VmHWM") - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is read in /proc")
@pytest.mark.parametrize(
    ("kind", "memory", "fits"),
    few([("stream", "few", True), ("stream", "all", False), ("place", "few", True)], 2, unpack=True),
)
def test_peak_of_a_data_set_that_would_not_fit(kind, memory, fits):
    """480 MB of rows. Allowed: (chains + 4) tensors of the parameters, and 12 times the 64 rows that are put together at once: as they
    come, stacked, as bytes, and as they are looked at; twice that for what the allocator keeps."""
    if not fits and free_memory() < 5 * 2**30:
        pytest.skip("The comparison needs memory.")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MEASURE), kind, memory], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    parameters = 4 * (2 * 20_000 + 2)
    allowed = (2 + 4) * parameters + 12 * 64 * 80_000
    assert (int(done.stdout.split()[-1]) <= allowed) == fits, (
        f"{int(done.stdout.split()[-1]):,} bytes, allowed {allowed:,}"
    )


# -- what does not fit ---------------------------------------------------------------------------------------------


def use(data, **more) -> NetworkPotential:
    return NetworkPotential(classifier(), "cross_entropy", data, **{"memory": 0, **more})


def spoilt(index: int, value) -> list:
    return [*PAIRS[:index], value, *PAIRS[index + 1 :]]


NAN = (torch.tensor([1.0, 2.0, torch.nan, 3.0]), 1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: use((X, Y), memory=-1), ["memory", "-1"]),
        (lambda: use((X, Y), memory="1 GB"), ["memory", "1 GB"]),
        (lambda: use(Stream([])), ["data is empty"]),
        (lambda: use(ByPlace(spoilt(90, NAN))), ["nan or infinity", "row 90"]),
        (lambda: use(Stream(spoilt(90, NAN))), ["nan or infinity", "row 90"]),
        (lambda: use(ByPlace(spoilt(90, (X[0], 5)))), ["0 to 5", "3 outputs"]),
        (lambda: use(Stream(spoilt(90, (X[0, :3], 1)))), ["different shapes"]),
        (lambda: use(ByPlace(spoilt(90, (X[0, :3], 1)))), ["different shapes"]),
        (lambda: use(Stream(spoilt(90, (X[0].double().numpy(), 1)))), ["float32", "float64", "same precision"]),
        (lambda: use((X, Y[:-1])), ["149 rows", "150"]),
        (lambda: use((X, Y), sample_weights=[1.0]), ["sample_weights", "150 rows"]),
    ],
)
def test_one_sentence(call, words):
    with pytest.raises(ValueError) as caught:
        call()
    tells(caught.value)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_folder_without_room_is_named(tmp_path, monkeypatch):
    class Full:
        def write(self, _):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with monkeypatch.context() as patch:
        patch.setattr("tempfile.TemporaryFile", lambda **_: Full())
        with pytest.raises(ValueError, match="TMPDIR") as caught:
            use(Stream(PAIRS))
    tells(caught.value)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match="TMPDIR") as caught:
        use(Stream(PAIRS))
    tells(caught.value)


def test_free_memory_is_believable():
    assert 2**24 < free_memory() < 2**50
