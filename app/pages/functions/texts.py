"""Numbers and sentences of the page "Weights and functions". Long, since every number says what it is."""

from __future__ import annotations

import math
from html import escape

import numpy as np

from app.pages.functions.config import ACROSS, FunctionsConfig
from app.pages.functions.job import ChainsSeen, FunctionsProgress, Gauges
from app.pages.functions.pictures import AGREE, written
from app.pages.functions.scene import Posterior, Scene
from app.runs.job import State, Status
from app.session.run_words import trouble
from app.style.numbers import UNKNOWN, number, with_error

REPLAY_HELP = "Show the chains as they were at an iteration. At its right end the slider follows the run."
OWN_SETTINGS = "Your own settings. Every change starts the chains again."
STUCK = 0.01
"""Acceptance below which a sampler does not move."""
NEAR, ERRORS = 0.1, 3.0
"""A mean is the exact one within so many of its standard deviations, or within so many times what chance leaves."""
CELLS = [
    {
        "key": "llc",
        "label": "λ̂",
        "main": True,
        "wide": True,
        "tip": "The local learning coefficient, estimated from the loss of the chains: nβ·(E[L] − L(w0)), with its "
        "standard error.",
    },
    {
        "key": "expected_llc",
        "label": "expected",
        "main": True,
        "tip": "What λ̂ should be at this n and nβ. It is asymptotic: the exact value on these data is a little lower "
        "or higher.",
    },
    {
        "key": "distance",
        "label": "distance to exact",
        "main": True,
        "wide": True,
        "tip": "Between the mean of f over the chains and the exact posterior's, in its standard deviations. Root "
        "mean square over the inputs, second half of the iterations.",
    },
    {
        "key": "chance",
        "label": "chance alone",
        "main": True,
        "tip": "The distance that a right answer would have from so many independent draws. It is √(1/ESS of the "
        "chains + 1/ESS of the exact answer).",
    },
    {
        "key": "apart",
        "label": "two paths differ by",
        "main": True,
        "wide": True,
        "tip": "The largest distance between the functions of the weights and the chain of functions, over all "
        "iterations and chains. That chain never saw the weights, but both take the same noise.",
    },
    {
        "key": "crossings",
        "label": "changes of cell",
        "tip": "How often a chain of weights went into another cell of the torus, or into another order. A linear "
        "model has none.",
    },
    {
        "key": "rival",
        "label": "sd: W-SGLD · exact",
        "wide": True,
        "tip": "Standard deviation of the phase by as many repelling particles (W-SGLD) from the same starts, and the "
        "exact one. Particles in other cells do not feel each other, and fall to the mode.",
    },
    {
        "key": "acceptance",
        "label": "acceptance",
        "tip": "Mean probability with which a proposal is accepted so far; not known for collapsed pCN.",
    },
    {"key": "ess", "label": "ESS of f(x)", "detail": True, "tip": "How many independent draws the functions are worth: the median over the inputs."},
    {"key": "most", "label": "largest R-hat, weights", "detail": True, "tip": "The largest R-hat among the weights that are watched."},
    {"key": "dim", "label": "weights", "detail": True, "tip": "Weights and biases of the network."},
    {
        "key": "gap",
        "label": "exact to GP",
        "detail": True,
        "tip": "Between the means of the exact posterior at this width and of the Gaussian process. In the latter's "
        "standard deviations, root mean square over the inputs.",
    },
    {
        "key": "exact_ess",
        "label": "ESS of the exact answer",
        "detail": True,
        "tip": "The exact answer is a mixture of Gaussians over draws of the hidden layers (finite_width): so many independent "
        "ones.",
    },
    {
        "key": "limit_evidence",
        "label": "log evidence, GP",
        "detail": True,
        "tip": "log p(y) in nats under the Gaussian process, that is at infinite width.",
    },
]  # fmt: skip
NETWORK_CELLS = ["acceptance", "gap", "exact_ess", "limit_evidence"]
"""Cells that only a network has."""
DEEP_CELLS = ["llc", "expected_llc"]
CASE_CELLS = ["apart", "crossings"]
"""Cells that only a case has in which both chains are known; that of W-SGLD is of the torus alone."""
EXACT_CELLS = ["distance", "chance", "gap", "exact_ess", "limit_evidence", "rival", "expected_llc"]
"""Cells that tell of the exact answer."""
SHOWN = [
    {"key": "live", "label": "chains", "tip": "Mean and band of f over the chains."},
    {
        "key": "lines",
        "label": "8 networks",
        "tip": "The functions of the first eight chains at the iteration of the slider.",
    },
    {
        "key": "exact",
        "label": "exact, this width",
        "tip": "The exact posterior at this very width: mean and the edges of its band.",
    },
    {"key": "limit", "label": "Gaussian process", "tip": "The same network with infinitely wide layers (NNGP)."},
]
"""Entries of the legend that switch what is drawn."""
SWATCHES = {
    "live": "estimate",
    "lines": "chains",
    "exact": '<path d="M0 3h26M0 11h26" stroke="#D55E00" stroke-width="2" stroke-dasharray="6 3"/>',
    "limit": '<rect y="1" width="26" height="12" fill="#8a8f98" fill-opacity=".45"/>',
}
ANSWERS = ("exact", "limit")
CASE_LABELS = {"lines": "8 chains", "exact": "exact"}
"""Words of the legend where there is no network."""


