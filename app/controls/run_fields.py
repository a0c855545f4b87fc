"""The fields of a run, apart from the sampler's own: what each takes, what it says of itself, and its default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.controls.devices import LABELS, devices
from app.controls.fields import AUTOMATIC, ChoiceField, Field, NumberField, field_of
from llc_core.config import RunConfig
from llc_core.fields import Hyper

GRADIENT_LABELS = {"full": "full data (exact)", "control_variate": "control variate", "minibatch": "minibatch (plain)"}
MAX_CHAINS = 32
DEFAULTS: dict[str, Any] = {
    "sampler": {"name": "UnderdampedLangevin"},
    "gradient": "full",
    "chains": 10,
    "steps": 20_000,
    "burn_in": 0.5,
    "continued_from": None,
    "localization": 1.0,
    "n_beta": None,
    "polish": False,
    "batch_size": 500,
    "seed": 0,
    "dtype": None,
    "device": None,
}
"""What the side bar shows where a configuration says nothing."""


def sampler_field(samplers: Mapping[str, Any]) -> ChoiceField:
    """samplers: classes by name; the default stands first."""
    first = DEFAULTS["sampler"]["name"]
    names = tuple(sorted(samplers, key=lambda name: (name != first, name)))
    labels = {name: cls.label or name for name, cls in samplers.items()}
    help = "The rule that moves the chains. Each has its own step size and its own errors."
    return ChoiceField("sampler", Hyper(choices=names, help=help), first, labels)


def gradient_field(gradients: Sequence[str]) -> ChoiceField:
    choices = tuple(reversed(gradients))
    return field_of(
        RunConfig, "gradient", labels=GRADIENT_LABELS, default=DEFAULTS["gradient"], auto=False, choices=choices
    )


def run_fields() -> dict[str, Field]:
    """A new field for every other setting of a run, by its name in RunConfig, which takes more than a page does."""
    share = Hyper(0.0, 0.95, help="Share of the steps that is left out of the average while the chains settle.")
    return {
        "chains": _field("chains", high=MAX_CHAINS),
        "steps": _field("steps", span=(1_000, 1_000_000), low=100, high=10_000_000),
        "burn_in": NumberField("burn_in", share, DEFAULTS["burn_in"], label="Burn-in (share)"),
        "localization": _field("localization", span=(1e-4, 1e6), high=1e9),
        "n_beta": _field("n_beta", "nβ", (10, 1e8), low=1.0, high=1e12, auto=True),
        "batch_size": _field("batch_size", span=(10, 10_000), high=100_000),
        "seed": _field("seed", "Chain seed", (0, 100), high=999_999),
        "dtype": _field("dtype", "Precision (dtype)", auto=True),
        **device_field(),
    }


def device_field() -> dict[str, Field]:
    """Where chains run, by its name in RunConfig; empty where there is the processor alone. It is what is automatic, under its own name."""
    elsewhere = devices()[1:]
    if not elsewhere:
        return {}
    help = "Where the chains run. Large networks are faster on a GPU, small ones on the processor."
    about = Hyper(choices=elsewhere, help=help, auto=True)
    return {"device": ChoiceField("device", about, None, {AUTOMATIC: LABELS["cpu"], **LABELS})}


def _field(name: str, label: str = "", span: tuple[float, float] | None = None, **narrower: Any) -> Any:
    return field_of(RunConfig, name, label, span, default=DEFAULTS[name], **{"auto": False, **narrower})
