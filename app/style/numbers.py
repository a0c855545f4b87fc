"""Numbers as people read them."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the window writes numbers before the engine is there
    from llc_core import LearningCoefficient

UNKNOWN, NOT_KNOWN = "–", "not known"
"""Where nothing is measured yet, and where it cannot be."""


def number(value: float | None, digits: int = 4) -> str:
    if value is None or not math.isfinite(value):
        return UNKNOWN
    text = f"{value:.{digits}g}"
    return f"{value:,.0f}" if abs(float(text)) >= 10 ** min(digits, 3) else text


def with_error(value: float, se: float) -> str:
    """ "7.21 ± 0.03": as many digits as the standard error has to say."""
    if not math.isfinite(value):
        return UNKNOWN
    if not (math.isfinite(se) and se > 0):
        return number(value)
    decimals = max(0, 1 - math.floor(math.log10(se)))
    return f"{value:,.{decimals}f} ± {se:.{decimals}f}"


def exact(value: Fraction) -> str:
    """ "15/2 = 7.5" or "29"."""
    if value.denominator == 1:
        return f"{value.numerator:,}"
    return f"{value.numerator:,}/{value.denominator} = {float(value):,.6g}"


def coefficient(found: LearningCoefficient | None) -> str:
    """ "15/2 = 7.5 (m = 1)"."""
    if found is None:
        return UNKNOWN
    return f"{exact(found.value)} (m = {'?' if found.multiplicity is None else found.multiplicity})"


def power_of_ten(value: int) -> str:
    """ "10⁶" where it is one."""
    digits = str(value)
    if len(digits) > 4 and digits == "1" + "0" * (len(digits) - 1):
        return "10" + str(len(digits) - 1).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{value:,}"


def number_text(value: float | None, integer: bool = False) -> str:
    """Short, and readable back."""
    if value is None:
        return ""
    if integer:
        return f"{int(value):,}"
    if value and not 1e-3 <= abs(value) < 1e6:
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{float(mantissa):g}e{int(exponent)}"
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def with_minus(words: str) -> str:
    """A sentence of the engine, in which a hyphen before a number is a minus; that of 1e-4 stays."""
    return re.sub(r"(?<!\w)-(?=\d)", "−", words)
