"""Why this number? The error of one estimate, split into causes that are each measured.

Between λ̂ and the exact λ stand values that differ by one cause each:

    λ̂ as it ran → with full gradients → with the right distribution → as ε → 0 → of an exact sampler → expected at this n → local λ
    → global λ,

and a part is the difference of two neighbours, so that the parts add up to λ̂ − λ exactly. Every value is a linear
combination of independent measurements, and so is every part and its variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from llc_core.fields import number
from llc_core.potentials.base import Potential
from llc_core.results import Estimate
from llc_core.studies.explain import references
from llc_core.studies.explain.comparisons import DOING, Comparisons
from llc_core.studies.explain.ledger import ESTIMATE, REFERENCE, Ledger, Level
from llc_core.studies.explain.parts import ORDER, Explanation
from llc_core.studies.explain.sentences import part_of
from llc_core.studies.explain.subject import Subject

BUDGET = references.USUAL_BUDGET


def explain(
    estimate: Estimate,
    problem: Potential,
    *,
    budget: float = BUDGET,
    progress: Callable[[float, str], None] | None = None,
) -> Explanation:
    """Split λ̂ − λ of `estimate` into minibatch noise, step size, the sampler's distribution, mixing, localisation and finite n.

    budget: chain-steps that the comparisons may take, as a multiple of the estimate's own; more makes the error bars
    smaller. The exact reference comes on top.  progress: called with (share done, what is being measured).

    Raises ValueError for an estimate without a value or with a step size that decays, for a problem that is not the
    estimate's, and for a budget that is not a positive number.
    """
    latest = None
    for latest in explaining(estimate, problem, budget=budget):
        if progress is not None:
            progress(latest.share, latest.doing)
    assert latest is not None
    return latest


def explaining(estimate: Estimate, problem: Potential, *, budget: float = BUDGET) -> Iterator[Explanation]:
    """`explain` step by step: an Explanation every 40 ms or so. The parts of each add up, since causes that are not told
    apart yet are one part. Arguments are checked at once."""
    budget = number("budget", budget, above=0)
    return _Splitting(Subject.of(estimate, problem), budget).stages()


class _Splitting:
    """The ledger of one estimate, and the work that is still to be done.

    causes: those that apply, in the order in which they are taken away.
    truth, truth_label: the last value that is known exactly; the label is empty where there is none.
    """

    def __init__(self, subject: Subject, budget: float):
        self.subject, self.budget = subject, budget
        self.ledger = Ledger()
        self.comparisons = Comparisons(subject, budget)
        self.truth, self.truth_label = math.nan, ""
        self._record_what_is_known()
        self.causes = self._causes()

    def _record_what_is_known(self) -> None:
        """The estimate itself, and what needs no run."""
        subject, ledger = self.subject, self.ledger
        estimate, problem = subject.estimate, subject.problem
        ledger.measured[ESTIMATE] = (estimate.llc, estimate.llc_se if math.isfinite(estimate.llc_se) else 0.0)
        if not subject.is_noisy:
            ledger.levels["minibatch"] = Level({ESTIMATE: 1.0}, "the run used full gradients")
            if subject.is_exact:
                how = "the accept or reject test makes every step exact"
                ledger.levels["step_size"] = Level({ESTIMATE: 1.0}, how)
        expected = problem.expected_llc(estimate.n_beta)
        local, everywhere = problem.local_learning_coefficient, problem.learning_coefficient
        if expected is not None:
            self._record_truth("localization", expected, "expected at this n and nβ", "exact reference − expected_llc")
        if local is not None:
            self._record_truth("finite_n", float(local), "local λ", "expected_llc − local λ, a formula")
        if everywhere is not None and (local is None or float(everywhere) != float(local)):
            self._record_truth("local_global", float(everywhere), "global λ", "local λ − global λ, exact")

    def _record_truth(self, cause: str, value: float, label: str, how: str) -> None:
        self.truth, self.truth_label = value, label
        self.ledger.record_exact(cause, value, how)

    def _causes(self) -> list[str]:
        """Causes that apply here, up to the last one that can be told from those after it."""
        causes = [name for name in ORDER if name != "law" or not self.subject.sampler.exact_law]
        if (
            "law" in causes and self.comparisons.right_distribution is None
        ):  # its distribution shows only against the reference
            causes.remove("law")
            causes.insert(causes.index("mixing"), "law")
        last = max([ORDER.index("mixing"), *(ORDER.index(name) for name in self.ledger.levels)])
        return [name for name in causes if ORDER.index(name) <= last]

    def stages(self) -> Iterator[Explanation]:
        costs = self.comparisons.costs
        done, whole = 0.0, sum(costs.values()) + 1.0
        for name, work in self.comparisons.runs(self.ledger):
            for share in work:
                yield self.explanation((done + share * costs[name]) / whole, DOING[name])
            done += costs[name]
        for share in references.measure_reference(self.subject, self.budget, self.ledger):
            yield self.explanation((done + share) / whole, references.DOING)
        yield self.explanation(1.0, "")

    def explanation(self, share: float, doing: str) -> Explanation:
        """What the ledger says now."""
        estimate, found = self.subject.estimate, self.ledger.differences(self.causes)
        scale = self.truth if self.truth_label else estimate.llc
        parts = tuple(
            part_of(causes, float(found.values[i]), math.sqrt(found.covariance[i, i]), how, estimate, scale)
            for i, (causes, how) in enumerate(zip(found.causes, found.how, strict=True))
        )
        truth, truth_label = self.truth, self.truth_label
        if not truth_label:
            truth = estimate.llc - float(found.values.sum())
            known = "mixing" in self.ledger.levels
            truth_label = "exact reference" if known else "without the parts known so far"
        reference, reference_se = self.ledger.measured.get(REFERENCE, (None, None))
        return Explanation(
            parts=parts,
            llc=estimate.llc,
            truth=truth,
            truth_label=truth_label,
            total=estimate.llc - truth,
            total_se=math.sqrt(max(0.0, found.covariance.sum())),
            covariance=found.covariance,
            reference=reference,
            reference_se=reference_se,
            share=share,
            doing=doing,
        )
