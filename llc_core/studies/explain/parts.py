"""What a split consists of: the causes, the part of each, and all parts together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from llc_core.diagnostics.remedies import ELSEWHERE, HELD, LAW, MIXING, NOISE, STEP

CAUSES = {
    NOISE: "Minibatch noise",
    LAW: "The sampler's own bias",
    STEP: "The step size",
    MIXING: "Mixing",
    HELD: "Localisation, higher order and this data set",
    "finite_n": "Finite n",
    ELSEWHERE: "Local against global λ",
}
"""Name of a cause → its label for people. The order is that in which causes are taken away.

One exception to the order: some samplers with a wrong distribution have no relative with the right one. Their distribution can only be told
from the exact reference, so that "distribution" then comes after "step_size"."""
ORDER = list(CAUSES)


@dataclass(frozen=True)
class Part:
    """What one cause adds to λ̂ − λ.

    name: a key of CAUSES, or several joined by "+" where they were not (yet) told apart.  label: for people.
    value, se: in units of λ̂; se is 0 for what is exact.  sentence: for people.  how: what was compared with what.
    """

    name: str
    label: str
    value: float
    se: float
    sentence: str
    how: str

    @property
    def causes(self) -> tuple[str, ...]:
        return tuple(self.name.split("+"))


@dataclass(frozen=True)
class Explanation:
    """The parts of an error, in the order of CAUSES; they add up to `total`.

    llc: λ̂.  truth: what it is held against, and truth_label what that is: the global λ, else the best value known.
    total: llc − truth.  total_se: its standard error over runs like this one. The parts' errors are correlated, since
        neighbours share a measurement: `covariance` [P, P] sums to total_se².
    reference, reference_se: λ̂ of an exact sampler at the same nβ and γ; None where it is not known (yet).
    share: of the work that is done, 1 at the end.  doing: what is being measured, for people; empty at the end.
    """

    parts: tuple[Part, ...]
    llc: float
    truth: float
    truth_label: str
    total: float
    total_se: float
    covariance: np.ndarray
    reference: float | None = None
    reference_se: float | None = None
    share: float = 1.0
    doing: str = ""

    def __getitem__(self, name: str) -> Part:
        """The part that holds this cause; KeyError where the cause does not apply."""
        for part in self.parts:
            if name in part.causes:
                return part
        raise KeyError(name)

    @property
    def dominant(self) -> Part:
        """The largest part."""
        return max(self.parts, key=lambda part: abs(part.value))

    def __repr__(self) -> str:
        lines = [f"λ̂ = {self.llc:.4g}, {self.truth_label} {self.truth:.4g}, difference {self.total:+.3g}:"]
        width = max(len(part.label) for part in self.parts)
        lines += [f"  {p.label:{width}s} {p.value:+9.3g} ± {p.se:.2g}   {p.sentence}" for p in self.parts]
        return "\n".join(lines)
