"""The sentence that says whether to trust an estimate, and what to change."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from llc_core.diagnostics import causes, chances, minimum, stops
from llc_core.diagnostics.convergence import ESS_LIMIT, R_HAT_LIMIT
from llc_core.diagnostics.evidence import Evidence
from llc_core.results import agrees
from llc_core.verdicts import Fault, Kind, Verdict


def losses_apart(e: Evidence) -> Fault | None:
    settled = math.isfinite(e.r_hat) and e.r_hat <= R_HAT_LIMIT
    alone = e.chains == 1 and math.isfinite(e.ess)
    return None if settled or alone else Kind.LOSSES_APART.fault(r_hat=e.r_hat)


def few_losses(e: Evidence) -> Fault | None:
    return None if e.ess >= ESS_LIMIT else Kind.FEW_LOSSES.fault(ess=e.ess)


QUESTIONS: tuple[Callable[[Evidence], Fault | None], ...] = (
    stops.no_estimate,
    stops.too_few_steps,
    stops.wrong_settings,
    stops.uneven_weights,
    stops.refusals,
    stops.unstable_step,
    stops.lost_chains,
    stops.standing_still,
    stops.thrown_out,
    minimum.above_the_minimum,
    stops.not_positive,
    stops.rounding,
    chances.drifting,
    chances.out_of_range,
    chances.noisy,
    causes.systematic,  # before all else that only asks for steps, which would not mend it
    chances.perhaps_drifting,
    chances.wide_error,
    chances.disagreeing,
    chances.spread_of_chains,
    chances.few_draws,
    chances.unseen_drift,
    causes.unknown_law,  # behind what asks for steps: of chains that do not agree no distribution is measured
    minimum.nearly_too_far_above,
    minimum.variance_differs,
    minimum.not_looked_for,
    chances.unspread,
    minimum.hangs_on_data,  # behind directions that are slow, which would show in it
    minimum.mostly_of_gamma,
    chances.refuted,  # last: where the chains themselves show what is wrong, that says what to change
)
"""The most serious first: the first fault that is found is the one to name."""
OF_W0 = (minimum.above_the_minimum, minimum.nearly_too_far_above)
"""Where these alone speak against it, λ̂ is right for its w0, and says less of the minimum."""
ABOUT_W0 = (*OF_W0, stops.not_positive, minimum.variance_differs, minimum.not_looked_for)
OF_A_POSTERIOR = (
    stops.no_estimate,
    stops.too_few_steps,
    stops.refusals,
    stops.lost_chains,
    losses_apart,
    few_losses,
)
"""Where the loss of a Bayesian network's posterior is what was averaged: λ̂ has no scale of its own there."""


def judge(evidence: Evidence) -> Verdict:
    """The first fault, and what to change; a clean run says what was checked.

    Where an exact answer lies beside the estimate, what only leaves it open does not count against it; where one contradicts it,
    that is said beside what the chains show.
    """
    known, doubt = chances.known_right(evidence), None
    agreed = agrees(evidence.llc, evidence.se, evidence.reference, evidence.reference_se)
    drawn = evidence.sampler is not None and evidence.sampler.needs_conditionals
    for question in OF_A_POSTERIOR if evidence.of_a_posterior else QUESTIONS:
        fault = question(evidence)
        # Chains that have only not spread know their error: the answer may then be as far away as that allows. Exact draws have no
        # error but chance, whatever lies below w0.
        settled = known or (agreed and question is chances.unspread) or (drawn and question in OF_W0)
        if fault is not None and fault.doubt and settled:
            doubt = doubt or fault
        elif fault is not None:
            refused = Verdict.refused(fault, behind=chances.contradiction(evidence) if fault.doubt else "")
            return refused.beside(_besides(evidence, question, known))
    if doubt is not None:
        return Verdict.right(_answer(evidence), doubt)
    if evidence.of_a_posterior:
        reason = Kind.POSTERIOR_SETTLED.value.reason.format(r_hat=evidence.r_hat, ess=evidence.ess)
        return Verdict(True, reason, kind=Kind.POSTERIOR_SETTLED)
    return Verdict.settled(Kind.SETTLED if evidence.chains > 1 else Kind.ALONE, _checked(evidence))


def _besides(e: Evidence, question: Callable[[Evidence], Fault | None], known: bool) -> Fault | None:
    """What can be mended in the same go as a fault. Where that is not of w0, it is w0; else the first of the others.

    What lies below w0 is found without the chains, and is there however they are mended.
    """
    if e.unfinished or e.of_a_posterior:
        return None
    if question not in OF_W0:
        return minimum.clearly_above(e)
    others = (other(e) for other in QUESTIONS[QUESTIONS.index(question) + 1 :] if other not in ABOUT_W0)
    return next((fault for fault in others if fault is not None and not (fault.doubt and known)), None)


def worth_an_answer(evidence: Evidence) -> bool:
    """Whether an exact answer would decide: nothing speaks against the estimate, or no more than doubts."""
    questions = OF_A_POSTERIOR if evidence.of_a_posterior else QUESTIONS
    faults = (question(evidence) for question in questions)
    return math.isfinite(evidence.se) and all(fault is None or fault.doubt for fault in faults)


def hangs_on_spread(evidence: Evidence) -> bool:
    """Whether directions that were not spread along are all that speaks against the estimate."""
    return chances.unspread(evidence) is not None and bool(judge(replace(evidence, unspread=math.nan)))


def _checked(e: Evidence) -> list[str]:
    checked = ["no chain diverged", "no drift"] if e.chains > 1 else ["no divergence", "no drift"]
    if math.isfinite(e.r_hat):
        checked.append(f"R-hat {e.r_hat:.3f}")
    if math.isfinite(e.ess):
        checked.append(f"ESS {e.ess:.0f}")
    if math.isfinite(e.acceptance):  # the stability limit is that of steps without a test
        checked.append(f"{e.acceptance:.0%} of the proposals accepted")
    elif math.isfinite(e.stable_step):
        checked.append(f"step size at {e.step_size / e.stable_step:.0%} of the stability limit")
    if law := causes.said_of_the_law(e):
        checked.append(law)
    if math.isfinite(e.from_variance):
        checked.append(f"from the variance {e.from_variance:.4g} ± {e.from_variance_se:.2g}")
    if agrees(e.llc, e.se, e.reference, e.reference_se):
        checked.append(_answer(e))
    if math.isfinite(e.effective_share):
        checked.append(f"states worth {e.effective_share:.0%} of equal ones")
    if e.idle:
        checked.append(f"the loss does not depend on {e.idle:,} of {e.parameters:,} directions")
    if e.bursts:
        checked.append(f"chains reset after a burst: {e.bursts}")
    return checked


def _answer(e: Evidence) -> str:
    if math.isnan(e.reference):
        return "its draws are exact"
    if e.reference_se:
        return f"exact draws give {e.reference:.4g} ± {e.reference_se:.2g}"
    return f"the exact value is {e.reference:.4g}"
