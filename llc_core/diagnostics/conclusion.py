"""What to think of an estimate, in one place for pages and scripts: the verdict on its chains, and what answers say of it. Long, since
every way to a conclusion is read in one order.

Only an answer that is exact, or drawn from the posterior by other means, makes "Trust it". Chains that agree can agree on a
wrong value; without such an answer the words say what their agreement cannot tell.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from llc_core.diagnostics.causes import cause_of, is_unbiased, law_is_known, remedy_of
from llc_core.diagnostics.evidence import Evidence
from llc_core.diagnostics.minimum import is_far_above, lower, mostly_of_gamma
from llc_core.diagnostics.remedies import ELSEWHERE, HELD, LAW, MIXING, NOISE, STEP, Remedy
from llc_core.results import AGREES, Estimate, agrees
from llc_core.types import FromTemperatures
from llc_core.verdicts import CONSISTENT, POLISH, WRONG, Advice, Kind, Trust

OF_THE_RUN = (NOISE, LAW, STEP, MIXING)
"""Causes that lie between λ̂ and the posterior's own mean."""
OF_W0 = (Kind.ABOVE_MINIMUM, Kind.VARIANCE_ABOVE, Kind.UNLOOKED, Kind.NO_MINIMUM, Kind.NOISY_BASELINE)
"""What speaks against λ̂ and not against the slope over temperatures, which the loss at w0 does not enter."""
FORMULA_ERRORS = 4
"""Errors of λ̂ within which it agrees with a formula for large n."""
DRAWS = "Its chains are drawn from the posterior itself, so the sampler has no bias of its own."


class Split(Protocol):
    """A measured split of the error (`llc_core.studies.explain.parts.Explanation`)."""

    @property
    def parts(self) -> tuple[Any, ...]: ...


@dataclass(frozen=True)
class Conclusion:
    """opening: a few words.  reason, remedy: sentences; remedy is empty where nothing is to be changed.

    wants_steps: whether a longer run of the same chains would help.  change: the setting that the remedy names, and its value.
    said: what the reason says.  details: the part of it that a newcomer need not read.
    """

    kind: Trust
    opening: str
    reason: str
    remedy: str = ""
    wants_steps: bool = False
    change: Mapping[str, Any] = field(default_factory=dict)
    said: Kind | None = None
    details: str = ""

    @property
    def trusted(self) -> bool:
        return self.kind in (Trust.CONFIRMED, Trust.DRAWN)

    def __str__(self) -> str:
        advice = f"What to change: {self.remedy}" if self.remedy else ""
        return f"{self.opening} {self.reason} {advice}".strip()


