"""What the page "Stages" says. Every number is of the run or exact."""

from __future__ import annotations

import math

from app.pages.stages.config import REAL, StagesConfig
from app.pages.stages.job import StagesProgress
from app.runs.job import State
from app.session import run_words
from app.style.numbers import UNKNOWN, number, with_error
from llc_core import Stage, Stages, local_learning_coefficient

OWN_SETTINGS = "Your own network. Every change begins the staircase anew."
TASK = "How high is each stair? Watch λ̂ at every rest, guess the next one, then press Reveal."
CELLS = [
    {
        "key": "llc",
        "label": "Estimate λ̂ ± standard error",
        "hero": True,
        "main": True,
        "tip": "Measured by chains that begin at this rest.",
    },
    {
        "key": "exact",
        "label": "exact λ",
        "tip": "The local learning coefficient of what has been learned at this rest.",
    },
    {
        "key": "multiplicity",
        "label": "multiplicity m",
        "tip": "In how many directions at once λ is reached. Above 1, λ̂ lies lower.",
    },
    {"key": "loss", "label": "loss", "tip": "Half the squared distance to the teacher's matrix."},
    {
        "key": "learned",
        "label": "learned values",
        "tip": "Singular values of the network's matrix at this rest that have reached the teacher's.",
    },
]
FAR = 0.08
"""λ̂ further from the exact λ than this share is not called right: so much do a finite n and m = 2 take off."""
EXACT_CELLS = ["exact", "multiplicity"]


def question(config: StagesConfig, scene: Stages, visible: bool) -> str:
    if config.teacher == REAL:
        return "Why is λ̂ below 0? Against the real target a rest is a saddle, and lower losses are near."
    if not visible:
        return "How many weights does the network use at each rest of its training?"
    steps = ", ".join(f"{float(stage.coefficient):g}" for stage in scene)
    return f"λ climbs while the network learns: {steps} are its exact steps."


def caption(state: State, scene: Stages) -> str:
    seen: StagesProgress | None = state.snapshot
    return run_words.caption(state, f"rest {seen.at + 1} of {len(scene)}" if seen is not None else "")


def cells(config: StagesConfig, stage: Stage, seen: StagesProgress | None, place: int) -> dict[str, str]:
    measured = seen is not None and math.isfinite(seen.llc[place])
    done = seen is not None and place < len(seen.estimates)
    values = ", ".join(number(value, 3) for value in stage.singular_values[: stage.rank])
    llc = UNKNOWN
    if measured and seen is not None:
        llc = with_error(seen.llc[place], seen.llc_se[place]) if done else f"{number(seen.llc[place], 3)} so far"
    saddle = config.teacher == REAL and stage.rank < len(config.singular_values)
    return {
        "llc": llc.replace("-", "−"),
        "exact": "none here" if saddle else f"{float(stage.coefficient):g}",
        "multiplicity": UNKNOWN if saddle else str(stage.coefficient.multiplicity),
        "loss": number(stage.loss, 3),
        "learned": values or "none",
    }


def verdict(
    config: StagesConfig, stage: Stage, seen: StagesProgress | None, place: int, visible: bool
) -> tuple[str, str]:
    """Tone and words on one rest."""
    if stage.note and config.teacher != REAL:
        return "warn", f"<b>No rest.</b> {stage.note}"
    if seen is None or place >= len(seen.estimates):
        return "", "<b>Not yet.</b> Chains have not been here to the end."
    found = seen.estimates[place]
    if config.teacher == REAL and found.llc < 0:
        return "bad", (
            "<b>Not a minimum.</b> The chains find lower losses near this place, so λ̂ is below 0. "
            "That is no fault of the sampler: λ belongs to minima."
        )
    if not found.converged:
        return "warn", f"<b>Not trusted.</b> {found.converged.reason}"
    if not visible:
        return "good", "<b>The chains agree.</b> Press Reveal to see the exact λ."
    exact = float(stage.coefficient)
    off = found.llc / exact - 1
    if abs(found.llc - exact) > max(FAR * exact, 3 * found.llc_se):
        return "warn", (
            f"<b>Between two steps.</b> λ̂ is {abs(off):.0%} {'below' if off < 0 else 'above'} the exact λ. "
            "At this n a value that is not learned yet can be seen, or m above 1 holds λ̂ down."
        )
    reads = found.expected
    here = f" At this n it should read {number(reads, 3)}." if reads is not None and math.isfinite(reads) else ""
    return "good", (
        f"<b>Trust it.</b> λ̂ is {abs(off):.1%} {'below' if off < 0 else 'above'} the exact λ, which it reaches as n grows.{here}"
    )


def rank_table() -> str:
    """HTML: λ of a product of two 2 × 2 layers by the ranks of both. Where it is more than the least one of its product, it is marked."""
    from llc_core import learning_coefficient

    rows = []
    for a in range(3):
        cells = []
        for b in range(3):
            found = []
            for rank in range(max(0, a + b - 2), min(a, b) + 1):
                local = local_learning_coefficient([2, 2, 2], [[2, a, rank], [0, 2, b], [0, 0, 2]])
                least = learning_coefficient([2, 2, 2], rank).value
                text = f"{local.value} (m = {local.multiplicity})"
                found.append(f"<b>{text}</b>, least {least}" if local.value > least else text)
            cells.append(f"<td>{'<br>'.join(found)}</td>")
        rows.append(f"<tr><th scope='row'>rank A = {a}</th>{''.join(cells)}</tr>")
    head = "".join(f"<th scope='col'>rank B = {b}</th>" for b in range(3))
    return f"<table><tr><td></td>{head}</tr>{''.join(rows)}</table>"


TABLE_WORDS = (
    "Local is not global. The product BA of two 2 × 2 layers can be the same with other ranks of A and B. "
    "λ depends on these ranks. Bold: it is above the least λ of that product. Two entries: the product has rank 0, or 1."
)
TABLE_STYLE = """
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
td, th { padding: 6px 8px; text-align: left; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); font-weight: 400; }
th { font-weight: 700; }
@media (min-width: 600px) { td, th { white-space: nowrap; } }
"""
