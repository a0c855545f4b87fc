"""What words about an estimate must never say: a list of contradictions among verdict, remedy, split and the exact value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from llc_core import Conclusion, Estimate
from llc_core.fields import hyper_fields
from llc_core.results import AGREES, ERRORS
from llc_core.samplers.base import Sampler

SMALLER = re.compile(r"smaller step size, such|[Hh]alve the step|[Rr]educe step_size|Use a smaller step")


def contradictions(
    found: Conclusion,
    words: str,
    estimate: Estimate,
    sampler: Sampler,
    truth: float,
    split: Any = None,
    hidden: bool = False,
) -> Iterator[str]:
    """One sentence each. words: what a page shows.  truth: the exact value."""
    right = abs(estimate.llc - truth) <= max(AGREES * abs(truth), ERRORS * estimate.llc_se)
    drawn = sampler.needs_conditionals
    if ("Trust it" in words) != found.trusted:
        yield "The page and the engine differ on trust."
    if found.trusted and not right:
        yield f"It trusts {estimate.llc:.4g} where {truth:.4g} is right."
    if found.trusted and not drawn and estimate.confirmed is not True:
        yield "It trusts what no answer confirms."
    if found.trusted and found.remedy:
        yield "It trusts, and wants a change."
    if re.search(r"not with|refut|Do not trust", str(found)) and right and estimate.converged:
        yield "It refuses a value that is right."
    if hidden and re.search(
        rf"exact value|exact draws|expected here|expected value|formula|{truth:.4g}|{truth:.3f}", f"{found} {words}"
    ):
        yield "It gives the answer away."
    if found.reason not in _plain(words):
        yield "The page does not say what the engine says."
    yield from _remedies(found.remedy, found.change, estimate, sampler)
    if split is not None and not hidden and found.remedy:
        said = max(split.parts, key=lambda part: abs(part.value)).sentence
        if found.remedy.removesuffix(" Or use Gibbs where it is offered.") not in said:
            yield "Verdict and split want different changes."


def _remedies(remedy: str, change: Any, estimate: Estimate, sampler: Sampler) -> Iterator[str]:
    steps = "step_size" in hyper_fields(sampler)
    if SMALLER.search(remedy) and not steps:
        yield "It wants a smaller step of a sampler that has none."
    if SMALLER.search(remedy) and not sampler.exact_law and "Switch" not in remedy and "adapts" not in remedy:
        yield "It wants a smaller step where the law is bent."
    if "stability constant" in remedy and "stability" not in hyper_fields(sampler):
        yield "It wants a stability constant of a sampler that has none."
    if re.search(rf"\b{sampler.name}\b(?! adapts)", remedy):
        yield "It recommends the sampler that is in use."
    if re.search(r"larger batch|control variate", remedy) and estimate.config.gradient == "full":
        yield "It wants quieter gradients than full ones."
    if re.search(r"\w+='\w+'", remedy):
        yield "It speaks Python."
    for name, value in change.items():
        if name in hyper_fields(sampler):
            sampler.replace(**{name: value})  # raises where the field does not take it
        elif name not in ("sampler", "gradient"):
            yield f"It changes {name}, which is no control of this run."


def _plain(words: str) -> str:
    return re.sub(r"<[^>]*>", "", words).replace("&#x27;", "'").replace("&lt;", "<").replace("&gt;", ">")
