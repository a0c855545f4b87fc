"""Faults of what is made of the traces: the loss at w0, the point w0 itself, nβ, and γ."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from llc_core.auditing.chains import CHANCE, Start
from llc_core.auditing.facts import Facts
from llc_core.auditing.noise import FEWEST_INDEPENDENT, Noise, Parts, parts, probability
from llc_core.auditing.words import MEAN_AND_SPREAD, Finding, Flaw
from llc_core.diagnostics.convergence import standard_error
from llc_core.diagnostics.evidence import Evidence
from llc_core.diagnostics.minimum import Looks, from_variance, mostly_of_gamma

OF_BATCH = 4.0
"""A baseline of one batch is off by less than so many standard deviations of batches."""
AT_LEAST = 1.0
"""… and a single batch is not named for less than this one."""
OF_SPREAD = 0.25
"""Mean and variance of full losses may differ by this share of λ̂; where batches' noise is taken off first, by OF_ESTIMATED."""
OF_ESTIMATED = 0.35
UNSAID = 1.5
"""Where nobody says what the losses are, from this many of them on, and where mean and variance differ by more than the latter."""
FEWEST_FOR_SPREAD = 150
"""Of fewer independent draws no variance is compared."""
SURE, TOLD = 5.0, 3.5
"""Errors from which on a difference of mean and variance is none of chance, and where it is said what the losses are."""
FIRST = 4.0
"""The same of the first draws alone."""
JUMP = 0.25
"""A jump at the first draw counts from this share of λ̂ on."""
HELD = 0.9
SMALLER = 10.0


def of_baseline(x: np.ndarray, start: Start | None, facts: Facts) -> Iterator[Finding]:
    """Faults of init_loss and of w0, from [T, C] in units of λ̂, of chains that are not odd."""
    settled = x[_begin(x, start) :]
    centred = settled - settled.mean()
    own = parts(centred) if not facts.full else Parts(new=0.0, new_se=0.0)
    batch = math.sqrt(own.new) if own.noisy else 0.0
    if (
        batch == 0.0 and facts.full is False and math.isfinite(own.new)
    ):  # there is noise of batches, if no more than this
        batch = math.sqrt(max(own.new, 0.0) + 2 * own.new_se)
    named = list(_first_draws(x, start, batch, facts))
    yield from named
    if named:
        return
    gap, error, spread, spread_error, share = _mean_and_spread(settled, own, facts)
    llc = float(settled.mean())
    negative = _negative(settled, llc)
    if facts.full is None and not abs(gap) > max(spread, UNSAID * batch):
        gap = math.nan
    if negative and not math.isfinite(gap):
        gap, error = llc, 0.0
    if not math.isfinite(gap) or not (
        negative or abs(gap) > max(share * abs(llc), (SURE if facts.full is None else TOLD) * error)
    ):
        return
    both = MEAN_AND_SPREAD.format(mean=llc, spread=spread, error=spread_error)
    both = (
        both
        if math.isfinite(spread)
        else f"the mean of the losses says {llc:.4g}, and a learning coefficient is positive"
    )
    if negative or facts.full is not None or abs(gap) < OF_BATCH * batch:
        yield from _of_gap(gap, batch, both, facts, math.isfinite(spread))


