"""One click from an interesting landscape. Each preset teaches one thing; the sentences state what was measured here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.pages.preset import Named


@dataclass(frozen=True)
class LandscapePreset(Named):
    """own: keys of the landscape beside its name.  settings: fields of RunConfig that differ from the page's defaults.

    look: fields of `Look` that do.
    """

    landscape: str
    own: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    look: Mapping[str, Any] = field(default_factory=dict)

    @property
    def problem(self) -> dict[str, Any]:
        return {"kind": "planar", "name": self.landscape, **self.own}


WATCHED = {"burn_in": 0.1, "steps": 12_000}
PAPER = {"sampler": {"name": "SGLD", "step_size": 1e-4}, "burn_in": 0.0, "steps": 5_000}
"""As in figure 1 of Lau, Murfet & Wei: runs so short that chains stay near their start."""

FIGURE = "Paper 001, figure"
"""How titles name the figures of Lau, Murfet & Wei. The loss printed beside figures 8 and 9 is not known here: theirs is w₁w₂."""
PRINTED = {"sampler": {"name": "SGLD", "step_size": 1e-4}, "burn_in": 0.5, "steps": 100_000}
"""The printed size of figures 8 and 9 in lab/papers/001."""


def _crossing(k: list[int], h: list[int] | None = None, **more: Any) -> dict[str, Any]:
    return {"k": k, "h": h or [0, 0], **more}


PRESETS = (
    LandscapePreset(
        "regular",
        "Regular",
        "One minimum, curved in both directions: λ is d/2 = 1. λ̂ reads 0.88, and so does the exact answer at n = 1,000.",
        "quadratic",
        {"scales": [1.0, 1.0]},
        WATCHED,
    ),
    LandscapePreset(
        "line",
        "One line",
        "Along the dashed line nothing is lost: only the direction across it counts, λ = 1/2. λ̂ reads 0.47, exact 0.48.",
        "normal_crossing",
        _crossing([1, 0], n=100),  # a valley wide enough to see the chains move in it
        WATCHED,
    ),
    LandscapePreset(
        "crossing",
        "Crossing",
        "Two lines of perfect solutions cross. λ is 1/2 as for one line, but reached twice: m = 2. At n = "
        "1,000 that brings λ̂ to 0.36.",
        "normal_crossing",
        _crossing([1, 1]),
        WATCHED,
    ),
    LandscapePreset(
        "square",
        "k = (1, 2)",
        "The flatter of two crossing valleys wins: λ is the smaller of 1/2 and 1/4. λ̂ and the exact answer both read 0.21.",
        "normal_crossing",
        _crossing([1, 2]),
        WATCHED,
    ),
    LandscapePreset(
        "cube",
        "k = (1, 3)",
        "Flatter still, and smaller still: λ = 1/6, a third of one regular parameter’s 1/2. λ̂ reads 0.14.",
        "normal_crossing",
        _crossing([1, 3]),
        {**WATCHED, "steps": 20_000},
    ),
    LandscapePreset(
        "beside",
        "Beside it",
        "The same function at w0 = (0, 1.5), beside the crossing. γ = 30 keeps the chains there: λ is a plain "
        "valley’s 1/2. λ̂ reads 0.46, exact 0.47.",
        "normal_crossing",
        _crossing([1, 3], at=[0.0, 1.5]),
        {**WATCHED, "localization": 30.0},
    ),
    LandscapePreset(
        "prior",
        "With a prior",
        "A prior |w₁w₂|³ that vanishes on the valley takes λ from 1/6 to 2/3. Chains cannot cross its zeros: exact on their side 0.54.",
        "normal_crossing",
        _crossing([3, 1], [3, 3], start=[0.5, 0.5]),
        {**WATCHED, "steps": 20_000},
    ),
    LandscapePreset(
        "U",
        "Point U",
        "From U, on the smooth line, short chains read λ̂ = 0.61, exact 0.40. They have spent too little time "
        "at V, where much of the posterior lies.",
        "line_and_point",
        {"at": "U"},
        PAPER,
    ),
    LandscapePreset(
        "V",
        "Point V",
        "The same function and data from V, the singular point: λ̂ = 0.25, less than half of what U gave. λ is local.",
        "line_and_point",
        {"at": "V"},
        PAPER,
    ),
    LandscapePreset(
        "away",
        "Start away",
        "Chains begin at (2, 2), far from any perfect solution. They fall into the valleys during burn-in: λ̂ "
        "is 0.35 all the same.",
        "normal_crossing",
        _crossing([1, 1], start=[2.0, 2.0]),
        WATCHED,
    ),
    LandscapePreset(
        "many",
        "More data",
        "The crossing with 100,000 samples: the exact answer has risen from 0.36 to 0.40 only. At m = 2 the way to λ = 1/2 is long.",
        "normal_crossing",
        _crossing([1, 1], n=100_000),
        {**WATCHED, "steps": 20_000},
    ),
    LandscapePreset(
        "own",
        "Your own",
        "You write the formula under Settings. Here it is a circle and a line: λ at w0 is 1/2, exact at n = "
        "1,000 is 0.40.",
        "formula",
        {"rho": "(w1^2 + w2^2 - 1)*(w1 - w2)", "at": [1.0, 0.0]},
        WATCHED,
    ),
    LandscapePreset(
        "paper-001-figure-3-n-5",
        f"{FIGURE} 3: n = 5",
        "exp(−nK) at n = 5: the line and the point (0, 0) have about as much of it. K here is twice the paper’s, "
        "so nβ is n/2.",
        "line_and_point",
        {"at": "V", "n": 5},
        {**WATCHED, "n_beta": 2.5},
        {"behind": "weight"},
    ),
    LandscapePreset(
        "paper-001-figure-3-n-100",
        f"{FIGURE} 3: n = 100",
        "exp(−nK) at n = 100: the line has become thin, and the point (0, 0) keeps two thirds. K here is twice the "
        "paper’s, so nβ is n/2.",
        "line_and_point",
        {"at": "V", "n": 100},
        {**WATCHED, "n_beta": 50.0},
        {"behind": "weight"},
    ),
    LandscapePreset(
        "paper-001-figure-7",
        f"{FIGURE} 7: true λ",
        "λ̂ against the true λ: one button below runs twelve landscapes. This is the first of them, and λ is 1/6.",
        "normal_crossing",
        _crossing([1, 3]),
        {**PAPER, "steps": 10_000},
    ),
    LandscapePreset(
        "paper-001-figure-8",
        f"{FIGURE} 8: NUTS",
        "Where chains go: SGLD and NUTS (squares) follow the arms of the cross. The paper’s loss is not known; here it "
        "is w₁w₂.",
        "normal_crossing",
        _crossing([1, 1]),
        PRINTED,
        {"nuts": True},
    ),
    LandscapePreset(
        "paper-001-figure-9-gamma-1e-4",
        f"{FIGURE} 9: γ = 10⁻⁴",
        "With γ this small the chains wander out along the arms, past the frame. The paper’s loss is not known; here it is "
        "w₁w₂.",
        "normal_crossing",
        _crossing([1, 1]),
        {**PRINTED, "localization": 1e-4},
    ),
    LandscapePreset(
        "paper-001-figure-9-gamma-1",
        f"{FIGURE} 9: γ = 1",
        "The chains come back from the arms: λ̂ and the exact answer are 0.36. The paper’s loss is not known; here it is "
        "w₁w₂.",
        "normal_crossing",
        _crossing([1, 1]),
        {**PRINTED, "localization": 1.0},
    ),
    LandscapePreset(
        "paper-001-figure-9-gamma-1e4",
        f"{FIGURE} 9: γ = 10⁴",
        "With γ this large the chains never leave w0: λ̂ is nearly 0. The paper’s loss is not known; here it is w₁w₂.",
        "normal_crossing",
        _crossing([1, 1]),
        {**PRINTED, "localization": 1e4},
    ),
)
FIRST = "line"
"""What the page opens with."""
