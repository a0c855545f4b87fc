"""What words and signs of the field mean: in a lesson the first of each has a dotted line below it, and its meaning on a card."""

from __future__ import annotations

import re
from html import escape

MEANINGS = {
    "λ": "local learning coefficient (LLC) at w0: half as many parameters as the solution really uses",
    "λ̂": "the estimate of λ, nβ·(E[L(w)] − L(w0)), averaged over the chains",
    "nβ": "number of samples n times inverse temperature β; n/log n unless given",
    "γ": "localisation: the strength of the pull (γ/2)‖w − w0‖² towards w0",
    "w0": "the point whose λ is asked for; chains begin there",
    "chain": "one random walk of a sampler; several go side by side",
    "burn-in": "the first steps, which adapt the sampler and do not count",
    "R-hat": "spread between chains against spread within them; near 1 where chains agree",
    "ESS": "effective sample size: how many independent draws the chains are worth",
    "d/2": "λ of a regular model with d parameters",
    "multiplicity": "how often λ is reached at once: the power of the logarithm in the volume's formula, plus 1",
    "stability limit": "the step size beyond which a chain diverges",
    "control variate": "a minibatch gradient minus its known error at w0",
    "minibatch": "a few random samples, in place of all data, for one gradient",
    "posterior": "how plausible each parameter is, given the data and a prior: where chains should go",
    "prior": "how plausible each parameter is before any data",
    "ε": "step size of a sampler",
    "α": "how much of its old value a running mean of squared gradients keeps at each step",
    "Γ": "the correction term that a sampler needs when its metric moves with the chain",
    "stability constant": "a number added to the metric, so that no step becomes infinitely long",
    "metric": "how long a step is in each direction and at each place",
    "KL": "Kullback-Leibler divergence: how far one distribution is from another; 0 where they are the same",
    "AUROC": "the chance that the unknown case looks more unsure than the known one; a half is guessing",
    "Gaussian process": "what the function of a network with infinitely wide layers is drawn from",
    "multiplier": "by how much contour sampling scales the force; below 0 it pushes uphill",
}
"""Term → meaning, as docs/words.md has them."""
_ANY = re.compile(
    r"(?<![\w/-])(?:" + "|".join(re.escape(escape(term)) for term in sorted(MEANINGS, key=len, reverse=True)) + r")"
    # A hat makes another sign of the letter; a plural is the same word.
    "(?!\u0302)(?:s(?=\\W|$))?(?![\\w/-])"
)


def explained(words: str) -> str:
    """HTML of plain words, in which each term has its meaning where it comes first."""
    seen: set[str] = set()

    def card(found: re.Match[str]) -> str:
        term = found[0] if found[0] in MEANINGS else found[0].removesuffix("s")
        if term in seen:
            return found[0]
        seen.add(term)
        meaning = escape(f"{term}: {MEANINGS[term]}")
        return f'<abbr tabindex="0" title="{meaning}">{found[0]}</abbr>'

    return _ANY.sub(card, escape(words))
