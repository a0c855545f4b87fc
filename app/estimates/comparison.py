"""What a pinned run leaves for the next one to be laid over, and in which words two runs differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from app.controls.labels import field_label
from app.controls.run_fields import GRADIENT_LABELS
from app.style import theme
from app.style.numbers import UNKNOWN, number_text
from llc_core import RunConfig
from llc_core.fields import hyper_fields
from llc_core.samplers.registry import samplers

COLUMNS = {
    "llc": "λ̂ ± s.e.",
    "expected": "expected λ̂",
    "error": "relative error",
    "r_hat": "R-hat",
    "ess": "ESS",
    "dead": "diverged chains",
    "speed": "steps/s",
}
"""Keys of `app.estimates.texts.READOUTS` and their headings."""
NAMES = {
    "gradient": "gradient",
    "metric_gradient": "gradient of the metric",
    "batch_size": "batch size",
    "baseline": "baseline",
    "n_beta": "nβ",
    "localization": "localization γ",
    "chains": "chains",
    "interaction": "interaction of the chains",
    "steps": "steps",
    "burn_in": "burn-in",
    "continued_from": "begun for",
    "step_decay": "decay of the steps",
    "seed": "chain seed",
    "dtype": "precision",
    "device": "device",
}


@dataclass(frozen=True)
class RunCard:
    """A run on the screen. config: complete, with defaults filled in.  values: read-outs, see COLUMNS."""

    config: RunConfig
    values: Mapping[str, str]

    @property
    def title(self) -> str:
        assert self.config.sampler is not None
        return sampler_label(self.config.sampler["name"])


def sampler_label(name: str) -> str:
    known = samplers(conditionals=True, priors=True)
    return (known[name].label or name) if name in known else name


def differences(new: RunConfig, old: RunConfig) -> list[str]:
    """How the complete configuration `new` differs from `old`, one phrase each, the most important first."""
    found = []
    if new.problem != old.problem:
        found.append(f"network {_network(new.problem)} instead of {_network(old.problem)}")
    first, second = dict(new.sampler or {}), dict(old.sampler or {})
    if first.get("name") != second.get("name"):
        found.append(f"{sampler_label(first['name'])} instead of {sampler_label(second['name'])}")
    else:
        about = hyper_fields(samplers(conditionals=True, priors=True)[first["name"]])
        for name in first:
            if first[name] != second.get(name):
                label = field_label(name, about[name])
                found.append(f"{label[0].lower()}{label[1:]} {_text(first[name])} instead of {_text(second.get(name))}")
    noisy = "full" not in (new.gradient, old.gradient)
    for name, label in NAMES.items():
        one, other = getattr(new, name), getattr(old, name)
        if name == "burn_in":
            one, other = _share(new), _share(old)
        if one == other or (name == "batch_size" and not noisy):
            continue
        if name == "gradient":
            one, other = (GRADIENT_LABELS.get(str(value), value) for value in (one, other))
        if name == "interaction":
            one, other = (v["name"] if v else "none" for v in (one, other))
            one, other = (one, other) if one != other else ("another", "the same kind")
        if name == "continued_from":
            one, other = (f"{v['steps']:,} steps" if v else "all its steps" for v in (one, other))
        found.append(f"{label} {_text(one)} instead of {_text(other)}")
    return found


def _share(config: RunConfig) -> float:
    """Burn-in as a share of the steps, which a run that went on has as a number of steps."""
    whole = isinstance(config.burn_in, int) and config.steps
    return config.burn_in / config.steps if whole else float(config.burn_in)


def _network(problem: Mapping[str, Any]) -> str:
    ranks = problem.get("layer_ranks")
    shape = "–".join(map(str, problem.get("widths", ()))) or str(problem.get("size_class", ""))
    words = ", ".join(map(str, ranks)) if ranks else problem.get("ranks")
    return f"{shape} (ranks {words}, seed {problem.get('seed', 0)})" if words else shape


def _text(value: Any) -> str:
    if value is None:
        return "automatic"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number_text(float(value)) if isinstance(value, float) else f"{value:,}"
    return str(value)


def table(current: RunCard, pinned: RunCard) -> str:
    """HTML: both runs, a row each, and what differs in words."""
    head = "".join(f"<th scope=col>{escape(words)}</th>" for words in COLUMNS.values())
    body = "".join(
        f'<tr><th scope=row><svg width="26" height="14" aria-hidden="true"><path d="M0 7h26" stroke="{color}" '
        f'stroke-width="3"{dash}/></svg> {escape(words)}: {escape(card.title)}</th>'
        + "".join(f"<td>{escape(card.values.get(key, UNKNOWN))}</td>" for key in COLUMNS)
        + "</tr>"
        for words, card, color, dash in (
            ("this run", current, theme.ESTIMATE, ""),
            ("pinned", pinned, theme.PINNED, ' stroke-dasharray="6 3"'),
        )
    )
    found = differences(current.config, pinned.config)
    words = "; ".join(found) if found else "nothing in the settings"
    return (
        f"<table><thead><tr><th scope=col>run</th>{head}</tr></thead><tbody>{body}</tbody></table>"
        f'<p class="small what"><b>What differs:</b> {escape(words)}.</p>'
    )
