"""How far is a sketch of a loss kernel off, beside the whole one from the same draws, and what memory does each take?

python -m lab.benchmarks.accuracy.influence.sketches        two minutes of one core
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from lab.benchmarks.command import read_options
from lab.benchmarks.smoke import status
from llc_core import LossKernel, linear_losses, loss_kernel
from llc_core.studies.covariances.draws import row_draws
from llc_core.studies.covariances.sketches import sketch

ROWS, DRAWS, CHAINS = 1200, 1600, 8
RANKS = (16, 64, 256)
NEAR = 0.2
"""What is said of the error may be off by this share: it is the root of a mean of 64 squares."""


def linear(dim: int, seed: int) -> np.ndarray:
    """Losses [T, C, R] of a regression, from independent draws of its posterior."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((ROWS, dim))
    exact = linear_losses(x, x @ rng.standard_normal(dim) + 0.5 * rng.standard_normal(ROWS))
    return exact.draws(DRAWS, seed).reshape(CHAINS, -1, ROWS).swapaxes(0, 1)


def units(width: int, seed: int) -> np.ndarray:
    """Losses of a layer of tanh units with random weights."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((ROWS, 8))
    w = 0.3 * rng.standard_normal((DRAWS // CHAINS, CHAINS, 8, width))
    found: np.ndarray = (np.einsum("tcrh->tcr", np.tanh(np.einsum("rd,tcdh->tcrh", x, w))) - x[:, 0]) ** 2
    return found


def peak(make: Callable[[], Any]) -> tuple[Any, float]:
    """What is made, and the most MiB that it takes meanwhile."""
    tracemalloc.start()
    made = make()
    most = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return made, most


def main() -> None:
    options = read_options(globals(), {"ROWS": 60, "DRAWS": 160, "RANKS": (16,)}, one_thread=True)
    del options
    cases = {"linear, 10 weights": linear(10, 1), "linear, 40 weights": linear(40, 2), "tanh, 16 units": units(16, 3)}
    print(
        f"{ROWS} rows, {DRAWS} draws; off: √Σ of squares over that of the kernel; MiB at the peak, copies of the draws included"
    )
    print(
        f"{'losses':<19} {'columns':>7} {'off':>7} {'said':>7} {'entry':>6} {'by draws':>8} {'said':>6} {'MiB':>5} {'square':>6}"
    )
    fine = True
    for name, losses in cases.items():
        whole, square = peak(partial(loss_kernel, losses, memory=2**40))
        assert isinstance(whole, LossKernel)
        every = np.arange(ROWS)
        for rank in RANKS:
            found, taken = peak(partial(sketch, row_draws(losses), every, rank=rank))
            apart = np.abs(found.between(every, every) - whole.values)
            off = float(np.linalg.norm(apart) / np.linalg.norm(whole.values))
            bound = np.sqrt(np.outer(found.left_out, found.left_out)) + 1e-9 * np.abs(whole.values).max()
            worst = float((apart / bound).max())
            line = f"{name:<19} {rank:>7} {off:>7.2%} {found.cut:>7.2%} {worst:>6.2f} {whole.relative_error:>8.1%}"
            print(f"{line} {found.relative_error:>6.1%} {taken:>5.0f} {square:>6.0f}", flush=True)
            fine = fine and worst <= 1 and abs(found.cut - off) <= NEAR * off
            fine = fine and abs(found.relative_error / whole.relative_error - 1) <= NEAR
    print(
        "entry: the largest distance of one, over what bounds it. by draws: the error of the whole kernel, and what the sketch says of it"
    )
    raise SystemExit(status(not fine))


if __name__ == "__main__":
    main()
