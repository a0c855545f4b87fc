"""The report of a sweep: one HTML file with figures, tables and settings, that needs nothing but a browser."""

from __future__ import annotations

import json
import math
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from app.components.base import text_beside
from app.pages.benchmark.config import options, same_ranks
from app.pages.benchmark.scene import read
from app.pages.benchmark.table import scrolling, table_html, table_words
from app.pages.benchmark.texts import (
    PROGRESS_SHEET,
    READOUTS,
    filter_words,
    progress_html,
    readouts,
    share_near,
    verdict,
)
from app.style.numbers import number_text
from llc_core import __version__
from llc_core.sweeps.scales import SHORT, TITLES, label
from llc_core.sweeps.series import ESTIMATOR_WORDS, TRUTH_WORDS, Row, accuracy, curves, finite_or_nan, lost, select

VIEWS = (("same_batch", "expected"), ("same_batch", "global"), ("printed", "global"))
"""Estimator and truth of the accuracy tables: ours, ours against the global λ, and as printed."""
FIGURE_WORDS = (
    "The axis of relative errors is linear within ±5% and logarithmic beyond. Bands: one standard deviation over the problems. "
    "A click on a legend entry switches its curve; hover for the numbers. Order: share of pairs of problems of one size class "
    "that estimate and truth order alike."
)
MOST_MESSAGES = 20
_STYLE = text_beside(__file__, "report.css")


def write_report(store_path: str | Path, out_path: str | Path) -> Path:
    """Write the report of a store to `out_path`, a single file that loads nothing from anywhere; returns its path.

    ValueError, one sentence, where there is no store, it has no rows, or the file cannot be written.
    """
    content = read(Path(store_path))
    if not content.rows:
        raise ValueError(f"The store {str(store_path)!r} has no rows yet; run the sweep first.")
    out = Path(out_path)
    text = report_html(content.rows, content.progress, Path(store_path).name)
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ValueError(f"The report cannot be written to {str(out)!r}: {error.strerror}.") from None
    return out


def report_html(rows: Sequence[Row], progress: Mapping[str, Any] | None, name: str) -> str:
    """rows, progress: of a store.  name: of its file, for the heading."""
    from bokeh.embed import components
    from bokeh.resources import Resources

    plots: dict[str, Any] = {}
    found = sections(rows)
    several = len(found) > 1
    parts = [_head(rows, progress, name, "" if several else _nearest(rows))]
    for title, mine in found:
        parts.append(_section(title, mine, plots, several))
    parts += [_settings(rows, progress), _failures(rows), _versions()]
    script, places = components(plots)
    # The plain library as text: `render` would add the scripts of every Bokeh extension that is loaded here.
    library = Resources(mode="inline", components=["bokeh"])
    scripts = "".join(f"<script>{text}</script>" for text in library.js_raw)
    body = "".join(parts)
    for key, place in places.items():
        body = body.replace(f"<!--{key}-->", place)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(name)}: sweep</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{PROGRESS_SHEET}{_STYLE}</style>{scripts}</head>'
        f"<body><main>{body}</main>{script}</body></html>"
    )


