"""How much of the correction term Γ a sampler keeps whose metric follows a running mean of gradients."""

from __future__ import annotations

from typing import Any

from llc_core.fields import hyper


def gamma_field() -> Any:
    return hyper(
        "dropped",
        choices=("dropped", "published", "corrected"),
        help="The correction Γ: dropped, as in most programs; published, a share 1 − α of it; corrected, the whole of it.",
    )


def kept(gamma_term: str, alpha: Any) -> Any:
    """The share of Γ that is kept: what a running mean with memory α moves by when its newest entry moves by 1, or should move by.

    "published" holds the old mean fixed while w moves, which leaves 1 − α of Γ. "corrected" divides that by 1 − α: the whole
    derivative, once the mean has followed the chain (Rensmeyer & Niggemann 2025, section 3.3).
    """
    return {"dropped": 0.0, "published": 1 - alpha, "corrected": 1.0}[gamma_term]
