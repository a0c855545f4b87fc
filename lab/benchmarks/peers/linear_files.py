"""A deep linear network and rows of its data as one file: what every side of a race reads. Needs numpy alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

ROWS = 100_000


def save(problem: Any, path: Path, rows: int = ROWS) -> Path:
    """w0, inputs, targets, |target − f(w0)|² of each row, nβ and γ, as the engine has them."""
    import torch

    pool = problem.data.pool(torch.device("cpu"), torch.float32)[:rows].numpy()
    inputs = problem.widths[0]
    product = np.linalg.multi_dot(problem.weights[::-1]) if len(problem.weights) > 1 else problem.weights[0]
    x = np.ascontiguousarray(pool[:, :inputs])
    y = (x.astype(np.float64) @ product.T + pool[:, inputs:-1]).astype(np.float32)
    arrays = {f"w{i}": w.astype(np.float32) for i, w in enumerate(problem.weights)}
    np.savez(
        path, x=x, y=y, square=np.ascontiguousarray(pool[:, -1]), n_beta=problem.n_beta, gamma=problem.localization,
        baseline=problem.baseline_loss, **arrays,
    )  # fmt: skip
    return path


def load(path: str) -> dict[str, Any]:
    """The same, with the layers as the list `weights`."""
    with np.load(path) as data:
        found: dict[str, Any] = {name: data[name] for name in data.files}
    found["weights"] = [found.pop(f"w{i}") for i in range(sum(k[0] == "w" and k[1:].isdigit() for k in found))]
    for name in ("n_beta", "gamma", "baseline"):
        found[name] = float(found[name])
    return found
