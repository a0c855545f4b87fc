"""Polishing: w0 moves to the local minimum of L_n on all data, of which λ̂ speaks. Long, since a place where the way comes to rest may be
a saddle, or slow, or nothing but far away."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from llc_core.compute.descent import MEMORY, Descent, Place
from llc_core.compute.precision import full_precision
from llc_core.compute.streams import torch_stream
from llc_core.fields import number, whole
from llc_core.potentials import polished as words
from llc_core.potentials.base import Potential
from llc_core.potentials.polished import Polished

PASSES = 500
TOLERANCE = 0.01
"""In units of λ̂: less than 1% of the least λ that has a name, ½."""
QUIET = 10
"""Steps that together bring less than the tolerance before the way is at its end …"""
RECENT = 3
"""… and so many of them no more than as many before: on the way out of a saddle each brings more than the last, however little."""
FIRST = 0.01
"""The first point that a way looks at lies so far away, in typical sizes of the parameters."""
BESIDE = 0.03
"""From a place without a slope the way begins so far beside it: from a third of that it came back to weak saddles more often."""
FURTHER, STRIDE = 60, 1e-3
"""A way at whose end the loss hardly falls goes on for so many steps while each is longer than this share of the weights' length."""
CREEPS, GROWN = 1.1, 1.5
"""Times their length to which weights grow on such a way. Above the second there is no minimum, unless the loss is of a form that has one:
exp(−margin) falls for ever, each step by about the same factor. Above the first there is none either where the loss has fallen to `LEFT`
of what it was, or w0 lies `FAR`. A way along a valley of ill-conditioned inputs is as long, but comes to rest.
"""
LEFT, FAR = 0.01, 10.0
"""FAR: in lengths of w0."""
LARGEST_DOUBLE = 2_000_000
"""Up to so many parameters the way is gone in double precision."""
MOST_PASSES = 10_000_000