def shown(scene: Scene, with_answers: bool) -> list[dict[str, str]]:
    """Entries of the legend for what this scene can show."""
    found = [item for item in SHOWN if with_answers or item["key"] not in ANSWERS]
    if scene.network is not None:
        return found
    if scene.deep is not None:
        return [
            {**item, "label": CASE_LABELS.get(item["key"], item["label"])}
            for item in found
            if item["key"] not in ANSWERS
        ]
    return [{**item, "label": CASE_LABELS.get(item["key"], item["label"])} for item in found if item["key"] != "limit"]


def distance_to(exact: Posterior | None, gauges: Gauges | None) -> float:
    """Root mean square over the inputs, in the exact standard deviations; nan where one of both is not there."""
    if exact is None or gauges is None:
        return math.nan
    return float(np.sqrt(np.mean(((gauges.mean - exact.mean) / exact.sd) ** 2)))


def chance_of(exact: Posterior | None, gauges: Gauges | None) -> float:
    if exact is None or gauges is None or not gauges.ess > 0:
        return math.nan
    return math.sqrt(1 / gauges.ess + 1 / exact.ess)


def cell_values(
    scene: Scene,
    progress: FunctionsProgress | None,
    seen: ChainsSeen | None,
    exact: Posterior | None,
    limit: Posterior | None,
) -> dict[str, str]:
    gauges = seen.gauges if seen is not None else None
    gap = math.nan
    if exact is not None and limit is not None:
        gap = float(np.sqrt(np.mean(((exact.mean - limit.mean) / limit.sd) ** 2)))
    return {
        "llc": UNKNOWN if seen is None else with_error(seen.llc.value, seen.llc.se),
        "expected_llc": UNKNOWN if scene.deep is None else number(scene.deep.expected_llc()),
        "distance": _sd(distance_to(exact, gauges)),
        "chance": _sd(chance_of(exact, gauges)),
        "acceptance": _share(progress.acceptance if progress is not None else math.nan),
        "ess": number(gauges.ess, 3) if gauges is not None else UNKNOWN,
        "most": written(gauges.most) if gauges is not None else UNKNOWN,
        "dim": f"{scene.dim:,}",
        "apart": _tiny(progress.apart if progress is not None else None),
        "gap": _sd(gap),
        "exact_ess": number(exact.ess, 3) if exact is not None else UNKNOWN,
        "limit_evidence": number(limit.log_evidence) if limit is not None else UNKNOWN,
        "crossings": UNKNOWN if progress is None else f"{progress.crossings:,}",
        "rival": _rival(progress),
    }


def _rival(progress: FunctionsProgress | None) -> str:
    rival = None if progress is None else progress.rival
    return UNKNOWN if rival is None else f"{rival.spread:.3f} · {rival.exact:.3f}"


def withheld(scene: Scene, with_answers: bool) -> list[str]:
    """Cells that are not shown."""
    if scene.deep is not None:
        found = [*CASE_CELLS, *NETWORK_CELLS, "rival", "distance", "chance"]
    elif scene.case is None:
        assert scene.network is not None
        gaussian = scene.network.likelihood == "gaussian"
        found = [*CASE_CELLS, "rival", *DEEP_CELLS, *([] if gaussian else ["limit_evidence"])]
    else:
        found = [
            *NETWORK_CELLS,
            *DEEP_CELLS,
            *([] if scene.case.rival else ["rival"]),
            *([] if scene.case.moves else ["crossings"]),
        ]
    return found if with_answers else [*found, *EXACT_CELLS]


