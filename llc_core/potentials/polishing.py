"""Polishing: w0 moves to the local minimum of L_n on all data, of which λ̂ speaks."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from llc_core.compute.descent import Descent
from llc_core.compute.precision import full_precision
from llc_core.compute.streams import torch_stream
from llc_core.fields import number, whole
from llc_core.potentials.base import Potential
from llc_core.types import Polish

PASSES = 500
TOLERANCE = 0.01
"""In units of λ̂: less than 1% of the least λ that has a name, ½."""
QUIET = 10
"""Steps that together bring less than the tolerance before the way is at its end."""
BESIDE = 0.01
"""Where w0 has no slope, the way begins so far beside it, in typical sizes of the parameters."""
FARTHER = (0.25, 0.5, 1.0)
"""How much farther out the loss is looked at, in lengths of the weights, for whether it falls without end."""
FAR = 0.5
"""Share of its length by which a w0 that moves is another one."""
LARGEST_DOUBLE = 2_000_000
"""Up to so many parameters the way is gone in double precision."""
MOST_PASSES = 10_000_000


@dataclass(frozen=True)
class Polished(Polish):
    """`Polish`, with the problem at the new w0, and δ [D] in float64 by which that differs from the former one.

    Where there is no minimum to find, w0 stays where it was.
    """

    problem: Potential
    delta: Tensor

    def __repr__(self) -> str:
        return self.sentence

    @property
    def record(self) -> Polish:
        """What an estimate keeps of it: numbers and words alone."""
        return Polish(**{each.name: getattr(self, each.name) for each in fields(Polish)})


@full_precision()
def polish(
    problem: Potential,
    *,
    passes: int = PASSES,
    tolerance: float = TOLERANCE,
    n_beta: float | None = None,
    device: str | None = None,
    callback: Callable[[int, float], None] | None = None,
) -> Polished:
    """Move w0 to the local minimum of L_n by L-BFGS on all data; only what moves in `problem` is changed, and no γ or prior counts.

    λ̂ = nβ(E[L] − L(w0)) is of a minimum. At a checkpoint, or at the true parameter of noisy data, nβ(L(w0) − min L) is taken off it.

    passes: at most so many evaluations of loss and gradient on all rows.  tolerance: in units of λ̂: the way ends where neither the
    last steps nor the quadratic model of the loss promise that much.  n_beta: for that unit; None: n / log n.
    device: "cpu", "cuda", …; None: "cpu".  callback: called with the passes and the fall so far; what it raises ends the way.

    A w0 with no slope is left on trial: if a way that begins beside it leads lower, it was a saddle. Where the loss still falls as
    the weights grow, as a cross entropy of separable classes does for ever, there is no minimum, and w0 stays.
    Raises ValueError with one sentence for a problem whose w0 cannot be moved.
    """
    if not isinstance(problem, Potential):
        raise ValueError(f"problem is a {type(problem).__name__}; polish a potential, such as a NetworkPotential.")
    if problem.problems > 1 or problem.data_sets > 1:
        raise ValueError("Several problems or data sets side by side have no common minimum; polish one at a time.")
    if problem.starts_at_prior or problem.walls:
        raise ValueError(f"w0 of a problem of kind {problem.kind} is no point to improve; leave polish out.")
    way = _Way(
        problem,
        whole("passes", passes, 1, MOST_PASSES),
        number("tolerance", tolerance),
        number("n_beta", problem.n_beta if n_beta is None else n_beta),
        torch.device(device or "cpu"),
        callback,
    )
    with torch.no_grad():
        return way.go()


class _Way:
    """The way from w0, with everything that it needs. Displacements are from w0 throughout."""

    def __init__(
        self,
        problem: Potential,
        passes: int,
        tolerance: float,
        n_beta: float,
        device: torch.device,
        callback: Callable[[int, float], None] | None,
    ):
        self.problem, self.passes, self.tolerance, self.n_beta = problem, passes, tolerance, n_beta
        self.callback, self.used = callback, 0
        double = problem.dim <= LARGEST_DOUBLE and device.type != "mps"
        self.zero = torch.zeros(problem.dim, dtype=torch.float64 if double else torch.float32, device=device)
        problem.prepare(self.zero)
        self.origin = problem.origin(self.zero)
        self.scale = torch.as_tensor(problem.typical_scale(self.zero)).to(self.zero).expand(problem.dim)
        self.level = abs(problem.baseline_loss)

    def evaluate(self, at: Tensor) -> tuple[float, Tensor]:
        loss, grad = self.problem.excess_loss_and_grad(at.unsqueeze(0))
        self.used += 1
        if self.callback is not None:
            self.callback(self.used, -float(loss))
        return float(loss), grad[0]

    def go(self) -> Polished:
        search = self._begin(self.zero)
        slope = float(search.here.grad.norm())
        # Every parameter could move by its typical size, and the slope would still not bring what counts.
        if self.n_beta * float((search.here.grad * self.scale).norm()) < 1e-3 * self.tolerance:
            return self._on_trial(slope)
        rested, halfway = self._descend(search)
        falls = self._falls_on(search, halfway)
        if rested and falls:
            return self._stays(slope, self._endless(search))
        return self._arrived(search, slope, rested, "" if rested else self._why(search, falls))

    def _begin(self, at: Tensor) -> Descent:
        return Descent(self.evaluate, at, BESIDE * float(self.scale.norm()), self.level)

    def _descend(self, search: Descent) -> tuple[bool, Tensor]:
        """Whether the way came to rest before the passes were used up, and a place at which it was about halfway."""
        levels = deque([math.inf] * QUIET + [search.here.loss], maxlen=QUIET + 1)
        behind = [search.here.at] * 2
        steps = 0
        while self.used < self.passes:
            if self._brings_little(levels[0], search):
                return True, behind[0]
            if not search.step():
                return self.n_beta * search.gain < self.tolerance, behind[0]
            levels.append(search.here.loss)
            steps += 1
            if steps & (steps - 1) == 0:  # powers of two, of which the last but one lies in the middle half of the way
                behind = [behind[1], search.here.at]
        return self._brings_little(levels[0], search), behind[0]

    def _brings_little(self, before: float, search: Descent) -> bool:
        return self.n_beta * max(before - search.here.loss, search.gain) < self.tolerance

    def _falls_on(self, search: Descent, halfway: Tensor) -> bool:
        """Whether the loss falls all along a ray: the weights grow as they are, or the way goes on as it went."""
        at, loss = search.here.at, search.here.loss
        weights = at if self.origin is None else at + self.origin
        rounding = 64 * torch.finfo(at.dtype).eps * max(self.level, abs(loss))
        for ray in (weights, at - halfway):
            if not float(ray.norm()) > 0:
                continue
            ray = ray * (float(weights.norm()) / float(ray.norm()))
            before = loss
            for far in FARTHER:
                there = self.evaluate(at.add(ray, alpha=far))[0]
                if not there < before - rounding:
                    break
                before = there
            else:
                return True
        return False

    def _on_trial(self, slope: float) -> Polished:
        """w0 has no slope: go down from beside it."""
        stream = torch_stream(0, "beside w0")
        beside = (
            BESIDE * self.scale * torch.randn(self.problem.dim, generator=stream, dtype=torch.float64).to(self.scale)
        )
        search = self._begin(beside)
        rested, halfway = self._descend(search)
        if self.n_beta * -search.here.loss < self.tolerance:
            known = "it is a minimum" if rested else f"nothing lower was found near it in {self.used} passes"
            return self._stays(slope, f"w0 stays: the loss has no slope there, and {known}.", rested)
        falls = self._falls_on(search, halfway)
        if rested and falls:
            return self._stays(slope, self._endless(search))
        lead = "The loss has no slope at w0, which is no minimum all the same: from beside it the loss falls."
        return self._arrived(search, slope, rested, "" if rested else self._why(search, falls), lead)

    # -- what is said -------------------------------------------------------------------------------------------------

    def _arrived(self, search: Descent, slope: float, rested: bool, why: str, lead: str = "") -> Polished:
        here = search.here
        fall, distance = -here.loss, float(here.at.norm())
        if not fall > 0:
            return self._stays(slope, why or "w0 stays: it is a minimum already.", rested)
        if rested and self.n_beta * fall < self.tolerance:
            lead = lead or "w0 was a minimum already, or nearly:"
        length = math.nan if self.origin is None else float(self.origin.norm())
        share = distance / length if length > 0 else math.nan
        of = f" ({100 * share:.3g}% of its length)" if math.isfinite(share) else ""
        by = f"the loss fell by {fall:.3g}, which adds {self.n_beta * fall:.3g} to λ̂"
        moved = f"w0 was moved by {distance:.3g}{of}, and {by}."
        if share > FAR:
            moved += " So far away it is another network than the one that was given."
        return Polished(
            distance=distance,
            relative=share,
            fall=fall,
            llc=self.n_beta * fall,
            gradient_before=slope,
            gradient=float(here.grad.norm()),
            gain=self.n_beta * search.gain if math.isfinite(search.gain) else math.nan,
            passes=self.used,
            converged=rested,
            sentence=" ".join(part for part in (lead, moved, why) if part),
            problem=self.problem.moved(here.at),
            delta=here.at.double().cpu(),
        )

    def _stays(self, slope: float, sentence: str, converged: bool = False) -> Polished:
        return Polished(
            distance=0.0,
            relative=0.0,
            fall=0.0,
            llc=0.0,
            gradient_before=slope,
            gradient=slope,
            gain=0.0 if converged else math.nan,
            passes=self.used,
            converged=converged,
            sentence=sentence,
            problem=self.problem,
            delta=torch.zeros(self.problem.dim, dtype=torch.float64),
        )

    def _endless(self, search: Descent) -> str:
        here = search.here
        return (
            f"There is no minimum to find: {float(here.at.norm()):.3g} away from w0 the loss has fallen from {self.level:.3g} to "
            f"{self.level + here.loss:.3g} and still falls as the weights grow, as a cross entropy of separable classes does for "
            "ever. w0 stays; add weight decay to the loss, take a larger localization, or read λ̂ from two temperatures."
        )

    def _why(self, search: Descent, falls: bool) -> str:
        left = self.n_beta * search.gain
        rest = f"another {left:.2g} may be missing" if math.isfinite(left) else "it is not known how much is missing"
        if self.used < self.passes:
            return f"No lower point was found from there though the loss still has a slope, as at a kink or a rounding; {rest}."
        said = f"That is no minimum yet: {self.passes} passes were used up, and {rest}; allow more of them."
        grows = " If the loss goes on falling while the weights grow, there is none: add weight decay to the loss."
        return said + (grows if falls else "")
