"""What deep linear networks cost, from their descriptions alone: memory, the operations of a step, and how many fill a device together.

All of it follows from the widths. No network and no data are made for it. Every count of memory follows what `random_networks`,
`data` and `tensors` make, and bounds it from above.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llc_core.compute.streams import numpy_stream
from llc_core.fields import choice, whole
from llc_core.potentials.base import Potential, Workload
from llc_core.potentials.deep_linear.cut import cut_of, multiplications
from llc_core.potentials.deep_linear.data import CHUNK, KEPT_NUMBERS, POOL_NUMBERS, LinearData
from llc_core.potentials.deep_linear.random_networks import RANKS, architecture, asked_widths, drawn_widths
from llc_core.potentials.deep_linear.tensors import STACKED_BELOW, cut_on
from llc_core.potentials.deep_linear.virtual_data import VirtualData, data_of
from llc_core.potentials.prices import Price

DOUBLE = 8
"""Bytes of a number in double precision, in which weights, moments and products are made."""
UNIT = 160
"""Bytes of a unit's number while ranks are reduced: in an array, in a list, and in a set."""
RANK_HELD, RANK_PASSING = 40, 80
"""Bytes of an entry of the table of ranks: a Python integer in a list, and ten arrays of the search for λ."""
ROW_PASSING = 20
"""Bytes of a number in a chunk of rows: in single and in double precision, beside those of the chunk before it."""


def linear_price(
    *,
    size_class: str | None = None,
    ranks: str | None = None,
    widths: Sequence[int] | None = None,
    layer_ranks: Sequence[int] | None = None,
    n: int = 10**6,
    noise_std: float = 0.5,
    seed: int = 0,
    virtual: bool = False,
    gradient: str = "full",
    batch_size: int | None = None,
    dtype: str = "float32",
) -> Price:
    """The network of `DeepLinearNetwork.random`, with the same refusals, and what one chain on a CPU evaluates it with.

    gradient, batch_size, dtype: as in RunConfig. Rows are kept only for gradients of minibatches.
    """
    random = numpy_stream(whole("seed", seed, 0, 2**63 - 1), "network")
    sizes = asked_widths(size_class, ranks, widths, layer_ranks, random)
    data = data_of(sizes[0], sizes[-1], n, noise_std, seed, virtual)
    batch, size = batch_size or Potential.batch_size, DOUBLE if dtype == "float64" else 4
    parameters = sum(a * b for a, b in zip(sizes, sizes[1:], strict=False))
    point, drawing = _point(sizes, parameters)
    moments, solving = _moments(data)
    products, step = _products(sizes, parameters, size)
    pool, kept, drawn = _rows(data, batch, size) if gradient != "full" else (0, 0, 0)
    base = point + moments + products
    held = base + pool + kept
    # Rows may be there before the moments of all data are, while those of batches are made as chains ask for them.
    peak = max(point + drawing, base + pool + solving, held + drawn + step)
    return Price(parameters, held, peak)


def _point(sizes: Sequence[int], parameters: int) -> tuple[int, int]:
    """Weights, as drawn and as checked, with the table of ranks; and what drawing them takes."""
    entries = len(sizes) ** 2
    held = 2 * DOUBLE * parameters + RANK_HELD * entries
    return held, 2 * DOUBLE * parameters + UNIT * sum(sizes) + RANK_PASSING * entries


def _moments(data: LinearData) -> tuple[int, int]:
    """Sxx, Snx and the noise's shift; and what a chunk of rows and the solution of a linear system take."""
    square, cross = data.inputs**2, data.inputs * data.outputs
    chunk = ROW_PASSING * min(CHUNK, data.rows) * (data.inputs + data.outputs + 1)
    return DOUBLE * (square + 2 * cross), DOUBLE * (3 * square + 8 * cross) + chunk


def _products(sizes: Sequence[int], parameters: int, size: int) -> tuple[int, int]:
    """Weights, products and moments in the precision of the run, and in double precision for the rounding of a step.

    Also what making them takes, or one chain's step.
    """
    inputs, outputs, cut = sizes[0], sizes[-1], cut_of(sizes)
    rank = sizes[cut] if cut else 0
    tables = sum(sizes) * (inputs + rank) + inputs * (inputs + outputs)
    step = parameters + 4 * sum(sizes) * max(inputs, rank) + 4 * inputs * outputs
    precisions = DOUBLE if size == DOUBLE else size + DOUBLE
    return precisions * (2 * parameters + tables), DOUBLE * max(parameters + tables, step)


def _rows(data: LinearData, batch: int, size: int) -> tuple[int, int, int]:
    """The pool of rows, the kept moments of batches, and what one chain draws in a step. Virtual rows are not kept."""
    row = data.inputs + data.outputs + 1
    pool = 0 if isinstance(data, VirtualData) else data.rows * row
    kept = data.kept_count(batch) * (data.inputs * row + 1)
    return size * pool, size * kept, DOUBLE * 2 * row * (min(batch, data.rows) + data.inputs)


SAMPLES, BATCH_SIZE = 10**6, Potential.batch_size
"""Of every network whose description names no others: `DeepLinearNetwork`'s own."""
CPU_CHAINS, GPU_CHAINS = 160, 4096
"""Chains at which a device is about full, for small networks: a CPU's step of [10, 8, 10] is 3 to 5 times faster a chain."""
GPU_PARAMETERS = 250_000_000
"""Parameters of all chains together that are still stepped as one batch."""
ROW_NUMBERS, GPU_ROW_NUMBERS = POOL_NUMBERS, 1_000_000_000
"""Numbers in the rows of all networks of a batch, and on a GPU in what one step draws: 256 MB, on a GPU 4 GB, in float32."""


