"""The accuracy table and the series of a sweep as HTML and CSV."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from app.style.numbers import NOT_KNOWN, number_text
from llc_core.sweeps.csv_tables import table_csv
from llc_core.sweeps.scales import SHORT, label
from llc_core.sweeps.series import CLOSE, THROWN, Accuracy, Curve


def table_words(cut: bool = True) -> str:
    """cut: whether estimates that are too large count as missing."""
    large = f", and an estimate above {THROWN} times half the number of parameters as missing" if cut else ""
    return (
        "Each row is at its best step size, that of the least root mean square relative error. Step sizes at which a tenth or more "
        f"of the problems have no estimate are left out. A missing estimate counts as wrong by 100% there{large}. Decades: the longest row of "
        "neighbouring step sizes whose mean is within ±5%. ✓: within ±5% on average. Of several runs of one problem at one step "
        "size the longest counts. The mean relative error stands a second time, from how much the losses vary, with its standard error. "
        "Older stores do not have it."
    )


HEAD = (
    "Sampler",
    "Gradient",
    "Best step size",
    "Root mean square error",
    "Mean relative error",
    "The same from the variance",
    "Standard deviation",
    "Without estimate",
    "Pairs in order",
    f"Decades within ±{CLOSE:.0%}",
    "Problems",
    "Seconds per run",
)
SERIES = (
    "step_size",
    "mean",
    "sd",
    "from_variance",
    "from_variance_se",
    "count",
    "total",
    "dead",
    "order",
    "pairs",
    "seconds",
)


def percent(value: float, signed: bool = False) -> str:
    if not math.isfinite(value):
        return "–"
    if abs(value) >= 10:
        return f"{value:{'+' if signed else ''},.0f}×".replace("-", "−")
    return f"{value:{'+' if signed else ''}.1%}".replace("-", "−")


def of_variance(row: Accuracy) -> str:
    if not math.isfinite(row.from_variance):
        return NOT_KNOWN
    error = f" ± {percent(row.from_variance_se)}" if math.isfinite(row.from_variance_se) else ""
    return percent(row.from_variance, signed=True) + error


def cells(row: Accuracy) -> list[str]:
    """As in HEAD, for people."""
    return [
        label(row.sampler),
        SHORT.get(row.gradient, row.gradient),
        number_text(row.step_size) if math.isfinite(row.step_size) else "none",
        percent(row.size),
        percent(row.mean, signed=True),
        of_variance(row),
        percent(row.sd),
        percent(row.nan),
        percent(row.order),
        f"{row.decades:.1f}" if math.isfinite(row.decades) else "–",
        f"{row.count} of {row.total}",
        number_text(row.seconds) if math.isfinite(row.seconds) else "–",
    ]


def table_html(rows: Sequence[Accuracy]) -> str:
    """Rows within ±5% on average are marked."""
    head = "".join(f"<th scope=col>{escape(text)}</th>" for text in HEAD)
    body = []
    for row in rows:
        good = abs(row.mean) <= CLOSE
        first, *rest = (escape(text) for text in cells(row))
        mark = f' <span title="mean within ±{CLOSE:.0%}">✓</span>' if good else ""
        data = "".join(f"<td>{text}</td>" for text in rest)
        body.append(f"<tr{' class=close' if good else ''}><th scope=row>{first}{mark}</th>{data}</tr>")
    return scrolling("Accuracy", f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>")


def scrolling(name: str, content: str) -> str:
    """HTML that may be wider than its place: who has no mouse reaches it with Tab."""
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(name)}">{content}</div>'


SCROLL = """
.scroll { overflow: auto; max-width: 100%; }
.scroll:focus-visible { outline: 2px solid var(--panel-primary-color); outline-offset: 2px; }
"""


def accuracy_csv(rows: Sequence[Accuracy]) -> str:
    names = list(Accuracy.__dataclass_fields__)
    return table_csv(names, [[getattr(row, name) for name in names] for row in rows])


def series_csv(found: Sequence[Curve]) -> str:
    """One row for each sampler, gradient and step size: what the figures show."""
    rows = []
    for c in found:
        for values in zip(*(getattr(c, name).tolist() for name in SERIES), strict=True):
            rows.append([c.sampler, c.gradient, *values])
    return table_csv(["sampler", "gradient", *SERIES], rows)


def rows_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows of the store."""
    names = list(rows[0]) if rows else []
    return table_csv(names, [[row[name] for name in names] for row in rows])
