"""λ̂ of parts of the weights on several data sets, as heat maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from llc_core.plots.kinds import heat
from llc_core.plots.style import below_each_other


def refined(found: Any) -> Any:
    """λ̂ of a `Refined`, darker where it is larger: parts × data, or over training parts × steps for each data set.

    In brackets where it is neither trusted nor confirmed, and with the expected value, where it is known, behind it.
    """
    over = found.steps != [None]

    def drawn(columns: Sequence[str], keys: Sequence[Sequence[Any]], **options: Any) -> Any:
        estimates = [[found.estimates[key] for key in row] for row in keys]
        values = [[each.llc for each in row] for row in estimates]
        texts = [[_in_field(each) for each in row] for row in estimates]
        return heat(values, found.parts, columns, texts, (float(finite.min()), float(finite.max())), **options)

    every = np.array([each.llc for each in found.estimates.values()])
    finite = every[np.isfinite(every)] if np.isfinite(every).any() else np.array([0.0, 1.0])
    if not over:
        keys = [[(part, data, None) for data in found.datasets] for part in found.parts]
        known = any(np.isfinite(each.reference) for each in found.estimates.values())
        return drawn(found.datasets, keys, title="λ̂ of its expected value" if known else "λ̂")
    return below_each_other(
        *(
            drawn(
                [str(step) for step in found.steps],
                [[(part, data, step) for step in found.steps] for part in found.parts],
                title=f"λ̂ on {data}",
                xlabel="training step",
            )
            for data in found.datasets
        )
    )


def _in_field(found: Any) -> str:
    said = f"{found.llc:.3g}" if found.converged or found.confirmed else f"({found.llc:.3g})"
    return f"{said} of {found.reference:.3g}" if np.isfinite(found.reference) else said
