"""What the page "Stages" says. Every number is of the run or exact."""

from __future__ import annotations

import math

from app.estimates.texts import VARIANCE, from_variance
from app.pages.stages.config import REAL, StagesConfig
from app.pages.stages.job import StagesProgress
from app.pages.stages.scene import Moment
from app.runs.job import State
from app.session import run_words
from app.style.numbers import UNKNOWN, number, with_error
from llc_core import Stage, Stages

TIME_HELP = "Any moment of the training. Drag it, use the arrow keys, or click into a figure. At its right end it follows the run."
OWN_SETTINGS = "Your own network. Every change begins the staircase anew."
TASK = "How high is each stair? Watch λ̂ at every rest, guess the next one, then press Reveal."
CELLS = [
    {
        "key": "llc",
        "label": "Estimate λ̂ ± standard error",
        "hero": True,
        "main": True,
        "tip": "Measured by chains that begin at the rest with as many values learned.",
    },
    VARIANCE,
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
    {"key": "loss", "label": "loss", "tip": "Half the squared distance to the teacher's matrix at this time."},
    {
        "key": "learned",
        "label": "learned values",
        "tip": "How many singular values of the network's matrix are above half of the teacher's.",
    },
]
LEAST = 1e-3
"""A singular value below this share of the teacher's is written as 0."""
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


def whereabouts(scene: Stages, now: Moment) -> str:
    """What moves, what the singular values are, and of which rest the λ above is."""
    stage, moving = scene[now.place], now.moving
    values = ", ".join(
        number(value, 2) if value > LEAST * of else "0" for value, of in zip(now.values, scene.teacher, strict=True)
    )
    if moving is None:
        return f"The network rests. Its singular values are {values}."
    return (
        f"Value {moving + 1} is on its way. The singular values are {values}. "
        f"λ is of the rest with {stage.rank} learned, at time {number(stage.time, 3)}."
    )


def cells(config: StagesConfig, stage: Stage, seen: StagesProgress | None, now: Moment) -> dict[str, str]:
    place = now.place
    measured = seen is not None and math.isfinite(seen.llc[place])
    done = seen is not None and place < len(seen.estimates)
    llc = variance = UNKNOWN
    if done and seen is not None:
        found = seen.estimates[place]
        variance = from_variance(found.llc_from_variance, found.llc_from_variance_se)
    if measured and seen is not None:
        llc = with_error(seen.llc[place], seen.llc_se[place]) if done else f"{number(seen.llc[place], 3)} so far"
    saddle = config.teacher == REAL and stage.rank < len(config.singular_values)
    return {
        "llc": llc.replace("-", "−"),
        "variance": variance,
        "exact": "none here" if saddle else f"{float(stage.coefficient):g}",
        "multiplicity": UNKNOWN if saddle else str(stage.coefficient.multiplicity),
        "loss": number(now.loss, 3),
        "learned": f"{now.learned} of {len(config.singular_values)}",
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
