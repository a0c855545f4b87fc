"""What the panel of the sweep reads from its two entries, and what it says of the points."""

from __future__ import annotations

import math

from app.pages.local_geometry.panels.sweep.points import SweepPoints
from app.style.numbers import number_text


def parse_end(name: str, text: str) -> float | None:
    """A number as people type it, None where nothing is written; ValueError with one sentence."""
    short = text.strip()
    if not short:
        return None
    try:
        return float(short.replace("−", "-").replace(",", "").replace(" ", ""))
    except ValueError:
        shown = short if len(short) <= 20 else short[:17] + "..."
        raise ValueError(
            f"{name}: “{shown}” is not a number; write for example 1e-4, or nothing to have it automatic."
        ) from None


def words(found: SweepPoints) -> str:
    """What the points say, for people."""
    size = f"{len(found.values)} values, {found.chains} chains of {found.chain_steps:,} steps each"
    if not found.averaging:
        return f"{size}. Burn-in: the faint points show where the chains are, not yet an average."
    if found.best is None:
        return f"{size}. No value has an estimate: most chains diverged everywhere."
    value, error = float(found.values[found.best]), float(found.error[found.best])
    se = float(found.error_se[found.best])
    shown = f"{round(error, 3) + 0.0:+.1%}".replace("-", "−") + (f" ± {2 * se:.1%}" if math.isfinite(se) else "")
    text = f"{size}. Smallest error, its error bar included, at {number_text(value)}: {shown}"
    if math.isfinite(found.default):
        ratio = value / found.default
        own = f"the automatic {number_text(found.default)}"
        text += " (automatic)" if abs(ratio - 1) < 0.02 else f" ({ratio:.2g} times {own})"
    text += "."
    if math.isfinite(found.limit):
        text += f" Chains are stable below {number_text(float(f'{found.limit:.3g}'))}."  # as the slider has it
    elif found.dead.max() > 0:
        text += f" Chains diverged at {int((found.dead > 0).sum())} of {len(found.values)} values."
    return text
