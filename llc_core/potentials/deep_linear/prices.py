"""What a deep linear network takes in memory, from its description alone.

Every count follows what `random_networks`, `data` and `tensors` make, and bounds it from above.
"""

from __future__ import annotations

from collections.abc import Sequence

from llc_core.compute.streams import numpy_stream
from llc_core.fields import whole
from llc_core.potentials.base import Potential
from llc_core.potentials.deep_linear.cut import cut_of
from llc_core.potentials.deep_linear.data import CHUNK, LinearData
from llc_core.potentials.deep_linear.random_networks import asked_widths
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
