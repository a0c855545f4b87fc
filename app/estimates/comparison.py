"""What a pinned run leaves for the next one to be laid over, and in which words two runs differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from html import escape
from typing import Any

from app.controls.labels import field_label
from app.controls.run_fields import GRADIENT_LABELS
from app.runs.job import State
from app.style import theme
from app.style.numbers import UNKNOWN, number_text
from llc_core import RunConfig
from llc_core.fields import hyper_fields
from llc_core.samplers.registry import samplers

COLUMNS = {
    "llc": "λ̂ ± s.e.",
    "variance": "from the variance",
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
    "polish": "w0",
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
    """A run on the screen. config: complete, with defaults filled in.  values: read-outs, see COLUMNS.

    used: what stands for automatic fields in this run, by their names ("step_size" among them), as far as it is known.
    reasons: why a value is not known, by its key.
    """

    config: RunConfig
    values: Mapping[str, str]
    used: Mapping[str, float] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        assert self.config.sampler is not None
        return sampler_label(self.config.sampler["name"])


def in_use(state: State) -> dict[str, float]:
    """The engine's choices for automatic fields: one number for each, on every part of a page."""
    seen = state.snapshot
    if seen is None:
        return {}
    return {"step_size": float(seen.step_size[0]), "n_beta": float(seen.n_beta[0])}


def sampler_label(name: str) -> str:
    known = samplers(conditionals=True, priors=True)
    return (known[name].label or name) if name in known else name


def differences(
    new: RunConfig,
    old: RunConfig,
    new_used: Mapping[str, float] | None = None,
    old_used: Mapping[str, float] | None = None,
) -> list[str]:
    """How the complete configuration `new` differs from `old`, one phrase each, the most important first.

    new_used, old_used: the values of automatic fields, see `RunCard`. Where two samplers differ, so may fields that both have;
    what only one of them has is named where it is not the default.
    """
    found, used = [], (new_used or {}, old_used or {})
    if new.problem != old.problem:
        found.append(f"network {_network(new.problem)} instead of {_network(old.problem)}")
    first, second = dict(new.sampler or {}), dict(old.sampler or {})
    if first.get("name") != second.get("name"):
        found.append(f"{sampler_label(first['name'])} instead of {sampler_label(second['name'])}")
    found += _of_samplers(first, second, used)
    noisy = "full" not in (new.gradient, old.gradient)
    for name, label in NAMES.items():
        one, other = getattr(new, name), getattr(old, name)
        if name == "burn_in":
            one, other = _share(new), _share(old)
        if name == "batch_size" and not noisy:
            continue
        if None in (one, other):
            one, other = (_used(value, name, values) for value, values in zip((one, other), used, strict=True))
        if one == other:
            continue
        if name == "gradient":
            one, other = (GRADIENT_LABELS.get(str(value), value) for value in (one, other))
        if name == "polish":
            one, other = ("polished" if value else "as given" for value in (one, other))
        if name == "interaction":
            one, other = (v["name"] if v else "none" for v in (one, other))
            one, other = (one, other) if one != other else ("another", "the same kind")
        if name == "continued_from":
            one, other = (f"{v['steps']:,} steps" if v else "all its steps" for v in (one, other))
        found.append(f"{label} {_text(one)} instead of {_text(other)}")
    return found


def _of_samplers(
    first: Mapping[str, Any], second: Mapping[str, Any], used: tuple[Mapping[str, float], Mapping[str, float]]
) -> list[str]:
    """How the fields of two samplers differ."""
    about, other = (
        hyper_fields(kind) if (kind := samplers(conditionals=True, priors=True).get(each.get("name", ""))) else {}
        for each in (first, second)
    )
    found = []
    for name in about:
        label = field_label(name, about[name])
        label = f"{label[0].lower()}{label[1:]}"
        if name in other:
            one, two = (_used(each.get(name), name, values) for each, values in zip((first, second), used, strict=True))
            if _text(one) != _text(two):
                found.append(f"{label} {_text(one)} instead of {_text(two)}")
        elif _own_choice(first, name):
            found.append(f"{label} {_text(first[name])}, which the other has not")
    for name in other:
        if name not in about and _own_choice(second, name):
            label = field_label(name, other[name])
            found.append(f"no {label[0].lower()}{label[1:]}, which was {_text(second[name])}")
    return found


def _own_choice(sampler: Mapping[str, Any], name: str) -> bool:
    """Whether a field of a sampler was set to something else than its default."""
    kind = samplers(conditionals=True, priors=True)[sampler["name"]]
    default = next(each.default for each in fields(kind) if each.name == name)
    return default is not None and name in sampler and sampler[name] != default


def _used(value: Any, name: str, used: Mapping[str, float]) -> Any:
    """The value of a field, and of an automatic one the engine's choice, where it is known."""
    return EngineChoice(used[name]) if value is None and name in used else value


class EngineChoice(float):
    """A number that the engine chose."""


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
    if isinstance(value, EngineChoice):
        return f"{number_text(float(value))} (automatic)"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number_text(float(value)) if isinstance(value, float) else f"{value:,}"
    return str(value)


def tip(words: str) -> str:
    """An attribute of a cell."""
    return f' title="{escape(words)}"' if words else ""


def table(current: RunCard, pinned: RunCard) -> str:
    """HTML: both runs, a row each, and what differs in words."""
    head = "".join(f"<th scope=col>{escape(words)}</th>" for words in COLUMNS.values())
    body = "".join(
        f'<tr><th scope=row><svg width="26" height="14" aria-hidden="true"><path d="M0 7h26" stroke="{color}" '
        f'stroke-width="3"{dash}/></svg> {escape(words)}: {escape(card.title)}</th>'
        + "".join(
            f"<td{tip(card.reasons.get(key, ''))}>{escape(card.values.get(key, UNKNOWN))}</td>" for key in COLUMNS
        )
        + "</tr>"
        for words, card, color, dash in (
            ("this run", current, theme.ESTIMATE, ""),
            ("pinned", pinned, theme.PINNED, ' stroke-dasharray="6 3"'),
        )
    )
    found = differences(current.config, pinned.config, current.used, pinned.used)
    words = "; ".join(found) if found else "nothing in the settings"
    return (
        f"<table><thead><tr><th scope=col>run</th>{head}</tr></thead><tbody>{body}</tbody></table>"
        f'<p class="small what"><b>What differs:</b> {escape(words)}.</p>'
    )
