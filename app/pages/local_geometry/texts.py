"""The exact answer in words and numbers."""

from __future__ import annotations

from app.estimates.texts import READOUTS
from app.pages.local_geometry.scene import Scene
from app.style.numbers import coefficient, number, power_of_ten

CELLS = [
    *READOUTS[:2],
    {
        "key": "truth",
        "label": "exact λ at w0",
        "tip": "Learning coefficient of the point w0 where the chains start, by a formula. λ̂ tends to it as n grows.",
    },
    *READOUTS[2:],
]
EXACT = [
    {
        "key": "local",
        "label": "local λ at w0 (multiplicity)",
        "wide": True,
        "tip": "Learning coefficient at the point w0 where the chains start, and its multiplicity m. The formula is "
        "our own and not peer-reviewed; it has a short proof. Enumeration and an exact sampler agree with it. "
        "It builds on Aoyagi 2024, Mustață's arc formula, Abeasis & Del Fra, and Lehalleur & Rimányi 2024.",
    },
    {
        "key": "global",
        "label": "global λ (multiplicity)",
        "wide": True,
        "tip": "The smallest λ over all parameters that compute the same function (Aoyagi 2024), and its multiplicity m. It is "
        "never above the local one.",
    },
    {
        "key": "half",
        "label": "d/2",
        "tip": "What λ would be if the model were regular, as BIC assumes: half the number of parameters.",
    },
    {"key": "dim", "label": "weights d", "tip": "Number of weights in the network."},
    {
        "key": "rank",
        "label": "rank r",
        "tip": "Rank of the product of all layers, that is of the function the network computes.",
    },
    {"key": "n", "label": "samples n", "tip": "Number of data samples."},
    {
        "key": "n_beta",
        "label": "nβ",
        "tip": "Inverse temperature times n. The usual choice n / log n makes λ̂ an estimate of λ (Watanabe 2013).",
    },
    {
        "key": "expected",
        "label": "expected λ̂",
        "tip": "What λ̂ should read here: the local λ, corrected for this n and nβ. Fitting noise lowers it, and so "
        "does a multiplicity above 1.",
    },
]


def exact_values(scene: Scene) -> dict[str, str]:
    """Values of EXACT."""
    problem, n_beta = scene.problem, scene.config.n_beta
    return {
        "local": coefficient(problem.local_learning_coefficient),
        "global": coefficient(problem.learning_coefficient),
        "half": number(problem.dim / 2),
        "dim": f"{problem.dim:,}",
        "rank": str(problem.rank),
        "n": power_of_ten(problem.n),
        "n_beta": number(n_beta, 5),
        "expected": number(scene.expected),
    }


def question(scene: Scene, with_answers: bool) -> str:
    """The page in a sentence: how many weights there are, and how many the network behaves as if it had (2λ)."""
    weights, used = scene.problem.dim, 2 * float(scene.local)
    asked = "How many parameters does this network use?"
    if not with_answers:
        return f"{asked} It has {weights:,}, and near this solution it uses 2λ of them."
    if used >= weights:
        return f"{asked} Near this solution all of its {weights:,}: λ = {used / 2:,g}."
    return f"{asked} Near this solution about {used:,.0f} of its {weights:,}: λ = {used / 2:,g}."
