"""What is said of an estimate, and in which words: every sentence of a verdict is in `Kind`, and no other place decides by them.
Long, since the sentences are read side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import Enum, StrEnum
from typing import Any, NamedTuple


class Advice(str):
    """Words that name arguments of Python.  plain: the same without them, for whoever has buttons and fields."""

    plain: str

    @classmethod
    def of(cls, words: str, plain: str) -> Advice:
        made = cls(words)
        made.plain = plain
        return made

    @classmethod
    def put(cls, template: str, **parts: Any) -> Advice:
        """A template as `str.format` has it, with its parts, of which some may be `Advice`."""
        return cls.of(
            template.format(**parts), template.format(**{name: plain_words(part) for name, part in parts.items()})
        )


def plain_words(text: Any) -> Any:
    """What an `Advice` says without arguments of Python; anything else as it is."""
    return getattr(text, "plain", text)


class Words(NamedTuple):
    """reason, remedy: sentences with places for numbers, as `str.format` has them.

    steps: whether a longer run of the same chains would help.
    doubt: whether the chains only leave open that the number is wrong; an exact answer beside it then settles the question.
    """

    reason: str
    remedy: str = ""
    steps: bool = False
    doubt: bool = False


TEMPERATURES = Advice.of("read λ̂ from temperatures=(1, 0.25).", "read λ̂ at two temperatures, in Python.")
POLISH = Advice.of("Polish w0 (polish=True)", "Polish w0")
AT_MINIMUM = Advice.of(", or an estimate at the minimum of L_n (polish=True)", ", or an estimate at the minimum of L_n")
"""What is advised to whoever has not polished w0."""
POLISHED = "w0 is polished already, so"
NOWHERE = Advice("Polishing led to no minimum. Add weight decay to the loss and train on")
SHORT = Advice.of(
    "Polishing ended before it came to a minimum. Go on from there with more passes (llc_core.polish)",
    "Polishing ended before it came to a minimum. Go on from there with more passes, in Python",
)
"""Where polishing ended at no minimum: of a loss that may have none, and of one that has."""
NOT_POSITIVE = "The estimate is {llc:.3g}, but a learning coefficient is positive"
CONSISTENT = "No exact answer is available here, so this is a consistent number, not a proven one."
WRONG = "What could still be wrong?"
"""The question before what chains that agree cannot show."""
KEPT_BY_GAMMA = "About {held:,.0f} of {parameters:,} directions are kept near w0 by γ, not by the loss."
APART = "Take more steps, or temperatures that are further apart."


class Kind(Enum):
    """What a verdict says. The value holds the words; `fault` puts the numbers in."""

    # -- nothing can be weighed ---------------------------------------------------------------------------------------
    NO_ESTIMATE = Words("{dead} of {chains} chains diverged, so there is no estimate.", "{smaller}")
    NAN = Words("There is no estimate.")
    TOO_FEW_STEPS = Words("Only {kept} steps after burn-in: too few to judge.", "Run longer.", steps=True)
    SETTINGS = Words("{caveat}")
    UNEVEN_WEIGHTS = Words(
        "The states weigh so unevenly that they are worth {share:.0%} of as many equal ones.",
        "Use a smaller zeta, or more bins.",
    )
    REFUSALS = Words("Only {share:.0%} of the proposals were accepted: the chains hardly move.", "{smaller}")
    UNSTABLE_STEP = Words(
        "The step size {step:.2g} is above the stability limit {limit:.2g}: the estimate is inflated.", "{smaller}"
    )
    LOST_CHAINS = Words("{dead} of {chains} chains diverged and were left out.", "{smaller}")
    STANDING_STILL = Words(
        "No chain has moved{since}: every proposal is refused, or the step is too small for the precision.",
        "Give another step size, or leave it automatic.",
    )
    ROUNDING = Words(
        "Rounding alone shifts nβ·ΔL by {size:.2g}, {share:.0%} of the estimate: large numbers cancel here, and this precision "
        "has too few digits.",
        "Use float64 precision, or scale data and layers to sizes about 1.",
    )
    SPIKES = Words(
        "One draw in a thousand carries {share:.0%} of the estimate: the step throws chains out, and they come back.",
        "{smaller} Or use HMC, which rejects such steps.",
    )
    BURSTS = Words(
        "The loss burst {many} times and a chain was reset: the step is too large where the chains come to.",
        "{smaller} Or use HMC, which rejects such steps.",
    )
    FITS_NOISE = Words(
        NOT_POSITIVE
        + ". At this n the loss fits the noise of the data: its minimum lies below L_n(w0) by more than λ/nβ{answer}.",
        "Use more data or a smaller nβ{move}.",
    )
    FLAT = Words(
        "The estimate is 0: all losses are L_n(w0), so the weights that move do not matter here.",
        "Check that they reach the output. If they should not, λ is 0.",
    )
    NOT_FROM_ZERO = Words(
        NOT_POSITIVE + ". It does not differ from 0 within its error ({se:.2g}).", "Take more steps.", steps=True
    )
    NOISY_BASELINE = Words(
        NOT_POSITIVE + ". The baseline is noisy, or losses below L_n(w0) are found.",
        "Use the same-batch baseline and full gradients; if it stays negative, w0 is no minimum of this loss.",
    )
    NO_MINIMUM = Words(
        NOT_POSITIVE + ". On the same data the chains find losses below L_n(w0), so w0 is no minimum of L_n.",
        "{move}If w0 is the true parameter, L_n fits the noise: use more data or a smaller nβ.",
    )

    # -- what w0 is -----------------------------------------------------------------------------------------------------
    ABOVE_MINIMUM = Words("w0 lies above the minimum: {lower}{spread}.", "{move}")
    UNLOOKED_YET = Words(
        "Whether w0 is a minimum is looked at when the run ends.", "Let the run end.", steps=True, doubt=True
    )
    UNLOOKED = Words(
        "Whether w0 is a minimum is not known: looking for a lower loss would cost more than this short run.",
        "Take more steps. Or: {move}",
        steps=True,
        doubt=True,
    )
    VARIANCE_ABOVE = Words("w0 lies above the minimum, or is no minimum at all: {both}.", "{move}", doubt=True)
    VARIANCE_BELOW = Words(
        "λ̂ changes with the temperature: {both}.", "Use more data, and a larger nβ with them.", doubt=True
    )
    HANGS_ON_DATA = Words(
        "λ̂ hangs on these data: other data of this size would change it by about ± {share:.0%}.",
        "Use more data at the same nβ (n_beta){lower}",
    )
    MAYBE_HANGS_ON_DATA = Words(
        "λ̂ may hang on these data: other data of this size could change it by about ± {share:.0%}.",
        "Take more steps.",
        steps=True,
        doubt=True,
    )
    MOSTLY_OF_GAMMA = Words(
        "Much of this number is γ's: at twice this γ (localization) it would be about {falls:.0%} lower.{held}",
        "Use a smaller γ, such as {smaller:g}, or state γ with the number.",
        doubt=True,
    )

    # -- what longer chains mend --------------------------------------------------------------------------------------
    DRIFT = Words(
        "The loss is still {way} ({share:+.0%} between the two halves after burn-in): the chains have not settled.",
        "{faster}",
        steps=True,
    )
    DRIFT_AT_LIMIT = Words(
        "The loss is still {way} ({share:+.0%} between the two halves after burn-in). The step is at {of_limit:.0%} of the "
        "stability limit: it may carry the chains away.",
        "Use a step size below {step:.2g}, a fifth of the largest stable one, and take more steps.",
    )
    MAYBE_DRIFT = Words(
        "The loss may still be {way} ({share:+.0%} ± {error:.0%} between the two halves after burn-in).",
        "{faster}",
        steps=True,
        doubt=True,
    )
    UNSEEN_DRIFT = Words(
        "A drift of {most:.0%} between the two halves after burn-in cannot be ruled out ({share:+.0%} ± {error:.0%}).",
        "Take more steps or more chains.",
        steps=True,
        doubt=True,
    )
    UNKNOWN_DRIFT = Words(
        "Whether the loss still drifts is not known: the chains are too slow to tell.",
        "{faster}",
        steps=True,
        doubt=True,
    )
    OUT_OF_RANGE = Words(
        "The estimate is {llc:.3g}, but no learning coefficient is above half the number of parameters, {most:,g}. The chains are "
        "far out.",
        "Take more steps, or begin nearer to w0.",
        steps=True,
    )
    DISAGREEMENT = Words(
        "The chains disagree: their means differ by ± {share:.0%} of the estimate, more than the error within each chain allows.",
        "Take more steps.",
        steps=True,
        doubt=True,
    )
    WIDE_ERROR = Words(
        "Keep going: ±{share:.0%} so far, more steps will narrow it.",
        "Take more steps or more chains.",
        steps=True,
    )
    R_HAT = Words(
        "R-hat is {r_hat:.3f}, above {limit}: the chains do not agree yet.", "Take more steps.", steps=True, doubt=True
    )
    FEW_DRAWS = Words(
        "Only {ess:.0f} effective samples (ESS): the error bar is itself uncertain.",
        "Take more steps.",
        steps=True,
        doubt=True,
    )
    UNKNOWN_ERROR = Words(
        "The error of the estimate is not known: its chains hold too few independent draws.", "{faster}", steps=True
    )

    # -- the sampler, γ and an answer -----------------------------------------------------------------------------------
    SYSTEMATIC = Words("{caveat}{name} {verb} to {adds} this estimate{together}.", "{help}")
    ROUGH_LAW = Words(
        "What this sampler's bias adds is known only to ± {error:.0%} of the estimate.",
        "Take more steps. Or: {help}",
        steps=True,
        doubt=True,
    )
    UNKNOWN_LAW = Words("What this sampler's bias adds is not known here.", "{help}", doubt=True)
    UNSPREAD = Words("{told}: it is not known what λ̂ is farther out.", "{help}", doubt=True)
    HELD_BY_NOTHING = Words(
        "Along about {unspread:.0f} of {parameters:,} directions nothing keeps the chains near, and they spread for ever.",
        "Give a γ (localization) above 0.",
        doubt=True,
    )
    REFUTED = Words("The chains agree with one another, but their estimate is {far}.", "{help}")

    # -- λ̂ from temperatures ------------------------------------------------------------------------------------------
    SLOPE_UNSEEN = Words("The mean loss does not rise with the temperature beyond its error.", APART, steps=True)
    SLOPE_FALLS = Words(
        "The mean loss falls as the temperature rises. At one of them the chains have not settled, or found another place.",
        "Take more steps.",
        steps=True,
    )
    WIDE_SLOPE = Words("λ̂ from temperatures is still noisy: its standard error is {share:.0%}.", APART, steps=True)
    BENT = Words(
        "λ̂ changes with the temperature, by {bend:+.0%} ± {error:.0%} from the lowest to the highest. No one line goes through "
        "the means.",
        "Use lower temperatures: there the loss is more like that at the minimum.",
    )
    LINE_TOO_HIGH = Words(
        "The means do not lie on a line: at temperature 0 it would be above L_n(w0), by {over:.0%} ± {error:.0%} of λ̂.",
        "Use lower temperatures: there the loss is more like that at the minimum.",
    )
    TEMPERATURES_SETTLED = Words("The chains at all temperatures agree and have settled{checks}.")

    # -- a Bayesian network's posterior ---------------------------------------------------------------------------------
    LOSSES_APART = Words(
        "The chains' losses have not settled (R-hat {r_hat:.3f}).", "Take more steps, or use SplitHMC.", steps=True
    )
    FEW_LOSSES = Words(
        "The losses are worth only {ess:.0f} independent draws.", "Take more steps or more chains.", steps=True
    )
    POSTERIOR_SETTLED = Words(
        "The losses of the posterior have settled (R-hat {r_hat:.3f}, ESS {ess:.0f}). A Bayesian network's mean excess loss is no "
        "learning coefficient, since w0 is the centre of the prior."
    )

    # -- nothing speaks against it --------------------------------------------------------------------------------------
    SETTLED = Words("The chains agree and have settled{checks}.")
    ALONE = Words("The only chain has settled; agreement was not checked{checks}.")
    CONFIRMED = Words("The estimate is right ({answer}).")

    def fault(self, change: Mapping[str, Any] | None = None, answer: str = "", **numbers: Any) -> Fault:
        """change: the setting that the remedy names, where it is one, and its value.  answer: what an expected value says."""
        words = self.value
        reason, alone = (words.reason.format(answer=said, **numbers) for said in (answer, ""))
        remedy = Advice.put(words.remedy, **numbers)
        return Fault(self, reason, remedy, words.steps, change or {}, words.doubt, alone if answer else "")


@dataclass(frozen=True)
class Fault:
    """Why a number is not to be trusted, and what to change.

    wants_steps, doubt: as in `Words`.  change: a setting that the remedy names, and its value.
    without_answers: the reason where no exact or expected value may speak; empty: it is the same.
    """

    kind: Kind
    reason: str
    remedy: str = ""
    wants_steps: bool = False
    change: Mapping[str, Any] = field(default_factory=dict)
    doubt: bool = False
    without_answers: str = ""


@dataclass(frozen=True)
class Verdict:
    """Whether a number can be trusted, and why, in words. True in a boolean context when it can.

    wants_steps: whether a longer run of the same chains would help (`Run.go_on`).
    change: the setting that the remedy names, where it is one, and the value that it would get.
    kind: what is said; None of an estimate that was kept before there were kinds.
    details: the part of the reason that a newcomer need not read: checks that were passed, or doubts that an answer settles.
    without_answers: as in `Fault`.  open: what the chains leave open where an exact answer beside them settles it.
    also: what is wrong besides and can be mended in the same go, of which `remedy` speaks too.
    """

    ok: bool
    reason: str
    remedy: str = ""
    wants_steps: bool = False
    change: Mapping[str, Any] = field(default_factory=dict)
    kind: Kind | None = None
    details: str = ""
    without_answers: str = ""
    open: Fault | None = None
    also: Fault | None = None

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return f"{self.reason} {self.remedy}".strip()

    @classmethod
    def settled(cls, kind: Kind, checks: tuple[str, ...] | list[str]) -> Verdict:
        """Nothing speaks against the estimate.  checks: what was looked at."""
        details = f" ({', '.join(checks)})"
        return cls(True, kind.value.reason.format(checks=details), kind=kind, details=details)

    @classmethod
    def refused(cls, fault: Fault, before: str = "", behind: str = "") -> Verdict:
        """before, behind: what stands around the reason; behind it is what an answer says."""
        alone = f"{before}{fault.without_answers or fault.reason}"
        return cls(
            False, f"{before}{fault.reason}{behind}", fault.remedy, fault.wants_steps, fault.change, fault.kind,
            without_answers=alone if behind or fault.without_answers else "",
        )  # fmt: skip

    def beside(self, also: Fault | None) -> Verdict:
        """The refusal with what is wrong besides."""
        if also is None:
            return self
        remedy = Advice.put("{first} Besides: {reason} {then}", first=self.remedy, reason=also.reason, then=also.remedy)
        return replace(self, remedy=Advice.of(remedy.strip(), remedy.plain.strip()), also=also)

    @classmethod
    def right(cls, answer: str, doubt: Fault) -> Verdict:
        """An exact answer settles what the chains leave open."""
        details = f" The chains alone leave it open: {doubt.reason}"
        reason = Kind.CONFIRMED.value.reason.format(answer=answer)
        return cls(True, f"{reason}{details}", doubt.remedy, False, doubt.change, Kind.CONFIRMED, details, open=doubt)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it, with kinds by name."""
        return asdict(self, dict_factory=_by_name)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Verdict:
        """What `to_dict` wrote, and what was written before there were kinds. Raises TypeError or KeyError for anything else."""
        read = {**given, "kind": given.get("kind") and Kind[given["kind"]]}
        for name in ("open", "also"):
            fault = given.get(name)
            read[name] = fault and Fault(**{**fault, "kind": Kind[fault["kind"]]})
        return cls(**read)


def _by_name(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: value.name if isinstance(value, Kind) else value for name, value in fields}


class Trust(StrEnum):
    """Kinds of conclusions: an answer confirms λ̂; it is made of exact draws; the chains agree, and no more is known; they agree, but
    not with a formula for large n, or w0 is not what λ is meant of; something speaks against it."""

    CONFIRMED = "confirmed"
    DRAWN = "drawn"
    ALONE = "alone"
    AT_ODDS = "at odds"
    REFUSED = "refused"