@full_precision()
def polish(
    problem: Potential,
    *,
    passes: int = PASSES,
    tolerance: float = TOLERANCE,
    n_beta: float | None = None,
    localization: float = 0.0,
    device: str | None = None,
    callback: Callable[[int, float], None] | None = None,
) -> Polished:
    """Move w0 to the local minimum of L_n by L-BFGS on all data; only what moves in `problem` is changed, and no prior counts.

    λ̂ = nβ(E[L] − L(w0)) is of a minimum. At a checkpoint, or at the true parameter of noisy data, nβ(L(w0) − min L) is taken off it.

    passes: at most so many evaluations of loss and gradient on all rows.  tolerance: in units of λ̂: the way ends where neither the
    last steps nor the quadratic model of the loss promise that much.  n_beta: for that unit; None: n / log n.
    localization: γ of a pull (γ/2nβ)‖δ‖² beside the loss: w0 then goes to the mode of the localised posterior, which is there even where
    the loss has no minimum, and which does not lie far along nearly flat directions. 0: none.
    device: "cpu", "cuda", …; None: "cpu".  callback: called with the passes and the fall so far; what it raises ends the way.

    A w0 with no slope is left on trial: if a way that begins beside it leads lower, it was a saddle. The same is asked of the place
    where a way comes to rest, such as one with two equal units, which no gradient parts. Where the loss still falls as
    the weights grow, as a cross entropy of separable classes does for ever, there is no minimum; w0 stays if it came far on such a way.
    A squared error does not fall for ever like that (`Potential.endless`): its way is gone on with as long as there are passes.
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
        number("localization", localization),
        torch.device(device or "cpu"),
        callback,
    )
    with torch.no_grad():
        return way.go()


def bytes_needed(problem: Potential) -> int:
    """An upper bound of what the way holds at once, in double precision."""
    return 8 * problem.dim * (2 * MEMORY + 12) + problem.step_bytes(1, "full", problem.batch_size, 8)


class _Way:
    """The way from w0, with everything that it needs. Displacements are from w0 throughout."""

    def __init__(
        self,
        problem: Potential,
        passes: int,
        tolerance: float,
        n_beta: float,
        localization: float,
        device: torch.device,
        callback: Callable[[int, float], None] | None,
    ):
        self.problem, self.passes, self.tolerance, self.n_beta = problem, passes, tolerance, n_beta
        self.callback, self.used, self.pull = callback, 0, localization / n_beta
        double = problem.dim <= LARGEST_DOUBLE and device.type != "mps"
        self.zero = torch.zeros(problem.dim, dtype=torch.float64 if double else torch.float32, device=device)
        problem.prepare(self.zero)
        self.origin = problem.origin(self.zero)
        self.scale = torch.ones_like(self.zero) * problem.typical_scale(self.zero)
        self.before = problem.baseline_loss
        self.level = abs(self.before)

    def evaluate(self, at: Tensor) -> tuple[float, Tensor]:
        loss, grad = self.problem.excess_loss_and_grad(at.unsqueeze(0))
        self.used += 1
        if self.callback is not None:
            self.callback(self.used, -float(loss))
        return float(loss) + self.pull / 2 * float(at.square().sum()), grad[0].add(at, alpha=self.pull)

    def go(self) -> Polished:
        search = self._begin(self.zero)
        slope = float(search.here.grad.norm())
        # Every parameter could move by its typical size, and the slope would still not bring what counts.
        if self.n_beta * float((search.here.grad * self.scale).norm()) < 1e-3 * self.tolerance:
            return self._on_trial(slope)
        return self._ended(search, slope, self._descend(search))

    def _ended(self, search: Descent, slope: float, rested: bool, lead: str = "") -> Polished:
        here, growth = search.here, self._growth(search) if rested else 1.0
        slow = self.n_beta * (here.loss - search.here.loss) >= self.tolerance  # the rest was none
        if slow and growth >= CREEPS and self.problem.endless is False:
            return self._ended(search, slope, self._descend(search), lead)
        if growth < CREEPS:
            here = search.here if slow else here
            if rested:
                beside = self._begin_beside(here.at)
                ends = self._descend(beside)
                if self.n_beta * (here.loss - beside.here.loss) >= self.tolerance:
                    return self._ended(beside, slope, ends, lead or words.CAME_BY)
                if not ends and self.used >= self.passes:
                    lead = " ".join(part for part in (lead, words.not_asked(self.passes)) if part)
            return self._arrived(search, here, slope, rested, lead)
        far = float(here.at.norm()) > FAR * self._length(self.zero)
        if self.problem.endless is not False and (growth > GROWN or far or self._nothing_left(here)):
            length, after = float(search.here.at.norm()), self.before + search.here.loss
            return self._stays(slope, words.endless(length, self.before, after, self.problem.endless is True))
        found = self._arrived(search, here, slope, rested, lead)
        return replace(found, sentence=f"{found.sentence} {words.CREEPS}")

    def _begin(self, at: Tensor) -> Descent:
        return Descent(self.evaluate, at, FIRST * float(self.scale.norm()), self.level)

    def _descend(self, search: Descent) -> bool:
        """Whether the way came to rest before the passes were used up."""
        levels = deque([math.inf] * QUIET + [search.here.loss], maxlen=QUIET + 1)
        while self.used < self.passes:
            if self._brings_little(levels, search):
                return True
            if not search.step():
                return self.n_beta * search.gain < self.tolerance
            levels.append(search.here.loss)
        return self._brings_little(levels, search)

    def _brings_little(self, levels: Sequence[float], search: Descent) -> bool:
        """Whether the last steps and the next ones bring less than the tolerance, and ever less."""
        if self.n_beta * max(levels[0] - levels[-1], search.gain) >= self.tolerance:
            return False
        before, since = levels[-1 - 2 * RECENT] - levels[-1 - RECENT], levels[-1 - RECENT] - levels[-1]
        return since <= before + search.rounding

    def _growth(self, search: Descent) -> float:
        """How many times as long the weights become though the loss hardly falls any more; 1 where they come to rest with it."""
        length, growth = self._length(search.here.at), 1.0
        for _ in range(FURTHER):
            behind = search.here
            if (growth > GROWN and self._nothing_left(behind)) or not search.step():
                break
            if growth > GROWN and behind.loss - search.here.loss <= search.rounding:
                break
            if float((search.here.at - behind.at).norm()) < STRIDE * length:
                return growth if self.problem.endless is not False and self._nothing_left(search.here) else 1.0
            growth = self._length(search.here.at) / length
        return growth

    def _nothing_left(self, here: Place) -> bool:
        return self.before + here.loss < LEFT * self.level

    def _length(self, at: Tensor) -> float:
        return float((at if self.origin is None else at + self.origin).norm())

    def _begin_beside(self, at: Tensor) -> Descent:
        """A way comes to rest on a saddle where all else is symmetric, such as two units of the same weights: the next one begins beside."""
        draws = torch.randn(self.problem.dim, generator=torch_stream(0, "beside w0"), dtype=torch.float64)
        return self._begin(at + BESIDE * self.scale * draws.to(self.scale))

    def _on_trial(self, slope: float) -> Polished:
        """w0 has no slope: go down from beside it."""
        search = self._begin_beside(self.zero)
        rested = self._descend(search)
        if self.n_beta * -search.here.loss < self.tolerance:
            return self._stays(slope, words.FLAT if rested else words.flat_so_far(self.used), rested)
        return self._ended(search, slope, rested, words.SADDLE)

    def _arrived(self, search: Descent, here: Place, slope: float, rested: bool, lead: str) -> Polished:
        why = "" if rested else self._why(search)
        distance = float(here.at.norm())
        fall = self.pull / 2 * distance**2 - here.loss
        if not fall > 0:
            return self._stays(slope, why or words.STAYS, rested)
        length = math.nan if self.origin is None else self._length(self.zero)
        share = distance / length if length > 0 else math.nan
        llc = self.n_beta * fall
        # Noise alone lifts a w0 by about λ/log n, and λ is at most d/2.
        beyond_noise = llc > 3 * self.problem.dim / 2 * self.n_beta / self.problem.n
        elsewhere = distance > words.ELSEWHERE * max(length, float(self.scale.norm()))  # also of weights of 0
        another = beyond_noise and (share > words.FAR or elsewhere)
        if rested and llc < self.tolerance and not lead:
            lead = words.NEARLY
        return Polished(
            distance=distance,
            relative=share,
            fall=fall,
            llc=llc,
            gradient_before=slope,
            gradient=float(here.grad.norm()),
            gain=self.n_beta * search.gain if math.isfinite(search.gain) else math.nan,
            passes=self.used,
            converged=rested,
            sentence=" ".join(
                part for part in (lead, words.moved(distance, share, fall, llc, another, elsewhere), why) if part
            ),
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

    def _why(self, search: Descent) -> str:
        grown = self._length(search.here.at) > words.GROWN * self._length(self.zero)
        used_up = self.passes if self.used >= self.passes else None
        return words.unfinished(self.n_beta * search.gain, used_up, grown, self.problem.endless is not False)