def conclude(
    estimate: Estimate,
    with_answers: bool = True,
    *,
    reference: float | None = None,
    split: Split | None = None,
) -> Conclusion:
    """What to think of `estimate`.

    with_answers: whether exact and expected values may speak. Without them chains that agree are described in the same words
    whether λ̂ is right or wrong.
    reference: the exact value, where the caller knows one that the estimate does not hold.
    split: the measured split of this estimate's error; its largest part then chooses the remedy.
    """
    judged, known = estimate.converged, estimate.evidence
    refuted = judged.kind is Kind.REFUTED
    if judged.kind is None and not with_answers and math.isfinite(estimate.reference):
        # A text of before there were kinds: what an answer says in it cannot be told from the rest.
        return _alone(estimate, _settled(estimate))
    if judged.open is not None and not with_answers:  # as it reads where no answer settles it
        doubt = judged.open
        return _refused(doubt.reason, doubt.remedy, doubt.wants_steps, doubt.change, doubt.kind)
    if not judged and not (refuted and not with_answers):
        remedy = Remedy(judged.remedy, judged.change)
        slope = estimate.from_temperatures
        # Where the loss fits the noise, more data help if the slope does not.
        if slope is not None and (judged.kind in OF_W0 or (judged.kind is Kind.FITS_NOISE and slope.verdict)):
            remedy = _of_slope(slope, judged.kind, remedy, known)
            gamma = mostly_of_gamma(known)
            if gamma is not None:
                remedy = replace(remedy, sentence=Advice.put("{said} {also}", said=remedy.sentence, also=gamma.remedy))
        if refuted:
            remedy = _of_split(known, split, estimate.llc / estimate.reference - 1) or remedy
        reason = judged.reason if with_answers else judged.without_answers or judged.reason
        return _refused(reason, remedy.sentence, judged.wants_steps, remedy.change, judged.kind)
    if with_answers and is_far_above(estimate.llc, known.above):
        words = f"For this w0 λ̂ is right ({_confirmed_by(estimate)}), but {lower(replace(known, llc=estimate.llc))}."
        return Conclusion(Trust.AT_ODDS, "w0 lies above the minimum.", words, judged.remedy, change=judged.change)
    drawn = known.sampler is not None and known.sampler.needs_conditionals and not known.sampler.needs_prior
    if not with_answers:
        if drawn and not refuted:
            return Conclusion(Trust.DRAWN, "Trust it.", f"{DRAWS} {_settled(estimate)}")
        return _alone(estimate, _settled(estimate))
    answer, answer_se = (estimate.reference, estimate.reference_se) if reference is None else (reference, 0.0)
    confirmed = agrees(estimate.llc, estimate.llc_se, answer, answer_se)
    if confirmed is False:
        return _refuted(known, estimate, answer, split)
    if drawn:
        return Conclusion(
            Trust.DRAWN, "Trust it.", f"{DRAWS} {judged.reason}", said=judged.kind, details=judged.details
        )
    if confirmed:
        return Conclusion(Trust.CONFIRMED, "Trust it.", judged.reason, said=judged.kind, details=judged.details)
    settled = {Kind.SETTLED: "They have settled", Kind.ALONE: "Agreement was not checked"}.get(judged.kind or Kind.NAN)
    alone = _alone(estimate, f"{settled}{judged.details}." if settled else judged.reason, judged.kind)
    return _at_odds(known, estimate, split) or alone


def _alone(estimate: Estimate, settled: str, said: Kind | None = None) -> Conclusion:
    """Chains that agree, where no answer speaks. settled: how well they do."""
    if estimate.converged.kind is Kind.POSTERIOR_SETTLED:
        missed = "All chains may have missed a part of the posterior."
        return Conclusion(Trust.ALONE, _opening(estimate), f"{settled} {missed}", said=said)
    details = f" {still_open(estimate)} {settled}"
    return Conclusion(Trust.ALONE, _opening(estimate), f"{CONSISTENT}{details}", said=said, details=details)


def _refused(
    reason: str, remedy: str, wants_steps: bool, change: Mapping[str, Any], said: Kind | None = None
) -> Conclusion:
    return Conclusion(Trust.REFUSED, "Do not trust it.", reason, remedy, wants_steps, change, said)


def _of_slope(slope: FromTemperatures, kind: Kind, own: Remedy, known: Evidence) -> Remedy:
    """What was to be read from temperatures has been. Where that does not help, what else does is said first.

    own: the remedy without a slope, which holds no advice to read one where λ̂ is not positive.
    """
    value = f"λ̂ from temperatures, {slope.llc:.4g} ± {slope.llc_se:.2g}"
    if slope.verdict:
        return Remedy(f"Use {value}: it needs no minimum at w0, and nothing speaks against it.")
    either = f"{value}, is not to be trusted either. {slope.verdict}"
    if kind in (Kind.NO_MINIMUM, Kind.NOISY_BASELINE):
        return Remedy(Advice.put("{own} {either}", own=own.sentence, either=either), own.change)
    if own.change.get("polish"):
        return Remedy(Advice.put("{polish}. {either}", polish=POLISH, either=either), own.change)
    # A minimum is what is missing where polishing led to none: more steps alone do not make one.
    if known.movable and known.polished is False:
        return Remedy(Advice.put("{nowhere}. {either}", nowhere=known.without_minimum, either=either))
    return Remedy(either)


def _confirmed_by(estimate: Estimate) -> str:
    known = math.isfinite(estimate.reference)
    return f"it should be {estimate.reference:.4g}" if known else "its draws are exact"


def still_open(estimate: Estimate) -> str:
    """What chains that agree cannot show."""
    gamma = estimate.setting.get("localization", estimate.config.localization)
    choice = "γ (localization)" if gamma is None else f"γ = {float(gamma):g} (localization)"
    biased = "" if is_unbiased(estimate.evidence) else " The sampler may be biased."
    return f"{WRONG} {choice} may not suit the question.{biased} All chains may have missed a part of the low losses."


