"""The side bar's second half: sampler, gradient and everything else that makes a RunConfig, few visible, rest folded."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.controls.fields import ChoiceField, Field, NumberField, make_field
from llc_core.config import DTYPES, GRADIENTS, RunConfig
from llc_core.fields import Hyper, hyper_fields
from llc_core.samplers.registry import samplers

LENGTH = ("steps", "burn_in", "continued_from")
"""Fields of RunConfig that say how long a run is."""
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
    "batch_size": 500,
    "seed": 0,
    "dtype": None,
}


def _whole(low: int, high: int, help: str, log: bool = False) -> Hyper:
    return Hyper(low, high, log=log, help=help)


class Controls(pn.viewable.Viewer):
    """Reads and shows the fields of RunConfig except `problem`. `listener` is called after a change by the user.

    gradients: kinds that the page's problems offer; with a single one there is nothing to choose, nor a batch size.
    """

    def __init__(self, gradients: Sequence[str] = GRADIENTS) -> None:
        super().__init__()
        self.listener: Callable[[], None] = lambda: None
        self._samplers = samplers()
        self._longer: dict[str, Any] = {}
        first = DEFAULTS["sampler"]["name"]
        names = tuple(sorted(self._samplers, key=lambda name: (name != first, name)))
        labels = {name: cls.label or name for name, cls in self._samplers.items()}
        self.sampler = ChoiceField(
            "sampler",
            Hyper(choices=names, help="The rule that moves the chains. Each has its own step size and its own errors."),
            names[0],
            labels,
        )
        self.gradient = ChoiceField(
            "gradient",
            Hyper(
                choices=tuple(reversed(gradients)),
                help="Full data: exact. Minibatch: noisy. Control variate: minibatch minus its known error at w0.",
            ),
            DEFAULTS["gradient"],
            GRADIENT_LABELS,
        )
        self.fields: dict[str, Field] = {
            "chains": NumberField(
                "chains",
                _whole(
                    1, MAX_CHAINS, "Independent chains. Their spread gives the error bar; R-hat needs at least two."
                ),
                DEFAULTS["chains"],
                integer=True,
            ),
            "steps": NumberField(
                "steps",
                _whole(100, 10_000_000, "Steps of each chain.", log=True),
                DEFAULTS["steps"],
                integer=True,
                span=(1_000, 1_000_000),
            ),
            "burn_in": NumberField(
                "burn_in",
                Hyper(0.0, 0.95, help="Share of the steps that is left out of the average while the chains settle."),
                DEFAULTS["burn_in"],
                label="Burn-in (share)",
            ),
            "localization": NumberField(
                "localization",
                Hyper(0.0, 1e9, log=True, symbol=r"\gamma", help="Strength of the spring that ties the chains to w0."),
                DEFAULTS["localization"],
                span=(1e-3, 1e6),
            ),
            "n_beta": NumberField(
                "n_beta",
                Hyper(1.0, 1e12, log=True, auto=True, help="Inverse temperature times n. Automatic: n / log n."),
                DEFAULTS["n_beta"],
                label="nβ",
                span=(10, 1e8),
            ),
            "batch_size": NumberField(
                "batch_size",
                _whole(1, 100_000, "Samples in each minibatch; not used with full data.", log=True),
                DEFAULTS["batch_size"],
                integer=True,
                span=(10, 10_000),
            ),
            "seed": NumberField(
                "seed",
                _whole(0, 999_999, "Seed of the chains' noise."),
                DEFAULTS["seed"],
                label="Chain seed",
                integer=True,
                span=(0, 100),
            ),
            "dtype": ChoiceField(
                "dtype",
                Hyper(
                    choices=DTYPES,
                    auto=True,
                    help="Digits of the chains' arithmetic. Float64 is slower, and for networks whose verdict says that rounding "
                    "spoils the loss. Automatic: float32, and float64 for samplers that accept or reject.",
                ),
                DEFAULTS["dtype"],
                label="Precision (dtype)",
            ),
        }
        self._own: dict[str, Field] = {}
        self._step_place = pn.Column(sizing_mode="stretch_width", margin=0)
        self._own_place = pn.Column(sizing_mode="stretch_width", margin=0)
        self.sampler.listener = self._on_sampler
        self.gradient.listener = self._changed
        for field in self.fields.values():
            field.listener = self._changed
        self._rebuild({})
        batches = len(gradients) > 1
        shown = ("localization", "n_beta", "burn_in", *(["batch_size"] if batches else []), "seed", "dtype")
        self._view = pn.Column(
            self.sampler,
            *([self.gradient] if batches else []),
            self._step_place,
            self.fields["chains"],
            self.fields["steps"],
            pmui.Accordion(
                (
                    "Advanced",
                    pn.Column(
                        self._own_place,
                        *(self.fields[name] for name in shown),
                        sizing_mode="stretch_width",
                        margin=(0, 6),
                    ),
                ),
                active=[],
                dynamic=True,  # not built until it is opened: the page loads sooner
                title_variant="subtitle2",
                variant="outlined",
                elevation=0,
                margin=(10, 0),
                sizing_mode="stretch_width",
            ),
            sizing_mode="stretch_width",
            margin=0,
        )

    def __panel__(self) -> pn.viewable.Viewable:
        return self._view

    @property
    def sampler_class(self) -> Any:
        return self._samplers[self.sampler.value]

    @property
    def values(self) -> dict[str, Any]:
        """Fields of RunConfig; raises ValueError (from the sampler) when they do not go together.

        A run that went on has its steps and burn-in to the step, which no share of a field says.
        """
        own = {name: field.value for name, field in self._own.items()}
        rest = {name: field.value for name, field in self.fields.items()}
        rest |= self._longer or {"continued_from": None}
        return {"sampler": {"name": self.sampler.value, **own}, "gradient": self.gradient.value, **rest}

    def go_on(self, config: RunConfig) -> None:
        """The run on the page goes on, and is now that of `config`: show how long it is."""
        self._take({name: getattr(config, name) for name in LENGTH})

    def show(self, settings: Mapping[str, Any]) -> None:
        """Set every field, defaults where `settings` says nothing, without reporting changes."""
        values = {**DEFAULTS, **settings}
        self._take({name: values[name] for name in LENGTH})
        sampler = dict(values["sampler"])
        self.sampler.set(sampler.pop("name"))
        self.gradient.set(values["gradient"])
        for name, field in self.fields.items():
            if name not in LENGTH:
                field.set(values[name])
        self._rebuild(sampler)

    def check(self, settings: Mapping[str, Any]) -> None:
        """ValueError where a value of `show` lies outside what the fields take."""
        given = {**settings, **as_share(settings)}
        for name, field in self.fields.items():
            if isinstance(field, NumberField) and given.get(name) is not None:
                field.check(given[name])

    def choose(self, name: str, value: float) -> None:
        """Set one field, without reporting a change; KeyError where the sampler has none of this name."""
        {**self.fields, **self._own}[name].set(value)
        self.forget()

    def show_live(self, values: Mapping[str, Any]) -> None:
        """The values in use, for fields that are automatic."""
        for name, field in {**self._own, "n_beta": self.fields["n_beta"]}.items():
            if isinstance(field, NumberField) and values.get(name) is not None:
                field.show_live(values[name])

    def _on_sampler(self) -> None:
        self._rebuild({})
        self._changed()

    def _rebuild(self, values: Mapping[str, Any]) -> None:
        """Widgets for the sampler's own fields."""
        cls = self.sampler_class
        defaults = {f.name: f.default for f in dataclasses.fields(cls)}
        self._own = {
            name: make_field(cls.__name__, name, about, values.get(name, defaults[name]))
            for name, about in hyper_fields(cls).items()
        }
        for field in self._own.values():
            field.listener = self._changed
        self._step_place.objects = [f for name, f in self._own.items() if name == "step_size"]
        self._own_place.objects = [f for name, f in self._own.items() if name != "step_size"]

    def forget(self) -> None:
        """What was run does not go on: something else on the page has changed."""
        self._longer = {}

    def _take(self, length: dict[str, Any]) -> None:
        self._longer = length if length["continued_from"] is not None else {}
        for name, value in {**length, **as_share(length)}.items():
            if name in self.fields:
                self.fields[name].set(value)

    def _changed(self) -> None:
        self.forget()
        self.listener()


def as_share(settings: Mapping[str, Any]) -> dict[str, float]:
    """The burn-in as its field shows it, where the settings are those of a run that went on; else nothing."""
    if settings.get("continued_from") is None:
        return {}
    return {"burn_in": settings["burn_in"] / settings["steps"]}
