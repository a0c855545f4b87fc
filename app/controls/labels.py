"""Names of fields as people read them."""

from __future__ import annotations

import re

from llc_core.fields import Hyper

_GREEK = {
    **{"alpha": "α", "beta": "β", "gamma": "γ", "epsilon": "ε", "eta": "η", "theta": "θ", "lambda": "λ", "mu": "μ"},
    **{"sigma": "σ", "tau": "τ", "rho": "ρ", "delta": "δ", "kappa": "κ", "xi": "ξ"},
}
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def plain_symbol(latex: str) -> str:
    r"""A LaTeX symbol as plain text, since labels cannot hold mathematics: r"\beta_1" → "β₁"."""
    text = re.sub(r"\\([a-z]+)", lambda m: _GREEK.get(m[1], ""), latex)
    text = re.sub(r"_\{?([0-9]+)\}?", lambda m: m[1].translate(_SUBSCRIPTS), text)
    return re.sub(r"[{}$\\^]", "", text).strip()


def field_label(name: str, about: Hyper) -> str:
    words = name.replace("_", " ").capitalize()
    symbol = plain_symbol(about.symbol)
    return f"{words} {symbol}" if symbol else words
