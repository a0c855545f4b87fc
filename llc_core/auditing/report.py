"""`audit`: loss traces that some tool made, looked at for the faults that are common there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.auditing.baseline import of_baseline, of_gamma, of_temperature
from llc_core.auditing.batches import of_batches
from llc_core.auditing.chains import burn_in, names, odd_ones
from llc_core.auditing.facts import Facts, numbers
from llc_core.auditing.words import Finding, Flaw
from llc_core.diagnostics.convergence import ess, mean_error, r_hat
from llc_core.fields import number

FEWEST_DRAWS = 32
MOST_NUMBERS = 50_000_000


@dataclass(frozen=True)
class Audit:
    """What an audit found. True in a boolean context where it named no fault.

    findings: the faults, each with a sentence and a remedy.
    llc, llc_se: λ̂ = nβ(mean − init_loss) of the chains without a nan, all their draws counted, with its standard error.
    r_hat, ess: of these.  chains, draws: of the traces.  unchecked: sentences on what could not be looked at, and what it takes.
    """

    findings: tuple[Finding, ...]
    llc: float
    llc_se: float
    r_hat: float
    ess: float
    chains: int
    draws: int
    unchecked: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return not self.findings

    def __str__(self) -> str:
        head = f"λ̂ = {self.llc:.4g} ± {self.llc_se:.2g} (R-hat {self.r_hat:.3f}, ESS {self.ess:.0f}) from {self.chains} × {self.draws:,} draws"
        said = [str(each) for each in self.findings] or ["Nothing speaks against these traces."]
        return "\n".join([head, *said, *(f"Not looked at: {each}" for each in self.unchecked)])

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it; numbers that are none are None."""
        values = {name: getattr(self, name) for name in ("llc", "llc_se", "r_hat", "ess", "chains", "draws")}
        found = [
            {"flaw": each.flaw.name, "reason": each.reason, "remedy": each.remedy, "chains": list(each.chains)}
            | {"change": dict(each.change)}
            for each in self.findings
        ]
        plain = {name: value if math.isfinite(value) else None for name, value in values.items()}
        return {"ok": bool(self), **plain, "findings": found, "unchecked": list(self.unchecked)}


def audit(
    traces: Any,
    n_beta: float,
    init_loss: Any,
    *,
    n: int | None = None,
    batch_size: int | None = None,
    burn_in: int | None = None,
    full: bool | None = None,
    localization: float | None = None,
    dim: int | None = None,
    square_distance: Any = None,
) -> Audit:
    """Look at loss traces [C, T] that some tool made, and name each fault in one sentence with a remedy.

    traces: mean losses per sample, in nats, of C chains at T draws.  n_beta: nβ.  init_loss: the loss at w0 that λ̂ is made with,
        a number, or one for each chain.
    n: number of samples; it takes that to say whether nβ was made from the batch size.  batch_size: rows of a batch.
    burn_in: steps that were done before the first draw; 0: the traces begin at w0; None: not known.
    full: whether the losses are of all data; False: of batches; None: not known. Of full losses mean and variance of nβ·ΔL must
        agree (`diagnostics.minimum`); of batches what is new at every draw is taken off first, where it can be told apart.
    localization, dim, square_distance: γ, the number of parameters, and ‖w − w0‖², its mean or [C, T]: together they say how much of
        λ̂ is γ's.

    Returns an `Audit`. Most checks name something by chance with a probability of 1e-4 (`auditing.chains.CHANCE`), those of the
    baseline beyond 3.5 errors, and none names what changes λ̂ by little: of clean traces one or two in a thousand are named
    (lab/benchmarks/results/accuracy.md). Raises ValueError for traces or numbers that cannot be.
    """
    facts = Facts(n_beta, n, batch_size, burn_in, full, localization, dim, square_distance)
    x, which, findings, shape = _read(traces, init_loss, facts.n_beta)
    if facts.square_distance is not None and facts.square_distance.ndim:
        facts = facts.replace(square_distance=_like(facts.square_distance, shape, which, len(x)).T)
    if x.size:
        findings += _look(x, which, facts)
    hot = of_temperature(facts)
    findings += [] if hot is None else [hot]
    per_chain = x.mean(axis=0) if x.size else np.zeros(0)
    error = mean_error(per_chain, x).se if x.size else math.nan
    llc = float(per_chain.mean()) if x.size else math.nan
    return Audit(tuple(findings), llc, error, r_hat(x), ess(x), *shape, tuple(_unchecked(facts, x)))


