"""What an audit says of loss traces, and in which words. Where a verdict says the same, the words are the verdict's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from llc_core.verdicts import KEPT_BY_GAMMA, TEMPERATURES, Fault, Kind, Words


class Flaw(Enum):
    """A fault of traces, or of what was made of them. The value holds the words; `found` puts the numbers in."""

    NAN_TAIL = Words(
        "{who} not a number from draw {first:,} of {draws:,} on: a chain diverged.",
        "Leave the chain out, and use a smaller step size.",
    )
    STANDING_STILL = Kind.STANDING_STILL.value
    COLD_CHAIN = Words(
        "{who}: {what}.",
        "Leave the chain out, and look at how it was made; take more steps if chains are only slow.",
    )
    BURN_IN = Words(
        "Burn-in is part of the mean: the loss is still {way} until about draw {until:,}. That shifts λ̂ by {share:+.0%}.",
        "Leave out the first {until:,} draws.",
    )
    NOT_SETTLED = Words(
        "The loss is still {way} at the end of the trace. The chains have not settled, and burn-in is part of the mean.",
        "Take more steps, and leave the first half of them out.",
    )
    ONE_BATCH = Words(
        "The baseline is noisy: init_loss is {gap:.3g} {side} what these losses explain, in units of λ̂{as_batches}.",
        "Compute init_loss on all data; a mean over one batch or a few is another number each time.",
    )
    IS_A_BATCH = Words(
        "The baseline is one batch: init_loss is the loss of the first draw of {who}. Batches differ by {spread:.3g} in units of λ̂.",
        "Compute init_loss on all data; a mean over one batch or a few is another number each time.",
    )
    DROPOUT = Words(
        "The loss jumps by {gap:.3g}, in units of λ̂, {where}. Dropout that is on in chains and off in init_loss does that.",
        "Compute init_loss and sample in the same mode, best in eval mode.",
    )
    ABOVE_MINIMUM = Words(
        "{who} lies above the minimum, or is no minimum at all: {both}.",
        f"Polish w0, compute init_loss anew, or {TEMPERATURES}",
    )
    SHARED_BATCHES = Words(
        "The chains share their batches: their noise has the correlation {r:.2f}. So their spread says too little of the error.",
        "Give each chain batches of its own: another seed of the loader, or shuffle=True.",
    )
    REPLAYED_EPOCHS = Words(
        "The noise comes back every {lag:,} draws: the same batches are replayed in the same order.",
        "Shuffle anew in each epoch, or draw batches at random.",
    )
    MOSTLY_OF_GAMMA = Kind.MOSTLY_OF_GAMMA.value
    HELD_BY_GAMMA = Words(
        f"{KEPT_BY_GAMMA} Much of this number is γ's.",
        "Use a smaller γ, such as {smaller:g}, or state γ with the number.",
    )
    TOO_HOT = Words(
        "nβ is {n_beta:.4g}, which is B/log B of a batch of {batch:,}, not of the {n:,} samples. That is too hot: another λ̂.",
        "Use nβ = n/log n = {usual:.4g}.",
    )

    def found(self, change: Mapping[str, Any] | None = None, chains: tuple[int, ...] = (), **numbers: Any) -> Finding:
        words = self.value
        return Finding(self, words.reason.format(**numbers), words.remedy.format(**numbers), chains, change or {})

    @classmethod
    def of(cls, fault: Fault) -> Finding:
        """Of a verdict's fault of the same name."""
        return Finding(cls[fault.kind.name], fault.reason, fault.remedy, (), fault.change)


@dataclass(frozen=True)
class Finding:
    """One fault: a sentence and what to do.

    chains: of which it is, counted from 0; empty: of all.  change: a setting that the remedy names, and its value.
    """

    flaw: Flaw
    reason: str
    remedy: str
    chains: tuple[int, ...] = ()
    change: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.reason} {self.remedy}"


MEAN_AND_SPREAD = "the mean of the losses says {mean:.4g}, their variance {spread:.4g} ± {error:.2g}"