def _refuted(known: Evidence, estimate: Estimate, answer: float, split: Split | None) -> Conclusion:
    off = estimate.llc / answer - 1
    remedy = _of_split(known, split, off) or remedy_of(known, cause_of(known, off), off)
    way = "above" if off > 0 else "below"
    said = Kind.REFUTED.fault(far=f"{abs(off):.0%} {way} the exact value {answer:.4g}", help=remedy.sentence)
    return _refused(said.reason, said.remedy, False, remedy.change, said.kind)


def _at_odds(known: Evidence, estimate: Estimate, split: Split | None) -> Conclusion | None:
    """Where λ̂ is not what the formula for large n gives; None where it is, or there is none."""
    off, se = estimate.relative_error, estimate.llc_se
    if estimate.expected is None or not math.isfinite(off):
        return None
    if abs(off) <= max(AGREES, FORMULA_ERRORS * (se if math.isfinite(se) else 0.0) / abs(estimate.expected)):
        return None
    way = "above" if off > 0 else "below"
    seen = f"λ̂ is {abs(off):.0%} {way} what a formula for large n expects ({estimate.expected:.4g})"
    best, local = estimate.learning_coefficient, estimate.local_learning_coefficient
    cause = _largest(split, off, (*OF_THE_RUN, HELD))
    if cause is None and off < 0 and best is not None and local is not None and best.value < local.value:
        cause = ELSEWHERE
    cause = cause or cause_of(known, off, of_a_formula=True)
    remedy = remedy_of(known, cause, off)
    if cause == ELSEWHERE and best is not None:
        why = f"they may have left the neighbourhood of w0 for the global λ = {float(best.value):.4g}"
        return Conclusion(
            Trust.AT_ODDS, "The chains agree, but about a different solution.", f"{seen}: {why}.", *_parts(remedy)
        )
    opening = "The chains agree, but not with the formula."
    return Conclusion(Trust.AT_ODDS, opening, f"{seen}{_because(known, cause, off)}", *_parts(remedy))


def _parts(remedy: Remedy) -> tuple[str, bool, Mapping[str, Any]]:
    return remedy.sentence, False, remedy.change


def _because(known: Evidence, cause: str, off: float) -> str:
    if cause == HELD:
        small = (
            f", and what the sampler adds was measured as {known.law_bias / known.llc:+.1%}"
            if law_is_known(known)
            else ""
        )
        held = "" if off > 0 else ", or γ holds the chains, or they have not spread yet"
        return f"{small}: the formula may be off at this n and γ{held}."
    words = {LAW: "the sampler's own bias", STEP: "the step size", NOISE: "minibatch noise"}
    return f": {words[cause]} is the likely cause." if cause in words else ": the chains have not been everywhere yet."


def _largest(split: Split | None, off: float, among: tuple[str, ...]) -> str | None:
    """The cause of the largest part that points the way of the error, beyond 2 of its errors; None where none was told apart."""
    told = [
        part
        for part in (split.parts if split is not None else ())
        if len(part.causes) == 1 and part.causes[0] in among and part.value * off > 0 and abs(part.value) > 2 * part.se
    ]
    best = max(told, key=lambda part: abs(part.value), default=None)
    return None if best is None else best.causes[0]


def _of_split(known: Evidence, split: Split | None, off: float) -> Remedy | None:
    cause = _largest(split, off, OF_THE_RUN)
    return None if cause is None else remedy_of(known, cause, off)


def _opening(estimate: Estimate) -> str:
    return "The chains agree." if estimate.chains > 1 else "The only chain has settled."


def _settled(estimate: Estimate) -> str:
    """What the chains alone say, the same words whatever an answer would say."""
    if estimate.chains == 1:
        return "Agreement was not checked."
    numbers = [f"R-hat {estimate.r_hat:.3f}"] if math.isfinite(estimate.r_hat) else []
    numbers += [f"ESS {estimate.ess:.0f}"] if math.isfinite(estimate.ess) else []
    return f"They have settled ({', '.join(['no drift', *numbers])})."