class RandomLinearNetworks:
    """Random networks of one size class, or of one architecture, with one kind of ranks; a `ProblemClass`.

    name: a size class such as "1K", or widths such as "10-8-10".  ranks: one of RANKS.  virtual: as in DeepLinearNetwork.
    Raises ValueError for a name or ranks that are not known, and for virtual data that would have too many numbers.
    """

    def __init__(self, name: str, ranks: str, virtual: bool = False):
        self.widths = architecture(name)
        self.name = name if self.widths is None else "-".join(map(str, self.widths))
        self.of_one_shape = self.widths is not None
        self.ranks, self.virtual = choice("ranks", ranks, RANKS), virtual
        if self.widths is not None:
            self._data(self.widths)  # says so where there cannot be such virtual data

    def description(self, seeds: Sequence[int]) -> dict[str, Any]:
        size = {"size_class": self.name} if self.widths is None else {"widths": self.widths}
        virtual = {"virtual": True} if self.virtual else {}
        found = [{"kind": "dln", **size, "ranks": self.ranks, "seed": seed, **virtual} for seed in seeds]
        return found[0] if len(found) == 1 else {"kind": "dln_family", "networks": found}

    def layers(self, seed: int) -> tuple[tuple[int, int], ...]:
        widths = self._widths(seed)
        return tuple((rows, columns) for columns, rows in zip(widths, widths[1:], strict=False))

    def step_operations(self, seed: int, work: Workload) -> float:
        """Those of the matrix products, for one chain.

        A chain does the multiplications of `cut.multiplications`: four products a layer (two forward, since differences
        from w0 are propagated, and two backward), and one with the inputs' moments. Where a batch has fewer rows than
        there are inputs, all products have as many columns as the batch has rows. The first layer and the products with
        w0 then come on top.
        """
        widths = self._widths(seed)
        if not _takes_rows(widths, work):
            return 2.0 * multiplications(widths, cut_on(widths, "cuda" if work.on_gpu else "cpu"))
        layers = sum(a * b for a, b in zip(widths[1:], widths[2:], strict=False))
        first, last = widths[0] * widths[1], widths[-1] * widths[-2]
        return (8.0 * layers + 4.0 * first + 2.0 * (layers + first - last)) * (work.batch_size or BATCH_SIZE)

    def batch_operations(self, seeds: Sequence[int], work: Workload) -> float:
        """Those of the moments of all batches of a run.

        Every batch's moments are made once for all step sizes, and if they are kept, once for all steps.
        """
        widths = self._widths(seeds[0])
        if work.gradient == "full" or _takes_rows(widths, work):
            return 0.0
        batch, inputs = work.batch_size or BATCH_SIZE, widths[0]
        kept = self._data(widths).kept_count(batch, work.on_gpu)
        columns = inputs if work.gradient == "control_variate" and not kept else inputs + widths[-1]
        drawn = work.steps * work.chains * len(seeds)
        made = kept * len(seeds) or drawn
        return 2.0 * batch * inputs * columns * (made if work.on_gpu else min(drawn, made))

    def most_side_by_side(self, work: Workload) -> int:
        """Networks of named classes have different shapes, and a wide one fills a core of a CPU by itself."""
        if self.widths is None or (not work.on_gpu and max(self.widths) >= STACKED_BELOW):
            return 1
        chains = work.chains * work.settings
        most = (GPU_CHAINS if work.on_gpu else CPU_CHAINS) // chains
        if work.on_gpu:
            dim = sum(a * b for a, b in zip(self.widths, self.widths[1:], strict=False))
            most = min(most, GPU_PARAMETERS // (chains * dim))
        if work.gradient != "full":
            most = min(most, self._fit_in_memory(self.widths, work))
        return max(1, most)

    def _fit_in_memory(self, widths: Sequence[int], work: Workload) -> int:
        """Networks whose rows, kept moments and draws of one step fit into the memory that is meant for each of these."""
        data, size = self._data(widths), 2 if work.dtype == "float64" else 1
        row, batch = widths[0] + widths[-1], work.batch_size or BATCH_SIZE
        kept = data.kept_count(batch, work.on_gpu) * row * widths[0]
        # A GPU drops the rows once it has the moments of all batches. Virtual rows are never kept.
        rows = 0 if self.virtual or (work.on_gpu and kept) else data.rows * row
        drawn = work.chains * row * (widths[0] + (0 if kept else batch)) if work.on_gpu else 0
        most = (GPU_ROW_NUMBERS if work.on_gpu else ROW_NUMBERS) // max(1, size * rows, size * drawn)
        return min(most, (GPU_ROW_NUMBERS if work.on_gpu else KEPT_NUMBERS) // max(1, size * kept))

    def _widths(self, seed: int) -> list[int]:
        return drawn_widths(self.name, seed)

    def _data(self, widths: Sequence[int]) -> LinearData:
        """Data of these widths, of which nothing is made yet."""
        return (VirtualData if self.virtual else LinearData)(widths[0], widths[-1], SAMPLES, 0.5, 0)


def _takes_rows(widths: Sequence[int], work: Workload) -> bool:
    """Whether a gradient is computed from the rows of a batch and not from its moments."""
    return work.gradient == "minibatch" and (work.batch_size or BATCH_SIZE) < widths[0]