def _look(x: np.ndarray, which: np.ndarray, facts: Facts) -> list[Finding]:
    findings, good = odd_ones(x, which)
    moving = np.ptp(x, axis=0) > 0
    batches = list(of_batches(x[:, moving])) if moving.any() else []
    if any(each.flaw is Flaw.REPLAYED_EPOCHS for each in batches):  # its few batches are what sets chains apart
        good = moving
        findings = [each for each in findings if set(each.chains) & set(which[~moving].tolist())]
    findings += batches
    if not good.any():
        return findings
    x = x[:, good]
    if facts.square_distance is not None and facts.square_distance.ndim:
        facts = facts.replace(square_distance=facts.square_distance[:, good].T)
    early, start = burn_in(x)
    findings += [] if early is None else [early]
    gamma = of_gamma(x, facts)
    findings += [gamma] if gamma is not None else list(of_baseline(x, start, facts))
    return findings


def _read(traces: Any, init_loss: Any, n_beta: float) -> tuple[np.ndarray, np.ndarray, list[Finding], tuple[int, int]]:
    """nβ(traces − init_loss) [T, C] of the chains that hold numbers, which these are, what the others are, and the shape (C, T)."""
    array = numbers("traces", traces)
    array = array[None] if array.ndim == 1 else array
    if array.ndim != 2 or array.shape[1] < FEWEST_DRAWS or not array.shape[0]:
        raise ValueError(
            f"traces has the shape {array.shape}; give [chains, draws] with at least {FEWEST_DRAWS} draws (traces.T where it is the other way)."
        )
    if array.size > MOST_NUMBERS:
        raise ValueError(f"traces has {array.size:,} numbers; give at most {MOST_NUMBERS:,}, such as every tenth draw.")
    base = numbers("init_loss", init_loss)
    if base.ndim > 1 or base.size not in (1, len(array)):
        raise ValueError(
            f"init_loss has the shape {base.shape}; give a number, or one for each of {len(array)} chains."
        )
    for value in base.ravel():
        number("init_loss", value)
    x = (n_beta * (array - base.reshape(-1, 1))).T
    finite = np.isfinite(x)
    whole = finite.all(axis=0)
    findings = []
    for chain in np.flatnonzero(~whole):
        first = int(np.argmin(finite[:, chain]))
        findings.append(
            Flaw.NAN_TAIL.found(chains=(int(chain),), who=f"{names((int(chain),))} is", first=first + 1, draws=len(x))
        )
    return x[:, whole], np.flatnonzero(whole), findings, (len(array), len(x))


def _like(pull: np.ndarray, shape: tuple[int, int], which: np.ndarray, rows: int) -> np.ndarray:
    if pull.shape != (rows, shape[0]):
        raise ValueError(
            f"square_distance has the shape {pull.T.shape}; give its mean, or as many numbers as the traces, {shape}."
        )
    return pull[:, which]


def _unchecked(facts: Facts, x: np.ndarray) -> list[str]:
    found = []
    if facts.n is None:
        found.append("whether nβ was made from the batch size; give n.")
    if facts.full is None:
        found.append("whether mean and variance of full losses agree; say whether the losses are of all data (full).")
    if facts.burn_in is None:
        found.append("whether the first draws are at w0; say how many steps were left out before them (burn_in).")
    if facts.localization is None or facts.dim is None or facts.square_distance is None:
        found.append("how much of λ̂ is γ's; give localization, dim and square_distance.")
    if x.ndim == 2 and x.shape[1] < 2:
        found.append("whether chains agree, and share batches; it takes two of them.")
    return found