def _begin(x: np.ndarray, start: Start | None) -> int:
    if start is None or not start.seen:
        return 0
    return min(round(4 * start.time), len(x) // 2)


def _negative(x: np.ndarray, llc: float) -> bool:
    """Whether λ̂ is below 0 and no chance."""
    noise = Noise.of(x - llc)
    error = noise.error(np.full(len(x), 1 / len(x)), x.shape[1])
    return (
        llc < 0
        and noise.independent >= FEWEST_INDEPENDENT
        and probability(llc / max(error, 1e-300), noise.independent / 2) < CHANCE
    )


def _mean_and_spread(x: np.ndarray, own: Parts, facts: Facts) -> tuple[float, float, float, float, float]:
    """λ̂ from the mean less that from the variance, its error, the latter and its error, and the share of λ̂ that is let pass.

    Without γ the two are the same number (`diagnostics.minimum`). nan: not known.
    """
    nothing = (math.nan,) * 5
    if facts.square_distance is not None and facts.full:
        pull = facts.localization * facts.square_distance[len(facts.square_distance) - len(x) :]
        found = from_variance(x, Looks(x, pull), 0.0)
        return found.gap, found.gap_se, found.llc, found.se, OF_SPREAD
    mean = float(x.mean())
    if Noise.of(x - mean).independent < FEWEST_FOR_SPREAD:
        return nothing
    if facts.full:
        square = (x - mean) ** 2
        value = float(square.mean())
        se = standard_error(square.mean(axis=0), square)
        apart = x - square
        return mean - value, standard_error(apart.mean(axis=0), apart), value, se, OF_SPREAD
    # Where nobody says what the losses are, only a trace that plainly has both parts is read as moves and batches.
    if (
        (facts.full is None and not own.noisy)
        or not own.lasting > (4 if facts.full is None else 2) * own.lasting_se
        or not own.apart
    ):
        return nothing
    error = math.hypot(own.lasting_se, standard_error(x.mean(axis=0), x))
    return mean - own.lasting, error, own.lasting, own.lasting_se, OF_ESTIMATED


def _of_gap(gap: float, batch: float, both: str, facts: Facts, known: bool) -> Iterator[Finding]:
    """What init_loss that is `gap` too low may be; too high where it is negative.  batch: how far batches lie apart; 0: not at all.

    known: whether the gap is known by the variance; else it is λ̂ itself, which is negative.
    """
    side = "below" if gap > 0 else "above"
    one = Flaw.ONE_BATCH.found(
        gap=abs(gap), side=side, as_batches=f" (batches differ by {batch:.3g})" if batch > 0 else ""
    )
    least = AT_LEAST if known else 0.0
    as_one = least * batch <= abs(gap) < OF_BATCH * batch if batch > 0 else not facts.full or gap > 0
    if as_one:
        yield one
    if gap < 0:
        who = "It may be that w0" if as_one else "w0"
        yield Flaw.ABOVE_MINIMUM.found({"polish": True}, who=who, both=both)
    elif abs(gap) >= OF_BATCH * batch > 0:
        yield Flaw.DROPOUT.found(gap=gap, where="between init_loss and the losses, by more than batches differ")


def _first_draws(x: np.ndarray, start: Start | None, batch: float, facts: Facts) -> Iterator[Finding]:
    """What the first draws say where the trace may begin at w0."""
    if facts.burn_in:
        return
    chains, scale = x.shape[1], float(np.abs(x).max()) or 1.0
    late = x[len(x) // 2 :]
    level, spread = float(late.mean()), float(late.std())
    same = np.abs(x[0]) <= 1e-9 * max(spread, 1e-12 * scale)
    if 0 < same.sum() < chains and np.ptp(x[0]) > 1e-3 * spread:
        which = tuple(int(i) for i in np.flatnonzero(same))
        yield Flaw.IS_A_BATCH.found(who=f"chain {which[0]}", spread=float(x[0].std(ddof=1)), chains=which)
        return
    first, second = float(x[0].mean()), float(x[1].mean())
    step = np.diff(late, axis=0)
    jump, usual = second - first, float(step.mean(axis=1).std())
    alone = usual > 0 and abs(first) < 4 * spread / math.sqrt(chains) + 1e-9 * scale
    tries = probability(jump / usual, len(step) / 4) if usual > 0 else 1.0
    if alone and jump > max(JUMP * abs(level), 6 * usual) and tries < CHANCE:
        yield Flaw.DROPOUT.found(gap=jump, where="from the first draw to the second")
        return
    if facts.burn_in is None:
        return
    # The trace begins at w0, so that its first draws should be at 0, but for what they rise by.
    many = max(1, round((start.time if start is not None and start.seen else 20) / 20))
    at_w0 = float(x[:many].mean())
    error = Noise.of(late - level).error(np.full(many, 1 / many), chains)
    rise = max(level - at_w0, 0.0) * 0.1
    if at_w0 > max(FIRST * error, JUMP * abs(level)) + rise:
        batches = batch > 0 and at_w0 < OF_BATCH * batch
        if batches:
            yield Flaw.ONE_BATCH.found(gap=at_w0, side="below", as_batches=f" (batches differ by {batch:.3g})")
        yield Flaw.DROPOUT.found(gap=at_w0, where="from init_loss to the first draw")
    elif at_w0 < -max(FIRST * error, JUMP * abs(level)):
        yield Flaw.ONE_BATCH.found(
            gap=-at_w0, side="above", as_batches=f" (batches differ by {batch:.3g})" if batch > 0 else ""
        )


def of_temperature(facts: Facts) -> Finding | None:
    """An nβ that was made from the batch size."""
    if facts.n is None:
        return None
    n, usual = facts.n, facts.n / math.log(facts.n)
    batch = facts.batch_size or _batch_of(facts.n_beta)
    if batch is None or batch >= n or abs(batch / math.log(max(batch, 2)) / facts.n_beta - 1) > 1e-3:
        return None
    return Flaw.TOO_HOT.found({"n_beta": float(f"{usual:.4g}")}, n_beta=facts.n_beta, batch=batch, n=n, usual=usual)


def _batch_of(n_beta: float) -> int | None:
    """The whole number B with B/log B = nβ; None: there is none."""
    if n_beta < 2.8:  # that of 4, and below it there is no whole number but 3
        return None
    size = n_beta * math.log(n_beta)
    for _ in range(60):
        size = n_beta * math.log(size)
    whole = round(size)
    return whole if abs(whole / math.log(whole) / n_beta - 1) < 1e-4 / max(whole, 1) * 10 else None


def of_gamma(x: np.ndarray, facts: Facts) -> Finding | None:
    """Whether much of λ̂ is γ's, from [T, C] and the squares of the distances from w0."""
    if not facts.localization or facts.square_distance is None or facts.dim is None:
        return None
    gamma, pull = facts.localization, facts.localization * facts.square_distance
    llc, held = float(x.mean()), float(pull.mean())
    if pull.shape == x.shape and np.ptp(pull) > 0:
        found = from_variance(None, Looks(x, pull), 0.0)
        fault = mostly_of_gamma(
            Evidence(
                llc=llc,
                of_gamma=found.of_gamma,
                of_gamma_se=found.of_gamma_se,
                pull=held,
                localization=gamma,
                parameters=facts.dim,
            )
        )
        return None if fault is None else Flaw.of(fault)
    if held < HELD * facts.dim or (
        facts.full and x.var() > (1 - OF_SPREAD) * llc
    ):  # the rest of the directions is the loss's alone
        return None
    smaller = float(f"{gamma / SMALLER:.2g}")
    return Flaw.HELD_BY_GAMMA.found(
        {"localization": smaller}, held=min(held, facts.dim), parameters=facts.dim, smaller=smaller
    )
