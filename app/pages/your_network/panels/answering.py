"""Parts × kinds of rows, in "Which rows matter?": what each part of the network answers to, in a run in which it alone moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from app.style.numbers import number, with_minus
from llc_core import LossKernel, Run
from llc_core.networks import Split
from llc_core.studies.covariances.draws import row_draws
from llc_core.studies.covariances.parts import answers_of

CLUSTERS = 6
"""Kinds of rows where rows have no class: clusters of the kernel."""
Groups = Sequence[tuple[str, np.ndarray]]
"""Words, and which of the kept rows."""
SHADES = """
td { padding: 6px 10px; }
td.more { background: color-mix(in srgb, rgb(21, 131, 201) calc(var(--share) * 60%), transparent); }
td.less { background: color-mix(in srgb, rgb(230, 159, 0) calc(var(--share) * 60%), transparent); }
td.open { opacity: .6; }
p { margin: 12px 0 6px; font-size: .875rem; line-height: 1.45; }
"""
SAID = (
    "Each part moves alone, and its mean loss answers to the data. Blue: it grows where a share of the data becomes such rows. "
    "Orange: it falls. Pale, in brackets: two errors reach 0."
)


@dataclass(frozen=True)
class Answer:
    """part: in words.  values, se: [groups] of the susceptibility χ.  reason: why λ̂ of the part is not trusted, or empty."""

    part: str
    values: np.ndarray
    se: np.ndarray
    reason: str


def groups(split: Split, rows: np.ndarray, kernel: LossKernel) -> Groups:
    """Kept rows by their class, or by the clusters of the kernel."""
    if split.targets.ndim > 1:
        found = kernel.clusters(CLUSTERS)
        return [(f"cluster {kind}", np.flatnonzero(found == kind)) for kind in np.unique(found)]
    classes = split.targets.numpy()[rows]
    return [(f"{kind}", np.flatnonzero(classes == kind)) for kind in np.unique(classes)]


def answer(words: str, run: Run, known: Groups) -> Answer:
    """Of a run in which the part alone moves, which keeps RowLosses and LossDraws."""
    run.advance(run.total_steps)
    found = run.estimates()[0]
    draws = row_draws(found)
    losses = np.stack([draws.of_rows[:, :, places].mean(axis=2) for _, places in known], axis=2)
    values, se, *_ = answers_of(draws, losses)
    return Answer(words, values, se, "" if found.converged else found.converged.reason)


def table(found: Sequence[Answer], known: Groups) -> str:
    """HTML: parts × kinds of rows."""
    most = max(float(np.abs(each.values).max()) for each in found) or 1.0
    heads = "".join(f"<th scope=col>{escape(name)}</th>" for name, _ in known)
    rows = "".join(f"<tr><th scope=row>{escape(each.part)}</th>{_cells(each, known, most)}</tr>" for each in found)
    doubts = [f"{each.part}: {each.reason}" for each in found if each.reason]
    more = f" Not trusted, {len(doubts)}: {doubts[0]}" if doubts else ""
    head = f"<thead><tr><th scope=col>part</th>{heads}</tr></thead>"
    return f"<p>{escape(SAID + more)}</p><table>{head}<tbody>{rows}</tbody></table>"


def _cells(found: Answer, known: Groups, most: float) -> str:
    cells = []
    for (name, _), value, se in zip(known, found.values, found.se, strict=True):
        clear = abs(value) > 2 * se
        said, share = with_minus(number(value, 2)), min(1.0, abs(value) / most)
        title = escape(with_minus(f"{found.part}, {name}: {number(value, 3)} ± {number(se, 2)}"), quote=True)
        kind = "open" if not clear else "more" if value > 0 else "less"
        cells.append(
            f'<td class={kind} style="--share: {share:.2f}" title="{title}">{said if clear else f"({said})"}</td>'
        )
    return "".join(cells)