def headline(gauges: Gauges | None, scene: Scene, acceptance: float = math.nan) -> str:
    """What is seen, in one sentence."""
    who, what = ("networks", "curve") if scene.network is not None else ("chains", "function")
    if acceptance < STUCK:
        return f"Nothing moves: {acceptance:.1%} of the proposals are accepted, and each chain stays where it began."
    if gauges is None or math.isnan(gauges.functions) or math.isnan(gauges.weights):
        return f"Do {scene.config.chains} {who} agree on the function before they agree on their weights?"
    weights, functions = written(gauges.weights), written(gauges.functions)
    if gauges.functions < AGREE and gauges.weights >= AGREE:
        return f"The {who} agree on the {what} (R-hat {functions}), but not on their weights (R-hat {weights})."
    if gauges.functions < AGREE:
        return f"The {who} agree on the {what} (R-hat {functions}) and on their weights too (R-hat {weights})."
    if gauges.functions < gauges.weights:
        return f"The {who} do not agree yet: less on their weights (R-hat {weights}) than on the {what} (R-hat {functions})."
    return f"The {who} do not agree yet on the {what} (R-hat {functions}); on their weights R-hat is {weights}."


def verdict(
    state: State, seen: ChainsSeen | None, exact: Posterior | None, why: str, with_answers: bool
) -> tuple[str, str]:
    """(tone, HTML): whether the band can be taken for the posterior's. why: there is no exact answer."""
    tone, words = trouble(state)
    if words:
        return tone, words
    progress: FunctionsProgress | None = state.snapshot
    if progress is None or seen is None or math.isnan(seen.gauges.functions):
        return "wait", "<b>Starting.</b> The first gauges appear in a moment."
    gauges = seen.gauges
    if progress.acceptance < STUCK:
        return "bad", (
            f"<b>Nothing moves.</b> {progress.acceptance:.2%} of the proposals are accepted. <b>What to change:</b> a smaller "
            "step, or more noise in the likelihood."
        )
    away, chance = distance_to(exact, gauges), chance_of(exact, gauges)
    known = with_answers and math.isfinite(away) and math.isfinite(chance)
    far = f" Their mean is {away:.2f} sd from the exact one." if known else ""
    if not gauges.functions < AGREE:
        more = "" if state.status is Status.RUNNING else " <b>What to change:</b> more iterations, or another sampler."
        return "warn", f"<b>Not there yet.</b> The chains do not agree on the function.{far}{more}"
    if math.isfinite(seen.llc.value) and gauges.loss < AGREE:
        return "good", (
            f"<b>λ̂ has settled</b> at {with_error(seen.llc.value, seen.llc.se)}, though R-hat of the weights is "
            f"{written(gauges.weights)}. λ̂ needs the loss alone, and the loss knows the function alone."
        )
    if not with_answers:
        return "good", "<b>The chains agree on the function.</b>"
    if exact is None:
        return (
            "good",
            f"<b>The chains agree on the function.</b> {escape(why)}",
        )
    if away <= max(NEAR, ERRORS * chance):
        return (
            "good",
            f"<b>The band is the exact one.</b> Its mean is {away:.2f} sd away; chance leaves about {chance:.2f}.",
        )
    return (
        "bad",
        f"<b>Agreed, but not exact.</b> The mean is {away:.2f} sd from the exact one; chance leaves about {chance:.2f}.",
    )


def band_words(config: FunctionsConfig, iteration: int) -> str:
    """What the blue band is, below the figure, and what can be done there."""
    tap = "" if config.is_case or config.is_deep else " Tap the figure to add a data point."
    share = f"{config.share:.0%} of"
    if config.band == ACROSS:
        who = f"the {config.chains} chains at iteration {iteration:,}: a band over chains, not over time."
    else:
        who = f"all draws of {config.chains} chains from iteration {iteration // 2:,} to {iteration:,}."
    return f"Blue: {share} {who}{tap}"


def _sd(value: float) -> str:
    return f"{value:.2f} sd" if math.isfinite(value) else UNKNOWN


def _tiny(value: float | None) -> str:
    """4·10⁻¹¹"""
    if value is None:
        return UNKNOWN
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.0e}".split("e")
    return f"{mantissa}·10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _share(value: float) -> str:
    return f"{value:.1%}" if math.isfinite(value) else UNKNOWN
