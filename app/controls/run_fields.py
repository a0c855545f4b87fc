"""The fields of a run, apart from the sampler's own: what each takes, what it says of itself, and its default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.controls.fields import ChoiceField, Field, NumberField
from llc_core.config import DTYPES
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
    help = "Full data: exact. Minibatch: noisy. Control variate: minibatch minus its known error at w0."
    about = Hyper(choices=tuple(reversed(gradients)), help=help)
    return ChoiceField("gradient", about, DEFAULTS["gradient"], GRADIENT_LABELS)


def run_fields() -> dict[str, Field]:
    """A new field for every other setting of a run, by its name in RunConfig."""
    return {**_size_fields(), **_target_fields(), **_number_fields()}


def _size_fields() -> dict[str, Field]:
    """How many chains, and how long they are."""
    chains = "Independent chains. Their spread gives the error bar; R-hat needs at least two."
    burn_in = "Share of the steps that is left out of the average while the chains settle."
    return {
        "chains": _whole("chains", 1, MAX_CHAINS, chains),
        "steps": _whole("steps", 100, 10_000_000, "Steps of each chain.", log=True, span=(1_000, 1_000_000)),
        "burn_in": NumberField("burn_in", Hyper(0.0, 0.95, help=burn_in), DEFAULTS["burn_in"], label="Burn-in (share)"),
    }


def _target_fields() -> dict[str, Field]:
    """Which law the chains are drawn from."""
    spring = "Strength of the spring that ties the chains to w0."
    temperature = "Inverse temperature times n. Automatic: n / log n."
    return {
        "localization": NumberField(
            "localization",
            Hyper(0.0, 1e9, log=True, symbol=r"\gamma", help=spring),
            DEFAULTS["localization"],
            span=(1e-3, 1e6),
        ),
        "n_beta": NumberField(
            "n_beta", Hyper(1.0, 1e12, log=True, auto=True, help=temperature), DEFAULTS["n_beta"], label="nβ",
            span=(10, 1e8),
        ),
    }  # fmt: skip


def _number_fields() -> dict[str, Field]:
    """How the numbers are made: batches, random streams, precision."""
    batches = "Samples in each minibatch; not used with full data."
    digits = (
        "Digits of the chains' arithmetic. Float64 is slower, and for networks whose verdict says that rounding "
        "spoils the loss. Automatic: float32, and float64 for samplers that accept or reject."
    )
    return {
        "batch_size": _whole("batch_size", 1, 100_000, batches, log=True, span=(10, 10_000)),
        "seed": _whole("seed", 0, 999_999, "Seed of the chains' noise.", label="Chain seed", span=(0, 100)),
        "dtype": ChoiceField(
            "dtype", Hyper(choices=DTYPES, auto=True, help=digits), DEFAULTS["dtype"], label="Precision (dtype)"
        ),
    }


def _whole(name: str, low: int, high: int, help: str, log: bool = False, **options: Any) -> NumberField:
    return NumberField(name, Hyper(low, high, log=log, help=help), DEFAULTS[name], integer=True, **options)