def sections(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """Heading and rows of the report's parts: size classes, and in each the kinds of ranks where not all samplers ran on all."""
    found = []
    for size in options(rows)["size_class"]:
        mine = select(rows, size_class=size)
        title = f"Size class {size}"
        if same_ranks(mine):
            found.append((title, mine))
        else:
            found += [(f"{title}, ranks {kind}", select(mine, ranks=kind)) for kind in options(mine)["ranks"]]
    return found


def _head(rows: Sequence[Row], progress: Mapping[str, Any] | None, name: str, nearest: str) -> str:
    values = readouts(rows, share_near(rows, "same_batch", "expected"))
    cells = "".join(
        f"<div><dt>{escape(item['label'])}</dt><dd>{escape(values[item['key']])}</dd></div>" for item in READOUTS
    )
    state = ""
    if progress and progress.get("state") != "finished":
        state = progress_html(progress)
    return f"<h1>Sweep {escape(name)}</h1>{state}<dl>{cells}</dl>{nearest}"


def _nearest(rows: Sequence[Row]) -> str:
    tone, words = verdict(accuracy(curves(rows)), TRUTH_WORDS["expected"])
    return f'<p class="verdict {tone}">{words}</p>'


def _section(title: str, rows: Sequence[Row], plots: dict[str, Any], several: bool) -> str:
    """One of `sections`: its tables, then for each gradient four figures, the error against the local and the global λ, and
    the estimate as printed."""
    import holoviews as hv

    from llc_core.sweeps.figures import FIGURES

    parts = [f"<h2>{escape(title)}</h2>", _nearest(rows) if several else ""]
    for estimator, truth in VIEWS:
        title = f"{ESTIMATOR_WORDS[estimator].capitalize()}, against the {TRUTH_WORDS[truth]}"
        parts.append(f"<h3>{escape(title)}</h3>{table_html(accuracy(curves(rows, estimator, truth)))}")
    parts.append(f"<p class=small>{escape(table_words())}</p><p class=small>{escape(FIGURE_WORDS)}</p>")
    for gradient in options(rows)["gradient"]:
        chosen = select(rows, gradient=gradient)
        words = SHORT.get(gradient, gradient)
        drawn = [(name, "same_batch", "expected") for name in FIGURES]
        drawn += [("relative_error", "same_batch", truth) for truth in ("local", "global")]
        if gradient != "full":
            drawn.append(("relative_error", "printed", "global"))
        for name, estimator, truth in drawn:
            key = f"figure{len(plots)}"
            found = curves(chosen, estimator, truth)
            plots[key] = hv.render(FIGURES[name](found), backend="bokeh")
            title = f"{TITLES[name]}, {words}: {ESTIMATOR_WORDS[estimator]}, against the {TRUTH_WORDS[truth]}"
            title += f". {filter_words(found)}" if name == "mean_against_sd" else ""
            parts.append(f"<figure><figcaption>{escape(title)}</figcaption><!--{key}--></figure>")
    return "".join(parts)


def _settings(rows: Sequence[Row], progress: Mapping[str, Any] | None) -> str:
    """What the rows are runs of, what was asked of the last sweep, and one configuration of a run as an example."""
    spec = (progress or {}).get("spec") or {}
    lines = "".join(
        f"<tr><th scope=row>{escape(str(key))}</th><td>{escape(json.dumps(value, ensure_ascii=False))}</td></tr>"
        for key, value in spec.items()
    )
    last = f"<h3>The sweep that ran last</h3><table class=left><tbody>{lines}</tbody></table>" if lines else ""
    example = next((row["config"] for row in rows if row["config"]), "")
    return (
        f"<h2>Settings</h2>{_runs(rows)}{last}<p class=small>Configuration of one run:</p><pre>{escape(example)}</pre>"
    )


RUNS_HEAD = (
    "Size class",
    "Ranks",
    "Sampler",
    "Gradient",
    "Steps",
    "Chains",
    "Problems",
    "Step sizes",
    "Smallest",
    "Largest",
)


def _runs(rows: Sequence[Row]) -> str:
    """One line for each kind of run: a store may hold several sweeps."""
    kinds: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        key = tuple(row[name] for name in ("size_class", "ranks", "sampler", "gradient", "steps", "chains"))
        kinds.setdefault(key, []).append(row)
    body = []
    for (size, ranks, sampler, gradient, steps, chains), mine in kinds.items():
        sizes = {value for row in mine if math.isfinite(value := finite_or_nan(row["step_size"]))}
        ends = [number_text(end) for end in (min(sizes), max(sizes))] if sizes else ["–", "–"]
        problems = len({row["problem"] for row in mine})
        first, *rest = (
            size, ranks, label(sampler), SHORT.get(gradient, gradient), number_text(finite_or_nan(steps), integer=True) if steps else "–",
            chains, problems, len(sizes), *ends,
        )  # fmt: skip
        cells = "".join(f"<td>{escape(str(value))}</td>" for value in rest)
        body.append(f"<tr><th scope=row>{escape(str(first))}</th>{cells}</tr>")
    head = "".join(f"<th scope=col>{escape(text)}</th>" for text in RUNS_HEAD)
    return scrolling("Runs", f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>")


def _failures(rows: Sequence[Row]) -> str:
    failed = Counter(str(row["error"] or "no message") for row in rows if row["status"] == "error")
    diverged = sum(map(lost, rows))
    words = (
        f"{diverged:,} of {len(rows):,} runs diverged: more than half of their chains diverged or were thrown far out. "
        "They count as without an estimate. "
        f"{sum(failed.values()):,} failed with an error."
    )
    items = "".join(f"<li>{count:,} × {escape(message)}</li>" for message, count in failed.most_common(MOST_MESSAGES))
    return f"<h2>Diverged and failed runs</h2><p>{escape(words)}</p><ul>{items}</ul>"


def _versions() -> str:
    import bokeh
    import holoviews
    import numpy
    import torch

    found = {"LLC Lab": __version__, "Python": platform.python_version()}
    found |= {module.__name__: module.__version__ for module in (torch, numpy, bokeh, holoviews)}
    words = ", ".join(f"{name} {version}" for name, version in found.items())
    return f"<footer><p class=small>{datetime.now(UTC):%Y-%m-%d %H:%M} UTC. {escape(words)}.</p></footer>"
