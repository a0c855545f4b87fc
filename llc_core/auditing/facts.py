"""What is known beside the traces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from llc_core.config import LARGEST, MAX_STEPS, SMALLEST
from llc_core.fields import Settings, hyper, short, truth


def numbers(label: str, value: Any) -> np.ndarray:
    """An array of real numbers, or a ValueError that names it."""
    try:
        array = np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
        if array.dtype.kind not in "fiub":
            raise TypeError
        return array.astype(float)
    except (TypeError, ValueError, RuntimeError, AttributeError):
        raise ValueError(f"{label} is {short(value)}; give numbers, as an array [chains, draws].") from None


def _of_chains(label: str, value: Any) -> np.ndarray:
    """A number, or [T, C] of an array [chains, draws]."""
    array = numbers(label, value)
    if array.ndim not in (0, 2) or not (np.isfinite(array).all() and (array >= 0).all()):
        raise ValueError(
            f"{label} has the shape {array.shape}; give its mean, or [chains, draws], at least 0 and finite."
        )
    return array.T.copy() if array.ndim else array


@dataclass(frozen=True)
class Facts(Settings):
    """n_beta: nβ.  n: samples that nβ should count.  batch_size: rows of a step's batch.

    burn_in: steps that were done before the first draw of the traces; 0: they begin at w0; None: not known.
    full: whether the losses are of all data; None: not known.
    localization: γ.  dim: number of parameters.  square_distance: ‖w − w0‖², its mean or [T, C].
    """

    what: ClassVar[str] = "facts of an audit"

    n_beta: float = hyper(1.0, SMALLEST, LARGEST)
    n: int | None = hyper(None, 3, 10**15)
    batch_size: int | None = hyper(None, 1, 10**15)
    burn_in: int | None = hyper(None, 0, MAX_STEPS)
    full: bool | None = hyper(None, read=truth, auto=True)
    localization: float | None = hyper(None, 0.0, LARGEST)
    dim: int | None = hyper(None, 1, 10**15)
    square_distance: Any = hyper(None, read=_of_chains, auto=True)
