"""The data of a Bayesian network: the curve of the paper, or points that are given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.fields import number, short, whole

MOST_SAMPLES, MOST_INPUTS, MOST_NUMBERS = 12_000, 256, 200_000
WAVE_NOISE = 0.1
"""Standard deviation of the noise in the data of the curve."""


def wave(x: np.ndarray) -> np.ndarray:
    """The regression function x·sin(1.5x) + x³/8."""
    return x * np.sin(1.5 * x) + 0.125 * x**3


@dataclass(frozen=True)
class Data:
    """x: inputs [n, d].  y: [n].  said: the JSON that describes them."""

    x: np.ndarray
    y: np.ndarray
    said: Mapping[str, Any]

    @classmethod
    def of(cls, described: Any) -> Data:
        """From {"name": "wave", "n": …, "seed": …}, or from {"x": […], "y": […]} with rows or numbers in x. ValueError says what
        is wrong."""
        if isinstance(described, Data):
            return described
        if not isinstance(described, Mapping):
            raise ValueError(f"data is {short(described)}; give {{'name': 'wave', 'n': 7}} or {{'x': […], 'y': […]}}.")
        if "x" in described or "y" in described:
            return _given(described)
        return _wave(described)


def _wave(described: Mapping[str, Any]) -> Data:
    """floor(2n/3) points on [−2.5, −0.5], the rest on [1, 2]."""
    unknown = sorted(set(map(str, described)) - {"name", "n", "seed"})
    if unknown or described.get("name", "wave") != "wave":
        raise ValueError(f"data is {short(dict(described))}; it has name (wave), n and seed, or x and y.")
    n = whole("data.n", described.get("n", 7), 2, MOST_SAMPLES)
    seed = whole("data.seed", described.get("seed", 0), 0, 2**63 - 1)
    left = 2 * n // 3
    x = np.concatenate([np.linspace(-2.5, -0.5, left), np.linspace(1.0, 2.0, n - left)])
    y = wave(x) + WAVE_NOISE * np.random.default_rng(seed).standard_normal(n)
    return Data(x[:, None], y, {"name": "wave", "n": n, "seed": seed})


def _given(described: Mapping[str, Any]) -> Data:
    if set(described) != {"x", "y"}:
        raise ValueError(f"data has the keys {short(sorted(map(str, described)))}; give x and y alone.")
    columns = {}
    for name in ("x", "y"):
        values = described[name]
        values = values.tolist() if hasattr(values, "tolist") else values
        if not isinstance(values, list | tuple) or not 1 <= len(values) <= MOST_SAMPLES:
            raise ValueError(f"data.{name} is {short(values)}; give a list of 1 to {MOST_SAMPLES:,} entries.")
        columns[name] = values
    if len(columns["x"]) != len(columns["y"]):
        raise ValueError(f"data.x has {len(columns['x'])} entries and data.y {len(columns['y'])}; give as many.")
    rows = [row if isinstance(row, list | tuple) else [row] for row in columns["x"]]
    width = len(rows[0])
    if not 1 <= width <= MOST_INPUTS or any(len(row) != width for row in rows) or width * len(rows) > MOST_NUMBERS:
        raise ValueError(
            f"data.x has rows of {width} numbers or of several lengths; give rows of one length, at most {MOST_INPUTS}, and "
            f"{MOST_NUMBERS:,} numbers in all."
        )
    x = np.array([[_bounded(f"data.x[{i}]", v) for v in row] for i, row in enumerate(rows)])
    y = np.array([_bounded(f"data.y[{i}]", v) for i, v in enumerate(columns["y"])])
    return Data(x, y, {"x": [row[0] if width == 1 else row for row in x.tolist()], "y": y.tolist()})


def _bounded(name: str, value: Any) -> float:
    result = number(name, value)
    if abs(result) > 1e6:
        raise ValueError(f"{name} is {result:g}; scale the data to within ±1e6.")
    return result
